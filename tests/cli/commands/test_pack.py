"""A packed run is as good as any: every command says the same of it, and a run goes on with it."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.conftest import TOFU, TWO_TASKS, Cli, Refusal, content

from afrieval.results.packed import PACKED
from afrieval.results.run_files import sample_files

SOME = ("--model.model_name", "demo", "--data.source", "samples")
KINDS = {
    "two": " ".join(TWO_TASKS),
    "other": "--task.task_name afrixnli --task.languages yor --task.prompts 1 --eval.limit 4 --eval.num_fewshot 1",
    "generated": "--task.task_name masakhaner,ntrex_to_eng,afrimgsm --task.languages hau --task.prompts 1"
    " --eval.limit 2 --eval.max_gen_toks 2",
    "tofu": " ".join(TOFU),
}


@pytest.fixture
def runs(demo_copy: Callable[..., Path]) -> dict[str, Path]:
    """Copies of the runs, at the same places in each test, since tables name them."""
    return {name: demo_copy(*words.split(), name=name) for name, words in KINDS.items()}


def test_every_command_says_the_same(cli: Cli, runs: dict[str, Path], tmp_path: Path) -> None:
    commands: list[list[object]] = [
        *(["show", folder, "--json", "-"] for folder in runs.values()),
        ["compare", runs["two"], runs["other"], "--json", "-"],
        ["compare", runs["two"], "--by", "subject", "--json", "-"],
        ["samples", runs["two"], "--task", "afrixnli", "--language", "yor", "--only", "flips"],
    ]
    pages = [
        ["report", runs["two"], runs["other"], runs["generated"], "-o", tmp_path / "page.html"],
        ["export", "--to", "csv", tmp_path / "tables", "--run", runs["two"], "--run", runs["generated"]],
        ["leaderboard", tmp_path, "-o", tmp_path / "site"],
    ]

    def said() -> list[object]:
        done = [cli(*words) for words in [*commands, *pages]]
        assert [of.err for of in done if of.code] == []
        written = [path for place in ("tables", "site") for path in sorted((tmp_path / place).rglob("*"))]
        files = [path.read_bytes() for path in [tmp_path / "page.html", *written] if path.is_file()]
        for place in ("tables", "site"):
            shutil.rmtree(tmp_path / place)
        return [[of.out for of in done], files]

    loose = said()
    before = {name: content(folder) for name, folder in runs.items()}
    packed = cli("pack", *runs.values())
    assert packed.code == 0 and packed.out.count("samples.zip") == len(runs)
    assert not any(sample_files(folder) for folder in runs.values())
    assert said() == loose
    assert "all samples are in samples.zip" in cli("pack", runs["two"]).out
    assert cli("pack", "--unpack", *runs.values()).code == 0
    for name, folder in runs.items():
        now = content(folder)
        assert {file: now[file] for file in before[name]} == before[name] and PACKED not in now


def test_a_run_goes_on_with_what_is_packed(cli: Cli, runs: dict[str, Path]) -> None:
    words = ["run", "--run_dir", runs["two"], *SOME, *KINDS["two"].split()]
    first = cli(*words).out
    cli("pack", runs["two"])
    again = cli(*words)
    assert again.code == 0 and again.out == first and "to run" not in again.err and not sample_files(runs["two"])
    more = cli(*words, "--task.languages", "yor,amh,hau")
    assert more.code == 0 and "to run: 8 of 24 cells" in more.err and len(sample_files(runs["two"])) == 8
    larger = cli(*words, "--eval.limit", "5")
    assert larger.code == 0 and "to run: 16 cells" in larger.err and len(sample_files(runs["two"])) == 24
    scores = cli("show", runs["two"], "--json", "-").out
    assert cli("pack", runs["two"]).code == 0 and not sample_files(runs["two"])
    assert cli("show", runs["two"], "--json", "-").out == scores


def test_errors_name_what_is_wrong(cli: Cli, refusal: Refusal, runs: dict[str, Path], tmp_path: Path) -> None:
    assert "no run folder" in refusal("pack", tmp_path / "none")
    assert "has no samples.zip" in refusal("pack", "--unpack", runs["two"])
    cli("pack", runs["two"])
    (runs["two"] / PACKED).write_bytes((runs["two"] / PACKED).read_bytes()[:-100])
    for words in (["pack"], ["pack", "--unpack"], ["show"], ["compare"], ["samples"], ["report"]):
        damaged = cli(*words, runs["two"])
        assert damaged.code == 2 and f"{PACKED} cannot be read" in damaged.err and "delete it" in damaged.err, words
