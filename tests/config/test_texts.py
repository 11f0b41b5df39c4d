"""Control characters are refused in names and addresses; paths and texts for models may have them."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import pytest

from afrieval._util.errors import UserError
from afrieval.config.checks import check_text
from afrieval.config.settings import DataConfig, RunConfig, TaskConfig


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


@pytest.mark.parametrize("character", ["\n", "\t", "\x1b", "\x7f", "\x9b", "\u2028"])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("model.api.base_url", lambda c: f"http://a{c}/v1"),
        ("model.api.key_env", lambda c: f"{c}KEY"),
        ("model.revision", lambda c: f"main{c}"),
        ("task.task_name", lambda c: ["afrixnli", f"a{c}b"]),
        ("task.options", lambda c: {"split": c}),
        ("task.wandb_project", lambda c: f"a{c}b"),
    ],
)
def test_names_with_control_characters(name: str, value: Callable[[str], Any], character: str) -> None:
    with pytest.raises(UserError) as caught:
        check_text(settings(name, value(character)))
    assert caught.value.message.startswith(name) and "control character" in caught.value.hint


@pytest.mark.parametrize("character", ["\0", "\ud800"])
@pytest.mark.parametrize("name", ["model.chat_system", "run_dir", "model.api.base_url", "task.task_name"])
def test_what_no_text_may_have(name: str, character: str) -> None:
    with pytest.raises(UserError, match="which no name or path can contain"):
        check_text(settings(name, f"a{character}"))


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
