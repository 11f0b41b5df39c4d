"""Fields whose values are groups of another field's values."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from afrieval._util.errors import UserError
from afrieval._util.tables import DEFECT
from afrieval.tasks.data.documents import documents
from afrieval.tasks.data.splits import load_split
from afrieval.tasks.declaration.spec import TaskSpec, load_task
from afrieval.tasks.prompts.prompts import load_prompts, render

AREA = {"of": "subject", "groups": {"science": ["physics", "maths"], "arts": ["history"]}}
FIELD = {"of": "area", "groups": {"all": ["science", "arts"]}}
FIELDS = {"question": "question", "subject": "topic", "area": AREA, "field": FIELD}
QUIZ = {
    "name": "quiz", "version": 1, "title": "Quiz", "description": "d", "citation": "c", "licence": "l",
    "kind": "multiple_choice", "languages": {"eng": "en"}, "parallel": {}, "choices": "choices", "answer": "answer",
    "data": {"hub": "a/b", "revision": "main", "files": {"test": "{code}.jsonl"}, "evaluate": "test"},
    "fields": FIELDS, "breakdowns": ["subject", "area", "field"], "macro": "area",
    "prompts": {1: {"template": "{{ field }}, {{ area }}, {{ subject }}: {{ question }}"}},
}  # fmt: skip


def write(folder: Path, subjects: tuple[str, ...] = ("maths", "history"), **changes: Any) -> TaskSpec:
    """A task with a sample row per subject."""
    content = {**QUIZ, **changes}
    home = folder / str(content["name"])
    (home / "sample").mkdir(parents=True, exist_ok=True)
    (home / "task.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
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
