"""Who is best, and how sure that is: in a task over African languages, in a language, and in a sentence."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from afrieval._util.grouping import grouped
from afrieval.analysis.standings import Board, S, Standing
from afrieval.analysis.verdicts import Floor
from afrieval.report.columns import Column
from afrieval.report.comparable_scores import ComparableScores, comparable_scores
from afrieval.report.contrast_tables import ALIKE
from afrieval.report.native import Effect, Effects, effect_words, side_key
from afrieval.report.score_tables import AS_WRONG, defects_of, marked, scored_columns
from afrieval.report.table import Table
from afrieval.report.values import (
    Bounds,
    language_name,
    language_names,
    listed,
    shown_interval,
    shown_score,
)
from afrieval.report.verdict_words import OPEN, unread_words
from afrieval.results.cell_scores import CellScores

NAMED = 3  # models that a sentence or cell names; others are counted


def best_words(name: str, row: Standing[S], bounds: Bounds, rivals: Sequence[str], alone: bool, unread: str) -> str:
    """Returns who is best of several, and how sure that is; or that no score is above what takes no reading.

    Args:
        name: of the best side, or of the first of those that may be.
        row: its score.
        bounds: the scale of the score.
        rivals: what cannot be told apart from it.
        alone: whether there is nothing to compare it with.
        unread: as `not_read` has it.
    """
    if unread:
        return f"{name if alone else 'no model'} is {'not ' if alone else ''}above {unread}"
    sure = _sure(row, bounds)
    if alone:
        return f"{name} scores {shown_score(row.score, bounds)}{f' (95% CI {sure})' if row.interval else ''}"
    if row.rank is None:
        return f"{name} has the best score, {sure}, whose error is not known"
    others = listed(rivals, NAMED)
    rest = f"{others} cannot be told apart from it" if others else "all others are significantly worse"
    return f"{name} is best, {sure}; {rest}"


def _sure(row: Standing[S], bounds: Bounds) -> str:
    """Returns a score's interval; the score itself where none is known."""
    return shown_interval(row.interval, bounds) if row.interval else shown_score(row.score, bounds)


class TaskStanding(NamedTuple):
    """A side's row in a task: in a language, or in the mean over African languages.

    Attributes:
        board: of all sides; its name is the language's code, empty for the mean.
        effects: what native prompts change in the languages that it is over.
    """

    part: ComparableScores
    board: Board[str]
    row: Standing[str]
    effects: list[Effect]

    @property
    def model(self) -> str:
        """The model of the side."""
        return self.part.sides[self.row.side][0].model

    @property
    def leads(self) -> bool:
        """Whether it is the best, or the first of those that may be."""
        return self.row is self.board.standings[0]

    @property
    def concludes(self) -> bool:
        """Whether something can be concluded from it."""
        return self.row.whole and self.row.concludes

    @property
    def rivals(self) -> list[str]:
        """What cannot be told apart from it, if it leads."""
        return self.board.rivals if self.leads else []

    @property
    def alone(self) -> bool:
        """Whether there is nothing to compare it with."""
        return len(self.board.standings) == 1

    @property
    def unread(self) -> str:
        """What it, or if it leads, none is above; empty if it is above all that takes no reading."""
        return not_read(self._floors, self.part.metric.bounds)

    @property
    def reads(self) -> str:
        """The metric by which it, or if it leads, any is above chance although its score is not; empty without one."""
        return _reads(self._floors)

    @property
    def _floors(self) -> list[Floor | None]:
        return [self.row.floor, *(other.floor for other in self.board.standings if self.leads)]

    @property
    def sure(self) -> str:
        """Its interval; the score itself where none is known."""
        return _sure(self.row, self.part.metric.bounds)

    @property
    def words(self) -> str:
        """Who is best, and how sure that is, as `best_words` has it."""
        bounds = self.part.metric.bounds
        return best_words(self.row.side, self.row, bounds, self.rivals, self.alone, self.unread)


def task_standings(part: ComparableScores, effects: Effects) -> Iterator[TaskStanding]:
    """Yields all sides of a task, the best first: in the mean over African languages, and in each language."""
    boards = [part.mean_board] if len(part.boards) > 1 else []
    for board in [*boards, *sorted(part.boards.values(), key=lambda each: language_name(each.name))]:
        for row in board.standings:
            by_language = effects.get(side_key(part.sides[row.side][0]), {})
            of_side = [by_language[code] for code in row.languages if code in by_language]
            yield TaskStanding(part, board, row, of_side)


def not_read(floors: Sequence[Floor | None], bounds: Bounds) -> str:
    """Returns what the first of several scores is not above, maybe for unparsed answers of any; empty if it is.

    It names the metric by which any of them is.
    """
    is_open = any(floor and floor.open for floor in floors)
    return unread_words(floors[0]._replace(open=is_open, reads=_reads(floors)), bounds) if floors[0] else ""


def _reads(floors: Iterable[Floor | None]) -> str:
    return next((floor.reads for floor in floors if floor and floor.reads), "")


def sentence(of_language: Sequence[TaskStanding], named: bool) -> str:
    """Returns who is best in a language, how sure that is, and what native prompts change, after the language's name.

    Args:
        of_language: the best side of each task, of those that something can be concluded from.
        named: whether tasks are named.
    """
    if not named:
        (only,) = of_language
        parts = [] if only.unread and not only.effects else [*_native_words([only], False)]
        return f"{'; '.join([only.words, *parts])}."
    read = [side for side in of_language if not side.unread]
    parts = []
    for name, sides in grouped((side for side in read if not side.rivals), lambda side: side.row.side).items():
        alone = all(side.alone for side in sides)
        scores = [f"{p.sure} in {p.part.task}" if alone else f"{p.part.task} ({p.sure})" for p in sides]
        parts.append(f"{name} {'scores' if alone else 'is best in'} {listed(scores)}")
    parts += _open_words([side for side in read if side.rivals])
    if unread := [side for side in of_language if side.unread]:
        where = (
            f"nothing is above chance in {listed([p.part.task for p in unread])}"
            if read
            else "no score is above chance"
        )
        parts.append(where + _why(unread))
    return f"{'; '.join([*parts, *_native_words(read, True)])}."


def _open_words(best: Sequence[TaskStanding]) -> list[str]:
    """Returns which sides may be the best in most of the tasks in which several may be; empty without such tasks."""
    counts = Counter(name for side in best for name in (side.row.side, *side.rivals))
    most = max(counts.values(), default=0)
    names = listed([name for name in counts if counts[name] == most], NAMED - 1)
    where = listed([side.part.task for side in best], NAMED)
    if most < len(best):
        where = f"{most} of {len(best)} tasks ({where})"
    return [f"{names} may be the best in {where}"] if best else []


def _native_words(best: Sequence[TaskStanding], named: bool) -> list[str]:
    """Returns what native prompts change for the best side of each task; nothing where that is not known."""
    effects = [(side.part.task, effect) for side in best for effect in side.effects]
    if not effects:
        return []
    if not named:
        return [f"native prompts {effect_words([effect for _, effect in effects])}"]
    parts = []
    for which, word in ((1, "help"), (-1, "hurt")):
        tasks = [f"{task} ({e.change})" for task, e in effects if e.verdict == which]
        parts += [f"{word} in {listed(tasks)}"] if tasks else []
    if any(effect.row.open for _, effect in effects):
        parts.append(OPEN if not parts else "elsewhere, unparsed answers could decide it")
    return [f"native prompts {', '.join(parts) or f'make {ALIKE}'}"]


def language_sentences(sides: Iterable[TaskStanding]) -> Iterator[tuple[str, str, str]]:
    """Yields the sentences of languages, each with its code and when it is shown, as pages have it.

    Languages in which no score is above chance share one sentence; each has its own when it is chosen.
    """
    best = [side for side in sides if side.leads and side.board.name and side.concludes]
    of_languages = grouped(best, lambda side: side.board.name)
    unread = [code for code, of in of_languages.items() if all(side.unread for side in of)]
    several, named = len(unread) > 1, len({side.part.task for side in best}) > 1
    for code in sorted(of_languages, key=language_name):
        yield code, "language" if several and code in unread else "", sentence(of_languages[code], named)
    if several:
        why = _why(side for code in unread for side in of_languages[code])
        yield "", "all", f"No score is above chance in {language_names(unread)}{why}."


def _why(unread: Iterable[TaskStanding]) -> str:
    """Returns why no score may be above chance; or by what, and in which tasks, one is in all of the languages."""
    sides = list(unread)
    if any(side.unread.endswith(AS_WRONG) for side in sides):
        return AS_WRONG
    of_tasks = grouped(sides, lambda side: side.part.task)
    read = {task: of for task, of in of_tasks.items() if all(side.reads for side in of)}
    names = dict.fromkeys(side.reads for of in read.values() for side in of)
    where = "" if len(read) == len(of_tasks) else f" in {listed([*read])}"
    return f", except by {listed([*names])}{where}" if read else ""


FEWEST = 3  # models; of two, the table of their difference says it all
SURE = "ranks of all models in a language, and in the mean, are right at once with 95% confidence"


def leader_tables(cells: Sequence[CellScores]) -> list[Table]:
    """Returns a table for each task and prompt language with three models or more: the best in each language."""
    comparable = comparable_scores([cell for cell in cells if cell.is_averaged])
    return [_leaders(part) for part in comparable if len(part.sides) >= FEWEST]


def _leaders(part: ComparableScores) -> Table:
    best = [side for side in task_standings(part, {}) if side.leads and side.concludes]
    columns = [
        Column("language", "language"), Column("best", "text", "side"), Column("", "hidden", "model"),
        *scored_columns("score", part.metric.bounds), Column("n", "count"),
        Column("not told apart from", "text", "rivals", says=SURE),
    ]  # fmt: skip
    rows: list[list[Any]] = []
    for side in (side for side in best if side.board.name):
        name, score, interval, _, n, *_ = side.row
        rivals = f"not above {side.unread}" if side.unread else ", ".join(side.rivals) or "none"
        rows.append([side.board.name, "none" if side.unread else name, side.model, score, interval, n, rivals])
    about = {"task": part.task, "prompt_language": part.kind}
    title = f"{part.title}: best in each language"
    table = Table("best", title, columns, rows, findings=_findings(part, best), about=about)
    return marked(table, defects_of([cell for of_side in part.sides.values() for cell in of_side]))


def _findings(part: ComparableScores, best: Sequence[TaskStanding]) -> list[str]:
    """Returns who is best over languages, and in which languages one model is clearly the best."""
    if not best:
        return [f"{part.title}: nothing is concluded."]
    means = [side for side in best if not side.board.name]
    findings = [f"Over {len(side.row.languages)} African languages, {side.words}." for side in means]
    languages = [side for side in best if side.board.name]
    if len(languages) == 1 and not findings:
        return [f"In {language_names([languages[0].board.name])}, {languages[0].words}."]
    clear = [side for side in languages if not side.rivals and not side.unread]
    where = [
        f"{name} in {language_names(side.board.name for side in sides)}"
        for name, sides in grouped(clear, lambda side: side.row.side).items()
    ]
    among = f"in {len(clear) or 'none'} of {len(languages)} languages"
    return [*findings, f"One model is clearly the best {among}{': ' if where else ''}{'; '.join(where)}."]
