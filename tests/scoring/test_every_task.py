"""What holds for the scores of every task: an echo of the right answer is right, and any other answer is scored.

A new task is covered by being there. Answers take the real way: the text of a worked example, cut where a run would
cut it, extractor, metrics.
"""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.conftest import REAL_DATA, TEMPLATED, spec_of
from tests.tasks.contract import first_rows

from afrieval.languages import ENGLISH
from afrieval.models.base import UnknownTokenizer
from afrieval.scoring.responses import Generation
from afrieval.tasks.cells.cell import CellSettings
from afrieval.tasks.cells.limits import generation
from afrieval.tasks.cells.questions import scorer
from afrieval.tasks.cells.task_cell import TaskCell
from afrieval.tasks.data.document import Document
from afrieval.tasks.data.files import SAMPLES
from afrieval.tasks.data.splits import Split, has_split, load_split
from afrieval.tasks.declaration.task_scoring import by_likelihood
from afrieval.tasks.prompts.prompts import Prompt, PromptFiles, answers, example_answer

pytestmark = pytest.mark.usefixtures("flores200")
files_of = cache(lambda task: PromptFiles(spec_of(task)))
# Texts whose likelihood is measured have no answer, and some metrics need what is not on this machine.
SCORED = [task for task in TEMPLATED if not spec_of(task).texts]
FORMS = [
    (task, form) for task in SCORED for form in spec_of(task).answer_forms if spec_of(task).scoring.metrics_of(form)
]
# Instructions are followed by many answers, and the data have none: tests/tasks/test_ifeval.py
ECHOED = [(task, form) for task, form in FORMS if spec_of(task).kind != "instructions"]
GENERATED = [task for task, form in FORMS if form == "generate"]


def read_alike(task: str) -> str:
    """What decides how a generated answer is read and scored."""
    spec = spec_of(task)
    options = [(m.name, {k: v for k, v in vars(m).items() if isinstance(v, SIMPLE)}) for m in spec.scoring.metrics]
    return repr((spec.kind, spec.extract, options, len(spec.labels)))


SIMPLE = (str, int, float)
READERS = list({read_alike(task): task for task in GENERATED}.values())  # a task of each kind
FIRST = 6  # sample rows of each language
MANY = 2  # languages of real data
ABSENT = {"unparsed", "empty"}  # shares of what an echo never is
OF_OTHERS = {
    "copied",
    "output_language",
    "acc_matched",
    "cut",
    "length",
}  # depend on more than the answer and the right answer
OF_SOME = ("span_f1_", "tone_acc", "dot_acc")  # 1 where no right answer has such a span or mark
Given = Callable[[TaskCell, Document], list[Any]]


def sample_languages(task: str) -> list[str]:
    spec = spec_of(task)
    return sorted({path.stem for path in spec.samples_folder.glob("*.jsonl")} & set(spec.languages))


def real_languages(task: str) -> list[str]:
    spec = spec_of(task)
    source = str(REAL_DATA)
    found = [code for code in spec.languages if has_split(spec, code, spec.data.evaluate, source)]
    return (
        found if len(found) < MANY else found[:: len(found) // MANY]
    )  # they differ in texts alone: one prompt asks all


@cache
def prompts(task: str, language: str, every: bool) -> list[tuple[str, Prompt]]:
    """Returns (prompt language, prompt) pairs; only where label words differ do prompts change scores."""
    files = files_of(task)
    found = [("eng", prompt) for prompt in files.load(ENGLISH).values()]
    if language in files.languages and language != ENGLISH:
        found += [("native", prompt) for prompt in files.load(language).values()]
    differ = {repr((p.labels, p.values, p.delimiter, p.lettered)): (by, p) for by, p in reversed(found)}
    return list(differ.values()) if every and spec_of(task).labels else found[:1]


@cache
def documents(task: str, language: str, source: str) -> Split:
    if source != SAMPLES:
        return Split([d for d in first_rows(task, language, source) if d.gold is not None], "", {})
    split = load_split(spec_of(task), language, spec_of(task).data.evaluate, source)
    assert split
    return split._replace(documents=[d for d in split.documents if d.gold is not None][:FIRST])


def questions(task: str, language: str, form: str, source: str) -> list[TaskCell]:
    spec, files = spec_of(task), files_of(task)
    few, of = documents(task, language, source), prompts(task, language, source == SAMPLES)
    return [TaskCell(spec, language, p, by, form, few, None, CellSettings(), files) for by, p in of]


def scores(asked: TaskCell, given: Given) -> dict[str, float]:
    """Returns the score of each metric, and checks that it is within its bounds."""
    ends = generation(asked, UnknownTokenizer()) if asked.generates else Generation(1)
    score = scorer(asked.task, asked.prompt, (), asked.answer_form, ends, asked.task.answers_in(asked.language))
    neutral = [[-1.0] * len(asked.documents[0].choices)] if asked.neutral else ()
    every = [score(document, given(asked, document), neutral).measures for document in asked.scorable]
    found = {}
    for metric in asked.metrics:
        measures = np.array([measures[metric.name] for measures in every])
        (value,) = metric.score(metric.apply_cell_normalisation(measures), np.ones((1, len(every))))
        assert metric.bounds[0] - 1e-9 <= value <= metric.bounds[1] + 1e-9, metric.name
        found[metric.name] = float(value) / metric.bounds[1]
    return found


def echo(asked: TaskCell, document: Document) -> list[Any]:
    """Returns what a model gives that knows the answer."""
    if by_likelihood(asked.answer_form):
        n = len(answers(asked.prompt, document, asked.answer_form))
        return [(-1.0 if i == document.gold else -1e4, i == document.gold, 1) for i in range(n)]
    ends = generation(asked, UnknownTokenizer())
    answer = example_answer(asked.task, asked.prompt, document, asked.answer_form)
    extract = asked.task.extract
    if isinstance(extract, dict) and extract.get("bare") is False:  # evaluated rows have no worked solution
        words = extract["after"]
        answer = f"The {words[0] if isinstance(words, list) else words} ({answer})."
    if asked.task.generation and not ends.stop:  # as published: only the model ends its answer
        return [f"{asked.prompt.delimiter}{answer}"]
    assert asked.task.generation or len(answer.encode()) <= ends.max_tokens, "the answer is cut"
    more = asked.text(document) if extract == "whole" else "Another question:"  # whose texts may have empty lines
    text = f"{asked.prompt.delimiter}{answer}\n\n{more}"
    return [min((text.partition(stop)[0] for stop in ends.stop), key=len, default=text)]


def check_echo(task: str, form: str, languages: Sequence[str], source: str) -> None:
    for language in languages:
        for asked in questions(task, language, form, source):
            found = {name: value for name, value in scores(asked, echo).items() if name not in OF_OTHERS}
            expected = {name: float(name not in ABSENT) for name in found}
            assert found == pytest.approx(expected), (language, asked.prompt.title)


@pytest.mark.parametrize("task", SCORED)
def test_an_echo_of_the_right_answer_is_right(task: str) -> None:
    for form in (form for of, form in ECHOED if of == task):
        check_echo(task, form, sample_languages(task), SAMPLES)


@pytest.mark.data
@pytest.mark.parametrize("task", SCORED)
def test_an_echo_of_real_answers_is_right(task: str) -> None:
    for form in (form for of, form in ECHOED if of == task):
        check_echo(task, form, real_languages(task), str(REAL_DATA))


def test_an_empty_answer_scores_nothing() -> None:
    for task, language in [(name, code) for name in GENERATED for code in sample_languages(name)]:
        asked = questions(task, language, "generate", SAMPLES)[0]
        found = scores(asked, lambda asked, document: [" \n"])
        names = [m.name for m in asked.metrics if m.higher_is_better and not m.name.startswith(OF_SOME)]
        assert asked.metrics[0].name in names and {name: found[name] for name in names} == dict.fromkeys(names, 0.0), (
            task
        )
        assert all(value == 1.0 for name, value in found.items() if name in ABSENT), task


ODD = {
    "random": "".join(random.Random(0).choices("abcẹ́ጥያቄ .\n:-", k=300)),
    "emoji": "😀👩🏾‍🚀 🇳🇬", "20 kB of one word": "x" * 20_000, "4 kB of words": "Musa went home. " * 250,
    "4 kB of lines": "PER: Musa\nMusa NOUN\n" * 200, "4 kB of spans": "PER: Musa\n" * 400,
    "4 kB of tags": "Musa NOUN\n" * 400, "control characters": "\x00\x1b[31m\u202e\ufeff\r\x85",
}  # fmt: skip


@pytest.mark.parametrize("task", READERS)
def test_any_answer_is_scored_within_the_bounds_of_its_metrics(task: str) -> None:
    language = sample_languages(task)[0]
    (asked, *_) = questions(task, language, "generate", SAMPLES)
    one = replace(asked, data=asked.data._replace(documents=asked.scorable[:1]))
    bounds = {metric.name: metric.bounds for metric in asked.metrics}
    for name, text in ODD.items():
        found = scores(one, lambda asked, document, text=text: [text])  # type: ignore[misc]
        for metric, score in found.items():
            low, high = bounds[metric]
            assert math.isnan(score) or low <= score <= high, (name, metric, score)
