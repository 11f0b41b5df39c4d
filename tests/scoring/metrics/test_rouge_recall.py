"""ROUGE recall, and ROUGE with a stemmer, against rouge-score itself."""

from typing import Literal

import pytest
from rouge_score.rouge_scorer import RougeScorer

from afrieval.scoring.base import Question, Response
from afrieval.scoring.metrics import metric

PAIRS = [
    ("Adaora was born in Nsukka.", "She was born in 1961 in Nsukka, Nigeria."),
    ("The bakers are baking cakes", "A baker bakes a cake; the cakes are baked."),
    ("the the the", "the end"),
    ("nothing alike", "something else"),
    ("a b c d e", "e d c b a"),
]
KINDS: dict[str, tuple[str, Literal["recall", "fmeasure"]]] = {
    "rouge_1_recall": ("rouge1", "recall"),
    "rouge_l_recall": ("rougeL", "recall"),
    "rouge_l": ("rougeL", "fmeasure"),
}


@pytest.mark.parametrize("stem", [True, False])
@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize(("given", "gold"), PAIRS)
def test_scores_are_those_of_rouge_score(name: str, stem: bool, given: str, gold: str) -> None:
    kind, part = KINDS[name]
    expected = getattr(RougeScorer([kind], use_stemmer=stem).score(gold, given)[kind], part)
    found = metric({"name": name, "stem": stem}).measure(Response(given, given), Question(gold))
    assert found == pytest.approx([expected])


def test_recall_does_not_punish_length_and_stems_match() -> None:
    long = "Well, as far as I know, she was born in Nsukka, which is a town."
    gold = Question("born in Nsukka")
    assert metric("rouge_l_recall").measure(Response(long), gold) == [1.0]
    assert metric("rouge_1_recall").measure(Response(""), gold) == [0.0]
    baker = Response("bakers"), Question("baker")
    assert metric("rouge_1_recall").measure(*baker) == [0.0]
    assert metric({"name": "rouge_1_recall", "stem": True}).measure(*baker) == [1.0]
    assert "stemmer" in metric({"name": "rouge_l", "stem": True}).signature and not metric("rouge_l").signature
