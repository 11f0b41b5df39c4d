"""Which prompts an answer form runs: lettered ones with letters, the others with words, all of them if generated."""

import pytest

from afrieval._util.errors import UserError
from afrieval.config.settings import RunConfig, TaskConfig
from afrieval.tasks.cells.plan import chosen_prompts
from afrieval.tasks.declaration.selection import answer_form
from afrieval.tasks.declaration.spec import load_task
from afrieval.tasks.prompts.prompts import PromptFiles


def run(task: str = "afrixnli", **chosen: object) -> tuple[str, list[int]]:
    spec, config = load_task(task), RunConfig(task=TaskConfig(task_name=task, **chosen))  # type: ignore[arg-type]
    form = answer_form(spec, config)
    return form, [prompt.number for _, prompt in chosen_prompts(spec, config, form, "yor", PromptFiles(spec))]


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ({}, ("text", [1, 2, 3, 4, 5])),
        ({"answer_form": "letter"}, ("letter", [6])),
        ({"answer_form": "letter", "prompt_language": "both"}, ("letter", [6, 6])),
        ({"answer_form": "generate"}, ("generate", [1, 2, 3, 4, 5, 6])),
        ({"prompts": [6]}, ("letter", [6])),
        ({"prompts": [2, 1]}, ("text", [2, 1])),
        ({"prompts": [6], "answer_form": "generate"}, ("generate", [6])),
        ({"task": "belebele", "answer_form": "text", "prompts": [2]}, ("text", [2])),
    ],
)
def test_prompts_of_an_answer_form(chosen: dict[str, object], expected: tuple[str, list[int]]) -> None:
    assert run(**chosen) == expected  # type: ignore[arg-type]


def test_a_model_that_only_chats_generates_where_a_task_lets_it() -> None:
    chosen = RunConfig(task=TaskConfig(task_name="afrixnli", answer_form="letter"))
    assert answer_form(load_task("afrixnli"), RunConfig(), likelihoods=False) == "generate"
    assert answer_form(load_task("afrixnli"), chosen, likelihoods=False) == "letter", "refused later, with a hint"
    assert answer_form(load_task("meta_mmlu"), RunConfig(), likelihoods=False) == "letter", "it has no other form"


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"prompts": [1, 6]}, "prompt 6 of afrixnli shows letters, but task.answer_form is text"),
        ({"prompts": [6], "answer_form": "text"}, "prompt 6 of afrixnli shows letters, but task.answer_form is text"),
        (
            {"prompts": [1], "answer_form": "letter"},
            "prompt 1 of afrixnli shows no letters, but task.answer_form is letter",
        ),
        ({"prompt_set": "paper", "answer_form": "letter"}, "has no answer form 'letter'"),
    ],
)
def test_a_prompt_that_shows_something_else(chosen: dict[str, object], message: str) -> None:
    with pytest.raises(UserError) as error:
        run(**chosen)  # type: ignore[arg-type]
    assert message in error.value.message
