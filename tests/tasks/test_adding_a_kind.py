"""Follows docs/adding-a-kind.md: a new kind of task in three files next to a task file."""

import json
import re
from pathlib import Path

import pytest
from tests.conftest import ROOT, Cli, only_samples

from afrieval._util.errors import UserError
from afrieval.scoring.base import ExtractionContext, Question, Response
from afrieval.tasks.data.splits import load_split
from afrieval.tasks.declaration.spec import load_task
from afrieval.tasks.prompts.prompts import example_answer, load_prompts

PAGE = (ROOT / "docs/adding-a-kind.md").read_text(encoding="utf-8")
CODE = dict(re.findall(r"^`(\w+\.py)`:\n\n```python\n(.*?)```", PAGE, re.M | re.S))
TASK = """\
name: order
version: 1
title: Order
description: Written by hand for this test.
citation: none
licence: CC0
data: {hub: ours/order, revision: main, files: {test: "{code}.jsonl"}, evaluate: test}
languages: {eng: en}
"""
ROW = {"topic": "tea", "first": "Drink it.", "second": "Boil water.", "third": "Pour it.", "fourth": "Wait."}
ROWS = [{**ROW, "order": "BCDA"}, {**ROW, "order": "BCD"}]


@pytest.fixture
def task(tmp_path: Path) -> Path:
    (keys,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.S)
    texts = {"tasks/order/task.yaml": TASK + keys, "data/ours/order/en.jsonl": "\n".join(map(json.dumps, ROWS))}
    for name, text in (texts | {f"tasks/order/{name}": code for name, code in CODE.items()}).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path / "tasks/order"


def test_rows_examples_and_scores(task: Path, tmp_path: Path) -> None:
    spec = load_task("order", task.parent)
    split = load_split(spec, "eng", "test", str(tmp_path / "data"))
    assert split
    first, second = split.documents
    assert (first.choices, first.gold) == (("Drink it.", "Boil water.", "Pour it.", "Wait."), "BCDA")
    assert (second.gold, second.defect) == (None, "no right order of all choices")
    assert example_answer(spec, load_prompts(spec, "eng")[1], first, "generate") == "BCDA"
    question = Question(first.gold, first.choices, "ABCD")
    extracted = [spec.scoring.extract(text, question, ExtractionContext()) for text in (" B, C, A, D", "BCDA", "BC")]
    assert extracted == ["BCAD", "BCDA", None]
    main = spec.scoring.metrics[0]
    assert [main.measure(Response(answer), question) for answer in extracted] == [[5.0, 6.0], [6.0, 6.0], [0.0, 6.0]]


def test_a_key_of_its_own(task: Path, tmp_path: Path) -> None:
    text = (task / "task.yaml").read_text(encoding="utf-8")
    (task / "task.yaml").write_text(f"{text}from_last: true\n", encoding="utf-8")
    split = load_split(load_task("order", task.parent), "eng", "test", str(tmp_path / "data"))
    assert split and split.documents[0].gold == "ADCB"


def test_a_run(cli: Cli, task: Path, tmp_path: Path) -> None:
    words = ("run", "demo", task, "--data", tmp_path / "data", "--out", tmp_path / "run")
    assert (done := cli(*words)).code == 0, done.err
    scored, defective = only_samples(tmp_path / "run")
    assert scored["metrics"] == ["pairs_in_order", "unparsed"] and scored["measures"]["pairs_in_order"][1] == 6.0
    assert "A: Drink it.\nB: Boil water." in scored["arguments"][0][0] and defective["metrics"] == []
    (task / "kinds.py").write_text(CODE["kinds.py"] + "# changed\n", encoding="utf-8")
    assert "tasks.order.code" in cli(*words).err, "another kind needs another run folder"
    for name in ("metrics.py", "extractors.py"):
        (task / name).unlink()
    assert f"scoring them again runs {task}/kinds.py" in cli("score", tmp_path / "run").err, "who wrote it?"


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("task.yaml", "choices: [first, second, third, fourth]\n", "", "a ranking needs choices"),
        ("task.yaml", "kind: ranking", "kind: rankin", 'open or ranking, not "rankin"'),
        ("task.yaml", "answer: order", "answer: order\nmetrics: [acc]", "acc cannot score answers of type ranking"),
        ("task.yaml", "answer: order", "answer: order\nfrom_last: 1", "from_last must be true or false, not 1"),
        ("task.yaml", "kind: ranking", "kind: open\nfrom_last: true", "unknown key 'from_last'"),
        ("kinds.py", "-> Kind", "-> object", "kinds.py defines no kind of task"),
        ("kinds.py", "return Kind(", "return Kindly(", "NameError"),
    ],
)
def test_what_is_refused(task: Path, file: str, old: str, new: str, message: str) -> None:
    text = (task / file).read_text(encoding="utf-8")
    assert old in text
    (task / file).write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(UserError) as caught:
        load_task("order", task.parent)
    assert message in caught.value.message
