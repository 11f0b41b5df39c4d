"""Leaderboards: all averages by name, and who is best in each language and task."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from afrieval.analysis.averages import RULES
from afrieval.analysis.entrants import Entrant, TaskEntries, tasks_with_entries
from afrieval.analysis.gathered import Gathered, LeftOut
from afrieval.analysis.standings import Board, Pair, board
from afrieval.grouping import grouped
from afrieval.languages import LANGUAGES, is_african
from afrieval.results.schema import RunRecord

LEAST = 3  # languages of a family with an average: the interval of a mean over two says nothing
OTHER = "other"  # family of languages that the suite does not have


@dataclass(frozen=True)
class Leaderboard:
    """All boards.

    Attributes:
        averages: over tasks, by name.
        languages: of each language, the mean over tasks.
        pairs: of each task and language.
        means: of each task, the mean over African languages.
        records, settings, left_out: as in `Gathered`.
    """

    tasks: list[TaskEntries]
    averages: list[Board]
    languages: dict[str, Board]
    pairs: dict[Pair, Board]
    means: dict[str, Board]
    records: dict[str, list[tuple[str, RunRecord]]]
    settings: dict[str, list[tuple[str, Mapping[str, object]]]]
    left_out: list[LeftOut]

    @property
    def entrants(self) -> list[Entrant]:
        """All entrants, sorted."""
        every = {entrant for task in self.tasks for entrant in task.entries}
        return sorted(every, key=lambda entrant: tuple(map(str, entrant)))

    @property
    def order(self) -> list[Entrant]:
        """All entrants in the order of the first average; those without one are last."""
        first = [standing.entrant for average in self.averages[:1] for standing in average.standings]
        return list(dict.fromkeys([*first, *self.entrants]))

    @property
    def models(self) -> list[str]:
        """All models, sorted."""
        return sorted({entrant.model for entrant in self.entrants})


def leaderboard(given: Gathered) -> Leaderboard:
    """Returns all boards of what was gathered."""
    tasks = tasks_with_entries(given)
    codes = sorted({code for task in tasks for code in task.languages})
    return Leaderboard(
        tasks,
        averages(tasks),
        {code: found for code in codes if (found := of_language(tasks, code)).standings},
        {(task.task, code): of_pair(task, code) for task in tasks for code in task.languages},
        {task.task: of_task(task) for task in tasks},
        given.records,
        given.settings,
        given.left_out,
    )


def averages(tasks: Sequence[TaskEntries]) -> list[Board]:
    """Returns the averages over tasks by name: suite, afrobench, and one per family of African languages."""
    found = [board(tasks, name, RULES[name].includes, RULES[name].best) for name in ("suite", "afrobench")]
    african = [code for task in tasks for code in task.languages if is_african(code)]
    for family, codes in sorted(grouped(dict.fromkeys(african), family_of).items()):
        if len(codes) >= LEAST:
            found.append(board(tasks, family, partial(_is_of_family, family)))
    return [each for each in found if each.standings]


def _is_of_family(family: str, code: str, defective: bool) -> bool:
    return is_african(code) and not defective and family_of(code) == family


def of_language(tasks: Sequence[TaskEntries], language: str) -> Board:
    """Returns the mean over tasks in a language: over those without a defect and with known errors, if any are."""
    here = [task for task in tasks if language in task.languages]
    sound = [task for task in here if language not in task.defects] or here
    sure = [task for task in sound if task.is_sure and task.averaged]
    return board(sure or sound, language, lambda code, _: code == language)


def of_task(task: TaskEntries) -> Board:
    """Returns the mean over a task's African languages."""
    return board([task], task.task, RULES["suite"].includes, own_scale=True)


def of_pair(task: TaskEntries, language: str) -> Board:
    """Returns the entrants in one task and language."""
    return board([task], f"{task.task} {language}", lambda code, _: code == language, own_scale=True)


def family_of(code: str) -> str:
    """Returns a language's family."""
    return LANGUAGES[code].family if code in LANGUAGES else OTHER
