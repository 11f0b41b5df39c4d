"""Suites from Python: a loaded model, reference runs, and derived metrics as a table."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.models.tiny import tiny_llama

import afrieval
from afrieval.models.demo import demo_folder

SUITE = """
suite: small
groups: {a: [afrixnli], b: [belebele]}
languages: [yor]
prompts: [1]
eval: {limit: 4}
derived:
  attack: {how: auc, of: [afrixnli.acc_norm, belebele.acc_norm]}
  leak: {how: privleak, of: attack, reference: retain}
"""


def loaded(folder: Path) -> tuple[Any, Any]:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    return AutoModelForCausalLM.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    path = tmp_path / "suite.yaml"
    path.write_text(SUITE)
    return path


def test_a_loaded_model_and_a_reference_run(suite: Path, tmp_path: Path) -> None:
    models = [loaded(tiny_llama(tmp_path / "model", seed=3)), loaded(demo_folder())]
    retain = afrieval.evaluate(models[0], suite=suite, data_source="samples", run_dir=tmp_path / "retain")
    assert {row["reason"] for row in retain.derived()[0].records()} == {"", "it needs --reference retain=RUN"}
    given: Any = {"reference": {"retain": retain}, "data_source": "samples", "run_dir": tmp_path / "run"}
    run = afrieval.evaluate(models[1], suite=suite, **given)
    assert {row["task"]: row["n"] for row in run.scores().records()} == {"afrixnli": 4, "belebele": 4}
    attack, leak = run.derived()[0].records()
    assert 0 <= attack["score"] <= 1 and leak["score"] is not None and leak["references"] == "retain"
    stored = json.loads((run.path / "derived.json").read_text())
    assert [found["value"] for found in stored] == [attack["score"], leak["score"]]
    again = afrieval.load_run(run.path, {"retain": retain.path})
    assert again.derived()[0].records() == run.derived()[0].records()
    assert "reason" in afrieval.load_run(run.path).derived().to_csv()
    some = afrieval.evaluate(models[1], "belebele", suite=suite, limit=2, **{**given, "run_dir": tmp_path / "some"})
    assert {row["n"] for row in some.scores().records()} == {2}


def test_a_run_without_a_suite_has_no_derived_metrics(tmp_path: Path) -> None:
    given: Any = {"languages": "yor", "prompts": 1, "data_source": "samples", "limit": 2}
    assert afrieval.evaluate("demo", "afrixnli", **given, run_dir=tmp_path).derived() == ()


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"suite": "irokobenc"}, "there is no suite 'irokobenc'"),
        ({"tasks": "afrixnli", "reference": {"retain": "x"}}, "no derived metric uses the reference 'retain'"),
        ({}, "no task is given"),
    ],
)
def test_what_is_refused(given: Any, problem: str) -> None:
    with pytest.raises(afrieval.UserError, match=problem):
        afrieval.evaluate("demo", **given, data_source="samples")
