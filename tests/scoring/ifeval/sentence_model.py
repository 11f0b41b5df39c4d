"""Helpers for IFEval: nltk's model of sentences for the harness' own checkers, and accuracies by the metrics."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from tests.conftest import put

from afrieval.scoring.base import Question, Response
from afrieval.scoring.ifeval import checkers
from afrieval.scoring.metrics import metric


@contextmanager
def sentence_model(root: Path) -> Iterator[None]:
    """Where nltk's model is not there, writes the parameters that the suite uses as files for nltk to read."""
    import nltk
    from nltk.tabdata import TabEncoder
    from nltk.tokenize import punkt_model_available
    from punkt import load_model

    if punkt_model_available():
        yield
        return
    learned, encoder = load_model("english"), TabEncoder()
    folder = root / "tokenizers/punkt_tab/english"
    put(folder / "collocations.tab", encoder.tups2tab(learned.collocations))
    (folder / "sent_starters.txt").write_text(encoder.set2txt(learned.sent_starters))
    (folder / "abbrev_types.txt").write_text(encoder.set2txt(learned.abbrev_types))
    (folder / "ortho_context.tab").write_text(encoder.ivdict2tab(learned.ortho_context))
    for path in (root, *root.rglob("*")):
        path.chmod(0o700)  # nltk reads no folder that others may write to
    nltk.data.path.insert(0, str(root))
    yield
    nltk.data.path.remove(str(root))
    forget_sentence_model()


def forget_sentence_model() -> None:
    """nltk and the harness keep a model that was read once."""
    import nltk

    checkers._registry()
    from lm_eval.tasks.ifeval import instructions_util

    nltk.tokenize._get_punkt_tokenizer.cache_clear()
    instructions_util._get_sentence_tokenizer.cache_clear()


def accuracy(name: str, results: Sequence[dict[str, list[bool]]]) -> float:
    found = metric(name)
    measures = np.array([found.measure(Response(answer), Question({})) for answer in results])
    return float(found.score(measures, np.ones((1, len(results))))[0])
