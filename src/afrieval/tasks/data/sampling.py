"""Selects the rows of a test set that are run, all, the first ones or a representative sample; and few-shot examples.

docs/statistics.md says what a sample guarantees. The rows of a test set have one order for each seed, and a sample of N
rows is the first N of that order. It depends only on `eval.random_seed`, the data set, the split, and the rows of one
language. Rows that cannot be scored are part of it, so that they do not change it where only one language has them.

How: the rows of each class are in a random order. The classes take turns around a circle, which starts at a random
place. Around the circle, each class has its next turn as early as its share allows, and no later than it demands
(Steiner & Yeomans 1993, "Level Schedules for Mixed-Model, Just-in-Time Processes", Management Science), so that after n
places each has had nc/M turns, rounded up or down. From any other place it is less than two from this, and a random
start is what makes each place of the order as likely as any other to be a turn of each class.
"""

import hashlib
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any

from afrieval._util.errors import UserError
from afrieval._util.grouping import grouped
from afrieval.results.identity import BY_LIMIT
from afrieval.tasks.data.document import Document
from afrieval.tasks.declaration.spec import TaskSpec

Strata = Sequence[Hashable]


@dataclass(frozen=True)
class ChosenRows:
    """The rows of a test set that are run.

    Attributes:
        indices: their positions in the test set, in order.
        total: number of rows of the test set.
        ranks: position to rank in the order of samples; empty unless this is a sample of some rows.
        identity: how they were selected, as run.yaml has it; empty for all rows.
    """

    indices: Sequence[int]
    total: int
    ranks: dict[int, int] = field(default_factory=dict)
    identity: dict[str, Any] = field(default_factory=dict)

    def after(self, others: int) -> "ChosenRows":
        """Returns these rows after others, all of which are run."""
        indices = [*range(others), *(others + place for place in self.indices)]
        ranks = {others + place: others + rank for place, rank in self.ranks.items()}
        ranks |= {place: place for place in range(others)} if ranks else {}
        return ChosenRows(indices, others + self.total, ranks, self.identity)


def chosen_rows(
    total: int, limit: int | None, sample: int | None, seed: int, order: Callable[[int], Sequence[int]]
) -> ChosenRows:
    """Returns the rows of a test set that are run; all if it has no more than are asked for.

    Args:
        total: number of rows of the test set.
        limit: how many of the first rows; None for all.
        sample: how many rows of the order of samples; None for all.
        seed: eval.random_seed.
        order: seed to the order of samples.
    """
    if sample is not None and sample < total:
        ranks = {index: rank for rank, index in enumerate(order(seed)[:sample])}
        return ChosenRows(sorted(ranks), total, ranks, {"selection": {"by": "eval.sample", "seed": seed}})
    if limit is not None and limit < total:
        return ChosenRows(range(limit), total, identity={"selection": {"by": BY_LIMIT}})
    return ChosenRows(range(total), total)


def order_of_documents(spec: TaskSpec, documents: Sequence[Document], seed: int) -> list[int]:
    """Returns the places of documents in the order in which samples take them.

    Args:
        spec: their task; tasks on one data set have the same order if they have the same labels and breakdowns.
        documents: all rows of the evaluated split in a language.
        seed: eval.random_seed.
    """
    is_label = bool(spec.labels) and spec.scoring.answer.has_choices
    names = dict.fromkeys([*spec.breakdowns, *([spec.macro] if spec.macro else [])])
    strata: list[Strata] = [[d.gold for d in documents]] if is_label else []
    strata += [[d.fields.get(name) for d in documents] for name in names]
    return sample_order(
        [d.key or str(d.id) for d in documents], strata, f"{seed}:{spec.fewshot_source}:{spec.data.evaluate}"
    )


def order_of_numbers(total: int, seed: int) -> list[int]:
    """Returns row numbers in the order in which samples take them, where nothing is known of the rows.

    It is the same for all test sets, but for numbers that they do not have, so that tasks of the harness in several
    languages get the same rows.
    """
    return sample_order([str(number) for number in range(total)], [], f"{seed}")


def sample_order(names: Sequence[str], strata: Sequence[Strata], key: str) -> list[int]:
    """Returns the places of rows in the order in which samples take them.

    Args:
        names: a name for each row, the same for the same question in every language.
        strata: classes and fields over which samples are spread, each with a value for every row; those with the fewest
            values first count most, and of equals the first.
        key: another key gives another order.
    """
    rows = sorted(range(len(names)), key=lambda row: (_digest(f"sample:{key}:{names[row]}"), row))
    return _spread(rows, sorted(strata, key=lambda stratum: len({*stratum})), f"start:{key}")


def _spread(rows: list[int], strata: Sequence[Strata], key: str) -> list[int]:
    """Returns rows such that the values of the first stratum alternate, and within each value the other strata's do.

    Values are numbered by their first rows, so that it does not matter how a language calls them.
    """
    if not strata or len(rows) < 2:
        return rows
    groups = grouped(rows, strata[0].__getitem__)
    spread = [iter(_spread(of, strata[1:], f"{key}:{number}")) for number, of in enumerate(groups.values())]
    start = _digest(key) % len(rows)
    turns = _circle([len(of) for of in groups.values()])
    return [next(spread[number]) for number in turns[start:] + turns[:start]]


def _circle(sizes: Sequence[int]) -> list[int]:
    """Returns a number from 0 to k - 1 for each place; each number as often as its size, and evenly.

    The turn j of a number of size s, from 0, may be at the places from jM/s to (j + 1)M/s of M. Of those that may be
    next, the first that must be is.
    """
    total = sum(sizes)
    turns = [
        (j * total // size, -(-(j + 1) * total // size), number)
        for number, size in enumerate(sizes)
        for j in range(size)
    ]
    turns.sort(reverse=True)
    order, waiting = list[int](), list[tuple[int, int]]()
    for position in range(total):
        while turns and turns[-1][0] <= position:
            heappush(waiting, turns.pop()[1:])
        order.append(heappop(waiting)[1])
    return order


def _digest(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode(errors="surrogatepass")).digest())


def ranking(
    pool: Sequence[Document], seed: int, data_set: str, split: str, document_id: int | None = None
) -> list[Document]:
    """Returns the pool's usable rows in the order in which they are selected.

    Args:
        pool: documents of the few-shot split; defective ones are never used.
        seed: eval.fewshot_random_seed.
        data_set: its name, so that all tasks on one data set use the same rows.
        split: the few-shot split's name.
        document_id: the evaluated document, if each has its own examples; else None.
    """
    key = f"{seed}:{data_set}:{split}" + ("" if document_id is None else f":{document_id}")

    def rank(row: Document) -> bytes:
        return hashlib.sha256(f"{key}:{row.id}".encode()).digest()

    return sorted((row for row in pool if not row.defect), key=rank)


def kind(document: Document, same: Sequence[str]) -> tuple[str, ...]:
    """Returns what a document and its examples share: the texts of the fields `same`."""
    return tuple(document.fields[name] for name in same)


def usable(ranked: Sequence[Document], document: Document, apart: Sequence[str] = ()) -> list[Document]:
    """Returns the rows that may be examples of a document; arguments as for `examples`."""
    others = [row for row in ranked if (row.fields, row.choices) != (document.fields, document.choices)]
    return [row for row in others if all(row.fields[name] != document.fields[name] for name in apart)]


def examples(
    ranked: Sequence[Document], shots: int, document: Document, apart: Sequence[str] = (), same: Sequence[str] = ()
) -> list[Document]:
    """Returns the first `shots` of some rows that are not the document itself.

    A row with the same texts is the document itself, whichever split it comes from.

    Args:
        ranked: usable rows, in the order in which they are selected.
        shots: how many to select.
        document: the question.
        apart: fields in which examples must differ from it.
        same: fields in which all of `ranked` are like it, for messages.

    Raises:
        UserError: if there are too few.
    """
    selected = usable(ranked, document, apart)[:shots]
    if len(selected) < shots:
        alike = f" for {', '.join(kind(document, same))}" if same else ""
        raise UserError(
            f"eval.num_fewshot is {shots}, but only {len(selected)} examples are usable{alike}",
            f"give {len(selected)} or fewer" if selected else "give 0",
        )
    return selected
