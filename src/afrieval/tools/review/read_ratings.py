"""Brings filled-in sheets with ratings of answers into the runs that the answers are of."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from afrieval._util.errors import UserError, nearest
from afrieval._util.terminal import note, shortened, visible
from afrieval.languages import LANGUAGES
from afrieval.results.run_folder import RunFolder
from afrieval.results.samples import Sample
from afrieval.run.scorer import AnswerAddress, Answers, Scorer, score_stored, stale_part, with_scores
from afrieval.scoring.learned import PEOPLE, RATINGS
from afrieval.scoring.rubric import Rubric
from afrieval.scoring.statistics.corrected import FEWEST
from afrieval.tasks.declaration.spec import Folders
from afrieval.tools.review.answer_sheet import (
    ANSWER,
    LEVEL,
    LEVEL_IS,
    NAME,
    RUNS,
    TASKS_RATED,
    TITLE,
    answers,
    run_code,
    shown,
    to_rate,
)
from afrieval.tools.review.forms import ID, FilledIn, read_form

Levels = dict[str, str]  # rater to level; empty where they took it back
SAME = "two raters need two names"


class Ratings(NamedTuple):
    """The levels in sheets by answer, and by run the rubric of each task that was rated."""

    levels: dict[AnswerAddress, Levels]
    rubrics: dict[Path, dict[str, Rubric]]


def read_ratings(
    paths: Sequence[Path], runs: Sequence[RunFolder], folder: Folders | None
) -> tuple[Ratings, list[UserError]]:
    """Returns the ratings in sheets, and the errors in their rows.

    Args:
        paths: filled-in sheets, of one or more raters.
        runs: the runs that they were written for.
        folder: of the user's own tasks.

    Raises:
        UserError: if a file is not such a sheet, names no rater, or is of other runs or another rubric.
    """
    ratings = Ratings({}, {})
    errors: list[UserError] = []
    level_of: dict[tuple[str, str], tuple[str, str]] = {}  # rater and answer to the level and where it is
    for path in paths:
        sheet = read_form(path, TITLE, (ID, ANSWER, LEVEL), "afrieval review answers")
        rater = visible(" ".join(sheet.head.get(NAME, "").split()))
        if not rater:
            raise UserError(f"{path} names no rater", f"fill in the cell after {NAME!r} at its top")
        of_sheet = _runs_of(sheet, runs, path)
        tasks = [task.strip() for task in sheet.head.get(TASKS_RATED, "").split(",") if task.strip()]
        rated = to_rate(of_sheet, sheet.language, tasks, folder)
        _check_levels(sheet, rated.rubric, path)
        for run in of_sheet:
            ratings.rubrics.setdefault(run.path, {}).update(dict.fromkeys(rated.specs, rated.rubric))
        raters = {name for _, line in answers(of_sheet, rated) for name in line.get(RATINGS, {})}
        _check_name(rater, [*(name for name, _ in level_of), *raters], path)
        texts, addresses = dict[str, str](), defaultdict[str, list[AnswerAddress]](list)  # of each answer
        for address, line in answers(of_sheet, rated):
            each = shown(address, line, rated.rubric)
            texts[each.id] = each.answer
            addresses[each.id].append(address)
        for number, row in sheet.rows.items():
            where = f"{path}, row {number}"
            level = row.get(LEVEL, "").removesuffix(".0").removesuffix(",0")  # which spreadsheets add to numbers
            if fault := _fault(row, level, texts, rated.rubric):
                errors.append(UserError(f"{where}, column {fault[0]}: {fault[1]}", fault[2]))
                continue
            before, source = level_of.get((rater, row[ID]), ("", ""))
            if before and level and before != level:
                problem = f"{where}, column {LEVEL}: {rater} says {level!r}, and {before!r} in {source}"
                errors.append(UserError(problem, f"{SAME}; if {rater} is one person, remove one of the levels"))
            elif level or not source:
                level_of[rater, row[ID]] = level, where
                for address in addresses[row[ID]]:
                    ratings.levels.setdefault(address, {})[rater] = level
    return ratings, errors


def _runs_of(sheet: FilledIn, runs: Sequence[RunFolder], path: Path) -> list[RunFolder]:
    """Returns the runs that a sheet was written for, which must all be given.

    Of any other run, only answers that are equal to those of a sheet's run would be rated.
    """
    codes = {code.strip() for code in sheet.head.get(RUNS, "").split(",")}
    by_code = {run_code(run): run for run in runs}
    if missing := codes - by_code.keys():
        problem = f"{path} has answers of {len(codes)} runs, and {len(missing)} of them are not given"
        raise UserError(problem, "name all runs that the sheet was written for, as they were then")
    return [run for run in runs if run_code(run) in codes]


def _check_name(rater: str, names: Iterable[str], path: Path) -> None:
    """Refuses a name that differs from another rater's in case only: one person would count as two that agree."""
    if other := next((name for name in names if name != rater and name.casefold() == rater.casefold()), None):
        hint = f"write {other} if it is one person; if not, add something that tells them apart"
        raise UserError(f"{path} is by {rater}, and there is a rater {other}", hint)


def _check_levels(sheet: FilledIn, rubric: Rubric, path: Path) -> None:
    rows = {name: text for name, text in sheet.head.items() if name.startswith(LEVEL_IS)}
    levels = {name.removeprefix(LEVEL_IS): " ".join(text.split()) for name, text in rows.items()}
    expected = {name: " ".join(text.split()) for name, text in rubric.levels.items()}
    if levels != expected:
        differing = next(name for name in [*expected, *levels] if levels.get(name) != expected.get(name))
        problem = f"{path}: level {differing} is not what it is in the task's rubric"
        raise UserError(problem, "use the version of the rubric that the sheet was written with, or rate a new sheet")


def _fault(row: Mapping[str, str], level: str, texts: Mapping[str, str], rubric: Rubric) -> tuple[str, str, str] | None:
    """Returns what is wrong with a row: the column, the problem and its cure."""
    id = row.get(ID, "")
    if id not in texts:
        cure = "if its answer was scored again and changed, delete the row; otherwise restore the id"
        return ID, f"{shortened(id)!r} is not of an answer of these runs", cure
    if row.get(ANSWER, "").split() != texts[id].split():
        cure = "copy the rows of the sheet as it was sent, and sort whole rows only"
        return ANSWER, f"it is not the answer of {id}", cure
    if level and level not in rubric.levels:
        return LEVEL, f"{shortened(level)!r} is not a level", nearest(level, list(rubric.levels))
    return None


@dataclass
class RatingScorer(Scorer):
    """People's ratings of a run's answers."""

    levels: Mapping[AnswerAddress, Levels]
    removes = "judgements and ratings of {task} are by another rubric; they are removed"
    counts = False

    def lacks(self, address: AnswerAddress, line: Sample) -> bool:
        """Returns whether the sheets have other levels than the answer has already."""
        return bool(self._levels(address, line) != line.get(RATINGS, {}))

    def scored(self, answers: Answers) -> list[Sample]:
        """Returns answers with the levels of the sheets."""
        lines = []
        for address, line in answers:
            levels, rest = self._levels(address, line), {key: of for key, of in line.items() if key != RATINGS}
            lines.append({**rest, **({RATINGS: levels} if levels else {})})
        return lines

    def _levels(self, address: AnswerAddress, line: Sample) -> Levels:
        """Returns the levels of an answer by rater; those that were taken back are gone."""
        levels = {**line.get(RATINGS, {}), **self.levels.get(address, {})}
        return {rater: level for rater, level in levels.items() if level}


def store_ratings(run: RunFolder, ratings: Ratings, check: Callable[[], None] | None) -> list[str]:
    """Writes the levels of a run's answers and the scores that follow, and returns the new counts, as lines.

    Args:
        run: its folder, locked.
        ratings: of this and of other runs.
        check: checks that the folder is still there; if None, nothing is written.
    """
    tasks = {name: run.scores(name).task for name in run.names}
    rubrics = {task: of for task, of in ratings.rubrics.get(run.path, {}).items() if task in tasks.values()}
    scorer = RatingScorer(run, [name for name in tasks if tasks[name] in rubrics], PEOPLE, rubrics, ratings.levels)
    if check:
        score_stored(scorer, check)
    else:
        for task in scorer.rubrics_changed:
            note(f"{run.path}: {scorer.removes.format(task=task)}")
    lines: dict[str, list[list[Sample]]] = {task: [] for task in rubrics}
    for name in scorer.cells:
        remove = stale_part(scorer, tasks[name])  # nothing is left to remove where it was written
        stored = [remove(line) if remove else line for line in run.lines(name)]
        lines[tasks[name]].append(with_scores(scorer, name, stored)[1])
    return [line for task, of_task in lines.items() for line in _counts(task, of_task)]


def _counts(task: str, cells: Sequence[Sequence[Sample]]) -> Iterator[str]:
    """Yields who rated how many answers of a task, by language, and what is too little for a correction."""
    for language in dict.fromkeys(lines[0]["language"] for lines in cells):
        of_language = [lines for lines in cells if lines[0]["language"] == language]
        raters = Counter(rater for lines in of_language for line in lines for rater in line.get(RATINGS, {}))
        if not raters:
            continue
        rated = [sum(bool(line.get(RATINGS)) for line in lines) for lines in of_language]
        by = ", ".join(f"{rater} {n:,}" for rater, n in sorted(raters.items()))
        few = f"; judges are corrected from {FEWEST} rated answers per prompt on" if min(rated) < FEWEST else ""
        yield f"{task}, {LANGUAGES[language].name}: {sum(rated):,} answers rated ({by}){few}"
