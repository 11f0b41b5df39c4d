"""Tables of a suite: averages over its tasks, and derived metrics; and tasks of the harness, on its own scale."""

from collections.abc import Sequence
from typing import Any

from afrieval._util.grouping import grouped
from afrieval.analysis.scores import LanguageScore
from afrieval.analysis.suites import APART, RULES, SuiteAverage
from afrieval.languages import LANGUAGES
from afrieval.report.columns import Column, rows_of
from afrieval.report.score_tables import INTERVAL, SETS, WRITTEN, scored_columns
from afrieval.report.table import Table
from afrieval.report.values import ANY, SHARE, language_names, shown_interval, shown_score
from afrieval.results.cell_key import SUITE
from afrieval.run.harness.harness_scores import HarnessScore
from afrieval.run.suites.derived_scores import DIMENSIONS, DerivedScore
from afrieval.run.suites.reference import PublishedScore
from afrieval.scoring.labels import words
from afrieval.scoring.statistics.intervals import Interval

OF_RANGE = "Averages over tasks are of scores in percent of each metric's range."
OF_INTERVALS = "Their intervals are over languages and documents."
OUTSIDE = "Not averaged, having no score of quality between 0 and a maximum: {}."
KEPT = ("model", "shots", "answer_form")  # named where several of them are at hand


def suite_tables(averages: list[SuiteAverage], rule: str = "suite") -> list[Table]:
    """Returns the table of tasks and averages; none for a single task."""
    several = [average for average in averages if len(average.parts) > 1]
    if not several:
        return []
    varying = [name for name in KEPT if len({average.dimensions[name] for average in several}) > 1]
    has_groups = any(len(average.groups) < len(average.parts) for average in several)
    columns = [Column("group")] if has_groups else []
    columns += [Column("task"), *(Column(name.replace("_", " "), "text", name) for name in varying)]
    columns += [Column("prompts", "text", "-"), Column("", "hidden", "prompt_language"), Column("metric")]
    columns += scored_columns("mean", SHARE)
    columns += [Column("languages", "count", "n_languages"), Column("", "hidden", "members")]
    ran = {code for average in several for part in average.parts for code in part.apart}
    columns += [Column(LANGUAGES[code].name, "score" if code in ran else "hidden", code) for code in APART]
    records, ends, findings = list[dict[str, Any]](), list[int](), list[str]()
    for average in several:
        kind, prompt_set = average.dimensions["prompt_language"], average.dimensions["prompt_set"]
        written = WRITTEN[kind] if prompt_set == SUITE else SETS[prompt_set]
        for part in average.parts:
            score, interval = shares(part.score, part.interval)
            chosen = f" {part.prompt}" if part.prompt is not None else ""
            names = {"group": part.group, "task": part.task, "metric": part.metric, "shown prompts": written + chosen}
            numbers = {"mean": score, "interval": interval, "n_languages": len(part.languages)}
            apart = {code: score / 100 for code, score in part.apart.items()}
            records.append({**average.dimensions, **names, **numbers, "members": part.languages, **apart})
        languages = sorted({code for part in average.parts for code in part.languages})
        mean, interval = shares(average.score, average.interval)
        names = {"group": "", "task": "average", "metric": "", "shown prompts": written}
        numbers = {"mean": mean, "interval": interval, "n_languages": len(languages)}
        records.append({**average.dimensions, **names, **numbers, "members": languages})
        ends += [len(records) - 2, len(records) - 1]
        sure = f" ({INTERVAL} {shown_interval(interval)})" if interval else ""
        settings = [str(average.dimensions[name]) for name in varying]
        side = ", ".join([written if "prompts" in written else f"{written} prompts", *settings])
        findings.append(f"Average {shown_score(mean)}{sure} over {len(average.parts)} tasks, {side}.")
    suite = next((average.suite for average in several if average.suite), "")
    title = f"Average of {suite}" if suite else "Average over tasks"
    notes, signs = _notes(several), [f"{OF_RANGE} {RULES[rule].says} {OF_INTERVALS}"]
    rows = rows_of(columns, records)
    return [Table("suite", title, columns, rows, notes, findings, {"suite": suite}, signs, ends=ends)]


def shares(score: float, interval: Interval | None) -> tuple[float, Interval | None]:
    """Returns a score in percent and its interval as shares, which all tables have."""
    return score / 100, Interval(*(end / 100 for end in interval)) if interval else None


def _notes(averages: list[SuiteAverage]) -> list[str]:
    notes = list[str]()
    for average in averages:
        whole = len(average.parts) + len(average.missing) + len(average.outside)
        if average.missing or average.outside:
            kind = WRITTEN[average.dimensions["prompt_language"]]
            notes.append(f"The average with {kind} prompts is over {len(average.parts)} of {whole} tasks.")
        if average.missing:
            notes.append(f"Without scores: {', '.join(average.missing)}.")
        if average.outside:
            notes.append(OUTSIDE.format(", ".join(average.outside)))
    members = {tuple(part.languages) for average in averages for part in average.parts}
    if len(members) == 1:
        notes.append(f"Languages: {language_names(next(iter(members)), None)}.")
    return list(dict.fromkeys(notes))


HEADS = {"model": "model", "language": "language", "prompt_language": "prompts", "prompt": "prompt"}


def derived_tables(suite: str, scores: Sequence[DerivedScore], published: Sequence[PublishedScore] = ()) -> list[Table]:
    """Returns the table of a suite's derived metrics, a row for each; none if there are none.

    `published` are shown below the scores of the same metric.
    """
    if not scores:
        return []
    records, dimmed = list[dict[str, Any]](), list[int]()
    for name in dict.fromkeys(score.name for score in scores):
        for score in (score for score in scores if score.name == name):
            values_of = {dimension: {getattr(c, dimension) for c in score.cells.values()} for dimension in DIMENSIONS}
            head = {key: next(iter(values)) if len(values) == 1 else None for key, values in values_of.items()}
            head["prompt_language"] = WRITTEN.get(str(head["prompt_language"]))
            numbers = {"score": score.score, "interval": score.interval, "n": score.n or None}
            needs = {"references": " ".join(score.references), "reason": score.reason}
            records.append({"metric": name, **head, "model": score.model, **numbers, **needs})
        for line in (line for line in published if line.metric == name):
            dimmed.append(len(records))
            blank = {"references": "", "reason": ""}
            records.append({"metric": name, "model": line.model, "score": line.score, **blank})
    varying = [name for name in HEADS if len({record.get(name) for record in records} - {None}) > 1]
    columns = [
        Column("metric", "derived", "metric"),
        *(Column(HEADS[n], "language" if n == "language" else "text", n) for n in varying),
    ]
    columns += [Column("score", "exact"), Column(INTERVAL, "limits", "interval", ANY), Column("n", "count")]
    columns += [Column("needs", "text", "references"), Column("", "hidden", "reason")]
    notes = [f"{words(score.name)}: {note}." for score in scores for note in score.notes]
    if any(score.bounds == SHARE for score in scores):
        notes.append("Shares and probabilities are between 0 and 1, not in percent.")
    notes += [f"Published scores are those of {of.source}." for of in published]
    several = len({score.model for score in scores}) > 1
    absent = []
    for reason, absent_scores in grouped(
        (score for score in scores if score.reason), lambda score: score.reason
    ).items():
        names = dict.fromkeys(words(of.name) + (f" of {of.model}" if several else "") for of in absent_scores)
        absent.append(f"Without a score: {', '.join(names)}: {reason}.")
    about, notes = {"suite": suite}, list(dict.fromkeys(notes))
    rows = rows_of(columns, records)
    return [Table("derived", suite, columns, rows, notes, absent, about=about, dimmed=dimmed)]


HARNESS_COLUMNS = [
    Column("task", "text", "-"),
    Column("language", "language", "-"),
    Column("metric", "text", "-"),
    Column("value", "score", "", ANY),
    Column(INTERVAL, "interval", "interval", ANY),
    Column("n", "count"),
    Column("shots", "count"),
    *(Column("", "hidden", name) for name in ("task", "language", "metric", "filter", "members", "macro")),
]


def harness_table(scores: list[HarnessScore], cleaned: bool, rows_run: str = "") -> Table:
    """Returns the table of harness tasks, one row per metric; what repeats from row to row is left blank.

    `rows_run` says which rows of the test sets ran; empty for all.
    """
    rows: list[list[Any]] = []
    for before, score in zip([None, *scores], scores, strict=False):
        again = before is not None and score.task == before.task
        head = ["", ""] if again else [f"= {score.task}" if score.members else score.task, score.language]
        metric = score.metric if score.filter == "none" else f"{score.metric}, {score.filter}"
        metric += (", macro" if score.macro else "") + (" ↓" if score.higher_is_better is False else "")
        raw = [score.task, score.language, score.metric, score.filter, score.members, score.macro]
        rows.append([*head, metric, score.value, score.interval, score.n, score.shots, *raw])
    columns = list(HARNESS_COLUMNS)
    if not any(score.language for score in scores):
        columns[1] = columns[1]._replace(form="hidden")
    title = "harness tasks" + (", prompts cleaned" if cleaned else "")
    about = {"selection": rows_run} if rows_run else {}
    signs = {
        "Values are as the harness computes them.": True,
        "= a group of the tasks above it.": any(s.members for s in scores),
        "macro: all tasks of a group have the same weight; the harness weighs them by size.": any(
            s.macro for s in scores
        ),
        "↓ lower is better.": any(s.higher_is_better is False for s in scores),
        "none: the harness gives no standard error.": any(s.interval is None for s in scores),
        "Prompts differ from the harness's own (clean_prompts).": cleaned,
    }
    shown, named = [sign for sign, holds in signs.items() if holds], ", ".join(filter(None, (title, rows_run)))
    return Table("harness", named, columns, rows, about=about, signs=shown)


def as_language_score(score: HarnessScore) -> LanguageScore:
    """Returns a score of the harness in the form of the suite's own scores."""
    metric = score.metric if score.filter == "none" else f"{score.metric},{score.filter}"
    return LanguageScore(
        task=score.task, language=score.language, prompt_language="", prompts=[], metric=metric, score=score.value,
        interval=score.interval, others={}, n=score.n, n_defect=0, chance=float("nan"),
    )  # fmt: skip
