"""Suites in task files, and control characters: what is refused."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import read_config

from afrieval._util.errors import UserError
from afrieval.config.checks import check_text
from afrieval.config.settings import DataConfig, RunConfig, TaskConfig

SUITE = "suite: lite\ngroups: {nli: [afrixnli], maths: [afrimgsm, afrimgsm_cot]}\n"


def read(folder: Path, text: str, *words: str) -> RunConfig:
    path = folder / "suite.yaml"
    path.write_text(text)
    return read_config(["--task-config-yaml", str(path), *words], command="run", needs_model=False)


def test_the_tasks_of_a_suite_are_those_of_its_groups_unless_some_are_named(tmp_path: Path) -> None:
    assert read(tmp_path, SUITE).task.names == ["afrixnli", "afrimgsm", "afrimgsm_cot"]
    some = read(tmp_path, SUITE, "--task.task_name", "afrimgsm,afrixnli")
    assert some.task.names == ["afrimgsm", "afrixnli"] and len(some.task.groups) == 2


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


def settings(name: str, value: Any) -> dict[str, Any]:
    """Returns all settings, of which one has another value."""
    whole = asdict(RunConfig(task=TaskConfig(task_name="afrixnli"), data=DataConfig("samples")))
    *path, last = name.split(".")
    place = whole
    for step in path:
        place = place[step]
    assert last in place
    place[last] = value
    return whole


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("model.api.base_url", "http://a\n/v1"), ("model.api.key_env", "\tKEY"), ("model.revision", "main\x1b"),
        ("task.task_name", ["afrixnli", "a\x7fb"]), ("task.options", {"split": "\x9b"}),
        ("task.wandb_project", "a\u2028b"),
    ],
)  # fmt: skip
def test_names_with_control_characters(name: str, value: Any) -> None:
    with pytest.raises(UserError) as caught:
        check_text(settings(name, value))
    assert caught.value.message.startswith(name) and "control character" in caught.value.hint


@pytest.mark.parametrize(("name", "text"), [("model.chat_system", "a\0"), ("run_dir", "\ud800"), ("log", ["a\0"])])
def test_what_no_text_may_have(name: str, text: Any) -> None:
    with pytest.raises(UserError, match="which no name or path can contain"):
        check_text(settings(name, text))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("run_dir", "a\n"), ("reference", {"x": "a\n"}), ("model.model_name", "a\x1b"),
        ("model.thinking_end", "</think>\n"), ("model.chat_tags", {"user_start": "\n"}),
        ("model.backend_args", {"stop": ["\n\n"]}), ("model.api.extra_body", {"stop": "\t"}),
    ],
)  # fmt: skip
def test_paths_and_texts_may_have_them(name: str, value: Any) -> None:
    check_text(settings(name, value))
