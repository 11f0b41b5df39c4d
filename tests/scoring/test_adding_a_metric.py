"""Follows docs/adding-a-metric.md: its files next to a task, its task file, what its sample line says."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from tests.conftest import ROOT, Cli, only_samples, put

from afrieval._util.registry import Registry, entries_of, module_of_file
from afrieval.results.run_files import read_run
from afrieval.scoring import derived
from afrieval.scoring.base import Derived, ExtractionContext, Input, Question, Response
from afrieval.scoring.extract import extractor
from afrieval.scoring.metrics import metric
from afrieval.scoring.user_code import UserCode, user_code

PAGE = (ROOT / "docs/adding-a-metric.md").read_text(encoding="utf-8")
CODE = dict(re.findall(r"^`scoring/(\w+)/\w+\.py`:\n\n```python\n(.*?)```", PAGE, re.M | re.S))
*KEYS, EXTRACT = re.findall(r"```yaml\n(.*?)```", PAGE, re.S)
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
def task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns the folder of a task with the page's metric and extractor; its derived metric is among the suite's."""
    texts = {
        "tasks/retold/task.yaml": TASK + "".join(KEYS).replace("extract: whole\n", EXTRACT),
        "tasks/retold/metrics.py": CODE["metrics"],
        "tasks/retold/extractors.py": CODE["extract"],
        "data/ours/retold/en.jsonl": "\n".join(map(json.dumps, ROWS)),
    }
    for name, text in texts.items():
        path = tmp_path / name
        put(path, text)
    module = module_of_file(tmp_path / "lowest.py", CODE["derived"])
    known: Registry[object] = derived.DERIVED  # type: ignore[assignment]
    monkeypatch.setitem(known, "lowest", entries_of(module, Derived)["lowest"])  # type: ignore[arg-type]
    return tmp_path / "tasks/retold"


@pytest.fixture
def code(task: Path) -> UserCode:
    return user_code(task)


def test_the_metric(code: UserCode) -> None:
    recall = metric("word_recall", code.metrics)
    (line,) = map(json.loads, re.findall(r"```json\n(.*?)```", PAGE, re.S))
    documents = [(line["answer"], "Musa is home"), (None, "a b c d")]
    measures = np.array([recall.measure(Response(answer), Question(gold)) for answer, gold in documents])
    assert measures[0].tolist() == line["measures"]["word_recall"]
    scores = recall.score(measures, np.array([[1.0, 1.0], [2.0, 1.0], [1.0, 0.0]]))
    assert scores.tolist() == pytest.approx([2 / 7, 4 / 10, 2 / 3])


def test_the_extractor(code: UserCode) -> None:
    for options, answer in (({}, "Home"), ({"caseless": True}, "home")):
        extract = extractor({"name": "last_word", **options}, code.extractors)
        assert extract("Musa went Home", Question(""), ExtractionContext()) == answer
        assert extract(" ", Question(""), ExtractionContext()) is None


@pytest.mark.usefixtures("task")
def test_the_derived_metric() -> None:
    inputs = [
        Input(np.array(scores), np.zeros(1), np.ones((2, 1)), np.zeros((1, 1))) for scores in ([0.5, 0.1], [0.2, 0.3])
    ]
    assert derived.derived("worst", "lowest").score(inputs).tolist() == [0.2, 0.1]


def test_a_task_with_all(cli: Cli, task: Path, tmp_path: Path) -> None:
    words = ("run", "demo", task, "--data", tmp_path / "data", "--out", tmp_path / "run")
    assert (done := cli(*words)).code == 0, done.err
    for sample in only_samples(tmp_path / "run"):
        assert list(sample["measures"]) == sample["metrics"] == ["exact_match", "word_recall", "unparsed"]
        assert sample["measures"]["word_recall"][1] == (3.0 if sample["doc_id"] == 0 else 1.0)
        last = sample["resps"][0][0].split()[-1:]
        assert sample["answer"] == (last[0].casefold() if last else None)
    declared = read_run(tmp_path / "run")["declared"]["retold"]
    assert declared["derived"]["worst"] == {"how": "lowest", "of": ["exact_match", "word_recall"], "reference": None}
    extractors = task / "extractors.py"
    extractors.write_text(CODE["extract"].replace("words[-1]", "words[0]"), encoding="utf-8")
    assert "tasks.retold.code" in cli(*words).err, "another extractor needs another run folder"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (") -> Extractor", ")", "extractors.py defines no extractor"),
        ("last_word(", "whole(", "defines whole, an extractor of the suite"),
        ("return extract", "return None", "the function of the extractor last_word returns NoneType, not Extractor"),
        ("caseless: bool", "lower: bool", "the extractor last_word has no option 'caseless'"),
        ("    def extract", "    1 / 0\n\n    def extract", "extractors.py, line 9: ZeroDivisionError"),
        ("def last_word", "def first() -> Extractor: ...\n\n\ndef last_word", ""),
        (
            "def last_word(caseless: bool = False) -> Extractor",
            "def first() -> Extractor: ...\n\n\ndef last_word()",
            "line 9: last_word is not marked as a function that returns Extractor",
        ),
    ],
)
def test_what_is_wrong_with_an_extractor_is_said_by_every_command(
    cli: Cli, task: Path, tmp_path: Path, old: str, new: str, message: str
) -> None:
    (task / "extractors.py").write_text(CODE["extract"].replace(old, new, 1), encoding="utf-8")
    for words in (("list", "retold", "--folder", task.parent), ("preview", task, "--data", tmp_path / "data")):
        done = cli(*words)
        assert message in done.err and done.code == (2 if message else 0), done.err


RAISES = {
    "extractors.py": """\
from afrieval.scoring.base import Extractor


def last_word(caseless: bool = False) -> Extractor:
    return lambda text, question, context: str(1 / len(question.gold[1:]))
""",
    "metrics.py": """\
from afrieval.scoring.base import Metric


def word_recall() -> Metric:
    return Metric("word_recall", lambda response, question: [1 / len(question.gold[1:])])
""",
}


@pytest.mark.parametrize(("name", "part"), [("extractors.py", "extractor"), ("metrics.py", "metric word_recall")])
def test_what_raises_is_answered_with_file_line_and_row(
    cli: Cli, task: Path, tmp_path: Path, name: str, part: str
) -> None:
    """Tasks are listed nevertheless: nothing is scored that nobody asked for."""
    (task / name).write_text(RAISES[name], encoding="utf-8")
    assert cli("list", "retold", "--folder", task.parent).code == 0
    done = cli("run", "demo", task, "--data", tmp_path / "data", "--out", tmp_path / "run")
    reason = "line 5: ZeroDivisionError: division by zero"
    assert f"{task / name}, {reason}, in the {part}, for row 1 of retold" in done.err, done.err
    assert done.code == 2 and not (tmp_path / "run").exists()


def test_an_answer_that_cannot_be_stored_is_refused_before_a_model_is_asked(
    cli: Cli, task: Path, tmp_path: Path
) -> None:
    text = CODE["extract"].replace("words[-1].casefold() if caseless else words[-1]", "{*words}")
    (task / "extractors.py").write_text(text, encoding="utf-8")
    done = cli("run", "demo", task, "--data", tmp_path / "data", "--out", tmp_path / "run")
    assert "extractors.py: the extractor, for row 0 of retold, returns {" in done.err, done.err
    assert done.code == 2 and not (tmp_path / "run").exists()
