"""Which prompts an answer form runs: lettered ones with letters, the others with words, all of them if generated."""

from typing import Any

import pytest

from afrieval._util.errors import UserError
from afrieval.config.settings import TaskConfig
from afrieval.tasks.cells.plan import chosen_prompts
from afrieval.tasks.declaration.selection import answer_form, check_derived
from afrieval.tasks.declaration.spec import load_task
from afrieval.tasks.prompts.prompts import PromptFiles


def run(task: str = "afrixnli", **chosen: object) -> tuple[str, list[int]]:
    spec, settings = load_task(task), TaskConfig(task_name=task, **chosen)  # type: ignore[arg-type]
    form = answer_form(spec, settings)
    return form, [prompt.number for _, prompt in chosen_prompts(spec, settings, form, "yor", PromptFiles(spec))]


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
        ({"task": "belebele", "answer_form": "letter", "prompt_set": "paper", "prompts": [2]}, ("letter", [2])),
        ({"task": "global_piqa", "prompt_set": "paper"}, ("text", [1])),
    ],
)
def test_prompts_of_an_answer_form(chosen: dict[str, object], expected: tuple[str, list[int]]) -> None:
    assert run(**chosen) == expected  # type: ignore[arg-type]


def test_a_model_that_only_chats_generates_where_a_task_lets_it() -> None:
    chosen = TaskConfig(task_name="afrixnli", answer_form="letter")
    assert answer_form(load_task("afrixnli"), TaskConfig(), likelihoods=False) == "generate"
    assert answer_form(load_task("afrixnli"), chosen, likelihoods=False) == "letter", "refused later, with a hint"
    assert answer_form(load_task("meta_mmlu"), TaskConfig(), likelihoods=False) == "letter", "it has no other form"


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
        (
            {"task": "global_piqa", "prompt_set": "paper", "answer_form": "letter"},
            "global_piqa: Global PIQA prompt 1 shows no choices, but task.answer_form is letter",
        ),
    ],
)
def test_a_prompt_that_shows_something_else(chosen: dict[str, object], message: str) -> None:
    with pytest.raises(UserError) as error:
        run(**chosen)  # type: ignore[arg-type]
    assert message in error.value.message


ATTACK = {"how": "auc", "of": ["afrixnli.acc", "belebele.acc"]}


def check(derived: Any, reference: dict[str, str] | None = None) -> None:
    task = TaskConfig(suite="x", groups={"a": ["afrixnli"], "b": ["belebele"]}, derived=derived)
    check_derived(task, [], list(reference or {}))


def test_what_is_allowed() -> None:
    leak = {"how": "privleak", "of": "attack", "reference": "retain"}
    of_pairs = {"how": "auc_of_differences", "of": ATTACK["of"], "reference": "base"}
    check({"attack": ATTACK, "leak": leak, "pairs": of_pairs}, {"retain": "x", "base": "y"})
    check_derived(TaskConfig(task_name="afrixnli"), ["afrixnli"], [])


@pytest.mark.parametrize(
    ("derived", "problem", "hint"),
    [
        ({"x": {"how": "ac", "of": "afrixnli.acc"}}, "no derived metric 'ac'", "auc"),
        ({"x": {"how": "mean", "of": "afrixnl.acc"}}, "has no task 'afrixnl'", "afrixnli"),
        ({"x": {"how": "mean", "of": "afrimmlu.acc"}}, "has no task 'afrimmlu'", "afrixnli"),
        ({"x": {"how": "mean", "of": "afrixnli.ac"}}, "afrixnli has no metric 'ac'", "acc"),
        ({"x": {"how": "mean", "of": "y"}}, "no derived metric 'y' before it", "TASK.METRIC"),
        ({"a": ATTACK, "x": {"how": "mean", "of": "b"}}, "no derived metric 'b' before it", "choose from a"),
        ({"x": {"how": "mean", "of": []}}, "takes one or more inputs, not 0", "correct of:"),
        ({"x": {"how": "auc", "of": "afrixnli.acc"}}, "auc takes 2 inputs, not 1", "correct of:"),
        ({"x": {"how": "privleak", "of": "afrixnli.acc"}}, "takes 2 inputs, not 1", "reference"),
        ({5: {"how": "mean", "of": "afrixnli.acc"}}, "the name 5", "give a word"),
        ({"x": {"how": "order_p", "of": "afrixnli.acc"}}, "order_p is not supported in suites", "relative_difference"),
        ({"x": {"how": "mean", "of": "afrixnli.acc", "reference": "r"}}, "does not compare", "remove reference:"),
        ({"x": {"how": "privleak", "of": "afrixnli.acc", "reference": "r"}}, "needs an AUC", "how: auc"),
        ({"a": {**ATTACK, "reference": "a=b"}}, "reference is 'a=b'", "letters"),
        ({"x.y": {"how": "mean", "of": "afrixnli.acc"}}, "the name 'x.y'", "full stop"),
        ({"a": ATTACK, "x": {"how": "ks_test", "of": "a", "reference": "r"}}, "needs documents", "metrics of tasks"),
        (
            {"x": {"how": "auc_of_differences", "of": ["afrixnli.acc", "belebele.acc"] * 2}},
            "needs a reference run",
            "reference:",
        ),
    ],
)
def test_what_is_refused(derived: Any, problem: str, hint: str) -> None:
    with pytest.raises(UserError) as caught:
        check(derived)
    assert problem in caught.value.message and hint in caught.value.hint


def test_a_reference_must_be_used() -> None:
    leak = {"how": "privleak", "of": "attack", "reference": "retain"}
    with pytest.raises(UserError, match="uses the reference 'retained'") as caught:
        check({"attack": ATTACK, "leak": leak}, {"retained": "x"})
    assert caught.value.hint == "did you mean retain?"
    with pytest.raises(UserError, match="leave --reference out"):
        check({"attack": ATTACK}, {"retain": "x"})
