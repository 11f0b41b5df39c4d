"""Follows docs/adding-a-metric.md: its files, its task file, what its sample line says."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.conftest import ROOT, Cli

from afrieval.results.run_files import read_run, sample_files
from afrieval.results.samples import read_samples
from afrieval.scoring import derived, metrics
from afrieval.scoring.base import Derived, Input, Metric, Question, Response
from afrieval.scoring.registry import makers

PAGE = (ROOT / "docs/adding-a-metric.md").read_text(encoding="utf-8")
TASK = """\
name: retold
version: 1
title: Retold
description: Written by hand for this test.
citation: none
licence: CC0
data: {hub: ours/retold, revision: main, files: {test: "{code}.jsonl"}, evaluate: test}
languages: {eng: en}
parallel: {}
fields: {text: text}
answer: told
prompts:
  1: {template: "Say it in other words: {{ text }}"}
"""
ROWS = [
    {"text": "Musa is at home.", "length": "short", "told": "Musa went home"},
    {"text": "x", "length": "", "told": "y"},
]


@pytest.fixture
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Adds the page's files to the packages that they are for."""
    found = re.findall(r"^`scoring/(\w+)/(\w+\.py)`:\n\n```python\n(.*?)```", PAGE, re.M | re.S)
    assert [folder for folder, *_ in found] == ["metrics", "derived"]
    kinds: dict[str, Any] = {
        "metrics": (metrics, metrics.METRICS, Metric),
        "derived": (derived, derived.DERIVED, Derived),
    }
    for folder, name, code in found:
        package, known, kind = kinds[folder]
        path = tmp_path / folder
        path.mkdir()
        (path / name).write_text(code, encoding="utf-8")
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(path)])
        for maker in makers(package.__name__, [str(path)], kind).items():
            monkeypatch.setitem(known, *maker)


@pytest.mark.usefixtures("_files")
def test_the_metric(tmp_path: Path) -> None:
    found = metrics.metric("word_recall")
    (line,) = map(json.loads, re.findall(r"```json\n(.*?)```", PAGE, re.S))
    documents = [(line["answer"], "Musa is home"), (None, "a b c d")]
    measures = np.array([found.measure(Response(answer), Question(gold)) for answer, gold in documents])
    assert measures[0].tolist() == line["measures"]["word_recall"]
    scores = found.score(measures, np.array([[1.0, 1.0], [2.0, 1.0], [1.0, 0.0]]))
    assert scores.tolist() == pytest.approx([2 / 7, 4 / 10, 2 / 3])


@pytest.mark.usefixtures("_files")
def test_the_derived_metric() -> None:
    inputs = [
        Input(np.array(scores), np.zeros(1), np.ones((2, 1)), np.zeros((1, 1))) for scores in ([0.5, 0.1], [0.2, 0.3])
    ]
    assert derived.derived("worst", "lowest").score(inputs).tolist() == [0.2, 0.1]


@pytest.mark.usefixtures("_files")
def test_a_task_with_both(cli: Cli, tmp_path: Path) -> None:
    keys = re.findall(r"```yaml\n(.*?)```", PAGE, re.S)
    for name, text in {
        "tasks/retold/task.yaml": TASK + "".join(keys),
        "data/ours/retold/en.jsonl": "\n".join(map(json.dumps, ROWS)),
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")
    named = {"--task.task_name": "retold", "--task.folder": tmp_path / "tasks", "--data.source": tmp_path / "data"}
    named |= {"--model.model_name": "demo", "--run_dir": tmp_path / "run"}
    done = cli("run", *[word for pair in named.items() for word in pair])
    assert done.code == 0, done.err
    (path,) = sample_files(tmp_path / "run")
    for sample in read_samples(path):
        assert list(sample["measures"]) == sample["metrics"] == ["exact_match", "word_recall", "unparsed"]
        assert sample["measures"]["word_recall"][1] == (3.0 if sample["doc_id"] == 0 else 1.0)
        assert sample["answer"] is None or sample["answer"] == sample["resps"][0][0].strip()
    declared = read_run(tmp_path / "run")["declared"]["retold"]
    assert declared["derived"]["worst"] == {"how": "lowest", "of": ["exact_match", "word_recall"], "reference": None}
