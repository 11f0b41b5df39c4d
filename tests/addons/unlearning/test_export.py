"""Results in open-unlearning's form: what is in the files, and that they are as good a reference as the run."""

import json
import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import TOFU, Cli


@pytest.fixture(scope="module")
def run(demo_run: Callable[..., Path]) -> Path:
    """A run of TOFU on the samples."""
    return demo_run(*TOFU)


def scores(folder: Path) -> dict[str, Any]:
    stored = json.loads((folder / "derived.json").read_text())
    return {found["name"]: (found["value"], found["interval"], found["n"]) for found in stored}


def test_the_files_are_those_of_open_unlearning_and_a_reference(cli: Cli, run: Path, tmp_path: Path) -> None:
    done = cli("export", "--to", "open-unlearning", tmp_path / "out", "--run", run, "--reference", f"retain={run}")
    assert done.code == 0 and "TOFU_SUMMARY.json" in done.out
    whole, summary = (json.loads((tmp_path / f"out/TOFU_{name}.json").read_text()) for name in ("EVAL", "SUMMARY"))
    assert summary["forget_quality"] == whole["forget_quality"]["agg_value"] == 1 and summary["privleak"] == 0
    assert {name: whole[name]["agg_value"] for name in summary} == summary
    of_forget = whole["forget_Q_A_Prob"]["value_by_index"]
    assert list(of_forget) == ["0", "1", "2", "3"]
    assert all(math.exp(-one["avg_loss"]) == pytest.approx(one["prob"]) for one in of_forget.values())
    assert set(whole["mia_min_k"]) == {"agg_value", "auc", "forget", "holdout"}
    assert set(whole["retain_Q_A_ROUGE"]["value_by_index"]["0"]) == {"rouge1_recall", "rougeL_f1", "rougeL_recall"}
    assert "mia_reference" not in whole and "NaN" not in (tmp_path / "out/TOFU_EVAL.json").read_text()
    folder = tmp_path / "copy"
    shutil.copytree(run, folder)
    with_run = cli("compare", folder, "--reference", f"retain={run}", "--reference", f"base={run}")
    of_run = scores(folder)
    of_file = tmp_path / "out"
    with_file = cli("compare", folder, "--reference", f"retain={of_file}", "--reference", f"base={of_file}")
    assert with_run.code == with_file.code == 0 and scores(folder) == of_run and "not matched" not in with_file.out
    assert None not in [value for value, *_ in of_run.values()]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--to", "open-unlearning", "{new}", "--run", "{run}", "--reference", "x=y"], "uses the reference 'x'"),
        (["--to", "harness", "{new}", "--run", "{run}"], "--run has no effect"),
    ],
)
def test_what_is_refused(cli: Cli, run: Path, tmp_path: Path, words: list[str], problem: str) -> None:
    done = cli("export", *(word.format(run=run, new=tmp_path / "new") for word in words))
    assert done.code == 2 and problem in done.err and not (tmp_path / "new").exists()


def test_only_suites_that_open_unlearning_has(cli: Cli, run_demo: Cli, tmp_path: Path) -> None:
    assert run_demo("--task.languages", "yor", "--eval.limit", 1, "--task.prompts", 1).code == 0
    done = cli("export", "--to", "open-unlearning", tmp_path / "out", "--run", tmp_path / "run")
    assert done.code == 2 and "not a run of a suite that open-unlearning has" in done.err and "tofu" in done.err


def test_a_reference_with_another_split_is_refused_before_the_model_is_loaded(
    cli: Cli, run: Path, tmp_path: Path
) -> None:
    words = "run --model.model_name no/model --data.source samples --task-config-yaml configs/suites/tofu.yaml"
    done = cli(
        *words.split(), "--task.options.forget_split", "forget01", "--reference", f"retain={run}", "--run_dir", tmp_path
    )
    assert done.code == 2 and "options.forget_split was 'forget10' and is 'forget01' in this run" in done.err


def test_tasks_in_english_have_no_african_average(cli: Cli, run: Path) -> None:
    done = cli("compare", run)
    assert done.code == 0 and "model utility" in done.out
    assert "Average" not in done.out and "nan" not in done.out.lower()
