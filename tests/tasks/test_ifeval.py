"""IFEval in Swahili and Yoruba: sample rows have a response by hand, which follows all of its instructions."""

import json
from typing import Any

import pytest
from tests.conftest import spec_of

from afrieval.tasks.cells.questions import scorer
from afrieval.tasks.data.document import Document
from afrieval.tasks.data.files import SAMPLES
from afrieval.tasks.data.splits import load_split
from afrieval.tasks.prompts.prompts import PromptFiles

CELLS = [(task, code) for task in ("marco_ifeval", "benchmax_ifeval") for code in spec_of(task).languages]


def responses(task: str, language: str) -> list[tuple[Document, str]]:
    split = load_split(spec_of(task), language, "train", SAMPLES)
    assert split
    lines = (spec_of(task).samples_folder / f"{language}.jsonl").read_text(encoding="utf-8").splitlines()
    return list(zip(split.documents, (json.loads(line)["response"] for line in lines), strict=True))


def scores(task: str, language: str, given: list[tuple[Document, str]]) -> dict[str, list[Any]]:
    spec = spec_of(task)
    prompt = PromptFiles(spec).load("eng")[1]
    score = scorer(spec, prompt, (), "generate", answer_language=language)
    measures = [score(document, [response]).measures for document, response in given]
    return {name: [m[name] for m in measures] for name in measures[0]}


@pytest.mark.parametrize(("task", "language"), CELLS)
def test_responses_by_hand_follow_everything_and_those_to_other_rows_do_not(task: str, language: str) -> None:
    given = responses(task, language)
    assert all(m == [1.0] for m in scores(task, language, given)["prompt_level_strict_acc"])
    assert all(found == n for found, n in scores(task, language, given)["inst_level_strict_acc"])
    others = [(d, text) for (d, _), (_, text) in zip(given, given[3:] + given[:3], strict=True)]
    assert sum(m[0] for m in scores(task, language, others)["prompt_level_loose_acc"]) < len(given) / 2


def test_english_rows_keep_their_form_and_others_say_their_language() -> None:
    languages = {
        code: {d.gold.get("language") for d, _ in responses("marco_ifeval", code) if d.gold} for code in ("eng", "yor")
    }
    assert languages == {"eng": {None}, "yor": {"yor"}}
