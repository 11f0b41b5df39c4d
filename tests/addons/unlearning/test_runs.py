"""TOFU from end to end, with models that have or have not learnt what is to be forgotten."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import hmean, ks_2samp
from sklearn.metrics import roc_auc_score
from tests.conftest import REAL_DATA, ROOT
from tests.models.trained import trained

import afrieval

pytestmark = pytest.mark.slow
PARTS = ("forget", "retain")
SUITE: Any = {"suite": "tofu", "data_source": "samples", "max_gen_toks": 24}
FORGET = ("tofu_forget", "tofu_forget_text", "tofu_holdout")
UTILITY = {
    "tofu_retain": ("probability", "truth_ratio"),
    "tofu_authors": ("probability_among", "truth_ratio"),
    "tofu_facts": ("probability_among", "truth_ratio"),
    "tofu_retain_text": ("rouge_l_recall",),
    "tofu_authors_text": ("rouge_l_recall",),
    "tofu_facts_text": ("rouge_l_recall",),
}


def pairs(part: str) -> list[tuple[str, str]]:
    """Returns questions and answers, also in other words, without which a model this small learns no facts."""
    file = ROOT / f"tasks/tofu/tofu_{part}/sample/eng.jsonl"
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [(row[f"{kind}question"], row[f"{kind}answer"]) for row in rows for kind in ("", "paraphrased_")]


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> dict[str, afrieval.Run]:
    """Returns runs of a model that has learnt both parts, and of two that only began with what is to be kept."""
    folder = tmp_path_factory.mktemp("tofu")
    learnt = {"full": (0, PARTS, 200, None), "retain": (2, PARTS[1:], 60, FORGET), "other": (5, PARTS[1:], 60, FORGET)}
    found: dict[str, afrieval.Run] = {}
    for name, (seed, parts, steps, tasks) in learnt.items():
        examples = [pair for part in parts for pair in pairs(part)]
        model = trained(folder / name, examples, seed, steps, rate=8e-3)
        found[name] = afrieval.evaluate(model, tasks, **SUITE, run_dir=folder / f"run-{name}")
    return found


def derived(run: afrieval.Run, reference: afrieval.Run | None = None) -> dict[str, Any]:
    """Returns the derived metrics, compared with a reference if one is given."""
    against = {} if reference is None else {"retain": reference.path}
    (table,) = afrieval.load_run(run.path, against).derived()
    rows = table.to_pandas().replace({np.nan: None}).to_dict("records")
    return {str(row["metric"]).replace(" ", "_"): row["score"] for row in rows}


def measures(run: afrieval.Run, task: str, metric: str) -> np.ndarray[Any, Any]:
    return np.array([sample["measures"][metric][0] for sample in run.samples(task, "eng")])


def test_forget_quality_tells_a_model_that_remembers_from_one_that_never_knew(
    evaluated: dict[str, afrieval.Run],
) -> None:
    full, retain, other = evaluated["full"], evaluated["retain"], evaluated["other"]
    remembers, never_knew = derived(full, other), derived(retain, other)
    assert remembers["forget_quality"] < 0.01 and never_knew["forget_quality"] > 0.5
    for run, found in ((full, remembers), (retain, never_knew)):
        own, of_other = (measures(each, "tofu_forget", "truth_ratio") for each in (run, other))
        assert found["forget_quality"] == pytest.approx(ks_2samp(own, of_other).pvalue)
    assert remembers["extraction_strength"] > never_knew["extraction_strength"]
    assert remembers["forget_rouge"] > never_knew["forget_rouge"]


def test_attacks_find_what_was_learnt(evaluated: dict[str, afrieval.Run]) -> None:
    full, other = evaluated["full"], evaluated["other"]
    of_full, of_other = derived(full, other), derived(evaluated["retain"], other)
    for attack in ("loss", "zlib", "min_k", "min_k_plus_plus"):
        scores = [measures(full, task, attack) for task in ("tofu_forget", "tofu_holdout")]
        auc = roc_auc_score(np.repeat([0, 1], [len(of) for of in scores]), np.concatenate(scores))
        assert of_full[f"mia_{attack}"] == pytest.approx(auc) and auc > 0.9
    assert abs(of_other["mia_min_k"] - 0.5) < 0.3
    a, r = (1 - derived(run, other)["mia_min_k"] for run in (full, other))
    assert of_full["privleak"] == pytest.approx(100 * (a - r) / r) and of_full["privleak"] < -50


def test_model_utility_is_the_harmonic_mean_of_nine_scores(evaluated: dict[str, afrieval.Run]) -> None:
    run = evaluated["full"]
    scores = []
    for task, names in UTILITY.items():
        for name in names:
            found = measures(run, task, name)
            scores.append((np.maximum(0, 1 - found) if name == "truth_ratio" else found).mean())
    assert len(scores) == 9
    assert derived(run)["model_utility"] == pytest.approx(0 if 0 in scores else hmean(scores))


def test_a_reference_that_comes_later_asks_nothing_of_the_model(
    evaluated: dict[str, afrieval.Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    full, other = evaluated["full"], evaluated["other"]
    before = derived(full)
    assert before["forget_quality"] is None and before["privleak"] is None
    monkeypatch.setattr("afrieval.run.evaluate.load_model", None)  # it is not called
    again = afrieval.evaluate(full.path.parent / "full", **SUITE, run_dir=full.path, reference={"retain": other.path})
    after = derived(again, other)
    assert after["forget_quality"] < 0.01
    assert {name for name in after if after[name] != before[name]} == {"forget_quality", "privleak"}


@pytest.mark.data
def test_forget_quality_of_real_questions(tmp_path: Path) -> None:
    folder = Path(str(REAL_DATA)) / "locuslab/TOFU/pii_fork"
    forget, retain = (
        json.loads((folder / f"{name}.json").read_text(encoding="utf-8")) for name in ("forget01", "retain90")
    )
    kept = [(row["question"], row["answer"]) for row in retain[:80]]
    known = [(row[f"{kind}question"], row[f"{kind}answer"]) for row in forget for kind in ("", "paraphrased_")]
    found = {}
    for name, seed, rows in (("full", 0, known + kept), ("retain", 2, kept), ("other", 5, kept)):
        model = trained(tmp_path / name, rows, seed, steps=400, rate=6e-3)
        found[name] = afrieval.evaluate(
            model, "tofu_forget", suite="tofu", options={"forget_split": "forget01"}, run_dir=tmp_path / f"run-{name}"
        )
    quality = {name: derived(found[name], found["other"])["forget_quality"] for name in ("full", "retain")}
    assert quality["full"] < 1e-4 and quality["retain"] > 0.5
