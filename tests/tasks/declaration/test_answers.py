"""Each type of right answers is parsed from a row in every coding, and texts and lists are scored to the end."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.tasks.small_task import declaration, write_declaration

from afrieval._util.errors import UserError
from afrieval._util.tables import DEFECT
from afrieval.scoring.responses import Generation
from afrieval.tasks.cells.questions import scorer
from afrieval.tasks.data.document import Document
from afrieval.tasks.data.documents import documents
from afrieval.tasks.data.splits import load_split
from afrieval.tasks.declaration.kinds import ANSWERS, KINDS
from afrieval.tasks.declaration.spec import TaskSpec, load_task
from afrieval.tasks.prompts.prompts import example_answer, load_prompts, render

NAMES = ["O", "B-PER", "I-PER", "B-LOC"]
PROMPTS = {1: {"template": "Names in: {{ text }}"}}


def task(folder: Path, **keys: Any) -> TaskSpec:
    content = declaration("names", kind="text", fields={"text": "text"}, prompts=PROMPTS, **keys)
    return load_task("names", write_declaration(folder, content).parents[1])


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
        ("labels", {"joy": 1, "fear": 0.0}, {"joy": 1, "fear": 0}),
        ("labels", {"joy": 1, "fear": 2}, None),
        ("labels", {"joy": 1, "fear": None}, None),
        ("labels", {}, None),
        ("levels", {"joy": "3", "fear": 0}, {"joy": 3, "fear": 0}),
        ("levels", {"joy": -1}, None),
        ("mathematics", r"so $\boxed{5}$", "5"),
        ("mathematics", "5", None),
    ],
)
def test_right_answers(kind: str, value: Any, gold: Any) -> None:
    assert ANSWERS[kind].parse(value) == gold


@pytest.mark.parametrize(
    ("kind", "tokens", "tags", "gold"),
    [
        ("spans", ["Musa", "Abu", "na", "Kano"], [1, 2, 0, 3], [["PER", "Musa Abu"], ["LOC", "Kano"]]),
        ("spans", "['Musa', 'na']", "['B-PER', 'O']", [["PER", "Musa"]]),
        ("spans", ["na", "Kano"], ["O", "I-PER"], []),
        ("spans", ["Musa", "Kano"], ["O"], None),
        ("spans", ["Musa"], ["B-DATE"], None),
        ("spans", [], [], None),
        ("listed_spans", None, "PER: Musa $$ LOC:  Kano  : 5", [["PER", "Musa"], ["LOC", "Kano : 5"]]),
        ("listed_spans", None, " ", []),
        ("listed_spans", None, "PER: Musa $$ DATE: 5", None),
        ("listed_spans", None, "PER:", None),
        ("listed_spans", None, None, None),
        ("tags", ["1\u00a0000", "Kano"], [0.0, "B-LOC"], [["1 000", "O"], ["Kano", "B-LOC"]]),
        ("tags", ["Musa", " "], [0, 0], None),
    ],
)
def test_tokens_with_tags(kind: str, tokens: Any, tags: Any, gold: Any) -> None:
    spec: Any = SimpleNamespace(tags=["PER", "LOC"] if kind == "listed_spans" else NAMES, answer_columns=["tags"])
    assert ANSWERS[kind].gold(spec, {"tokens": tokens, "tags": tags}) == gold


def test_every_kind_has_an_answer_type() -> None:
    assert {kind.answer for _, kind in KINDS.items()} <= set(ANSWERS)


def scores(spec: TaskSpec, document: Document, text: str) -> dict[str, list[float]]:
    prompt = load_prompts(spec, "eng")[1]
    return scorer(spec, prompt, "eng", "generate", Generation(9))(document, [text]).measures


def test_lists_are_scored(tmp_path: Path) -> None:
    answer, extract = {"field": "names", "type": "entries"}, {"name": "entries", "separator": ";"}
    spec = task(tmp_path, answer=answer, extract=extract, metrics=["span_f1", "unparsed"])
    rows = [{"text": "Musa is in Kano.", "names": ["Musa", "Kano"]}, {"text": "Nobody.", "names": []}]
    found = documents(spec, rows, "here", "test")
    assert [d.gold for d in found] == [["Musa", "Kano"], []] and [d.defect for d in found] == ["", ""]
    assert example_answer(spec, load_prompts(spec, "eng")[1], found[0], "generate") == "Musa, Kano"
    assert scores(spec, found[0], "Musa; Lagos\nNames in:") == {"span_f1": [1.0, 1.0, 1.0, 0.0], "unparsed": [0.0]}
    assert scores(spec, found[1], "None") == {"span_f1": [0.0, 0.0, 0.0, 0.0], "unparsed": [0.0]}
    assert scores(spec, found[1], "  \n") == {"span_f1": [0.0, 0.0, 0.0, 1.0], "unparsed": [1.0]}


def test_texts_are_scored_against_one_reference_or_several(tmp_path: Path) -> None:
    answer = {"field": ["best", "other"], "type": "texts"}
    spec = task(tmp_path, answer=answer, extract="whole", metrics=["chrf", "bleu"])
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
    spec = task(tmp_path, answer="best", extract={"name": "phrase", "after": "the answer is", "which": "first"})
    (found,) = documents(spec, [{"text": "x", "best": "Kano"}], "here", "test")
    assert scores(spec, found, "So the answer is kano. The answer is Lagos.") == {
        "exact_match": [1.0],
        "unparsed": [0.0],
    }
    assert scores(spec, found, "Kano") == {"exact_match": [0.0], "unparsed": [1.0]}


AREA = {"of": "subject", "groups": {"science": ["physics", "maths"], "arts": ["history"]}}
FIELD = {"of": "area", "groups": {"all": ["science", "arts"]}}
FIELDS = {"question": "question", "subject": "topic", "area": AREA, "field": FIELD}
QUIZ = declaration(
    "quiz",
    kind="multiple_choice",
    choices="choices",
    answer="answer",
    fields=FIELDS,
    breakdowns=["subject", "area", "field"],
    macro="area",
    prompts={1: {"template": "{{ field }}, {{ area }}, {{ subject }}: {{ question }}"}},
)


def write(folder: Path, subjects: tuple[str, ...] = ("maths", "history"), **changes: Any) -> TaskSpec:
    """A task with a sample row per subject."""
    content = {**QUIZ, **changes}
    home = write_declaration(folder, content).parent
    (home / "sample").mkdir(exist_ok=True)
    row = '{{"split": "test", "question": "q", "topic": "{}", "choices": ["x", "y"], "answer": "A"}}\n'
    (home / "sample/eng.jsonl").write_text("".join(map(row.format, subjects)))
    return load_task(str(content["name"]), folder)


def test_groups_are_fields_of_documents_and_prompts(tmp_path: Path) -> None:
    spec = write(tmp_path)
    split = load_split(spec, "eng", "test", "samples")
    assert split and [list(d.fields.values()) for d in split.documents] == [
        ["q", "maths", "science", "all"], ["q", "history", "arts", "all"],
    ]  # fmt: skip
    text = render(load_prompts(spec, "eng")[1], split.documents[0], "eng")
    assert text == "all, science, maths: q" and not split.documents[0].defect


def test_an_empty_value_is_in_no_group(tmp_path: Path) -> None:
    split = load_split(write(tmp_path, ("maths", "")), "eng", "test", "samples")
    assert split and split.documents[1].fields["field"] == "" and split.documents[1].defect.startswith("empty subject")


def test_a_value_of_no_group_is_named_with_its_row(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        load_split(write(tmp_path, ("maths", "biology")), "eng", "test", "samples")
    assert "row 1: subject 'biology' is in no group of area" in caught.value.message
    assert "fields.area.groups" in caught.value.hint


def test_a_row_that_cannot_be_parsed_may_have_any_value(tmp_path: Path) -> None:
    rows = [{"question": "q", "topic": topic, "choices": ["x", "y"], "answer": "A"} for topic in ("maths", "y, A")]
    rows[1][DEFECT] = "5 columns"
    found = documents(write(tmp_path), rows, "quiz", "test")
    assert [d.defect for d in found] == ["", "5 columns"] and [*found[1].fields] == [*found[0].fields]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"area": AREA, "subject": "topic"}, "fields.area is of 'subject', which is not declared before it"),
        ({"subject": "topic", "area": {"of": "subject", "groups": {"a": ["x"], "b": ["x"]}}}, "has 'x' twice"),
        ({**FIELDS, "field": {"of": "area", "groups": {"all": ["science"]}}}, "has no group for 'arts' of area"),
        ({**FIELDS, "field": {"of": "area", "groups": {"all": ["sciences", "arts"]}}}, "has 'sciences', which area"),
        ({"subject": "topic", "area": {"of": "subject", "groups": {}}}, "fields.area.groups must be a list or map"),
        ({"subject": "topic", "area": {"of": "subject", "groups": {"a": [1]}}}, "must be text, not 1"),
        ({"subject": "topic", "area": {"of": "subject"}}, "the key 'fields.area.groups' is missing"),
        ({"subject": 5}, "fields.subject must be text, a list or a map, not 5"),
    ],
)
def test_a_fault_in_groups(tmp_path: Path, fields: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as caught:
        write(tmp_path, fields={"question": "question", **fields}, breakdowns=[], macro="question")
    assert message in caught.value.message and "quiz/task.yaml" in caught.value.message


def test_groups_are_part_of_what_a_run_may_not_change(tmp_path: Path) -> None:
    other = {**AREA, "groups": {"science": ["physics", "maths", "history"], "arts": ["music"]}}
    changed = write(tmp_path / "changed", fields={**FIELDS, "area": other})
    assert write(tmp_path / "same").declaration != changed.declaration


def test_a_task_that_is_like_another_takes_over_the_groups_that_it_has_fields_for(tmp_path: Path) -> None:
    write(tmp_path)
    of_kin: dict[str, Any] = {"like": "quiz", "breakdowns": [], "macro": None}
    kept = write(tmp_path, name="kin", fields={"question": "Q", "subject": "Subject"}, **of_kin)
    assert [*kept.fields] == ["question", "subject", "area", "field"] and kept.field_columns["subject"] == "Subject"
    assert [*write(tmp_path, name="bare", fields={"question": "Q"}, **of_kin).fields] == ["question"]
    own = {"question": "Q", "subject": "S", "area": "Area"}
    assert write(tmp_path, name="own", fields=own, **of_kin).field_columns["area"] == "Area"


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"labels": ["joy", "fear"], "answer": ["joy", "fear"]}, "labels must end with `none`"),
        ({"labels": ["joy", "fear", "none"], "answer": ["joy", "fear", "x"]}, "a column per label except none"),
        ({"labels": [], "answer": "joy"}, "a task of this kind needs labels"),
    ],
)
def test_labels_and_their_columns_must_agree(tmp_path: Path, keys: dict[str, Any], message: str) -> None:
    content = declaration("names", kind="labels", fields={"text": "text"}, prompts=PROMPTS, **keys)
    with pytest.raises(UserError, match=message):
        load_task("names", write_declaration(tmp_path, content).parents[1])
