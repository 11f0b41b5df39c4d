"""Scores and intervals of harness tasks and groups, from stored results."""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

from afrieval.results.cell_scores import CellScores
from afrieval.results.identity import ALL, Selection
from afrieval.results.schema import HarnessGroup, HarnessRecord
from afrieval.scoring.metrics import METRICS
from afrieval.scoring.statistics.intervals import Z95, Interval, wilson

Record = dict[str, Any]


@dataclass(frozen=True)
class HarnessScore:
    """One metric of a harness task or group, under one filter.

    Attributes:
        value: as computed by the harness, on its own scale.
        interval: 95 %; None if the harness has no standard error.
        shots: few-shot examples; None for a group with different numbers.
        higher_is_better: None if the harness does not say.
        members: number of tasks in a group; 0 for a task.
        macro: whether all tasks count equally (our mean), not by size (the harness' mean).
    """

    task: str
    language: str
    metric: str
    filter: str
    value: float
    standard_error: float | None
    interval: Interval | None
    n: int
    shots: int | None
    higher_is_better: bool | None
    members: int = 0
    macro: bool = False


@dataclass(frozen=True)
class HarnessTaskScores:
    """All scores of a harness task, the main one first, with the harness' own results; `cut` answers ended early."""

    record: HarnessRecord
    scores: list[HarnessScore]
    selection: Selection = ALL
    cut: int = 0


def task_scores(cell: CellScores) -> HarnessTaskScores:
    """Returns the scores of a cell that is a task of the harness; the interval of a share of documents is Wilson's."""
    record, scores = cell.harness, []
    assert record
    for metric, (n, right) in zip(record["metrics"], cell.harness_counts, strict=True):
        value, interval = metric["value"], around(metric["value"], metric["standard_error"])
        if right is not None and abs(right / n - value) < 1e-9:
            interval = wilson(right, n)
        scores.append(
            HarnessScore(
                task=record["task"],
                language=record["language"],
                metric=metric["metric"],
                filter=metric["filter"],
                value=value,
                standard_error=metric["standard_error"],
                interval=interval,
                n=n,
                shots=record["shots"],
                higher_is_better=metric["higher_is_better"],
            )
        )
    return HarnessTaskScores(record, scores, cell.selection, int(cell.usage.get("cut_off", 0)))


def around(value: float, error: float | None) -> Interval | None:
    """Returns the value plus and minus 1.96 standard errors, or None without one."""
    return None if error is None else Interval(value - Z95 * error, value + Z95 * error)


def group_results(groups: Mapping[str, HarnessGroup], tasks: Iterable[HarnessTaskScores]) -> dict[str, Record]:
    """Returns the harness' results of each group that has a score and all of its tasks."""
    rows = {t.record["task"]: t.record["harness"]["results"] for t in tasks}
    return {
        name: _aggregate(name, group, rows)
        for name, group in groups.items()
        if group["aggregate"] and set(group["tasks"]) <= set(rows)
    }


def _aggregate(name: str, group: HarnessGroup, rows: dict[str, Record]) -> Record:
    """Returns a group's results, aggregated by the harness from stored results."""
    from lm_eval.api.group import Group
    from lm_eval.config.group import AggMetricConfig

    logging.getLogger("lm_eval.api.group").setLevel(logging.ERROR)  # n shows that not all tasks have a metric
    aggregate = [AggMetricConfig(**metric) for metric in group["aggregate"]]
    stored: Any = Group(name, group["alias"], aggregate)
    stored.get_all_tasks = lambda recursive=True: [SimpleNamespace(task_name=task) for task in group["tasks"]]
    row: Record = stored.aggregate(rows)
    return {k: v if isinstance(v, str | dict) else float(v) for k, v in row.items()}


def group_scores(name: str, group: HarnessGroup, row: Record, tasks: list[HarnessTaskScores]) -> list[HarnessScore]:
    """Returns a group's scores."""
    numbers = {t.record["shots"] for t in tasks}
    shots = numbers.pop() if len(numbers) == 1 else None
    better = {s.metric: s.higher_is_better for t in tasks for s in t.scores}
    scores = []
    for key, n in row.get("sample_count", {}).items():
        metric, _, filter_name = key.rpartition(",")
        error = row[f"{metric}_stderr,{filter_name}"]
        error = None if isinstance(error, str) else error
        scores.append(
            HarnessScore(
                task=name,
                language="",
                metric=metric,
                filter=filter_name,
                value=row[key],
                standard_error=error,
                interval=around(row[key], error),
                n=n,
                shots=shots,
                higher_is_better=better.get(metric),
                members=len(tasks),
            )
        )
    return scores


def with_groups(tasks: list[HarnessTaskScores], groups: Mapping[str, HarnessGroup]) -> list[HarnessScore]:
    """Returns all scores of tasks in their order, each group's after its last task, inner groups first."""
    rows = group_results(groups, tasks)
    below = {name: [t for t in tasks if t.record["task"] in groups[name]["tasks"]] for name in rows}
    scores: list[HarnessScore] = []
    for task in tasks:
        scores += task.scores
        ending = [name for name, members in below.items() if members[-1] is task]
        for name in sorted(ending, key=lambda name: len(below[name])):
            of_group = group_scores(name, groups[name], rows[name], below[name])
            scores += [*of_group, *_macros(of_group, groups[name], below[name])]
    return scores


def _macros(of_group: list[HarnessScore], group: HarnessGroup, tasks: list[HarnessTaskScores]) -> list[HarnessScore]:
    """Returns the means that weigh tasks equally, for groups that weigh tasks by unequal sizes.

    Their standard error is as for a mean of independent scores.
    """
    weighted = {metric["metric"] for metric in group["aggregate"] if metric.get("weight_by_size")}
    macros = []
    for score in of_group:
        same = [s for t in tasks for s in t.scores if (s.metric, s.filter) == (score.metric, score.filter)]
        if score.metric not in weighted or len(same) < len(tasks) or len({s.n for s in same}) == 1:
            continue
        errors = [s.standard_error for s in same if s.standard_error is not None]
        value = sum(s.value for s in same) / len(same)
        error = sum(e * e for e in errors) ** 0.5 / len(same) if len(errors) == len(same) else None
        macros.append(replace(score, value=value, standard_error=error, interval=around(value, error), macro=True))
    return macros


def summary_rows(task: HarnessTaskScores) -> list[dict[str, Any]]:
    """Returns a task's row of summary.csv, with its main metric as score; empty without scores."""
    if not task.scores:
        return []
    main = task.scores[0]
    others = {s.metric: s.value for s in task.scores[1:] if s.filter == main.filter}
    low, high = main.interval or ("", "")
    return [
        {
            "task": main.task,
            "language": main.language,
            "score": main.value,
            "standard_error": "" if main.standard_error is None else main.standard_error,
            "low": low,
            "high": high,
            "n": main.n,
            "n_defect": 0,
            "looks": 1,
            "metric": main.metric if main.filter == "none" else f"{main.metric},{main.filter}",
            **{name: value for name, value in others.items() if name in METRICS},
        }
    ]


def merged_results(ours: Record, tasks: list[HarnessTaskScores], groups: Mapping[str, HarnessGroup]) -> Record:
    """Returns results in the harness' format: our tasks first, then harness tasks and groups."""
    merged = {key: dict(value) for key, value in ours.items()}
    for task in tasks:
        for key, value in task.record["harness"].items():
            if value is not None:
                merged.setdefault(key, {})[task.record["task"]] = value
        merged["group_subtasks"][task.record["task"]] = []
    rows = group_results(groups, tasks)
    for name, row in rows.items():
        merged["results"][name] = row
        merged.setdefault("groups", {})[name] = row
        merged["group_subtasks"][name] = groups[name]["children"]
        merged["versions"][name] = groups[name]["version"]
    return merged
