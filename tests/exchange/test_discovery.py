"""All results below a folder: what is found, and what is left out with a reason."""

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.addons.readers.lighteval_runs import write_lighteval
from tests.report.html.small_runs import small_run

from afrieval.analysis.inputs import Inputs, LeftOut
from afrieval.exchange.discovery import gathered, paths_below
from afrieval.results.comparable_runs import run_cells
from afrieval.results.packed import PACKED
from afrieval.results.packing import pack
from afrieval.results.run_files import sample_path
from afrieval.results.run_folder import RunFolder

LOGS = Path(__file__).parents[1] / "addons/readers/logs"

TABLE = "model,prompt,hau,yor\nother,prompt_1,40,50\n"


def read(folder: Path) -> Inputs:
    return gathered(folder, paths_below(folder))


def test_runs_and_tables_are_found_at_any_depth_but_not_in_hidden_folders(tmp_path: Path) -> None:
    small_run(tmp_path / "a/b/c", "first")
    small_run(tmp_path / "d", "second")
    small_run(tmp_path / ".old/e", "third")
    (tmp_path / "published").mkdir()
    (tmp_path / "published/afrixnli-0shot.csv").write_text(TABLE)
    (tmp_path / "notes.json").write_text('{"a": 1}')
    found = read(tmp_path)
    assert {cell.model for cell in found.cells} == {"first", "second"}
    assert [(row.model, row.source) for row in found.published] == [("other", "published/afrixnli-0shot.csv")]
    assert {model: [place for place, _ in runs] for model, runs in found.records.items()} == {
        "first": ["a/b/c"],
        "second": ["d"],
    }
    assert found.left_out == []


def test_links_are_followed_once(tmp_path: Path) -> None:
    small_run(tmp_path / "elsewhere/a", "first")
    folder = tmp_path / "runs"
    folder.mkdir()
    (folder / "a").symlink_to(tmp_path / "elsewhere/a")
    (folder / "again").symlink_to(tmp_path / "elsewhere")
    (folder / "circle").symlink_to(folder)
    assert paths_below(folder).runs == [folder / "a"]


def test_a_folder_that_is_skipped_is_not_entered(tmp_path: Path) -> None:
    small_run(tmp_path / "site/run", "first")
    assert paths_below(tmp_path, lambda path: path.name == "site").runs == []


def test_files_below_a_run_folder_are_its_own(tmp_path: Path) -> None:
    run = small_run(tmp_path / "a", "first")
    (run / "probabilities").mkdir()
    (run / "probabilities/subject.csv").write_text("0.1,0.9\n")
    small_run(run / "inner", "second")
    found = read(tmp_path)
    assert {cell.model for cell in found.cells} == {"first", "second"} and found.left_out == []


def test_what_cannot_be_read_is_left_out_with_a_reason(tmp_path: Path) -> None:
    small_run(tmp_path / "good", "good")
    missing = small_run(tmp_path / "missing", "missing")
    sample_path(missing, "afrixnli_yor_eng_1").unlink()
    damaged = small_run(tmp_path / "damaged", "damaged")
    sample_path(damaged, "afrixnli_yor_eng_1").write_text("{]\n")
    unsaid = small_run(tmp_path / "unsaid", "unsaid")
    (unsaid / "run.yaml").write_text("]")
    (tmp_path / "table.csv").write_text("a,b\n1,2\n")
    found = read(tmp_path)
    assert {cell.model for cell in found.cells} == {"good"}
    reasons = dict(found.left_out)
    assert list(reasons) == ["damaged", "missing", "table.csv", "unsaid"]
    assert reasons["damaged"].startswith("samples_afrixnli_yor_eng_1.jsonl, line 1")
    assert "is not finished: 1 of 4 cells are missing" in reasons["missing"]
    assert reasons["table.csv"].startswith("line 1: the header begins with 'a,b'")
    assert not any(str(tmp_path) in reason for reason in reasons.values())


def test_a_damaged_log_costs_no_other_log_and_no_table_next_to_it(tmp_path: Path) -> None:
    shutil.copy(LOGS / "inspect_ai.eval", tmp_path / "good.eval")
    (tmp_path / "cut.eval").write_bytes((LOGS / "inspect_ai.eval").read_bytes()[:500])
    stopped = (LOGS / "inspect_ai.json").read_text(encoding="utf-8").replace('"success"', '"cancelled"', 1)
    (tmp_path / "stopped.json").write_text(stopped, encoding="utf-8")
    (tmp_path / "afrixnli-0shot.csv").write_text("model,prompt,yor,avg\nbig,1,50,50\n")
    found = read(tmp_path)
    assert [cell.model for cell in found.cells] == ["mockllm/one (inspect_ai)"]
    assert [row.model for row in found.published] == ["big"]
    assert [place for place, _ in found.left_out] == ["cut.eval", "stopped.json"]


def test_results_of_other_programs_hide_nothing_next_to_them(tmp_path: Path) -> None:
    write_lighteval(tmp_path)
    for folder in (tmp_path, tmp_path / "lm_eval/model"):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "results_2026-01-01T00-00-00.000000.json").write_text("{}")
        (folder / "samples_afrixnli_yor_2026-01-01T00-00-00.000000.jsonl").write_text("")
    small_run(tmp_path / "run", "ours")
    (tmp_path / "afrixnli-0shot.csv").write_text("model,prompt,yor,avg\nbig,1,50,50\n")
    found = paths_below(tmp_path)
    assert found.runs == [tmp_path / "run"] and found.published == [tmp_path / "afrixnli-0shot.csv"]
    assert found.foreign[0] == tmp_path and tmp_path / "lm_eval/model" in found.foreign


def test_a_cell_of_two_runs_is_that_of_the_later_one(tmp_path: Path) -> None:
    small_run(tmp_path / "a", "model", picks=0)
    later = small_run(tmp_path / "b", "model", picks=1)
    text = (later / "run.yaml").read_text()
    assert "2026-01-01" in text
    (later / "run.yaml").write_text(text.replace("2026-01-01", "2026-02-01"))
    found = read(tmp_path)
    assert {cell.folder for cell in found.cells} == {later}
    assert found.left_out == [LeftOut("a", "4 cells of it: b has the same, not older")]


def test_a_cell_of_two_runs_is_that_of_more_documents(tmp_path: Path) -> None:
    long = small_run(tmp_path / "a", "model")
    short = small_run(tmp_path / "b", "model")
    for path in short.glob("samples_*"):
        path.write_text("".join(path.read_text().splitlines(keepends=True)[:5]))
    (short / "run.yaml").write_text((short / "run.yaml").read_text().replace("2026-01-01", "2026-02-01"))
    found = read(tmp_path)
    assert {cell.folder for cell in found.cells} == {long}
    assert found.left_out == [LeftOut("b", "4 cells of it: a has the same, of more documents")]


def test_one_model_with_other_settings_is_another_one(tmp_path: Path) -> None:
    small_run(tmp_path / "a", "model", dtype="float32")
    small_run(tmp_path / "b", "model", dtype="bfloat16")
    found = read(tmp_path)
    assert {cell.model for cell in found.cells} == {"model (a)", "model (b)"}
    assert found.left_out == []


def in_place_of(path: Path, make: Callable[[Path], object]) -> None:
    path.unlink()
    make(path)


def hole(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(2**40)


FAULTS: dict[str, tuple[Callable[[Path], object], str]] = {
    "a pipe": (lambda path: in_place_of(path, os.mkfifo), "is a named pipe"),
    "a folder": (lambda path: in_place_of(path, Path.mkdir), "is a folder"),
    "a loop": (lambda path: in_place_of(path, lambda p: p.symlink_to(p)), "Too many levels of symbolic links"),
    "a device": (lambda path: in_place_of(path, lambda p: p.symlink_to("/dev/zero")), "is a device"),
    "a link to nothing": (lambda path: in_place_of(path, lambda p: p.symlink_to("none")), "there is no file"),
    "nothing": (lambda path: path.write_bytes(b""), "empty"),
    "no text": (lambda path: path.write_bytes(b"\xff\xfe"), "not UTF-8|not valid JSON"),
    "a terabyte": (hole, "is larger than|cannot be read|not valid JSON"),
    "brackets": (lambda path: path.write_text("[" * 300_000), "nested too deeply|nesting depth|not valid JSON"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_damaged_run_is_left_out_and_hides_no_other(tmp_path: Path, fault: str) -> None:
    damage, why = FAULTS[fault]
    small_run(tmp_path / "good", "good")
    for name in ("run.yaml", "samples_afrixnli_yor_eng_1.jsonl", PACKED):
        run = small_run(tmp_path / f"of {name}", name)
        if name == PACKED:
            pack(run)
        if name == "run.yaml" or fault != "a terabyte":  # all of a sample file is read
            damage(run / name)
    found = read(tmp_path)
    assert {cell.model for cell in found.cells} >= {"good"}
    reasons = dict(found.left_out)
    assert "of run.yaml" in reasons and len(reasons) == (1 if fault == "a terabyte" else 3)
    assert all(re.search(f"{why}|damaged|not a zip file", reason) for reason in reasons.values()), reasons


def test_what_cannot_be_entered_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small_run(tmp_path / "good", "good")
    small_run(tmp_path / "closed/run", "closed")
    (tmp_path / "bytes-\udcff").mkdir()
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "gone").symlink_to(tmp_path / "nothing")
    (tmp_path / "up").symlink_to(tmp_path.parent)
    (tmp_path / "system").symlink_to("/proc/self")
    scan = os.scandir

    def refusing(path: str) -> object:
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", refusing)
    found = read(tmp_path)
    assert {cell.model for cell in found.cells} == {"good"}
    reasons = dict(found.left_out)
    assert list(reasons) == ["closed", "gone", "loop", "system", "up"]
    assert reasons["closed"] == "Permission denied" and reasons["gone"] == reasons["loop"] == "it is a link to nothing"
    assert "a folder of the system" in reasons["system"] and "contains this folder" in reasons["up"]


def test_a_walk_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("afrieval._util.files.MOST", 4)
    for name in "abcdef":
        small_run(tmp_path / name, name)
    found = read(tmp_path)
    assert {cell.model for cell in found.cells} == {"a", "b", "c"}
    assert [why for _, why in found.left_out] == ["it has more than 4 folders; the others are not read"]


def test_a_run_that_does_not_fit_into_memory_hides_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in "ab":
        small_run(tmp_path / name, name)

    def full(run: RunFolder, label: str) -> object:
        if run.path.name == "a":
            raise MemoryError
        return run_cells(run, label)

    monkeypatch.setattr("afrieval.results.comparable_runs.run_cells", full)
    found = read(tmp_path)
    assert {cell.model for cell in found.cells} == {"b"} and "memory" in dict(found.left_out)["a"]


@pytest.mark.parametrize("gone", ["a", "b"])
def test_a_run_that_is_removed_meanwhile_hides_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gone: str
) -> None:
    for name in "ab":
        small_run(tmp_path / name, name)

    def removing(run: RunFolder, label: str) -> object:
        cells = run_cells(run, label)
        shutil.rmtree(tmp_path / gone, ignore_errors=True)
        return cells

    monkeypatch.setattr("afrieval.results.comparable_runs.run_cells", removing)
    found = read(tmp_path)
    assert {cell.model for cell in found.cells} == {"a", "b"} - {gone}
    assert [place for place, _ in found.left_out] == [gone]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_left_out(tmp_path: Path) -> None:
    small_run(tmp_path / "good", "good")
    closed = small_run(tmp_path / "closed", "closed")
    (closed / "run.yaml").chmod(0)
    assert [place for place, _ in read(tmp_path).left_out] == ["closed"]


def test_runs_that_were_read_before_are_read_again_only_if_they_changed(tmp_path: Path) -> None:
    first = small_run(tmp_path / "a", "model", picks=0)
    runs: dict[Path, RunFolder] = {}
    before = gathered(tmp_path, paths_below(tmp_path), runs).cells
    kept = runs[first]
    small_run(tmp_path / "b", "other")
    after = gathered(tmp_path, paths_below(tmp_path), runs).cells
    assert runs[first] is kept and len(after) == 2 * len(before)
    assert all(any(cell.measures is old.measures for cell in after) for old in before)


def test_published_scores_in_two_files_are_shown_once(tmp_path: Path) -> None:
    """A later one must not replace the first without a word."""
    for name, yor, other in (("a", 50, "ibo"), ("b", 90, "hau")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "afrixnli-0shot.csv").write_text(f"model,prompt,yor,{other}\nx,prompt_1,{yor},40\n")
    found = read(tmp_path)
    assert [row.scores for row in found.published] == [{"yor": 50.0, "ibo": 40.0}, {"hau": 40.0}]
    assert found.left_out == [("b/afrixnli-0shot.csv", "1 score of it: a/afrixnli-0shot.csv has the same")]
