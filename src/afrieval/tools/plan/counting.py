"""Counts what a run would compute, with the model's own tokenizer, or estimates it from bytes."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

from afrieval._util.grouping import grouped
from afrieval.models.answer_file import AnswerFile
from afrieval.models.base import UnknownTokenizer
from afrieval.models.response_cache import CachedLM
from afrieval.models.work import Amount
from afrieval.tasks.cells.cell import Cell, turns
from afrieval.tools.plan.token_counts import TokenCounter


@dataclass(frozen=True)
class Size:
    """The documents, requests and tokens of some cells of a task in a language.

    Attributes:
        likelihoods: what requests for likelihoods take, without seconds.
        answers: the same for generated answers, each of which is as long as it may be.
        truncated: number of requests that lose their beginning, since they do not fit the model's context.
        fewer_examples: number of documents some of whose examples are left out.
    """

    task: str
    language: str
    cells: int
    documents: int
    likelihoods: Amount = field(default_factory=Amount)
    answers: Amount = field(default_factory=Amount)
    truncated: int = 0
    fewer_examples: int = 0
    shortened: int = 0

    @property
    def requests(self) -> int:
        """Number of requests."""
        return self.likelihoods.requests + self.answers.requests

    @property
    def plain(self) -> int:
        """Tokens of prompts and scored answers, as the harness computes them."""
        return self.likelihoods.plain + self.answers.plain

    @property
    def computed(self) -> int:
        """Tokens of prompts and scored answers that are computed."""
        return self.likelihoods.computed + self.answers.computed - self.answers.written

    @property
    def most(self) -> int:
        """The most tokens that generated answers may have."""
        return self.answers.most

    def __add__(self, other: "Size") -> "Size":
        numbers = ("cells", "documents", "likelihoods", "answers", "truncated", "fewer_examples", "shortened")
        return replace(self, **{name: getattr(self, name) + getattr(other, name) for name in numbers})


def by_place(sizes: Iterable[Size]) -> list[Size]:
    """Returns the sums by task and language."""
    return [total(of) for of in grouped(sizes, lambda size: (size.task, size.language)).values()]


def total(sizes: Sequence[Size]) -> Size:
    """Returns the sum of sizes, of which there is at least one."""
    return reduce(Size.__add__, sizes)


MOST = 300_000  # requests that are counted, which takes about a minute
BLOCK = 12  # documents that are counted together: neighbours may share a text, such as the premises of XNLI
FEWEST = 2  # blocks of a cell
FEWEST_WRITTEN = 34  # where answers are generated: how much is padded depends on the number of prompts


def sampled(cells: Sequence[Cell]) -> int:
    """Returns 1 if all documents of some cells are counted, else n if one of n is."""
    return -(-sum(cell.n_requests for cell in cells) // MOST) or 1


def count(cells: Sequence[Cell], lm: TokenCounter, counted: Callable[[Cell], None]) -> list[Size]:
    """Returns the size of each cell, with the tokens that a run computes.

    Equal requests are asked once in a run, and count once. In large plans, some documents of each cell stand for all,
    in proportion to the length of their prompts.
    """
    cached, step = CachedLM(lm, AnswerFile(None)), sampled(cells)
    sizes = []
    for cell in cells:
        requests = list(cell.requests(cached))
        some = _some(requests, step, FEWEST_WRITTEN if "generate_until" in cell.asks else FEWEST)
        lm.begin()
        for method, of_method in grouped(some, lambda request: str(request.request_type)).items():
            getattr(cached, method)(of_method)
        number, length = len(requests) / (len(some) or 1), _length(requests) / (_length(some) or 1)
        likelihoods, answers = (_of_all(amount, number, length, lm.shared) for amount in lm.work.kinds.values())
        head = cell.key.task, cell.key.language, 1, cell.n
        fitted = {r.doc_id: r.doc.shown for r in requests if getattr(r.doc, "shortened", False)}
        fewer = sum(len(shown) - 1 < cell.key.shots for shown in fitted.values())  # examples; others are shortened
        sizes.append(Size(*head, likelihoods, answers, round(lm.truncated * number), fewer, len(fitted) - fewer))
        counted(cell)
    return sizes


def _some(requests: list[Any], step: int, fewest: int) -> list[Any]:
    """Returns the requests of one of `step` blocks of documents, spread over all, of at least the fewest."""
    blocks = 1 + max((request.doc_id // BLOCK for request in requests), default=0)
    n_kept = max(fewest, -(-blocks // step))
    if step == 1 or n_kept >= blocks:
        return requests
    chosen = {i * blocks // n_kept for i in range(n_kept)}
    return [request for request in requests if request.doc_id // BLOCK in chosen]


def _length(requests: Sequence[Any]) -> int:
    return sum(len(text.encode()) for request in requests for text in request.args if isinstance(text, str))


def _of_all(amount: Amount, number: float, length: float, shared: int) -> Amount:
    """Returns what all requests of a cell take, where those that were counted take `amount`.

    There are `number` times as many, with `length` times as many bytes; `shared` tokens are computed once for all.
    """
    prompts = amount.computed - amount.written
    once = min(shared, prompts)
    of_all = {name: round(getattr(amount, name) * number) for name in ("requests", "written", "most")}
    computed = once + round((prompts - once) * length) + of_all["written"]
    return replace(amount, **of_all, plain=round(amount.plain * length), computed=computed, seconds=0.0)


BYTES_PER_TOKEN = 3  # typical of large vocabularies, in Latin and Ethiopic script alike


class Unloaded(UnknownTokenizer):
    """Stands for a model that is not loaded, where requests are built."""

    tokenizer_name = ""

    def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
        """Returns a chat as text."""
        return turns(chat_history, add_generation_prompt)


def sizes_by_bytes(cells: Sequence[Cell], together: bool, echo: bool) -> list[Size]:
    """Returns the sizes of cells by task and language.

    `together`: one request asks for the likelihoods of all choices. `echo`: contexts are sent once more, to count their
    tokens.
    """
    model, sizes = CachedLM(Unloaded(), AnswerFile(None)), []
    for cell in cells:
        instances = list(cell.requests(model))
        if together:
            instances = list({request.args[0]: request for request in instances}.values())
        contexts = {of.args[0] for of in instances if isinstance(of.args[-1], str)} if echo else set[str]()
        texts = [text for request in instances for text in request.args if isinstance(text, str)]
        sent = sum(len(text.encode()) for text in (*texts, *contexts))
        most = sum(of.args[-1].get("max_gen_toks", 0) for of in instances if isinstance(of.args[-1], dict))
        requests = len(instances) if together else cell.n_requests + len(contexts)
        amount = Amount(requests, round(sent / BYTES_PER_TOKEN), most=most)
        size = Size(cell.key.task, cell.key.language, 1, cell.n)
        sizes.append(
            replace(size, answers=amount) if "generate_until" in cell.asks else replace(size, likelihoods=amount)
        )
    return by_place(sizes)
