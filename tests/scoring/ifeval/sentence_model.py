"""Helpers for IFEval: a sentence model for machines that have not fetched nltk's, and accuracies by the metrics."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from afrieval.scoring.base import Question, Response
from afrieval.scoring.ifeval import checkers
from afrieval.scoring.ifeval.instructions import Followed
from afrieval.scoring.metrics import metric

FILES = ("collocations.tab", "sent_starters.txt", "abbrev_types.txt", "ortho_context.tab")


@contextmanager
def sentence_model(root: Path) -> Iterator[bool]:
    """Where nltk's model is not there, an empty one in a folder: it knows no abbreviations and splits at every stop.

    Yields:
        Whether it is nltk's.
    """
    import nltk

    if checkers._has_sentence_model():
        yield True
        return
    folder = root / checkers.SENTENCE_MODEL_FOLDER
    folder.mkdir(parents=True)
    for name in FILES:
        (folder / name).write_text("")
    for path in (root, *root.rglob("*")):
        path.chmod(0o700)  # nltk reads no folder that others may write to
    nltk.data.path.insert(0, str(root))
    yield False
    nltk.data.path.remove(str(root))
    forget_sentence_model()


def forget_sentence_model() -> None:
    """nltk and the harness keep a model that was read once."""
    import nltk

    checkers._registry()
    from lm_eval.tasks.ifeval import instructions_util

    nltk.tokenize._get_punkt_tokenizer.cache_clear()
    instructions_util._get_sentence_tokenizer.cache_clear()


def accuracy(name: str, results: Sequence[Followed]) -> float:
    found = metric(name)
    answers = [{way: list(kept) for way, kept in result._asdict().items()} for result in results]
    measures = np.array([found.measure(Response(answer), Question({})) for answer in answers])
    return float(found.score(measures, np.ones((1, len(results))))[0])
