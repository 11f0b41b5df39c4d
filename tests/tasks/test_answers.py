"""Each type of right answers is parsed from a row in every coding, and texts and lists are scored to the end."""

from pathlib import Path
from typing import Any, get_args

import pytest

from afrieval.scoring.responses import Generation
from afrieval.tasks.cells.questions import scorer
from afrieval.tasks.data.documents import Document, documents
from afrieval.tasks.declaration.answers import ANSWERS, Tagged
from afrieval.tasks.declaration.presets import PRESETS
from afrieval.tasks.declaration.spec import TaskSpec, load_task
from afrieval.tasks.declaration.task_file import Kind
from afrieval.tasks.prompts.prompts import example_answer, load_prompts

NAMES = ["O", "B-PER", "I-PER", "B-LOC"]
TASK = """\
name: names
version: 1
title: Names
description: Written by hand for this test.
citation: none
licence: CC0
kind: text
data: {hub: ours/names, revision: main, files: {test: x.jsonl}, evaluate: test}
languages: {eng: en}
parallel: {}
fields: {text: text}
prompts: {1: {template: "Names in: {{ text }}"}}
"""


def task(folder: Path, keys: str) -> TaskSpec:
    (folder / "names").mkdir()
    (folder / "names/task.yaml").write_text(TASK + keys)
    return load_task("names", folder)


@pytest.mark.parametrize(
    ("kind", "value", "gold"),
    [
        ("number", "1,234", 1234),
        ("number", "18.0", 18),
        ("number", "1.5", None),
        ("number", None, None),
        ("text", " e\u0301 ", "é"),
        ("text", 5, "5"),
        ("text", float("nan"), None),
        ("entries", ["Musa", " Kano "], ["Musa", "Kano"]),
        ("entries", "['Musa', \"Kano\"]", ["Musa", "Kano"]),
        ("entries", "Musa", ["Musa"]),
        ("entries", [], []),
        ("entries", "[]", []),
        ("entries", "[Musa", None),
        ("entries", ["Musa", ""], None),
        ("entries", None, None),
        ("texts", ["Musa", " Kano ", "Musa"], ["Musa", "Kano"]),
        ("texts", "Musa", ["Musa"]),
        ("texts", [], None),
        ("texts", "[]", None),
        ("texts", "[Musa", None),
        ("spans", Tagged(["Musa", "Abu", "na", "Kano"], [1, 2, 0, 3], NAMES), [["PER", "Musa Abu"], ["LOC", "Kano"]]),
        ("spans", Tagged("['Musa', 'na']", "['B-PER', 'O']", NAMES), [["PER", "Musa"]]),
        ("spans", Tagged(["na", "Kano"], ["O", "I-PER"], NAMES), []),
        ("spans", Tagged(["Musa", "Kano"], ["O"], NAMES), None),
        ("spans", Tagged(["Musa"], ["B-DATE"], NAMES), None),
        ("spans", Tagged([], [], NAMES), None),
        ("tags", Tagged(["1\u00a0000", "Kano"], [0.0, "B-LOC"], NAMES), [["1 000", "O"], ["Kano", "B-LOC"]]),
        ("tags", Tagged(["Musa", " "], [0, 0], NAMES), None),
        ("mathematics", r"so $\boxed{5}$", "5"),
        ("mathematics", "5", None),
    ],
)
def test_right_answers(kind: str, value: Any, gold: Any) -> None:
    assert ANSWERS[kind].parse(value) == gold


def test_every_kind_has_a_preset() -> None:
    assert set(PRESETS) == set(get_args(Kind)) and {p.answer for p in PRESETS.values()} <= set(ANSWERS)


def scores(spec: TaskSpec, document: Document, text: str) -> dict[str, list[float]]:
    prompt = load_prompts(spec, "eng")[1]
    return scorer(spec, prompt, "eng", "generate", Generation(9))(document, [text]).measures


def test_lists_are_scored(tmp_path: Path) -> None:
    keys = (
        "answer: {field: names, type: entries}\nextract: {name: entries, separator: ;}\nmetrics: [span_f1, unparsed]\n"
    )
    spec = task(tmp_path, keys)
    rows = [{"text": "Musa is in Kano.", "names": ["Musa", "Kano"]}, {"text": "Nobody.", "names": []}]
    found = documents(spec, rows, "here", "test")
    assert [d.gold for d in found] == [["Musa", "Kano"], []] and [d.defect for d in found] == ["", ""]
    assert example_answer(spec, load_prompts(spec, "eng")[1], found[0], "generate") == "Musa, Kano"
    assert scores(spec, found[0], "Musa; Lagos\nNames in:") == {"span_f1": [1.0, 1.0, 1.0, 0.0], "unparsed": [0.0]}
    assert scores(spec, found[1], "None") == {"span_f1": [0.0, 0.0, 0.0, 0.0], "unparsed": [0.0]}
    assert scores(spec, found[1], "  \n") == {"span_f1": [0.0, 0.0, 0.0, 1.0], "unparsed": [1.0]}


def test_texts_are_scored_against_one_reference_or_several(tmp_path: Path) -> None:
    spec = task(tmp_path, "answer: {field: [best, other], type: texts}\nextract: whole\nmetrics: [chrf, bleu]\n")
    rows: list[dict[str, Any]] = [
        {"text": "x", "best": ["Musa went home.", "Musa has gone home."], "other": "Musa left."},
        {"text": "x", "best": None, "other": "He left."},
    ]
    found = documents(spec, rows, "here", "test")
    assert [d.gold for d in found] == [["Musa went home.", "Musa has gone home."], ["He left."]]
    measures = scores(spec, found[0], " Musa has gone home.\n")
    assert measures["chrf"][:3] == [16.0, 16.0, 16.0] and measures["bleu"][:2] == [5.0, 5.0]


def test_what_an_announcement_gives(tmp_path: Path) -> None:
    """The phrase finds a text where there are no choices."""
    spec = task(tmp_path, "answer: best\nextract: {name: phrase, after: the answer is, which: first}\n")
    (found,) = documents(spec, [{"text": "x", "best": "Kano"}], "here", "test")
    assert scores(spec, found, "So the answer is kano. The answer is Lagos.") == {
        "exact_match": [1.0],
        "unparsed": [0.0],
    }
    assert scores(spec, found, "Kano") == {"exact_match": [0.0], "unparsed": [1.0]}
