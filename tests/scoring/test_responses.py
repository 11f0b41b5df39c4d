"""Meta's own answers get the verdict that the data have; what answers took is counted once."""

from typing import Any

import pytest
from tests.tasks.meta_rows import TASKS, read

from afrieval.languages import ENGLISH
from afrieval.results.usage import usage_of
from afrieval.scoring.base import ExtractionContext, Question
from afrieval.scoring.extract import extractor
from afrieval.scoring.ifeval.instructions import FOLLOWED
from afrieval.scoring.responses import Generated, Generation, Scored, at_no_cost, details_of, of_text, shown, together
from afrieval.tasks.cells.questions import scorer
from afrieval.tasks.data.document import Document
from afrieval.tasks.data.files import SAMPLES
from afrieval.tasks.data.splits import load_split
from afrieval.tasks.declaration.spec import load_task
from afrieval.tasks.prompts.prompts import load_prompts

GENERATED = [task for task in TASKS if task != "meta_mmlu"]


def documents(task: str) -> list[Document]:
    split = load_split(load_task(task), ENGLISH, "latest", SAMPLES)
    assert split
    return split.documents


def scored(task: str, document: Document, text: str, thinking_end: str = "") -> dict[str, Any]:
    spec = load_task(task)
    generation = Generation(100, thinking_end=thinking_end, runs_on=False)
    score = scorer(spec, load_prompts(spec, ENGLISH)[1], (), "generate", generation)(document, [text])
    return shown(score, spec.scoring.metrics)


@pytest.mark.parametrize("task", GENERATED)
def test_metas_answers_have_metas_verdict(task: str) -> None:
    """Verdicts of both kinds are there, so that a scorer that always says the same fails."""
    verdicts = {}
    for document, row in zip(documents(task), read(task), strict=True):
        if document.gold is not None:
            found = scored(task, document, row["output_prediction_text"][0])
            main = load_task(task).scoring.metrics_of("generate")[0].name
            assert found[main] == float(row["is_correct"]), row["input_question"]
            assert document.verdict == row["is_correct"]
            verdicts[document.id] = row["is_correct"]
    assert set(verdicts.values()) == {True, False}


@pytest.mark.parametrize("task", GENERATED)
def test_an_answer_that_says_nothing_is_wrong_and_unparsed(task: str) -> None:
    document = next(d for d in documents(task) if d.gold is not None)
    for text in ("", "   \n", "I do not know"):
        found = scored(task, document, text)
        assert found.get("unparsed", 1.0) == 1.0
        assert {value for name, value in found.items() if name in ("acc", "exact_match")} <= {0.0}


def test_a_bare_letter_counts_and_a_capitalised_word_does_not() -> None:
    """The recipe reads ` ([A-Z])`, the last: no letter without a blank before it, and any later word's first letter."""
    document = next(d for d in documents("meta_gpqa") if d.gold == 1)
    for text in ("B", " B.", "(B)", "**B**", "The best answer is B. I hope that helps. Let me know if You want More."):
        assert scored("meta_gpqa", document, text)["acc"] == 1.0, text
    for text in ("Because All of them are wrong", "", "No"):
        assert scored("meta_gpqa", document, text)["acc"] == 0.0, text


def test_instructions_have_a_score_each() -> None:
    for document in documents("meta_ifeval"):
        found = scored("meta_ifeval", document, "no")
        assert tuple(found) == FOLLOWED
        strict, loose = found["inst_level_strict_acc"], found["inst_level_loose_acc"]
        assert len(strict) == len(loose) and all(s <= w for s, w in zip(strict, loose, strict=True))
        assert found["prompt_level_strict_acc"] == float(all(strict))


def test_thoughts_are_not_read() -> None:
    document = next(d for d in documents("meta_gpqa_cot") if d.gold == 1)
    text = "The best answer is A.</think>The best answer is B."
    assert scored("meta_gpqa_cot", document, text, "</think>")["acc"] == 1.0
    assert scored("meta_gpqa_cot", document, "The best answer is B.", "</think>")["acc"] == 0.0


def test_what_several_answers_took_is_added_up() -> None:
    first = {"prompt_tokens": 3, "cost": 0.5, "requests": 1, "at_most": [4, 2], "finish_reason": "length"}
    second = {"prompt_tokens": 4, "cost": 0.25, "requests": 2, "at_most": [1, 1], "lost": [9, 1]}
    added = {"prompt_tokens": 7, "cost": 0.75, "requests": 3, "at_most": [5, 3], "lost": [9, 1]}
    assert together([first, {}, second]) == {**added, "finish_reason": "length"}
    assert together([{}, {}]) == {}


def test_an_answer_that_was_given_before_took_nothing() -> None:
    whole = {"prompt_tokens": 3, "cost": 0.5, "requests": 2, "lost": [4, 2], "refused": True}
    text = at_no_cost(Generated("A", whole))
    assert text == "A" and text.details == {"prompt_tokens": 0, "cost": 0, "requests": 0, "refused": True}
    scored = at_no_cost(Scored((-1.0, True), {"at_most": [4, 2], "requests": 1}))
    assert scored == (-1.0, True) and scored.details == {"prompt_tokens": 0, "requests": 0}
    assert at_no_cost("A") == "A" and not details_of(at_no_cost("A"))


AT_LIMITS: list[dict[str, Any]] = [{}, {"cut": True}, {"finish_reason": "length"}, {"finish_reason": "stop"}]


def test_an_answer_at_its_limit_is_no_refusal_of_a_server() -> None:
    """Local models' answers have no details but this, and none can be refused."""
    question, extract = Question("x"), extractor("whole")
    read = [of_text(Generated("x", details), question, extract, ExtractionContext()) for details in AT_LIMITS]
    assert [(one.cut, one.refused) for one in read] == [(False, None), (True, None), (True, False), (False, False)]
    assert usage_of(AT_LIMITS[1]) == {"cut_off": 1} and usage_of(AT_LIMITS[2])["cut_off"] == 1
