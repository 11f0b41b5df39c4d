"""Metrics against sacrebleu and scikit-learn, and numbers worked out by hand."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sklearn.metrics import f1_score

from afrieval.scoring.base import Metric, Question, Response
from afrieval.scoring.metrics import metric

# Hand-written: translations as a model might give them, with one or two references each.
GIVEN = ["Mo fẹ́ jẹun.", "Ọjà náà jìnnà sí ilé wa", "", "ልጁ ወደ ትምህርት ቤት ሄደ።", "she has bought three yams at the market"]
FIRST = [
    "Mo fẹ́ jẹun báyìí.",
    "Ọjà náà jìnnà sí ilé.",
    "Ó ti lọ.",
    "ልጁ ትምህርት ቤት ሄደ።",
    "She bought three yams at the market.",
]
SECOND = ["Mo fẹ́ jẹ oúnjẹ.", "Ọjà jìnnà sí ilé wa.", "Ó lọ.", "ልጁ ወደ ት/ቤት ሄደ።", "She has bought three yams there."]


def score(found: Metric, pairs: list[tuple[Any, Any]], choices: tuple[str, ...] = ()) -> float:
    measures = [found.measure(Response(given), Question(gold, choices)) for given, gold in pairs]
    return float(found.score(np.array(measures), np.ones((1, len(pairs))))[0])


@pytest.mark.parametrize(
    ("spec", "other"),
    [
        ("chrf", CHRF()),
        ({"name": "chrf", "word_order": 2}, CHRF(word_order=2)),
        ("bleu", BLEU()),
        ({"name": "bleu", "tokenize": "intl"}, BLEU(tokenize="intl")),
        ({"name": "bleu", "tokenize": "char"}, BLEU(tokenize="char")),
    ],
    ids=["chrf", "chrf++", "bleu", "bleu intl", "bleu char"],
)
def test_corpus_scores_are_sacrebleus(spec: Any, other: Any) -> None:
    found, one = metric(spec), list(zip(GIVEN, FIRST, strict=True))
    assert score(found, one) == pytest.approx(other.corpus_score(GIVEN, [FIRST]).score, abs=1e-9) and score(found, one)
    two = [(given, [a, b]) for given, a, b in zip(GIVEN, FIRST, SECOND, strict=True)]
    assert score(found, two) == pytest.approx(other.corpus_score(GIVEN, [FIRST, SECOND]).score, abs=1e-9)
    measures = np.array([found.measure(Response(given), Question(gold)) for given, gold in one])
    times = [0, 3, 1, 2, 1]
    given, references = ([t for t, n in zip(texts, times, strict=True) for _ in range(n)] for texts in (GIVEN, FIRST))
    again = found.score(measures, np.array([times], dtype=np.float64))[0]
    assert again == pytest.approx(other.corpus_score(given, [references]).score, abs=1e-9)


def test_an_unparsed_answer_is_an_empty_translation_and_forms_of_unicode_are_the_same() -> None:
    chrf = metric("chrf")
    assert chrf.measure(Response(None), Question("ab")) == chrf.measure(Response(""), Question("ab"))
    assert score(chrf, [("e\u0301\u0323", "ẹ\u0301")]) == 100.0
    assert [chrf.bounds, chrf.interval] == [(0.0, 100.0), "bootstrap"]


@pytest.mark.parametrize("average", ["macro", "micro", "weighted"])
@given(pairs=st.lists(st.tuples(st.integers(-1, 4), st.integers(0, 4)), min_size=1, max_size=40), data=st.data())
def test_f1_is_that_of_scikit_learn(average: str, pairs: list[tuple[int, int]], data: st.DataObject) -> None:
    """An unparsed answer, here -1, is a class of its own that no one looks at; weights repeat documents."""
    picked, gold = zip(*pairs, strict=True)
    found = metric({"name": "f1", "average": average})
    given = [(None if p < 0 else p, g) for p, g in pairs]
    labels = sorted({*picked, *gold} - {-1})
    options = {"labels": labels, "average": average, "zero_division": 0}
    assert score(found, given, tuple("abcde")) == pytest.approx(f1_score(gold, picked, **options))
    times = data.draw(st.lists(st.integers(0, 3), min_size=len(pairs), max_size=len(pairs)).filter(any))
    twice = [pair for pair, n in zip(pairs, times, strict=True) for _ in range(n)]
    picked, gold = zip(*twice, strict=True)
    options["labels"] = sorted({*picked, *gold} - {-1})
    measures = np.array([found.measure(Response(p), Question(g, tuple("abcde"))) for p, g in given])
    again = found.score(measures, np.array([times], dtype=np.float64))[0]
    assert again == pytest.approx(f1_score(gold, picked, **options))


def test_macro_f1_by_hand() -> None:
    """Gold a a b, answers a b b: a has precision 1 and recall 1/2, b precision 1/2 and recall 1; 2/3 each."""
    pairs = [(0, 0), (1, 0), (1, 1)]
    assert score(metric("f1"), pairs, ("a", "b", "c")) == pytest.approx(2 / 3)
    assert score(metric("f1"), [(None, 0), *pairs[1:]], ("a", "b")) == pytest.approx((0 + 2 / 3) / 2)
    assert metric("f1").name == "f1_macro"


@pytest.mark.parametrize(
    ("given", "gold", "measure"),
    [
        (["Musa", "Kano"], ["Musa", "Lagos"], [1, 1, 1, 0]),
        (["Musa", "Musa"], ["Musa"], [1, 1, 0, 0]),
        ([], [], [0, 0, 0, 0]),
        (None, ["Musa", "Kano"], [0, 0, 2, 1]),
    ],
)
def test_spans_are_counted(given: list[str] | None, gold: list[str], measure: list[float]) -> None:
    assert metric("span_f1").measure(Response(given), Question(gold)) == measure


def test_span_f1_is_over_all_documents() -> None:
    """3 right, 1 wrong, 2 missed: 6 / 9, which is no mean of the documents' own F1."""
    pairs = [(["a", "b"], ["a", "b"]), (["c", "d"], ["c", "e", "f"])]
    assert score(metric("span_f1"), pairs) == pytest.approx(6 / 9)
    assert (
        score(metric("span_f1"), [([], [])]) == 1.0
        and score(metric("span_f1"), [(None, [])]) == 0.0
        and score(metric("span_f1"), [(["a"], [])]) == 0.0
    )


@pytest.mark.parametrize(
    ("given", "gold", "right"), [(18, 18, 1), ("18.0", 18, 1), ("18.5", 18, 0), (None, 18, 0), ("(A).", "a", 1)]
)
def test_exact_match(given: Any, gold: Any, right: float) -> None:
    assert metric("exact_match").measure(Response(given), Question(gold)) == [right]


def test_exact_match_of_mathematics() -> None:
    pair = Response(r"\frac{2}{4}"), Question("0.5")
    assert metric({"name": "exact_match", "same": "mathematics"}).measure(*pair) == [1.0]
    assert metric("exact_match").measure(*pair) == [0.0]
