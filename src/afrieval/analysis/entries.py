"""The models of a leaderboard under one kind of prompts, and their scores in each task and language."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

import numpy as np

from afrieval._util.grouping import grouped
from afrieval.analysis.means import of_sides, scaled
from afrieval.analysis.published_files import AFROBENCH, UNKNOWN, PublishedRow
from afrieval.analysis.ranks import PERCENT, stated
from afrieval.analysis.scores import averaged
from afrieval.analysis.suites import by_form, factor_of, percent
from afrieval.analysis.uncertainty import LanguageScores, ScoreWithoutDocuments
from afrieval.analysis.verdicts import CHANCE, Floor, ScoredRows, by_quality, floor, not_above, rows_of
from afrieval.languages import ENGLISH
from afrieval.results.cell_key import SUITE
from afrieval.results.cell_scores import CellScores
from afrieval.scoring.base import Metric
from afrieval.scoring.statistics.intervals import Interval, wilson
from afrieval.tasks.data.files import SAMPLES
from afrieval.tasks.data.splits import load_split
from afrieval.tasks.declaration.known_facts import known_defects, published_metric
from afrieval.tasks.declaration.spec import TaskSpec, load_task, task_names

PUBLISHED = "published"  # how the prompt sets of published scores begin


class LeaderboardModel(NamedTuple):
    """A model under one kind of prompts.

    Attributes:
        prompt_set: of the suite or of the paper; or a name that begins with `PUBLISHED`: prompts of the suite, of
            papers, and unknown ones are not averaged together.
        shots: None if it is not known.
        answer_form: empty if it is not known, or another one for each task.
        rows: the rows that its scores are on.
    """

    name: str
    prompt_set: str
    prompt_language: str
    shots: int | None
    answer_form: str
    rows: ScoredRows = ScoredRows()

    @property
    def published(self) -> bool:
        """Whether its scores are published ones."""
        return self.prompt_set.startswith(PUBLISHED)


class TaskEntry(NamedTuple):
    """The score of a model in a task and language.

    Attributes:
        score: on the metric's scale.
        n: number of documents; None if it is not known.
        shares: the score from 0 to 1 under each prompt, if the metric has a highest one.
        scores: in percent of the metric's range, or on its own scale with the sign that makes higher better.
        by_prompt: `scores` under each prompt.
        unreviewed: as in `CellScores`.
        reads: as in `Floor`, of what the score is not above.
    """

    score: float
    interval: Interval | None
    n: int | None
    shares: Mapping[str, float]
    scores: LanguageScores
    by_prompt: Mapping[str, LanguageScores]
    source: str
    unreviewed: bool | str = ""
    reads: str = ""


@dataclass(frozen=True)
class TaskEntries:
    """A task with all entries.

    Attributes:
        metric: None if it is not known.
        averaged: whether averages over tasks include it.
        defects: languages whose data is known to be defective as a whole.
        notes: what a reader has to know.
        floors: of languages, the highest score in percent that is known to take no reading.
        chance: the score of a guess, as a share; NaN if none is known.
    """

    task: str
    metric: Metric | None
    data: str
    averaged: bool
    defects: dict[str, str]
    entries: dict[LeaderboardModel, dict[str, TaskEntry]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    floors: dict[str, Floor] = field(default_factory=dict)
    chance: float = math.nan

    @property
    def factor(self) -> float:
        """What makes a score percent of the metric's range, or, if it has none, higher if it is better."""
        return 100.0 if self.metric is None else factor_of(self.metric)

    @property
    def scale(self) -> tuple[float, ...]:
        """The lowest and the highest score in percent; empty if scores are not in percent."""
        return PERCENT if self.metric is None or percent(self.metric) else ()

    def scores_of(self, model: LeaderboardModel, languages: Sequence[str], best: bool) -> Mapping[str, LanguageScores]:
        """Returns a model's scores in some languages, in percent; `best`: under the prompt whose mean is the best."""
        entries = {code: self.entries[model][code] for code in languages}
        prompts = set.intersection(*({*entry.by_prompt} for entry in entries.values())) if best else set()
        of_prompts = [{code: entry.by_prompt[prompt] for code, entry in entries.items()} for prompt in sorted(prompts)]
        whole = {code: entry.scores for code, entry in entries.items()}
        return max(of_prompts, key=lambda by_code: np.mean([of.score for of in by_code.values()]), default=whole)

    @property
    def is_sure(self) -> bool:
        """Whether the errors of all scores are known."""
        return all(entry.scores.is_known for of in self.entries.values() for entry in of.values())

    @property
    def languages(self) -> list[str]:
        """All languages with an entry, sorted."""
        return sorted({code for of in self.entries.values() for code in of})


def tasks_with_entries(cells: Sequence[CellScores], rows: Sequence[PublishedRow]) -> list[TaskEntries]:
    """Returns all tasks of runs and of published rows, sorted by name."""
    run_cells, published = _by_task(by_quality(cells)), grouped(rows, lambda row: row.task)
    return [
        _task_entries(task, run_cells.get(task, {}), published.get(task, []))
        for task in sorted({*run_cells, *published})
    ]


def _by_task(cells: Sequence[CellScores]) -> dict[str, dict[LeaderboardModel, list[CellScores]]]:
    by_task: dict[str, dict[LeaderboardModel, list[CellScores]]] = {}
    pairs = zip(cells, rows_of(cells), strict=True)
    sides = grouped(pairs, lambda p: (p[0].model, p[0].prompt_set, p[0].prompt_language, p[0].shots, p[1]))
    for (name, prompt_set, prompt_language, shots, rows), of_side in sides.items():
        for form, of_form in by_form([cell for cell, _ in of_side]):
            forms = {cell.answer_form for cell in of_form}
            form_of_all = form or (forms.pop() if len(forms) == 1 else "")
            model = LeaderboardModel(name, prompt_set, prompt_language, shots, form_of_all, rows)
            for task, of_task in grouped(of_form, lambda c: c.task).items():
                by_task.setdefault(task, {})[model] = of_task
    return by_task


def _task_entries(task: str, cells: dict[LeaderboardModel, list[CellScores]], rows: list[PublishedRow]) -> TaskEntries:
    all_cells = [cell for of in cells.values() for cell in of]
    name, metric = _metric(task, all_cells, rows)
    # Of an open task, cells have only the score that `by_quality` gave them.
    have = {
        model: [c.with_metric(name) for c in of if c.main == name or (c.metric.ranked and name in c.metrics)]
        for model, of in cells.items()
    }
    without = [model.name for model, of in have.items() if not of]
    notes = [f"Without a score, since they lack {name}: {', '.join(dict.fromkeys(without))}."] if without else []
    notes += _differing(all_cells)
    factor = 100.0 if metric is None else factor_of(metric)
    of_models = zip(have, of_sides(list(have.values())), strict=True)
    measured = {model: {code: _entry(of, factor) for code, of in codes.items()} for model, codes in of_models if codes}
    entries = {**measured, **_published(rows, metric)}
    averaged_over = all(cell.is_averaged for cell in all_cells) and (
        metric is None or (metric.ranked and percent(metric) is not None)
    )
    hub = spec.data.hub if (spec := _spec(task)) else ""
    data = next((cell.data_set for cell in all_cells if cell.data_set), "") or hub or task
    defects = defective(task, all_cells, rows)
    chance = _chance(all_cells, metric, spec)
    floors = {} if math.isnan(chance) else {code: Floor(CHANCE, 100 * chance) for row in rows for code in row.scores}
    of_languages = grouped((cell for of in have.values() for cell in of), lambda cell: cell.language)
    for code, (first, *_) in of_languages.items():
        low = floor(averaged([first])) if factor > 0 and first.n else None
        floors |= {code: low._replace(score=factor * low.score)} if low else {}
    return TaskEntries(task, metric, data, averaged_over, defects, entries, notes, floors, chance)


def _chance(cells: list[CellScores], metric: Metric | None, spec: TaskSpec | None) -> float:
    """Returns the accuracy of a guess; without runs, with as many choices as the suite's own sample rows have."""
    if metric is None or not (metric.is_mean and metric.interval == "wilson"):
        return math.nan
    if cells or not spec or not spec.scoring.answer.has_choices:
        return float(np.mean([cell.chance for cell in cells])) if cells else math.nan
    split = load_split(spec, ENGLISH, spec.data.evaluate, SAMPLES)
    return float(np.mean([1 / len(of.choices) for of in split.documents])) if split else math.nan


def defective(task: str, cells: list[CellScores], rows: list[PublishedRow]) -> dict[str, str]:
    """Returns the languages whose data is known to be defective as a whole, in the runs or the published scores."""
    scored = {code for row in rows if row.task == task for code in row.scores}
    spec = _spec(task)
    defects = [d for d in known_defects(spec) if d.split == spec.data.evaluate] if spec else []
    published = {d.language: d.what for d in defects if d.whole and AFROBENCH in d.published and d.language in scored}
    return published | {c.language: c.defect for c in cells if c.task == task and c.defect}


def _metric(task: str, cells: Sequence[CellScores], rows: list[PublishedRow]) -> tuple[str, Metric | None]:
    """Returns the metric of published scores where there are some, else the main one of most runs.

    One that ranks models is preferred.
    """
    counts = Counter((cell.metric.ranked, cell.main) for cell in cells)
    name = max(counts, key=lambda main: (main[0], counts[main]))[1] if counts else ""
    if rows:
        name = rows[0].metric or (published_metric(task) if task in task_names() else name)
    declared = spec.scoring.metrics if (spec := _spec(task)) else ()
    measured = [cell.metrics[name] for cell in cells if name in cell.metrics]
    return name, next(iter([*measured, *(metric for metric in declared if metric.name == name)]), None)


@cache
def _spec(task: str) -> TaskSpec | None:
    """Returns what is declared of a task; None if the suite does not have it."""
    return load_task(task) if task in task_names() else None


def _entry(cells: list[CellScores], factor: float) -> TaskEntry:
    mean, first = averaged(cells), cells[0]
    by_prompt = {str(cell.prompt): scaled([cell], factor) for cell in cells}
    scores = scaled(cells, factor) if len(cells) > 1 else next(iter(by_prompt.values()))
    source = first.folder.name if first.folder else ""
    highest = first.metric.bounds[1] if np.isfinite(first.metric.bounds[1]) else 1.0
    shares = {str(cell.prompt): cell.score / highest for cell in cells}
    unreviewed = next((cell.unreviewed for cell in cells if cell.unreviewed), "")
    low = not_above(mean) if first.n else None
    reads = low.reads if low else ""
    return TaskEntry(mean.score, mean.interval, len(mean.ids), shares, scores, by_prompt, source, unreviewed, reads)


def _published(rows: list[PublishedRow], metric: Metric | None) -> dict[LeaderboardModel, dict[str, TaskEntry]]:
    whose = {SUITE: f"{PUBLISHED}, suite's prompts", UNKNOWN: f"{PUBLISHED}, prompt unknown"}

    def model(row: PublishedRow) -> LeaderboardModel:
        prompts = whose.get(row.prompt.partition(" ")[0], PUBLISHED)
        return LeaderboardModel(row.model, prompts, row.prompt_language, row.shots, "")

    entries: dict[LeaderboardModel, dict[str, TaskEntry]] = {}
    for side, of_side in grouped(rows, model).items():
        for code in dict.fromkeys(code for row in of_side for code in row.scores):
            code_rows = [row for row in of_side if code in row.scores]
            entries.setdefault(side, {})[code] = _published_entry(code_rows, code, metric)
    return entries


def _published_entry(rows: list[PublishedRow], code: str, metric: Metric | None) -> TaskEntry:
    """Returns the mean over prompts, whose errors are taken to be the same in all of them."""
    is_accuracy = metric is not None and metric.is_mean and metric.interval == "wilson"
    spec = _spec(rows[0].task)
    whole = spec.data.rows_of(spec.data.evaluate, code) if spec else None
    counts = [row.n.get(code, whole) for row in rows]
    by_prompt = {}
    for row, n in zip(rows, counts, strict=True):
        share = row.scores[code] / 100
        error = 100 * stated(share, n).error if is_accuracy and n else np.nan
        by_prompt[row.prompt] = ScoreWithoutDocuments(100 * share, error, n or 0)
    prompt_scores = list(by_prompt.values())
    score, error = (float(np.mean([each[at] for each in prompt_scores])) for at in range(2))
    sources = ", ".join(dict.fromkeys(row.source for row in rows))
    n = min((each.n for each in prompt_scores), default=0)
    highest = metric.bounds[1] if metric and np.isfinite(metric.bounds[1]) else 1.0
    interval = Interval(*(highest * end for end in wilson(n * score / 100, n))) if is_accuracy and n else None
    return TaskEntry(
        highest * score / 100,
        interval,
        n or None,
        {row.prompt: row.scores[code] / 100 for row in rows},
        ScoreWithoutDocuments(score, error, n),
        by_prompt,
        sources,
    )


def _differing(cells: Sequence[CellScores]) -> list[str]:
    """Returns a note on what differs between the runs of one cell and should not."""
    names: dict[str, None] = {}
    for same in grouped(cells, lambda c: (c.language, c.prompt_language, c.prompt, c.shots, *c.comparable_on)).values():
        for name in same[0].comparable_on:
            if len({str(cell.comparable_on.get(name)) for cell in same}) > 1:
                names[name] = None
    return [f"Runs differ in {', '.join(names)}: compare them with care."] if names else []
