"""Task and prompt files: what is wrong in them is named with file and key."""

import shutil
from pathlib import Path

import pytest
from tests.conftest import ROOT

from afrieval.errors import UserError
from afrieval.tasks.prompts import load_prompts
from afrieval.tasks.spec import load_task, task_names


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "tasks", tmp_path / "tasks")
    return tmp_path / "tasks"


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_all_tasks_load() -> None:
    sizes = {name: len(load_task(name).languages) for name in task_names()}
    assert sizes["afrimmlu"] >= 18 and sizes["afrixnli"] >= 18 and sizes["belebele"] >= 31


@pytest.mark.parametrize(
    ("old", "new", "message", "hint"),
    [
        ("licence:", "license:", "unknown key 'license'", "licence"),
        ("title: AfriMMLU\n", "", "'title' is missing", ""),
        ("evaluate: test", "evaluate: tset", "data.evaluate 'tset' has no file", ""),
        ("evaluate: test", "evalute: test", "unknown key 'data.evalute'", "evaluate"),
        ("name: afrimmlu", "name: other", "name is 'other'", ""),
        ("  zul: zul\n", "  zul: zul\n  xxx: xxx\n", "language 'xxx' is not in the language table", ""),
        ("choices: choices\n", "", "either choices or labels", ""),
        ("breakdowns: [subject]", "breakdowns: [topic]", "breakdowns", ""),
        ("data:\n", "date:\n", "unknown key 'date'", ""),
        ("kind: multiple_choice", "kind: multiple", "kind must be multiple_choice, number", ""),
        ("[text, letter, generate]", "[txt]", "line 8: answer_forms.0 must be text, letter or generate, not", ""),
        ("[text, letter, generate]", "[]", "answer_forms must be a list or map that is not empty", ""),
        ("version: 2", "version: one", "line 2: version must be a whole number, not", ""),
        ("data/{code}/test.tsv", "data/{lang}/test.tsv", "other braces than {code}", ""),
        ("  subject: subject", "  gold: subject", "a field is named", ""),
        ("licence:", "key: question\nlicence:", "line 6: key must be a list, not", ""),
        ("licence:", "key: [subject, 1]\nlicence:", "line 6: key.1 must be text, not 1", ""),
    ],
)
def test_a_fault_in_a_task_file(tasks: Path, old: str, new: str, message: str, hint: str) -> None:
    path = tasks / "afrimmlu/task.yaml"
    change(path, old, new)
    with pytest.raises(UserError) as caught:
        load_task("afrimmlu", tasks)
    assert str(path) in caught.value.message and message in caught.value.message and hint in caught.value.hint


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{{ premise }}", "{{ premis }}", "unknown key 'premis'"),
        ("{{ premise }}", "{{ premise }", "template cannot be filled in"),
        ("origin: human", "origin: robot", "origin must be human, machine or paper, not"),
        ("neutral: Neither", "neutrl: Neither", "labels are entailment, neutrl, contradiction"),
        ("system:", "sytem:", "unknown key 'sytem'"),
        ("    template: |", "    tmplate: |", "unknown key 'prompts.1.tmplate'"),
        ("    template: |", "    author: me\n    template: |", "unknown key 'prompts.1.author'"),
        ("{{ premise }}", "{{ premise | nofilter }}", "template cannot be filled in: No filter named"),
        ("{{ labels.neutral }}", "{{ labels.neutrl }}", "cannot be filled in"),
        ('"False"}', "False}", "line 9: prompts.1.labels.contradiction must be text, not false"),
        ("system: You", "system: 5 #", "system must be text, not 5"),
        ("  2:\n", "  1:\n", "key 1 is given twice"),
        ("  2:\n", "  two:\n", "prompts.two must be a whole number"),
        ('reviewed_by: ""', "reviewed_by: []", "reviewed_by must be text, not []"),
        ('reviewed_by: ""', "reviewed_by: 5", "reviewed_by must be text, not 5"),
        ("prompts:", "values: {premis: {a: b}}\nprompts:", "unknown key 'premis'"),
        ("prompts:", "values: {premise: {a: no}}\nprompts:", "values.premise.a must be text, not false"),
    ],
)
def test_a_fault_in_a_prompt_file(tasks: Path, old: str, new: str, message: str) -> None:
    path = tasks / "afrixnli/prompts/eng.yaml"
    change(path, old, new)
    with pytest.raises(UserError) as caught:
        load_prompts(load_task("afrixnli", tasks), "eng")
    assert str(path) in caught.value.message and message in caught.value.message


def test_a_prompt_file_without_prompts(tasks: Path) -> None:
    faults = {"": "the key 'prompts' is missing", "prompts: []": "prompts must be a map, not", "prompts:": "not null"}
    for text, message in faults.items():
        (tasks / "afrixnli/prompts/eng.yaml").write_text(f"origin: human\n{text}\n")
        with pytest.raises(UserError, match=message):
            load_prompts(load_task("afrixnli", tasks), "eng")


def test_templates_run_in_a_sandbox(tasks: Path) -> None:
    change(tasks / "afrixnli/prompts/eng.yaml", "{{ premise }}", "{{ premise.__class__.__mro__ }}")
    with pytest.raises(UserError, match="unsafe"):
        load_prompts(load_task("afrixnli", tasks), "eng")
