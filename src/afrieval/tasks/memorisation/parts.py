"""The three ways to ask what a model remembers of a test set."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from afrieval.scoring.base import Likelihood, Question, Response
from afrieval.scoring.detailed import details_of
from afrieval.scoring.measured import ANSWER
from afrieval.scoring.metrics import metric
from afrieval.scoring.tokens import Need, tokens_of
from afrieval.tasks.cell import RunPart
from afrieval.tasks.memorisation.asked import Asked, Measures, Method
from afrieval.tasks.memorisation.orders import Shard
from afrieval.tasks.sampling import ChosenRows

SHORTEST = 8  # characters of a text that can be completed
FEW_WORDS = 4  # of a text that is divided by characters: its script has no spaces, or it is short


class Row(NamedTuple):
    """A text of the test set or an unseen one, with its number there."""

    number: int
    text: str
    unseen: bool


@dataclass(frozen=True)
class Part:
    """One way to ask.

    Attributes:
        name: `completion`, `membership` or `order`.
        title: its display name.
        method: the type of its requests.
        metrics: the main one first.
        n: number of samples.
        n_requests: number of requests.
        ask: a loaded model to its samples.
        needs: what it needs of each token.
        derived: name to derived metric.
        rows: which of the rows or shards it asks about.
    """

    name: str
    title: str
    method: Method
    metrics: Sequence[str]
    n: int
    n_requests: int
    ask: Callable[[Any], list[Asked]]
    needs: frozenset[Need] = frozenset()
    derived: RunPart = field(default_factory=dict)
    rows: ChosenRows = field(default_factory=lambda: ChosenRows((), 0))


def completion(rows: Sequence[Row]) -> Part:
    """Returns the part that asks for the likelihood of the second half of each text after the first."""
    unseen = any(row.unseen for row in rows)
    metrics = ["completion", "extraction"]
    metrics += ["completion_unseen", "completion_gain", "extraction_unseen"] if unseen else []

    def asked(row: Row) -> Asked:
        before, after = halves(row.text)
        origin = float(row.unseen)

        def measure(answers: Sequence[Any]) -> Measures:
            share = [*_measured("exact_memorisation", after, answers[0]), origin]
            strength = [*_measured("extraction_strength", after, answers[0]), origin]
            return {name: strength if name.startswith("extraction") else share for name in metrics}

        return Asked(_doc(row), [_origin(row)], [(before, after, {"tokens": True})], measure)

    return _of_rows("completion", "second halves", "loglikelihood", metrics, rows, asked, ("tokens",))


def membership(rows: Sequence[Row]) -> Part:
    """Returns the part that compares the min-k++ of each text of the test set with those of unseen texts."""

    def asked(row: Row) -> Asked:
        origin = float(row.unseen)

        def measure(answers: Sequence[Any]) -> Measures:
            found = _measured("min_k_plus_plus", row.text, answers[0])
            return {"membership_auc": [*found, origin], "length_auc": [float(len(row.text)), origin]}

        return Asked(_doc(row), [_origin(row)], [(row.text, {"tokens": True, "vocabulary": True})], measure)

    metrics = ["membership_auc", "length_auc"]
    return _of_rows("membership", "min-k++", "loglikelihood_rolling", metrics, rows, asked, ("tokens", "vocabulary"))


def _of_rows(
    name: str,
    title: str,
    method: Method,
    metrics: Sequence[str],
    rows: Sequence[Row],
    asked: Callable[[Row], Asked],
    needs: Sequence[Need],
) -> Part:
    n = len(rows)
    return Part(name, title, method, metrics, n, n, lambda model: [*map(asked, rows)], frozenset(needs))


def order(shards: Sequence[Shard]) -> Part:
    """Returns the part that asks for the likelihood of shards in the published order and in others."""

    def asked(shard: Shard, model: Any) -> Asked:
        texts = shard.texts
        tokens = float(model.count_tokens(texts[0]))

        def measure(answers: Sequence[Any]) -> Measures:
            likelihoods = [float(answer[0] if isinstance(answer, tuple | list) else answer) for answer in answers]
            return {"order_gain": [tokens, *likelihoods]}

        roles = ["published", *(f"shuffled {i}" for i in range(1, len(texts)))]
        return Asked({"rows": shard.rows, "orders": shard.orders}, roles, [(text,) for text in texts], measure)

    derived = {
        "order_p": {"how": "order_p", "of": "order_gain"},
        "order_visible": {"how": "order_visible", "of": "order_gain"},
    }
    return Part(
        "order",
        "order of rows",
        "loglikelihood_rolling",
        ["order_gain"],
        len(shards),
        sum(len(shard.orders) for shard in shards),
        lambda model: [asked(shard, model) for shard in shards],
        derived=derived,
    )


def halves(text: str) -> tuple[str, str]:
    """Returns the first half of a text by words, and the rest with the space before it; by characters without words.

    Args:
        text: stripped, of at least `SHORTEST` characters.
    """
    words = text.split()
    if len(words) < FEW_WORDS:
        return text[: len(text) // 2], text[len(text) // 2 :]
    at = 0
    for word in words[: len(words) // 2]:
        at = text.index(word, at) + len(word)
    return text[:at], text[at:]


def _doc(row: Row) -> dict[str, Any]:
    return {"row": row.number, "origin": _origin(row)}


def _origin(row: Row) -> str:
    return "unseen" if row.unseen else "test set"


def _measured(name: str, text: str, answer: Any) -> list[float]:
    """Returns the measure of a text under a metric of single documents."""
    value, is_greedy, n_tokens = answer[:3]
    likelihood = Likelihood(value, is_greedy, n_tokens, tokens_of(details_of(answer)))
    found = metric(name).measure(Response(None, likelihoods=[likelihood]), Question(0, [text], roles=[ANSWER]))
    if found is None:
        raise ValueError(f"{name} cannot be measured: the likelihoods of tokens are missing")
    return found[:1]
