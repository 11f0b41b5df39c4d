"""Which cells of a run a derived metric of the suite is computed from."""

from collections.abc import Iterator, Mapping, Sequence

from afrieval.grouping import grouped
from afrieval.results.derived import names_of
from afrieval.results.schema import DerivedFrom
from afrieval.results.scores import CellScores

Declared = Mapping[str, DerivedFrom]
Chosen = dict[str, CellScores]  # task to the cell of it
DIMENSIONS = ("language", "prompt_language", "prompt")


def tasks_of(name: str, declared: Declared) -> list[str]:
    """Returns the tasks whose metrics a derived metric is made of, directly or not."""
    found: list[str] = []
    for of in names_of(declared[name]):
        found += tasks_of(of, declared) if of in declared else [of.partition(".")[0]]
    return list(dict.fromkeys(found))


def references_of(name: str, declared: Declared) -> list[str]:
    """Returns the reference runs that a derived metric needs, directly or not."""
    spec = declared[name]
    below = [known for of in names_of(spec) if of in declared for known in references_of(of, declared)]
    return list(dict.fromkeys([*below, *([reference] if (reference := spec.get("reference")) else [])]))


def selections(tasks: Sequence[str], cells: Sequence[CellScores]) -> list[Chosen]:
    """Returns the sets of cells, one of each task, that have the same language and prompt.

    A task with one language, or one prompt, is in all sets. There is at least one set, which may be empty.

    Args:
        tasks: names; those without cells are left out.
        cells: of one run.
    """
    of_tasks = {task: of for task, of in grouped(cells, lambda c: c.task).items() if task in tasks}
    places = dict.fromkeys(_place(cell) for of in of_tasks.values() for cell in of)
    found = [dict(_at(place, of_tasks)) for place in places]
    most = max((len(chosen) for chosen in found), default=0)
    whole = {tuple(cell.name for cell in chosen.values()): chosen for chosen in found if len(chosen) == most}
    return list(whole.values()) or [{}]


def _place(cell: CellScores) -> tuple[object, ...]:
    return tuple(getattr(cell, name) for name in DIMENSIONS)


def _at(place: tuple[object, ...], of_tasks: Mapping[str, Sequence[CellScores]]) -> Iterator[tuple[str, CellScores]]:
    for task, cells in of_tasks.items():
        several = [len({_place(cell)[i] for cell in cells}) > 1 for i in range(len(DIMENSIONS))]
        fitting = [c for c in cells if all(not s or a == b for s, a, b in zip(several, _place(c), place, strict=True))]
        if fitting:
            yield task, fitting[0]
