"""Runs a config; with `eval.until`, on a sample that grows until its scores are as precise as was asked for."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from afrieval._util.errors import UserError
from afrieval._util.grouping import grouped
from afrieval._util.terminal import note
from afrieval.analysis.means import of_languages
from afrieval.analysis.scores import averaged
from afrieval.analysis.suites import percent
from afrieval.analysis.uncertainty import TaskWeight, half_width, interval_of, looks_of
from afrieval.config.settings import EvalConfig
from afrieval.languages import LANGUAGES
from afrieval.models.base import LanguageModel
from afrieval.models.registry import load_model
from afrieval.report.score_tables import unparsed_notes
from afrieval.results.cell_scores import CellScores
from afrieval.run.evaluate import evaluate, missing_cells
from afrieval.run.finish import read_summary
from afrieval.run.session import Session, plan
from afrieval.scoring.statistics.intervals import LEVEL, Interval, normal_quantile, wilson
from afrieval.scoring.statistics.looks import looks, up_to
from afrieval.tasks.cells.cell import Cell

Score = tuple[str, ...]  # task, prompt language and set of prompts, and language if it is not a mean over languages


def evaluate_until(
    session: Session,
    lm: LanguageModel | None = None,
    on_cell: Callable[[Cell], None] = lambda cell: None,
) -> None:
    """Runs the missing cells of a run as `evaluate` does, until its scores are as precise as was asked for.

    With `eval.until`, the sample is enlarged look after look, and `on_cell` is called at the end. Scores that are
    precise enough keep their sample. A run that was stopped goes on where it was, since what is stored counts at each
    look.

    Raises:
        UserError: as `evaluate`, or if several jobs share a run whose sample grows.
    """
    if session.config.eval.until is None:
        evaluate(session, lm, on_cell)
        return
    if session.share:
        raise UserError(
            f"eval.until is given, but job {session.share} has only some cells of its run", "leave parts out"
        )
    _grow(session, lm, session.config.eval.until)
    if session.processes.is_first:
        for cell in session.plan.cells:
            on_cell(cell)


def grow(
    sizes: Sequence[int],
    ask: Callable[[int], bool | None],
    look: Callable[[str, int], bool],
    obstacle: Callable[[int], str] = lambda size: "",
) -> str:
    """Enlarges a sample look after look, for a race of several models or for the scores of one.

    Args:
        sizes: of the sample at each look.
        ask: asks what is open, up to a size, and returns whether to skip the next look, unless it is the last.
        look: reads the answers, says what they show at a look that is named, and returns whether anything is open.
        obstacle: why a size must not be asked; empty if it may.

    Returns:
        why a size was not asked; empty if all were, or nothing is open.
    """
    skip = False
    for number, size in enumerate(sizes, 1):
        if reason := obstacle(size):
            return reason
        if skip and size != sizes[-1]:
            note(f"look {number} is skipped, since models took longer to load than to answer")
            skip = False
            continue
        skip = bool(ask(size))
        if not look(f"look {number} of {len(sizes)}", size):
            break
    return ""


def _grow(session: Session, lm: LanguageModel | None, target: float) -> None:
    evaluation, processes, stored = session.config.eval, session.processes, session.stored
    open_cells = {cell.name for cell in session.plan.cells}

    def planned() -> int:  # a sample that was stored without looks has been looked at, too
        return planned_looks(evaluation, session.plan.cells) + bool(stored.names and "looks" not in stored.record)

    n_looks = processes.run_on_rank_zero(planned)

    def ask(size: int) -> None:
        nonlocal lm
        of_look = replace(evaluation, sample=size, looks=max(evaluation.looks, n_looks))
        config = replace(session.config, eval=of_look)
        of_sample = plan(config)
        cells = [cell for cell in of_sample.cells if cell.name in open_cells]
        at_look = replace(session, config=config, plan=replace(of_sample, cells=cells))
        if lm is None and processes.run_on_rank_zero(lambda: bool(missing_cells(at_look))):
            with processes.barrier():
                lm = load_model(session.config.model, evaluation, processes)
        evaluate(at_look, lm)

    def look(name: str, size: int) -> bool:
        nonlocal open_cells
        open_cells = processes.run_on_rank_zero(partial(_too_wide, session, target, name))
        return bool(open_cells)

    grow(up_to(_rows(session.plan.cells), evaluation.sample), ask, look)


def _rows(cells: Iterable[Cell]) -> int:
    """Returns the size of the largest test set."""
    cells_at = [(cell, cell.key) for cell in cells]
    return max((int(cell.facts["declared"][at.task]["test_set"][at.language]) for cell, at in cells_at), default=0)


def planned_looks(evaluation: EvalConfig, cells: Iterable[Cell]) -> int:
    """Returns how many looks there are to be at the scores of some cells."""
    if evaluation.until is None:
        return evaluation.looks
    regular = looks(rows := _rows(cells))
    extra = up_to(rows, evaluation.sample)[-1] not in regular
    return max(evaluation.looks, len(regular) + extra)


def _too_wide(session: Session, target: float, look: str) -> set[str]:
    """Returns the cells whose scores are not precise enough, and says how many scores are."""
    cells, of_mean = _scores(session), session.config.eval.until_of == "mean"
    counts = {cell.rows for cell in cells}
    questions = f"{min(counts):,} to {max(counts):,}" if len(counts) > 1 else f"{max(counts, default=0):,}"
    margins = margins_of_error(cells, of_mean)
    finite = [margin for margin in margins.values() if math.isfinite(margin)]
    words = f"{sum(margin <= target for margin in finite)} of {len(margins)} scores are within {target:g} points"
    words += f"; the widest interval is +/- {max(finite):.1f}" if finite else ""
    note(f"{look}, {questions} questions: {words}")
    for line in unparsed_notes(cells):
        note(line)
    if without := sorted({score[0] for score, margin in margins.items() if margin == math.inf}):
        note(f"{', '.join(without)}: some scores have no interval in points yet, and go on")
    precise = {_grows_with(score) for score, margin in margins.items() if margin <= target}
    precise -= {_grows_with(score) for score, margin in margins.items() if not margin <= target}
    growing = {
        cell.name: (cell.key.task,) if of_mean else (cell.key.task, cell.key.language) for cell in session.plan.cells
    }
    return {name for name, questions_of in growing.items() if questions_of not in precise}


def _grows_with(score: Score) -> Score:
    """Returns the task, and language, of a score: all prompts are asked the same questions, in both languages."""
    task, _, _, *language = score
    return task, *language


def _scores(session: Session) -> list[CellScores]:
    """Returns the stored scores of the run's cells."""
    names = {cell.name for cell in session.plan.cells}
    return [cell for cell in read_summary(session.stored).cells if cell.name in names and cell.n]


def _score_of(cell: CellScores, of_mean: bool) -> Score:
    """Returns the score that a cell is part of."""
    of_all = cell.task, cell.prompt_language, cell.prompt_set
    return of_all if of_mean else (*of_all, cell.language)


def margins_of_error(cells: Sequence[CellScores], of_mean: bool) -> dict[Score, float]:
    """Returns how far the farther end of each score's interval is from it, in points; infinity if that makes no sense.

    Near 0 and 100 %, half the width is less than that. Scores that came out too high or too low would then stop sooner
    than others, and the mean over languages would be off (docs/cost.md).

    Args:
        cells: of a run.
        of_mean: whether scores are the means over the languages of a task, which stand for these languages only; else
            those of each language.
    """
    margins = {}
    for key, cells_of in grouped(cells, lambda cell: _score_of(cell, of_mean)).items():
        factor, (score, interval) = percent(cells_of[0].metric), (_of_mean if of_mean else _of_language)(cells_of)
        margins[key], most = math.inf, max(cell.rows for cell in cells_of)
        # In mid-look, cells have other samples, though their test sets have as many rows.
        is_one_look = all(cell.rows >= min(most, cell.selection.test_set or most) for cell in cells_of)
        if factor and interval and is_one_look:
            margins[key] = factor * max(interval.high - score, score - interval.low)
    return margins


def _of_language(cells: Sequence[CellScores]) -> tuple[float, Interval | None]:
    average = averaged(cells)
    return average.score, average.interval


def _of_mean(cells: Sequence[CellScores]) -> tuple[float, Interval | None]:
    """Returns the mean over exactly these languages, without those that means leave out, and its interval.

    It is Wilson's, with as many questions as have the variance of the mean: near 0 and 100 %, where few answers differ
    from the others, that variance is often found too small.
    """
    cells = [cell for cell in cells if LANGUAGES[cell.language].african and not cell.defect] or cells
    languages, metric = of_languages(list(cells)), cells[0].metric
    if len(languages) == 1 or metric.interval == "none":
        return _of_language(cells)
    shares = [TaskWeight(1.0, "", languages)]
    mean, half = float(np.mean([of.scores.mean() for of in languages.values()])), half_width(shares, drawn=False)
    if metric.bounds != (0.0, 1.0) or not half or not 0 < mean < 1:
        return mean, interval_of(shares, metric.bounds, drawn=False)
    z = normal_quantile(LEVEL / looks_of(shares))
    n = mean * (1 - mean) * (z / half) ** 2
    return mean, wilson(mean * n, n, z)
