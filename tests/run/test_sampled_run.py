"""Runs of samples: continued, refused, packed and scored again in one folder."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Cli

from afrieval._util.errors import UserError
from afrieval.results.identity import Selection
from afrieval.results.packing import pack
from afrieval.results.run_folder import RunFolder, read_rows
from afrieval.results.samples import read_samples

WORDS = ("--task.task_name", "sib200", "--task.languages", "yor,hau", "--task.prompts", "1", "--eval.num_fewshot", "1")
YOR, HAU = (f"samples_sib200_{code}_eng_1.jsonl" for code in ("yor", "hau"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "run"


def rows(path: Path) -> list[int]:
    return [sample["doc_id"] for sample in read_samples(path)]


def asked(folder: Path) -> int:
    (path,) = folder.glob("answers_*.jsonl")
    return len(path.read_text(encoding="utf-8").splitlines())


def test_a_larger_sample_asks_for_the_other_rows_only(run_demo: Cli, folder: Path) -> None:
    done = run_demo(*WORDS, "--eval.sample", 7)
    assert done.code == 0 and "1-shot, sample of 7 of 14 rows" in done.out
    small, before = rows(folder / YOR), asked(folder)
    assert small == sorted(small) and rows(folder / HAU) == small != [*range(7)]
    assert all(count == 1 for count in Counter(s["gold"] for s in read_samples(folder / YOR)).values()), "7 classes"
    first = read_samples(folder / YOR)
    assert run_demo(*WORDS, "--eval.sample", 9).code == 0
    assert asked(folder) == before + 2 * 2 * 7  # two rows in two languages, with seven labels
    assert [sample for sample in read_samples(folder / YOR) if sample["doc_id"] in small] == first
    assert run_demo(*WORDS, "--eval.sample", 3).code == 0 and len(rows(folder / YOR)) == 9
    cell = RunFolder(folder).scores("sib200_yor_eng_1")
    assert cell.selection == Selection("sample", 9, 14) and cell.ids.tolist() == rows(folder / YOR)
    assert run_demo(*WORDS).code == 0
    assert rows(folder / YOR) == [*range(14)] and RunFolder(folder).scores(cell.name).selection.kind == "all"


def test_other_ways_to_select_rows_are_refused_in_the_same_folder(run_demo: Cli, tmp_path: Path) -> None:
    one = (*WORDS[:2], "--task.languages", "yor", *WORDS[4:])
    assert run_demo(*one, "--eval.sample", 3).code == 0
    for words, problem in {
        ("--eval.limit", 3): "selection.by was 'eval.sample' and is 'eval.limit'",
        ("--eval.sample", 4, "--eval.random_seed", 7): "selection.seed was 42 and is 7",
    }.items():
        done = run_demo(*one, *words)
        assert done.code == 2 and problem in done.err
    all_rows = run_demo(*one, "--eval.sample", 14, "--run_dir", tmp_path / "other")
    assert all_rows.code == 0 and "sample of" not in all_rows.out, "a sample of all rows is the test set"


def test_samples_are_packed_shown_and_scored_again(cli: Cli, demo_copy: Callable[..., Path]) -> None:
    folder = demo_copy(*WORDS, "--eval.sample", 5)
    loose, text = RunFolder(folder).scores("sib200_yor_eng_1"), (folder / YOR).read_bytes()
    last = loose.ids.tolist()[-1]
    assert read_rows(folder / YOR, [last])[last]["doc_id"] == last
    assert "no score moved (10 answers, 2 cells)" in cli("score", folder).err
    pack(folder)
    tight = RunFolder(folder).scores(loose.name)
    assert (tight.ids.tolist(), tight.selection, tight.score) == (loose.ids.tolist(), loose.selection, loose.score)
    assert cli("pack", "--unpack", folder).code == 0 and (folder / YOR).read_bytes() == text


def test_a_line_that_is_lost_or_there_twice_is_found(run_demo: Cli, demo_copy: Callable[..., Path]) -> None:
    folder = demo_copy(*WORDS, "--eval.sample", 5)
    lines = (folder / YOR).read_text(encoding="utf-8").splitlines(keepends=True)
    ranks = [json.loads(line)["sample_rank"] for line in lines]
    for damaged in ([*lines, lines[0]], lines[::-1], [line for line, rank in zip(lines, ranks, strict=True) if rank]):
        (folder / YOR).write_text("".join(damaged), encoding="utf-8")
        with pytest.raises(UserError, match="is not what a run of sib200_yor_eng_1 wrote"):
            RunFolder(folder).samples("sib200_yor_eng_1")
    without_last = [line for line, rank in zip(lines, ranks, strict=True) if rank < 4]  # as a smaller sample
    (folder / YOR).write_text("".join(without_last), encoding="utf-8")
    assert run_demo(*WORDS, "--eval.sample", 5).code == 0 and len(rows(folder / YOR)) == 5


def test_nothing_is_concluded_from_first_rows(run_demo: Cli, cli: Cli, folder: Path, tmp_path: Path) -> None:
    done = run_demo(*WORDS, "--eval.limit", 4, "--task.prompt_language", "both")
    assert "first 4 of 14 rows: for debugging" in done.out and "Native prompts: first rows only" in done.out
    told: list[Any] = [cli("show", folder).out, cli("compare", folder).out]
    assert cli("report", folder, "--output", tmp_path / "report.html").code == 0
    told.append((tmp_path / "report.html").read_text(encoding="utf-8"))
    for text in told:
        assert "for debugging" in text and "nothing is concluded" in text
        assert "▲ help" not in text and "no detectable difference" not in text
    assert "first" in (folder / "summary.csv").read_text(encoding="utf-8").splitlines()[1].split(",")
