"""How much there is to run."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

from afrieval.grouping import grouped
from afrieval.models.work import Amount


@dataclass(frozen=True)
class Size:
    """What is asked for some cells of a task in a language, and the most that comes back.

    Attributes:
        likelihoods: what requests for likelihoods take, without seconds.
        answers: the same for generated answers, each of which is as long as it may be.
        truncated: number of requests that lose their beginning, since they do not fit the model's context.
        fewer_examples: number of documents some of whose examples are left out.
        shortened: number of documents whose text is shortened.
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
