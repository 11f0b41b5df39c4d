"""What holds for every metric, found by name: weights count documents, and scores stay in their bounds."""

import json
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from afrieval._util.errors import UserError
from afrieval.scoring import base
from afrieval.scoring.base import (
    CHOICE,
    INSTRUCTED,
    LEVELS,
    LIKELIHOODS,
    NUMBER,
    SPANS,
    TEXTS,
    WEIGHTS,
    Likelihood,
    Metric,
    Question,
    Response,
)
from afrieval.scoring.labels import REFUSED
from afrieval.scoring.metrics import METRICS, metric
from afrieval.scoring.registry import Spec
from afrieval.scoring.responses import of_likelihoods
from afrieval.scoring.tokens import Tokens
from afrieval.tasks.declaration.kinds import ANSWERS, KINDS
from afrieval.tasks.declaration.task_scoring import FORMS, Scoring

pytestmark = pytest.mark.usefixtures("flores200")
SPECS: list[Spec] = [
    *(name for name in METRICS if name != "gibberish"),  # needs a classifier; see test_gibberish.py
    {"name": "f1", "average": "micro"}, {"name": "f1", "average": "weighted"}, {"name": "chrf", "word_order": 2},
    {"name": "bleu", "tokenize": "intl"}, {"name": "exact_match", "same": "mathematics"},
    {"name": "label_f1", "average": "micro"}, {"name": "label_f1", "label": "joy"}, {"name": "pearson", "label": "joy"},
    {"name": "span_f1", "type": "LOC"}, {"name": "copied", "field": "text"},
    {"name": "truth_ratio", "aggregate": "true_better"},
    {"name": "truth_ratio", "correct": "answer", "aggregate": "share"},
    {"name": "min_k", "k": 0.2}, {"name": "rouge_l", "stem": True},
]  # fmt: skip
ROLES = ["answer", "paraphrased", "perturbed", "perturbed"]
MEASURED_ELSEWHERE = {  # by the cells of the task memorisation
    *("completion", "completion_unseen", "completion_gain", "extraction", "extraction_unseen"),
    *("membership_auc", "length_auc", "order_gain"),
}
TEXT = st.text("abc ጥያቄ.", max_size=8)
PAIRS = st.lists(st.tuples(st.sampled_from(["PER", "LOC"]), st.sampled_from("abc")).map(list), max_size=4)
WORDS = st.lists(st.sampled_from("abc"), max_size=4)
RATED = st.fixed_dictionaries({"anger": st.integers(0, 3), "joy": st.integers(0, 3)})
FOLLOWED = st.lists(st.booleans(), min_size=1, max_size=3)


def choice() -> st.SearchStrategy[tuple[Response, Question]]:
    names, likelihood = ["a", "bcd", "ጥያ"], st.floats(-50, -0.1)
    likelihoods = st.lists(st.tuples(likelihood, st.integers(1, 9)), min_size=3, max_size=3)
    scored = likelihoods.map(lambda drawn: of_likelihoods([Likelihood(v, False, n) for v, n in drawn]))
    generated = st.builds(Response, st.sampled_from([None, 0, 1, 2]), text=st.just("x"))
    return st.tuples(scored | generated, st.builds(lambda gold: Question(gold, names, names), st.integers(0, 2)))


def written(kind: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Response, Question]]:
    asked = st.builds(
        Question, kind, fields=st.fixed_dictionaries({"text": TEXT}), language=st.sampled_from(["", "yor"])
    )
    return st.tuples(st.builds(Response, st.none() | kind), asked)


def followed() -> st.SearchStrategy[tuple[Response, Question]]:
    answers = FOLLOWED.map(lambda kept: {"strict": kept, "loose": [True] * len(kept)})
    return st.tuples(st.builds(Response, answers), st.just(Question({})))


def weighted() -> st.SearchStrategy[tuple[Response, Question]]:
    golds = st.dictionaries(TEXT, st.floats(0.1, 1.0), min_size=1, max_size=3)
    return st.tuples(st.builds(Response, st.none() | TEXT), st.builds(Question, golds))


def measured_texts() -> st.SearchStrategy[tuple[Response, Question]]:
    token = st.tuples(st.floats(-50, 0), st.booleans(), st.floats(-9, 0), st.floats(0, 9))
    texts = st.lists(st.lists(token, min_size=1, max_size=5), min_size=len(ROLES), max_size=len(ROLES))
    question = Question(0, ["a", "b", "c", "ጥያ"], roles=ROLES)
    return st.tuples(texts.map(lambda drawn: Response(None, likelihoods=[*map(_likelihood, drawn)])), st.just(question))


def _likelihood(drawn: list[tuple[float, bool, float, float]]) -> Likelihood:
    logprobs, greedy, means, variances = map(np.array, zip(*drawn, strict=True))
    tokens = Tokens(logprobs, greedy, means, variances, gradient_norm=float(variances[0]))
    return Likelihood(float(logprobs.sum()), bool(greedy.all()), len(drawn), tokens)


def one_written(answer: Any) -> tuple[Response, Question]:
    return Response(answer), Question(answer, fields={"text": "abc"}, language="yor")


# The form of right answers, kinds of documents, and one or two of each, which tell what a metric measures.
DOCUMENTS = [
    (LIKELIHOODS, measured_texts(), [(Response(None, likelihoods=[_likelihood([(-1, True, -2, 1)])] * len(ROLES)),
                         Question(0, ["a", "b", "c", "ጥያ"], roles=ROLES))]),
    (CHOICE, choice(), [(answer, Question(0, ["a", "bcd", "ጥያ"], ["a", "bcd", "ጥያ"]))
                for answer in (of_likelihoods([Likelihood(-1, False, 1)] * 3), Response(0, text="x"))]),
    (base.TEXT, written(TEXT), [one_written("abc")]), (NUMBER, written(st.integers(-9, 9)), [one_written(1)]),
    (TEXTS, written(WORDS), [one_written(["a"])]), (SPANS, written(PAIRS), [one_written([["PER", "a"]])]),
    (WEIGHTS, weighted(), [(Response("a"), Question({"a": 1.0}))]),
    (LEVELS, written(RATED), [one_written({"anger": 0, "joy": 1})]),
    (INSTRUCTED, followed(), [(Response({"strict": [True], "loose": [True]}), Question({}))]),
]  # fmt: skip


@cache
def measured_by(spec: str) -> list[st.SearchStrategy[tuple[Response, Question]]]:
    """Returns the kinds of documents that the metric of a spec's text measures; all, where none of ours is one."""
    found = metric(next(each for each in SPECS if str(each) == spec))
    kinds = [kind for _, kind, ones in DOCUMENTS if any(found.measure(*one) is not None for one in ones)]
    return kinds or [kind for _, kind, _ in DOCUMENTS]


def measured(found: Metric, documents: list[tuple[Response, Question]]) -> np.ndarray[Any, Any] | None:
    measures = [measure for d in documents if (measure := found.measure(*d)) is not None]
    return found.apply_cell_normalisation(np.array(measures)) if measures else None


def check_stored(found: Metric, response: Response, question: Question) -> None:
    if (measure := found.measure(response, question)) is not None:
        shown = found.to_sample(response.answer, measure)
        assert json.loads(json.dumps([measure, shown])) == [measure, shown]
        assert found.from_sample(shown) == measure and all(isinstance(number, float) for number in measure)


@pytest.mark.parametrize("spec", SPECS, ids=str)
@settings(max_examples=10)
@given(data=st.data())
def test_measures_are_stored_without_loss_and_whole_weights_are_repeated_documents(
    spec: Spec, data: st.DataObject
) -> None:
    found = metric(spec)
    documents = data.draw(st.lists(data.draw(st.sampled_from(measured_by(str(spec)))), min_size=1, max_size=6))
    for response, question in documents:
        check_stored(found, response, question)
    measures = measured(found, documents)
    if measures is None:
        return
    times = data.draw(st.lists(st.integers(0, 3), min_size=len(measures), max_size=len(measures)).filter(any))
    repeated = np.repeat(measures, times, axis=0)
    one, low, high = np.ones((1, len(repeated))), *found.bounds
    weights = np.array([times, np.ones(len(measures))], dtype=np.float64)
    scores = found.score(measures, weights)
    assert scores.shape == (2,) and np.all((scores >= low - 1e-9) & (scores <= high + 1e-9))
    assert scores[0] == pytest.approx(found.score(repeated, one)[0], abs=1e-9)
    if found.per_document_values is not None:
        assert found.per_document_values(measures).mean() == pytest.approx(scores[1])


def test_a_metric_measures_the_right_answers_that_it_says_it_applies_to_and_no_others() -> None:
    for spec in SPECS:
        if spec == REFUSED or str(spec) in MEASURED_ELSEWHERE:  # the former applies to answers of some backends
            continue
        found, asked_elsewhere = metric(spec), {"acc_pmi", "copied", "output_language"}
        for form, _, ones in DOCUMENTS[not found.needs :]:  # the first form is for those alone
            for response, question in ones:
                applies = found.applies(form, bool(response.likelihoods))
                measured = found.measure(response, question) is not None
                assert applies == measured or (applies and found.name in asked_elsewhere), (spec, form)
        of_task = {"fields": ["text"], "roles": ROLES}
        parts: Any = (lambda text, question, asked: None), [spec], [metric(spec)], {}, FORMS
        kinds = [replace(Scoring(KINDS["text"], a, *parts), **of_task) for _, a in ANSWERS.items()]  # type: ignore[arg-type]
        assert any(kind.metrics_of(form) for kind in kinds for form in FORMS), spec


@pytest.mark.parametrize(
    ("spec", "message", "hint"),
    [
        ("ac", "there is no metric 'ac'", "did you mean acc?"),
        ({"name": "f1", "averag": "macro"}, "the metric f1 has no option 'averag'", "did you mean average?"),
        ({"name": "f1", "average": "all"}, "average must be macro, micro or weighted, not", "choose from macro"),
        ({"name": "chrf", "word_order": "two"}, "word_order must be a whole number", ""),
        ({"name": "acc", "k": 5}, "the metric acc has no option 'k'", "it has no options"),
        ({"average": "macro"}, "there is no metric 'None'", ""),
    ],
)
def test_a_wrong_name_or_option(spec: Spec, message: str, hint: str) -> None:
    with pytest.raises(UserError) as caught:
        metric(spec)
    assert message in caught.value.message and hint in caught.value.hint
