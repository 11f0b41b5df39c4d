"""Results of open-unlearning and of TOFU's own code: what is read of them, what is computed, and what is refused."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from tests.conftest import REAL_DATA, Cli, put

from afrieval._util.errors import UserError
from afrieval.addons.unlearning.results import all_names, read_results
from afrieval.config.files import shipped_suites
from afrieval.run.suites.run import of_runs
from afrieval.tasks.declaration.selection import check_derived
from afrieval.tasks.declaration.spec import load_task

LOGS = Path(REAL_DATA or "") / "locuslab/TOFU/eval_logs"
RATIOS = [0.5, 1.0, 2.0, 4.0]


def by_index(values: Any, name: str = "score") -> dict[str, Any]:
    return {"agg_value": 0.0, "value_by_index": {str(i): {name: value} for i, value in enumerate(values)}}


def results(shift: float = 0.0) -> dict[str, Any]:
    low, high = ([value + shift * k for k, value in enumerate(values)] for values in ([1.0, 2, 3], [2.0, 3, 4]))
    return {
        "forget_truth_ratio": by_index([ratio + shift for ratio in RATIOS]),
        "forget_Q_A_Prob": by_index([0.5, 0.7], "prob"),
        "mia_min_k": {"forget": by_index(low), "holdout": by_index(high), "auc": 0.1, "agg_value": 0.1},
        "forget_quality": {"agg_value": None},
        "something_new": {"agg_value": 1},
    }


def written(folder: Path, content: Any, name: str = "TOFU_EVAL.json") -> Path:
    put(folder / name, content if isinstance(content, str) else json.dumps(content))
    return folder / name


def scores(path: Path, **references: Path) -> dict[str, float | None]:
    (found,) = of_runs([], {name: str(of) for name, of in references.items()}, [path]).values()
    return {score.name: score.score for score in found}


def test_what_a_file_of_open_unlearning_says(tmp_path: Path) -> None:
    own, other = written(tmp_path / "own", results()), written(tmp_path / "retain", results(0.25))
    found = scores(own, retain=other)
    assert found["forget_truth_ratio"] == pytest.approx(np.mean([0.5, 1, 0.5, 0.25]))
    assert found["forget_probability"] == 0.6
    assert found["mia_min_k"] == 7 / 9  # of 9 pairs, 6 in order and 2 tied
    assert found["forget_quality"] == stats.ks_2samp(RATIOS, [r + 0.25 for r in RATIOS]).pvalue
    reference = scores(other)["mia_min_k"]
    assert found["privleak"] == pytest.approx(100 * ((1 - 7 / 9) - (1 - (reference or 0))) / (1 - (reference or 0)))
    assert scores(own)["forget_quality"] is None and found["model_utility"] is None  # never what the file says
    assert scores(own, retain=other.parent)["privleak"] == found["privleak"]  # a folder of their results


def test_values_that_are_missing_are_left_out_and_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = results() | {"forget_truth_ratio": by_index([1.0, None, math.nan, [], 0.5])}
    content["extraction_strength"] = {"agg_value": 1.0, "value_by_index": {"0": None, "3": {"score": 1.0}}}
    found = scores(written(tmp_path, content))
    assert found["forget_truth_ratio"] == 0.75 and found["extraction_strength"] == 1
    said = capsys.readouterr().err
    assert "forget_truth_ratio: 3 of 5 values are missing or not finite" in said
    assert "extraction_strength: 1 of 2 values" in said


def test_an_aggregated_log_of_tofu(tmp_path: Path) -> None:
    facts = {
        "avg_gt_loss": {"0": 1.0, "1": 2.0},
        "average_perturb_loss": {"0": [2.0, 3.0], "1": [1.0, 2.0]},
        "truth_ratio": {"0": 0.5, "1": 3.0},
        "rougeL_recall": {"0": 1.0, "1": 0.5},
    }
    content = {"eval_real_world_wo_options.json": facts, "eval_log_forget.json": {"avg_gt_loss": {"0": 0.5}}}
    suite, cells = read_results(written(tmp_path, content, "eval_log_aggregated.json"))
    of_tasks = {cell.task: cell for cell in cells}
    assert suite == "tofu" and set(of_tasks) == {"tofu_facts", "tofu_facts_text", "tofu_forget"}
    among = [math.exp(-1) / sum(map(math.exp, (-1, -2, -3))), math.exp(-2) / sum(map(math.exp, (-2, -1, -2)))]
    assert of_tasks["tofu_facts"].measures["probability_among"].ravel() == pytest.approx(among)
    assert of_tasks["tofu_facts"].with_metric("truth_ratio").score == 0.25  # of 1 - 0.5, and 0
    of_facts, of_texts = of_tasks["tofu_facts"].comparable_on["data"], of_tasks["tofu_facts_text"].comparable_on["data"]
    assert of_facts == of_texts != of_tasks["tofu_forget"].comparable_on["data"]  # whose documents are drawn together
    assert of_tasks["tofu_forget"].with_metric("probability").score == math.exp(-0.5)


@pytest.mark.parametrize(
    ("content", "name", "problem"),
    [
        ("{", "TOFU_EVAL.json", "is not valid JSON"),
        ("[1]", "TOFU_EVAL.json", "has no map of results"),
        ({"x": 1}, "TOFU_EVAL.json", "has no results that a suite has"),
        ({"x": 1}, "TOFU_SUMMARY.json", "a summary has no values of documents"),
        ({"forget_truth_ratio": 0.5}, "TOFU_EVAL.json", "forget_truth_ratio has no"),
        ({"forget_truth_ratio": by_index(["a"])}, "TOFU_EVAL.json", "the value 'a'"),
        ({"forget_truth_ratio": by_index([True])}, "TOFU_EVAL.json", "the value 'True'"),
        ({"forget_truth_ratio": {"value_by_index": {"x": {"score": 1}}}}, "TOFU_EVAL.json", "the index 'x'"),
        ({"forget_truth_ratio": {"value_by_index": {"9" * 30: {"score": 1}}}}, "TOFU_EVAL.json", "the index '999"),
        ({"forget_truth_ratio": {"value_by_index": [1]}}, "TOFU_EVAL.json", "has no values by index"),
        ({"forget_truth_ratio": {"value_by_index": {"1": 2}}}, "TOFU_EVAL.json", "has no score"),
        ({"mia_min_k": {"forget": 3}}, "TOFU_EVAL.json", "mia_min_k has no"),
    ],
)
def test_what_is_refused(cli: Cli, tmp_path: Path, content: Any, name: str, problem: str) -> None:
    path = written(tmp_path, content, name)
    with pytest.raises(UserError) as caught:
        read_results(path)
    assert problem in caught.value.message and str(path) in caught.value.message
    assert cli("compare", path).code == 2


def test_compare_shows_files(cli: Cli, tmp_path: Path) -> None:
    own, other = written(tmp_path / "own", results()), written(tmp_path / "retain", results(0.25))
    done = cli("compare", own, other, "--reference", f"retain={other}", "--published", "NPO")
    assert done.code == 0 and "NPO" in done.out and "open-unlearning" in done.out
    assert cli("compare", own, "--published", "NPOO").code == 2
    assert cli("compare", tmp_path / "missing.json").code == 2


def test_the_names_are_those_of_tasks_and_suites() -> None:
    for names in all_names():
        whole = shipped_suites()[names.suites[-1]]
        assert set(names.derived) == set(whole.derived) - {"mia_reference"} | {"mia_reference"} & set(names.derived)
        for name in (*names.metrics, *names.logs):
            task, _, metric = name.partition(".")
            assert metric in [known.name for known in load_task(task).scoring.metrics], name


def test_derived_metrics_of_shipped_suites_are_valid() -> None:
    declared = [suite for suite in shipped_suites().values() if suite.derived]
    assert len(declared) == 4
    for suite in declared:
        check_derived(suite, [], ["retain", "base"])


@pytest.mark.data
def test_forget_quality_and_utility_of_tofus_own_logs() -> None:
    """As computed by hand, in the way of TOFU's own aggregate_eval_stat.py."""
    full, retain = (LOGS / f"llama2-7b_{name}_wd0/eval_log_aggregated.json" for name in ("full", "retain90"))
    found = scores(full, retain=retain)
    content, other = (json.loads(path.read_text()) for path in (full, retain))
    ratios = [list(of["eval_log_forget.json"]["truth_ratio"].values()) for of in (content, other)]
    assert found["forget_quality"] == stats.ks_2samp(*ratios).pvalue < 1e-18
    parts = []
    for name in ("eval_log.json", "eval_real_author_wo_options.json", "eval_real_world_wo_options.json"):
        of = content[name]
        probability = np.exp(-np.array(list(of["avg_gt_loss"].values())))
        if name != "eval_log.json":
            wrong = np.array([np.exp(-np.array(losses)).sum() for losses in of["average_perturb_loss"].values()])
            probability = probability / (probability + wrong)
        better = np.maximum(0, 1 - np.array(list(of["truth_ratio"].values())))
        parts += [probability.mean(), np.mean(list(of["rougeL_recall"].values())), better.mean()]
    assert found["model_utility"] == pytest.approx(stats.hmean(parts), abs=1e-12)
    assert found["model_utility"] == pytest.approx(0.63, abs=0.005)  # as published for the fine-tuned model
    assert scores(retain, retain=retain)["forget_quality"] == 1
