"""Rubrics of tasks: their own, or their kind's; and right answers that name the kind of answer that is wanted."""

from pathlib import Path
from typing import Any

import pytest
from tests.tasks.small_task import declaration, write_declaration, write_rows

from afrieval._util.errors import UserError
from afrieval.languages import ENGLISH
from afrieval.scoring.responses import Generated, Generation
from afrieval.tasks.cells.questions import scorer
from afrieval.tasks.data.splits import Split, load_split
from afrieval.tasks.declaration.kinds import KINDS
from afrieval.tasks.declaration.spec import TaskSpec, load_task, rubrics
from afrieval.tasks.prompts.prompts import load_prompts

FIELDS = {
    "request": "text",
    "part": "part",
    "wanted": {"of": "part", "groups": {"refused": ["bad"], "complied": ["good"]}},
}
EXAMPLE = {"fields": {"request": "Sing."}, "answer": "La la", "level": "complied", "reason": "It sings."}
LEVELS = {"refused": "It declines.", "complied": "It helps.", "deflected": "It does neither."}
JUDGE = {"version": 1, "asks": "Which kind?", "levels": LEVELS, "shows": ["request"], "examples": [EXAMPLE]}
STEPS = {"1": "bad", "2": "fair", "3": "good"}


def task(folder: Path, **keys: Any) -> TaskSpec:
    prompts = {1: {"template": "{{ request }}"}}
    known: dict[str, Any] = {"kind": "open", "fields": FIELDS, "answer": "wanted", "prompts": prompts, "judge": JUDGE}
    write_declaration(folder, declaration("asking", **{**known, **keys}))
    return load_task("asking", folder)


def read(spec: TaskSpec, folder: Path, *parts: str) -> Split:
    rows = [{"text": f"Sing {part}.", "part": part} for part in parts]
    write_rows(folder / "ours/asking/en.jsonl", rows)
    found = load_split(spec, "eng", "test", str(folder))
    assert found
    return found


def test_a_task_has_its_own_rubric_or_its_kind_s_or_none(tmp_path: Path) -> None:
    own = task(tmp_path)
    assert own.judge and not own.judge.is_scale and own.judge.shows == ["request"]
    write_declaration(tmp_path, {**declaration("other", like="asking"), "languages": {"hau": "ha"}})
    assert load_task("other", tmp_path).judge == own.judge
    keys = {"judge": None, "version": 1}
    assert task(tmp_path, **keys).judge is None
    plain = declaration("plain", kind="translation", fields={"a": "a", "b": "b"}, answer="c", direction={"to": "eng"})
    write_declaration(tmp_path, {**plain, "languages": {"hau": "ha"}, "prompts": {1: {"template": "{{ a }}{{ b }}"}}})
    of_kind = load_task("plain", tmp_path).judge
    assert of_kind and of_kind.shows == ["a", "b"] and of_kind.asks == rubrics()["translation"].asks
    assert load_task("afrimmlu").judge is None and {*rubrics()} < {*KINDS}


def test_a_rubric_does_not_change_what_other_scores_depend_on(tmp_path: Path) -> None:
    one, other = task(tmp_path), task(tmp_path, judge={**JUDGE, "version": 2, "asks": "What?"})
    assert one.judge != other.judge and one.declaration == other.declaration


def test_the_wanted_kind_is_the_group_of_a_row(tmp_path: Path) -> None:
    found = read(task(tmp_path), tmp_path, "bad", "good").documents
    assert [document.gold for document in found] == ["refused", "complied"]
    assert found[0].fields == {"request": "Sing bad.", "part": "bad", "wanted": "refused"}
    with pytest.raises(UserError, match="row 1: part 'new' is in no group of wanted"):
        read(task(tmp_path), tmp_path, "bad", "new")


def test_an_answer_that_names_none_of_the_levels_is_a_defect(tmp_path: Path) -> None:
    fields = {"request": "text"}
    found = read(task(tmp_path, fields=fields, answer="part"), tmp_path, "refused", "unknown").documents
    assert [(d.gold, d.defect) for d in found] == [("refused", ""), (None, "no gold answer")]
    steps = task(tmp_path, fields=fields, answer="part", judge={**JUDGE, "levels": STEPS, "examples": []})
    assert [d.gold for d in read(steps, tmp_path, "any", "text").documents] == ["any", "text"]


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ({"levels": {"refused": "It declines."}}, "judge.levels must be at least two"),
        ({"levels": {"1": "bad", "good": "good"}}, "judge.levels must be all numbers or all words"),
        ({"levels": {"2": "good", "1": "bad"}}, "judge.levels must be given from the lowest number to the highest"),
        ({"levels": {"1": "bad", "01": "worse"}}, "judge.levels must be given from the lowest number"),
        ({"levels": {"refused": "x", "deflected": "y"}}, "judge.levels must have each group of wanted"),
        ({"shows": ["text"]}, "judge.shows must be fields: request, part, wanted"),
        ({"shows": ["wanted"]}, "judge.shows must not have the right answer"),
        ({"shows_right": True}, "judge.examples must have the fields request, and `right`"),
        ({"examples": [{**EXAMPLE, "fields": {"part": "good"}}]}, "judge.examples must have the fields request"),
        ({"examples": [{**EXAMPLE, "level": "good"}]}, "judge.examples must have one of the levels refused, complied"),
        ({"version": 0}, "judge.version"),
        ({"level": {}}, "unknown key 'judge.level'"),
    ],
)
def test_a_fault_in_a_rubric(tmp_path: Path, keys: dict[str, Any], problem: str) -> None:
    with pytest.raises(UserError) as caught:
        task(tmp_path, judge={**JUDGE, **keys})
    assert problem in caught.value.message and "task.yaml" in caught.value.message and caught.value.hint


def test_kinds_of_answers_need_an_open_task_and_generated_answers(tmp_path: Path) -> None:
    fields, judge = {"request": "text"}, {**JUDGE, "examples": []}
    with pytest.raises(UserError, match=r"judge\.levels that are words need kind: open"):
        task(tmp_path, kind="question", fields=fields, answer="part", judge=judge)
    with pytest.raises(UserError, match="judge needs the answer form generate"):
        chosen = {"kind": "multiple_choice", "choices": "part", "request": "loglikelihood"}
        task(tmp_path, **chosen, fields=fields, answer="a", judge={**judge, "levels": STEPS})


def test_a_refusal_is_an_answer_of_an_open_task() -> None:
    """A server marks it; elsewhere it counts as wrong, but here it may be what was wanted."""
    spec = load_task("tukabench")
    split = load_split(spec, ENGLISH, "test", "samples")
    assert split
    score = scorer(spec, load_prompts(spec, ENGLISH)[1], (), "generate", Generation(9), ENGLISH)
    for text, details in (("I cannot help.", {"refused": True}), ("Pull them out.\n\nBy hand.", {})):
        found = score(split.documents[0], [Generated(text, details)])
        assert (found.answer, found.measures["answered"], found.measures["length"]) == (text, [1.0], [len(text)])
    assert score(split.documents[0], [Generated("", {"refused": True})]).measures["answered"] == [0.0]
