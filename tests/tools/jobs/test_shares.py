"""Shares of a run become one run folder, whatever order they come in and wherever a merge is stopped."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.conftest import Cli
from tests.tools.jobs.files import content

from afrieval._util.errors import UserError
from afrieval.results.run_files import read_run, sample_files, write_run
from afrieval.results.run_folder import RunFolder
from afrieval.tools.jobs import shares as shares_module
from afrieval.tools.jobs.shares import begin_share, merge, remove_share

WORDS = ("--task.task_name", "afrixnli", "--task.languages", "yor,hau", "--task.prompts", "1,2", "--eval.limit", "2")


@pytest.fixture(scope="module")
def whole(demo_run: Callable[..., Path]) -> Path:
    """Returns a run folder of four cells."""
    return demo_run(*WORDS)


def shares_of(whole: Path, cells: list[set[str]], place: Path) -> list[Path]:
    """Returns folders as of several jobs: each has some cells, some answers, a visit, and names all cells."""
    record, (answers,) = read_run(whole), whole.glob("answers_*")
    lines = answers.read_bytes().splitlines(keepends=True)
    for at, names in enumerate(cells):
        folder = place / str(at)
        folder.mkdir()
        visit = {**record["visits"][0], "share": at, "date": f"2030-01-0{len(cells) - at}"}
        write_run(folder, {**record, "visits": [visit]})
        (folder / answers.name).write_bytes(b"".join(lines[at :: len(cells)]) + b'["half')
        for path in sample_files(whole):
            if path.stem.removeprefix("samples_") in names:
                shutil.copy(path, folder)
    return [place / str(at) for at in range(len(cells))]


MERGED = ("samples", "answers", "run.yaml")
NAMES = [f"afrixnli_{language}_eng_{prompt}" for language in ("hau", "yor") for prompt in (1, 2)]


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(0, 2), min_size=4, max_size=4), st.permutations(range(3)))
def test_shares_in_any_order_are_the_whole_run(
    whole: Path, tmp_path_factory: pytest.TempPathFactory, dealt: list[int], order: list[int]
) -> None:
    place = tmp_path_factory.mktemp("shares")
    cells = [{name for name, share in zip(NAMES, dealt, strict=True) if share == number} for number in range(3)]
    shares = shares_of(whole, cells, place)
    target = RunFolder(place / "target")
    target.path.mkdir()
    for number in [*order, *order]:  # the second time, nothing changes
        merge(target, RunFolder(shares[number]), cells[number])
    assert content(target.path, MERGED) == content(whole, MERGED)
    assert [{**visit}["share"] for visit in target.record["visits"]] == [2, 1, 0]  # by date
    assert [*target.record] == [*read_run(whole)]


def test_a_share_leaves_the_number_of_looks_as_large_as_it_is(whole: Path, tmp_path: Path) -> None:
    (share,) = shares_of(whole, [set(NAMES)], tmp_path)
    target = RunFolder(tmp_path / "target")
    target.path.mkdir()
    for looks, planned in ((5, 5), (8, 8), (4, 8)):
        write_run(share, {**read_run(share), "looks": looks})
        merge(target, RunFolder(share), NAMES)
        assert target.record["looks"] == planned


def test_a_share_of_another_run_is_refused(whole: Path, tmp_path: Path) -> None:
    first, second = shares_of(whole, [set(NAMES[:2]), set(NAMES[2:])], tmp_path)
    record = yaml.safe_load((second / "run.yaml").read_text())
    record["identity"]["model"]["fingerprint"] = "another"
    write_run(second, record)
    target = RunFolder(tmp_path / "target")
    target.path.mkdir()
    merge(target, RunFolder(first), NAMES[:2])
    with pytest.raises(UserError, match=r"fingerprint was .* and is 'another'"):
        merge(target, RunFolder(second), NAMES[2:])


def test_a_share_begins_with_what_the_run_knows(whole: Path, tmp_path: Path) -> None:
    share = RunFolder(tmp_path / "share")
    share.path.mkdir()
    begin_share(share, RunFolder(whole))
    assert share.record == read_run(whole) and not share.names
    assert {p.name for p in share.path.iterdir()} == {"run.yaml", *(p.name for p in whole.glob("answers_*"))}
    (share.path / "run.yaml").write_text((share.path / "run.yaml").read_text() + "mine: true\n")
    begin_share(share, RunFolder(whole))
    assert "mine" in share.record  # what it has is kept
    remove_share(share.path)
    assert not share.path.exists()


def test_nothing_to_begin_with(tmp_path: Path) -> None:
    for name in ("share", "target"):
        (tmp_path / name).mkdir()
    begin_share(RunFolder(tmp_path / "share"), RunFolder(tmp_path / "target"))
    merge(RunFolder(tmp_path / "target"), RunFolder(tmp_path / "share"), [])
    assert not [*(tmp_path / "share").iterdir(), *(tmp_path / "target").iterdir()]


def test_an_answer_that_replaced_another_is_kept(tmp_path: Path) -> None:
    """As a file of answers itself has it: the first one may not be valid for its request, or lack its tokens."""
    share, target = tmp_path / "share.jsonl", tmp_path / "target.jsonl"
    share.write_text('["a", [null]]\n["b", " 1"]\n["a", [-1.0, true, 2]]\n["c", " ha')
    target.write_text('["b", " 0"]\n')
    for _ in range(2):
        shares_module._add_answers(target, share)
        assert target.read_text() == '["b", " 1"]\n["a", [-1.0, true, 2]]\n'


def test_shares_of_a_run_are_the_run_of_one_process(whole: Path, tmp_path: Path, run_demo: Cli) -> None:
    run = tmp_path / "run"
    first = run_demo(*WORDS, "--share", "3/3")
    assert "of 4 cells are stored" in first.err and not (run / "summary.csv").exists() and "Run folder" not in first.out
    run_demo(*WORDS, "--share", "2/2")  # somebody divides the run in another way
    last = run_demo(*WORDS, "--share", "1/2")
    assert "all 4 cells are stored" in last.err and "Run folder" in last.out
    assert content(run) == content(whole)
    assert not (run / "shares").exists()
