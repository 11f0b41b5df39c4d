"""Spans and tags against seqeval, scikit-learn and the most favourable assignment."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from seqeval.metrics.v1 import precision_recall_fscore_support
from seqeval.scheme import IOB2, Entities
from sklearn.metrics import accuracy_score
from tests.conftest import REAL_DATA

from afrieval.scoring.base import Question, Response
from afrieval.scoring.metrics import metric
from afrieval.scoring.tagging import Pair, spans
from afrieval.scoring.texts import n_common

TAGS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
Rows = list[tuple[list[str], list[str]]]


def rows(data_set: str, language: str) -> Rows:
    path = Path(str(REAL_DATA)) / f"masakhane/{data_set}/data/{language}/test.txt"
    found: Rows = []
    for block in path.read_text(encoding="utf-8").split("\n\n"):
        pairs = [line.rsplit(" ", 1) for line in block.splitlines() if len(line.split()) > 1]
        if pairs:
            found.append(([token for token, _ in pairs], [tag for _, tag in pairs]))
    return found


def noisy(tags: list[str], known: list[str], rng: np.random.Generator) -> list[str]:
    return [str(rng.choice(known)) if rng.random() < 0.1 else tag for tag in tags]


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


@pytest.mark.data
@pytest.mark.parametrize("language", ["hau", "yor", "swa", "bbj", "twi"])
def test_spans_of_real_rows_with_noise(language: str) -> None:
    """Equal names in a sentence are one kind of entry, so at least as many are right as in the same places."""
    rng, real = np.random.default_rng(0), rows("masakhaner2", language)
    known = sorted({tag for _, tags in real for tag in tags})
    given = [noisy(tags, known, rng) for _, tags in real]
    total = np.zeros(4)
    for (tokens, tags), wrong in zip(real, given, strict=True):
        gold, found = spans(tokens, tags), spans(tokens, wrong)
        total += (measure := counts("span_f1", found, gold))
        assert measure[0] == n_assigned(found, gold) and measure[0] + measure[2] == len(gold)
    golds = [tags for _, tags in real]
    _, recall, theirs, n = precision_recall_fscore_support(golds, given, average="micro", scheme=IOB2)
    assert total[0] + total[2] == n and total[0] >= round(recall * n)
    ours = metric("span_f1").score(total[None], np.ones((1, 1)))[0]
    assert -1e-9 < ours - theirs < 0.02 and 0.3 < theirs < 0.9


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


@pytest.mark.data
@pytest.mark.parametrize("language", ["hau", "yor", "zul"])
def test_tag_accuracy_of_real_rows_is_scikit_learns(language: str) -> None:
    """Of sentences in which no token occurs twice, as an alignment may then do no better than places."""
    rng, real = np.random.default_rng(0), rows("masakhapos", language)
    known = sorted({tag for _, tags in real for tag in tags})
    apart = [(tokens, tags) for tokens, tags in real if len(set(tokens)) == len(tokens)]
    given = [noisy(tags, known, rng) for _, tags in apart]
    measures = [
        counts("tag_acc", [*map(list, zip(tokens, wrong, strict=True))], [*map(list, zip(tokens, tags, strict=True))])
        for (tokens, tags), wrong in zip(apart, given, strict=True)
    ]
    expected = accuracy_score([t for _, tags in apart for t in tags], [t for tags in given for t in tags])
    assert len(apart) > 50
    assert metric("tag_acc").score(np.array(measures), np.ones((1, len(apart))))[0] == pytest.approx(expected)


GOLD = [["Musa", "PROPN"], ["went", "VERB"], ["home", "NOUN"], [".", "PUNCT"]]


@pytest.mark.parametrize(
    ("given", "measure"),
    [
        (GOLD, [4, 4]), (GOLD[:1], [1, 4]), (GOLD[1:], [3, 4]), ([*GOLD, ["x", "X"]], [4, 5]),
        ([*GOLD[:2], ["to", "ADP"], *GOLD[2:]], [4, 5]), (GOLD[::-1], [1, 4]),
        ([["Musa", "NOUN"], *GOLD[1:]], [3, 4]), (None, [0, 4]),
    ],
)  # fmt: skip
def test_a_missing_tag_is_wrong_and_so_is_one_too_many(given: Any, measure: list[float]) -> None:
    assert counts("tag_acc", given, GOLD) == measure


@given(st.lists(st.sampled_from("abc"), max_size=9), st.lists(st.sampled_from("abc"), max_size=9))
def test_the_longest_common_subsequence(a: list[str], b: list[str]) -> None:
    table = np.zeros((len(a) + 1, len(b) + 1), dtype=int)
    for i, one in enumerate(a):
        for j, other in enumerate(b):
            table[i + 1, j + 1] = table[i, j] + 1 if one == other else max(table[i, j + 1], table[i + 1, j])
    assert n_common(a, b) == table[-1, -1]
