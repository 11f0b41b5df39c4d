"""F1, spans and tags against seqeval, scikit-learn and sacrebleu, and by hand."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from scipy.optimize import linear_sum_assignment
from seqeval.metrics.v1 import precision_recall_fscore_support
from seqeval.scheme import IOB2, Entities
from sklearn.metrics import f1_score

from afrieval.scoring.base import Metric, Question, Response
from afrieval.scoring.metrics import metric
from afrieval.scoring.tagging import Pair, spans
from afrieval.scoring.texts import n_common

TAGS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]


def counts(spec: Any, given: list[Pair], gold: list[Pair]) -> list[float]:
    measure = metric(spec).measure(Response(given), Question(gold))
    assert measure is not None
    return measure


def n_assigned(given: list[Pair], gold: list[Pair]) -> int:
    """Returns how many spans are right if each is assigned to the one that suits best."""
    if not given or not gold:
        return 0
    equal = np.array([[a == b for b in gold] for a in given])
    return int(equal[linear_sum_assignment(equal, maximize=True)].sum())


@given(st.lists(st.sampled_from([*TAGS, "I-DATE"]), min_size=1, max_size=12))
def test_spans_are_seqevals(tags: list[str]) -> None:
    tokens = [str(i) for i in range(len(tags))]
    theirs = [[e.tag, " ".join(tokens[e.start : e.end])] for e in Entities([tags], IOB2).entities[0]]
    assert spans(tokens, tags) == theirs


SPANS = st.lists(st.sampled_from(["a", "b"]).map(lambda name: ["PER", name]), max_size=6)


@given(SPANS, SPANS)
def test_equal_spans_are_assigned_to_each_other_one_by_one(found: list[Pair], gold: list[Pair]) -> None:
    right, wrong, missed, _ = counts("span_f1", found, gold)
    assert (right, right + wrong, right + missed) == (n_assigned(found, gold), len(found), len(gold))


def test_counts_are_seqevals_where_no_name_occurs_twice() -> None:
    rng, every, golds, given = np.random.default_rng(1), np.zeros(4), [], []
    of_type = {kind: np.zeros(4) for kind in ("PER", "LOC")}
    for _ in range(200):
        tags, wrong = (list(rng.choice(TAGS, size=9)) for _ in "ab")
        tokens = [str(i) for i in range(9)]
        gold, found = spans(tokens, tags), spans(tokens, wrong)
        every += counts("span_f1", found, gold)
        for kind, total in of_type.items():
            total += counts({"name": "span_f1", "type": kind}, found, gold)
        golds.append(tags)
        given.append(wrong)
    theirs = precision_recall_fscore_support(golds, given, average=None, scheme=IOB2)[2]
    ours = [metric("span_f1").score(of_type[kind][None], np.ones((1, 1)))[0] for kind in ("LOC", "PER")]
    assert ours == pytest.approx(list(theirs)) and sum(of_type.values()) == pytest.approx(every)


TAGGED = [["Musa", "PROPN"], ["went", "VERB"], ["home", "NOUN"], [".", "PUNCT"]]


@pytest.mark.parametrize(
    ("given", "measure"),
    [
        (TAGGED, [4, 4]), (TAGGED[:1], [1, 4]), (TAGGED[1:], [3, 4]), ([*TAGGED, ["x", "X"]], [4, 5]),
        ([*TAGGED[:2], ["to", "ADP"], *TAGGED[2:]], [4, 5]), (TAGGED[::-1], [1, 4]),
        ([["Musa", "NOUN"], *TAGGED[1:]], [3, 4]), (None, [0, 4]),
    ],
)  # fmt: skip
def test_a_missing_tag_is_wrong_and_so_is_one_too_many(given: Any, measure: list[float]) -> None:
    assert counts("tag_acc", given, TAGGED) == measure


@given(st.lists(st.sampled_from("abc"), max_size=9), st.lists(st.sampled_from("abc"), max_size=9))
def test_the_longest_common_subsequence(a: list[str], b: list[str]) -> None:
    table = np.zeros((len(a) + 1, len(b) + 1), dtype=int)
    for i, one in enumerate(a):
        for j, other in enumerate(b):
            table[i + 1, j + 1] = table[i, j] + 1 if one == other else max(table[i, j + 1], table[i + 1, j])
    assert n_common(a, b) == table[-1, -1]


# Hand-written: translations as a model might give them, with one or two references each.
TRANSLATED = [
    "Mo fẹ́ jẹun.",
    "Ọjà náà jìnnà sí ilé wa",
    "",
    "ልጁ ወደ ትምህርት ቤት ሄደ።",
    "she has bought three yams at the market",
]
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
    found, one = metric(spec), list(zip(TRANSLATED, FIRST, strict=True))
    assert score(found, one) == pytest.approx(other.corpus_score(TRANSLATED, [FIRST]).score, abs=1e-9) and score(
        found, one
    )
    two = [(given, [a, b]) for given, a, b in zip(TRANSLATED, FIRST, SECOND, strict=True)]
    assert score(found, two) == pytest.approx(other.corpus_score(TRANSLATED, [FIRST, SECOND]).score, abs=1e-9)
    measures = np.array([found.measure(Response(given), Question(gold)) for given, gold in one])
    times = [0, 3, 1, 2, 1]
    given, references = (
        [t for t, n in zip(texts, times, strict=True) for _ in range(n)] for texts in (TRANSLATED, FIRST)
    )
    again = found.score(measures, np.array([times], dtype=np.float64))[0]
    assert again == pytest.approx(other.corpus_score(given, [references]).score, abs=1e-9)


def test_an_unparsed_answer_is_an_empty_translation_and_forms_of_unicode_are_the_same() -> None:
    chrf = metric("chrf")
    assert chrf.measure(Response(None), Question("ab")) == chrf.measure(Response(""), Question("ab"))
    assert score(chrf, [("e\u0301\u0323", "ẹ\u0301")]) == 100.0
    assert [chrf.bounds, chrf.interval] == [(0.0, 100.0), "bootstrap"]


@pytest.mark.parametrize("average", ["macro", "micro", "weighted"])
@settings(max_examples=40)
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
