"""Logs of inspect_ai, read as cells and compared. inspect_ai 0.3.285 wrote them; one lacks its events."""

import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Cli

from afrieval._util.errors import UserError
from afrieval.addons.readers.inspect_ai import READER
from afrieval.analysis.contrasts import contrasts
from afrieval.exchange.discovery import read_inputs
from afrieval.exchange.readers import cells_of_run, reader_of_run

LOGS = Path(__file__).parent / "logs"
LOG: dict[str, Any] = json.loads((LOGS / "inspect_ai.json").read_text(encoding="utf-8"))


def changed(path: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """Writes a log after a change."""
    log = json.loads(json.dumps(LOG))
    change(log)
    path.write_text(json.dumps(log), encoding="utf-8")
    return path


def deflated(path: Path, change: Callable[[dict[str, Any]], object] = lambda log: None) -> Path:
    """Writes a log as older versions of inspect_ai did: compressed with deflate."""
    log = json.loads(json.dumps(LOG))
    change(log)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for sample in log["samples"]:
            archive.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample))
        archive.writestr("header.json", json.dumps({k: v for k, v in log.items() if k != "samples"}))
    return path


def test_a_log() -> None:
    (cell,) = cells_of_run(LOGS / "inspect_ai.eval")
    assert (cell.task, cell.language, cell.model) == ("afrimmlu (inspect_ai)", "yor", "mockllm/one (inspect_ai)")
    assert (cell.main, cell.answer_form, cell.chance) == ("choice accuracy", "generate", 0.5)
    assert cell.n == 3 and cell.score == pytest.approx(2 / 3) and sorted(cell.golds.tolist()) == [0, 1, 1]


def test_two_models_are_compared_by_document(cli: Cli) -> None:
    cells = read_inputs([LOGS / "inspect_ai.eval", LOGS / "inspect_ai.json"]).foreign
    (contrast,) = contrasts(cells, "model", seed=1)
    (row,) = contrast.rows
    assert (row.n, row.gained, row.lost) == (3, 1, 1)
    done = cli("compare", LOGS)
    assert done.code == 0 and "mockllm/one (inspect_ai)" in done.out and "mockllm/two (inspect_ai)" in done.out


def test_a_log_compressed_with_deflate_says_the_same(tmp_path: Path) -> None:
    (zipped,), (plain,) = READER.read(deflated(tmp_path / "log.eval")), READER.read(LOGS / "inspect_ai.json")
    assert (
        zipped.comparable_on == plain.comparable_on
        and zipped.score == plain.score
        and zipped.ids.tolist() == plain.ids.tolist()
    )


def test_files_of_one_folder_are_one_model_unless_they_have_the_same_cell(tmp_path: Path) -> None:
    first = changed(tmp_path / "first.json", lambda log: None)
    other = changed(tmp_path / "other.json", lambda log: log["eval"].update(task="sums_hau"))
    again = changed(tmp_path / "again.json", lambda log: None)
    assert {c.model for c in read_inputs([first, other]).foreign} == {"mockllm/two (inspect_ai)"}
    assert [c.model for c in read_inputs([first, again]).foreign] == [
        "mockllm/two (inspect_ai) first",
        "mockllm/two (inspect_ai) again",
    ]


@pytest.mark.parametrize(
    ("newer", "older"),
    [
        ("2027-01-01T00:00:00+00:00", "2026-12-31T00:00:00+00:00"),
        ("2025-11-01T23:00:00-05:00", "2025-11-02T01:00:00+00:00"),
        ("2025-11-02T01:00:00Z", "2025-11-02T02:30:00.5+02:00"),
        ("2025-11-02T01:00:00", "2025-11-02T03:30:00+03:00"),
        ("2025-11-02T01:00:00", "2025-11-02T00:59:59"),
    ],
)
def test_the_newest_log_of_a_folder_counts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], newer: str, older: str
) -> None:
    """Moments are compared, not texts; a time without an offset is UTC."""
    for first, last, newest in ((newer, older, "a"), (older, newer, "b")):
        changed(tmp_path / "a.json", lambda log, at=first: log["eval"].update(created=at))  # type: ignore[misc]
        changed(tmp_path / "b.json", lambda log, at=last: log["eval"].update(created=at))  # type: ignore[misc]
        (cell,) = READER.read(tmp_path)
        assert cell.path == tmp_path / f"{newest}.json"
        assert f".json: {newest}.json is newer" in capsys.readouterr().err


def test_a_time_that_cannot_be_read_counts_only_where_times_are_compared(tmp_path: Path) -> None:
    changed(tmp_path / "a.json", lambda log: log["eval"].update(created="yesterday"))
    assert len(READER.read(tmp_path)) == 1
    changed(tmp_path / "b.json", lambda log: None)
    with pytest.raises(UserError, match=r"a.json was created 'yesterday'"):
        READER.read(tmp_path)


@pytest.mark.parametrize(
    ("second", "stated", "scores"),
    [("P", (2 / 3 + 0.5) / 2, [0.25, 0.75, 0.75]), (float("nan"), 2 / 3, [0.0, 1.0, 1.0])],
    ids=["scored", "not scored"],
)
def test_a_document_counts_its_mean_over_scored_epochs(
    tmp_path: Path, second: object, stated: float, scores: list[float]
) -> None:
    def twice(log: dict[str, Any]) -> None:
        again = json.loads(json.dumps(log["samples"]))
        for sample in again:
            sample["epoch"], sample["scores"]["choice"]["value"] = 2, second
        log["samples"] += again
        log["results"]["scores"][0]["metrics"]["accuracy"]["value"] = stated

    (cell,) = READER.read(changed(tmp_path / "log.json", twice))
    assert sorted(cell.measures[cell.main].ravel().tolist()) == scores


@pytest.mark.parametrize("stated", [1, float("nan")])
@pytest.mark.parametrize("value", [None, float("nan"), "nan", "unscored", [1], 10**400, "absent"])
def test_a_sample_that_was_not_scored_is_left_out(tmp_path: Path, value: object, stated: float) -> None:
    """NaN marks it; where versions of inspect_ai counted it, the mean of all is NaN."""

    def failed(log: dict[str, Any]) -> None:
        wrong = next(s for s in log["samples"] if s["scores"]["choice"]["value"] == "I")
        wrong["scores"] = None if value == "absent" else {"choice": {"value": value}}
        log["results"]["scores"][0]["metrics"]["accuracy"]["value"] = stated

    for log in (changed(tmp_path / "log.json", failed), deflated(tmp_path / "log.eval", failed)):
        (cell,) = READER.read(log)
        assert cell.n == 2 and cell.score == 1


@pytest.mark.parametrize(
    ("right", "wrong"),
    [("C", "N"), ("1", "0"), ("1.0", "0.0"), (True, False), (1, 0), ("true", "False"), ("Yes", "no")],
)
def test_scores_in_other_forms(tmp_path: Path, right: object, wrong: object) -> None:
    def rewritten(log: dict[str, Any]) -> None:
        for sample in log["samples"]:
            score = sample["scores"]["choice"]
            score["value"] = right if score["value"] == "C" else wrong

    (cell,) = READER.read(changed(tmp_path / "log.json", rewritten))
    assert cell.n == 3 and cell.score == pytest.approx(2 / 3)


def test_another_prompt_is_not_compared(tmp_path: Path) -> None:
    def asked(log: dict[str, Any]) -> None:
        log["eval"]["model"] = "mockllm/three"
        log["samples"][0]["messages"][0]["content"] = "Think first. " + log["samples"][0]["messages"][0]["content"]

    (contrast,) = contrasts(
        [*READER.read(LOGS / "inspect_ai.json"), *READER.read(changed(tmp_path / "log.json", asked))], "model", 1
    )
    assert not contrast.rows and "prompt text differs" in contrast.refused[0]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda log: log.update(status="cancelled"), "its status is cancelled"),
        (lambda log: log["eval"].update(task="pkg/sums"), "its name has no language of the suite"),
        (lambda log: log.update(results=None), "it has no metric that is the mean"),
        (lambda log: log["results"]["scores"][0]["metrics"]["accuracy"].update(value=0.1), "it has no metric"),
        (lambda log: log.update(samples=None), "it has no samples"),
    ],
)
def test_what_is_left_out_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: Callable[[dict[str, Any]], object], said: str
) -> None:
    assert READER.read(changed(tmp_path / "log.json", change)) == []
    assert said in capsys.readouterr().err


def test_an_unfinished_log_is_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as archive:
        archive.writestr("_journal/start.json", json.dumps({"version": 2, "eval": LOG["eval"], "plan": {}}))
    assert READER.read(tmp_path / "log.eval") == []
    assert "its status is started" in capsys.readouterr().err


def test_damaged_logs_are_errors_that_name_the_file(tmp_path: Path) -> None:
    log = tmp_path / "log.eval"
    content = (LOGS / "inspect_ai.eval").read_bytes()
    for damaged, said in [
        (b"", "log.eval cannot be read"),
        (content[:-30], "log.eval cannot be read"),
        (content[:3000] + bytes(300) + content[3300:], "log.eval, samples/.* cannot be read|is damaged"),
    ]:
        log.write_bytes(damaged)
        with pytest.raises(UserError, match=said):
            cells_of_run(log)
    changed(tmp_path / "log.json", lambda of: of["samples"][1].update(target=7))
    with pytest.raises(UserError, match=r"log.json: samples.1.target must be text"):
        cells_of_run(tmp_path / "log.json")


def test_other_files_are_not_logs(tmp_path: Path) -> None:
    (tmp_path / "record.json").write_text('{"version": 2, "eval": {}}')
    (tmp_path / "scores.csv").write_text("a,b\n")
    assert (
        not READER.wrote(tmp_path)
        and not reader_of_run(tmp_path / "record.json")
        and not reader_of_run(tmp_path / "no.eval")
    )
    shutil.copy(LOGS / "inspect_ai.json", tmp_path)
    (tmp_path / "run.yaml").write_text("")
    assert not reader_of_run(tmp_path) and reader_of_run(tmp_path / "inspect_ai.json")


@pytest.mark.parametrize("id_", [2**70, -1, "9" * 5000, "٣"])
def test_any_id_is_a_document(tmp_path: Path, id_: int | str) -> None:
    (cell,) = READER.read(changed(tmp_path / "log.json", lambda log: log["samples"][0].update(id=id_)))
    assert cell.n == len(set(cell.ids.tolist())) == 3
