"""Each extractor reads a text of 100,000 characters in a time that grows with its length, whatever the text repeats."""

import time

import pytest

from afrieval.scoring.base import ExtractionContext, Question
from afrieval.scoring.extract import EXTRACTORS, extractor

LENGTH, SECONDS = 100_000, 2.0
OPTIONS = {"phrase": {"after": ["answer is", "Jibu ni"]}}
LABELS = ["joy", "fear", "none"]
QUESTIONS = {
    "labels": Question({"joy": 0, "fear": 1}, names=LABELS),
    "levels": Question({"joy": 0, "fear": 1}, names=LABELS[:2]),
    "spans": Question([["PER", "x"]], names=["PER", "LOC"]),
    "tags": Question([["x", "NOUN"]], names=["NOUN", "VERB"]),
}
CHOICES = Question(1, ["p = 4", "p = 8", "p = 12"], ["A", "B", "C"])
ASKED = ExtractionContext(["The answer is", "Impendulo ngu-{answer}", "Amsa:", "መልሱ {answer} ነው"])
PIECES = [
    "(", r"\boxed{1", r"\frac{1}{", "1", "1,111,", "11,", "1 ", "1+", "1-(", "1=", "½", " ", "\n", "A", "A, ", "a a ",
    "1.\n", "answer is ", "the answer is 1 ", "The answer is A and ", "Answer: not A. ", "መልሱ ", "Impendulo ngu-",
    '{"answer": ', "*", "####1\n", "joy, ", "joy: 1, ", "joy (", "- joy\n", "PER: x\n", "x NOUN\n", ". ",
    "፼", "1x", "A is ", "\u200f",
]  # fmt: skip


@pytest.mark.parametrize("name", sorted({*EXTRACTORS} - {"instructions"}))  # whose checkers are the authors'
def test_an_extractor_is_linear(name: str) -> None:
    extract = extractor({"name": name, **OPTIONS.get(name, {})})
    question = QUESTIONS.get(name, CHOICES)
    slow = {}
    for piece in PIECES:
        text = (piece * (LENGTH // len(piece) + 1))[:LENGTH]
        start = time.process_time()
        extract(text, question, ASKED)
        if (took := time.process_time() - start) > SECONDS:
            slow[piece] = round(took, 1)
    assert not slow
