"""Suites in task files: groups of tasks, and what is refused."""

from pathlib import Path

import pytest

from afrieval._util.errors import UserError
from afrieval.config.arguments import read_config
from afrieval.config.settings import RunConfig

SUITE = "suite: lite\ngroups: {nli: [afrixnli], maths: [afrimgsm, afrimgsm_cot]}\n"


def read(folder: Path, text: str, *words: str) -> RunConfig:
    path = folder / "suite.yaml"
    path.write_text(text)
    return read_config(["--task-config-yaml", str(path), *words], command="run", needs_model=False)


def test_the_tasks_of_a_suite_are_those_of_its_groups_unless_some_are_named(tmp_path: Path) -> None:
    assert read(tmp_path, SUITE).task_names == ["afrixnli", "afrimgsm", "afrimgsm_cot"]
    some = read(tmp_path, SUITE, "--task.task_name", "afrimgsm,afrixnli")
    assert some.task_names == ["afrimgsm", "afrixnli"] and len(some.task.groups) == 2


def test_languages_of_a_suite_are_not_demanded(tmp_path: Path) -> None:
    words = ("--task.languages", "yor,hau")
    assert read(tmp_path, SUITE, *words).task.demanded == []
    assert read(tmp_path, "task_name: afrixnli\n", *words).task.demanded == ["yor", "hau"]


@pytest.mark.parametrize(
    ("text", "words", "problem"),
    [
        ("groups: {nli: [afrixnli]}\n", (), "task.groups is given without task.suite"),
        ("suite: ' '\ngroups: {nli: [afrixnli]}\n", (), "task.suite is empty"),
        ("suite: x\n", (), "no task is given"),
        ("suite: x\ngroups: {a: [afrixnli], b: [afrixnli]}\n", (), "'afrixnli' twice"),
        ("suite: x\ngroups: {a: []}\n", (), "groups.a must be a list or map that is not empty"),
        ("suite: x\ngroups: [afrixnli]\n", (), "groups must be a map"),
        ("suite: x\ngroups: {a: afrixnli}\n", (), "groups.a must be a list"),
        (SUITE, ("--task.task_name", "afrimmlu"), "the suite lite does not have the task 'afrimmlu'"),
        (SUITE, ("--task.groups", "{a: 1}"), "task.groups"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, words: tuple[str, ...], problem: str) -> None:
    with pytest.raises(UserError) as caught:
        read(tmp_path, text, *words)
    assert problem in caught.value.message and caught.value.hint
