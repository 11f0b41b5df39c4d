"""The three ways to ask what a model remembers of a test set."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from afrieval.addons.contamination.rows import Shard
from afrieval.models.base import LanguageModel
from afrieval.scoring.base import Likelihood, Question, Response
from afrieval.scoring.measured import ANSWER
from afrieval.scoring.metrics import metric
from afrieval.scoring.responses import details_of
from afrieval.scoring.tokens import Need, tokens_of
from afrieval.tasks.cells.cell import RunPart
from afrieval.tasks.data.sampling import ChosenRows

Measures = dict[str, list[float]]
Measure = Callable[[Sequence[Any]], Measures]
Method = Literal["loglikelihood", "loglikelihood_rolling"]


@dataclass(frozen=True)
class MemorisationRequest:
    """A sample: a row, or a shard of rows.

    Attributes:
        doc: what is stored of it.
        roles: what the text of each request is.
        measure: the answers, in the same order, to the numbers of each metric.
    """

    doc: dict[str, Any]
    roles: Sequence[str]
    requests: Sequence[tuple[Any, ...]]
    measure: Measure


SHORTEST = 8  # characters of a text that can be completed
FEW_WORDS = 4  # of a text that is divided by characters: its script has no spaces, or it is short


class ProbedText(NamedTuple):
    """A text of the test set or an unseen one, with its number there."""

    number: int
    text: str
    unseen: bool


@dataclass(frozen=True)
class AskingMethod:
    """One way to ask.

    Attributes:
        name: `completion`, `membership` or `order`.
        metrics: the main one first.
        rows: the rows or shards that it asks about.
        ask: a loaded model to its samples, one for each of them.
    """

    name: str
    title: str
    method: Method
    metrics: Sequence[str]
    rows: ChosenRows
    n_requests: int
    ask: Callable[[LanguageModel], list[MemorisationRequest]]
    needs: frozenset[Need] = frozenset()
    derived: RunPart = field(default_factory=dict)


def completion(rows: Sequence[ProbedText], chosen: ChosenRows) -> AskingMethod:
    """Returns the part that asks for the likelihood of the second half of each text after the first."""
    unseen = any(row.unseen for row in rows)
    metrics = ["completion", "extraction"]
    metrics += ["completion_unseen", "completion_gain", "extraction_unseen"] if unseen else []

    def request(row: ProbedText) -> MemorisationRequest:
        before, after = halves(row.text)
        origin = float(row.unseen)

        def measure(answers: Sequence[Any]) -> Measures:
            share = [*_measured("exact_memorisation", after, answers[0]), origin]
            strength = [*_measured("extraction_strength", after, answers[0]), origin]
            return {name: strength if name.startswith("extraction") else share for name in metrics}

        return _of_row(row, (before, after, {"tokens": True}), measure)

    return AskingMethod(
        "completion", "second halves", "loglikelihood", metrics, chosen, len(rows),
        lambda model: [request(row) for row in rows], frozenset[Need](("tokens",)),
    )  # fmt: skip


def membership(rows: Sequence[ProbedText], chosen: ChosenRows) -> AskingMethod:
    """Returns the part that compares min-k++ of texts of the test set and of unseen texts."""

    def request(row: ProbedText) -> MemorisationRequest:
        origin = float(row.unseen)

        def measure(answers: Sequence[Any]) -> Measures:
            min_k = _measured("min_k_plus_plus", row.text, answers[0])
            return {"membership_auc": [*min_k, origin], "length_auc": [float(len(row.text)), origin]}

        return _of_row(row, (row.text, {"tokens": True, "vocabulary": True}), measure)

    return AskingMethod(
        "membership", "min-k++", "loglikelihood_rolling", ["membership_auc", "length_auc"], chosen, len(rows),
        lambda model: [request(row) for row in rows], frozenset[Need](("tokens", "vocabulary")),
    )  # fmt: skip


def order(shards: Sequence[Shard], chosen: ChosenRows) -> AskingMethod:
    """Returns the part that asks for the likelihood of shards in the published order and in others."""

    def request(shard: Shard, model: LanguageModel) -> MemorisationRequest:
        texts = shard.texts
        tokens = float(model.count_tokens(texts[0]))

        def measure(answers: Sequence[Any]) -> Measures:
            likelihoods = [float(answer[0] if isinstance(answer, tuple | list) else answer) for answer in answers]
            return {"order_gain": [tokens, *likelihoods]}

        doc, roles = {"rows": shard.rows, "orders": shard.orders}, [f"shuffled {i}" for i in range(1, len(texts))]
        return MemorisationRequest(doc, ["published", *roles], [(text,) for text in texts], measure)

    derived = {how: {"how": how, "of": "order_gain"} for how in ("order_p", "order_visible")}
    return AskingMethod(
        "order", "order of rows", "loglikelihood_rolling", ["order_gain"], chosen,
        sum(len(shard.orders) for shard in shards), lambda model: [request(shard, model) for shard in shards],
        derived=derived,
    )  # fmt: skip


def halves(text: str) -> tuple[str, str]:
    """Returns the first half of a text by words, and the rest with the space before it; by characters without words.

    The text is stripped, and has at least `SHORTEST` characters.
    """
    words = text.split()
    if len(words) < FEW_WORDS:
        return text[: len(text) // 2], text[len(text) // 2 :]
    end = 0
    for word in words[: len(words) // 2]:
        end = text.index(word, end) + len(word)
    return text[:end], text[end:]


def _of_row(row: ProbedText, request: tuple[Any, ...], measure: Measure) -> MemorisationRequest:
    origin = "unseen" if row.unseen else "test set"
    return MemorisationRequest({"row": row.number, "origin": origin}, [origin], [request], measure)


def _measured(name: str, text: str, answer: Any) -> list[float]:
    value, is_greedy, n_tokens = answer[:3]
    likelihood = Likelihood(value, is_greedy, n_tokens, tokens_of(details_of(answer)))
    measure = metric(name).measure(Response(None, likelihoods=[likelihood]), Question(0, [text], roles=[ANSWER]))
    if measure is None:
        raise ValueError(f"{name} cannot be measured: the likelihoods of tokens are missing")
    return measure[:1]
