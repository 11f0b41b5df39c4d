"""Shows contrasts as tables and in sentences, and names the sides that they compare."""

from collections.abc import Sequence
from typing import Any

from afrieval._util.grouping import grouped
from afrieval.analysis.contrasts import Contrast
from afrieval.analysis.differences import Difference
from afrieval.analysis.ranks import PERCENT
from afrieval.analysis.run_contrasts import AverageDifference
from afrieval.languages import LANGUAGES
from afrieval.report.columns import Column
from afrieval.report.score_tables import INTERVAL, SETS, WRITTEN, naming_rows, unreviewed_of, unreviewed_signs
from afrieval.report.table import Table
from afrieval.report.values import SHARE, Bounds, bounds_of, language_name, language_names, shown_change, titled
from afrieval.report.verdict_words import OPEN, floors, not_above_in, one_answer_notes, unread_words, withheld
from afrieval.results.cell_key import prompt_ranges
from afrieval.scoring.base import Metric
from afrieval.scoring.labels import DESCRIPTIONS
from afrieval.scoring.statistics.intervals import Interval

POINTS = ", in percentage points"
DETECTABLE = "the smallest difference that this many questions show with 80% power"
AT_ONCE = (
    "of the difference; like p, it holds for all rows at once (Bonferroni), and contains 0 exactly if p is 0.05 or more"
)
SIMULTANEOUS = f"{INTERVAL}, simultaneous"
BALANCED = "averaged over the right answers, so that each has the same weight"
BY_LENGTH = (
    "Label words differ in length, so this score cannot separate the effects of prompt language and label length; "
    "see docs/scoring.md."
)
PAIRED = "Paired: on the questions that both answered; languages count alike in a task, and tasks in the average."
SMALLEST = "the smallest number of questions in a task and language"
ALONE = 'No verdict: this score alone does not say how good answers are. See "Judged scores" in docs/statistics.md.'
OUTCOMES = {1: "higher", -1: "lower"}
ALIKE = "no detectable difference"
NOTHING = "first rows only, nothing is concluded"


def contrast_table(contrast: Contrast, metric: Metric | None = None) -> Table:
    """Returns a contrast's table: one row per language, and in words what it shows.

    `metric` serves where the contrast has none.
    """
    metric, stars = contrast.metric or metric, unreviewed_of(contrast.cells)
    prompts = dict.fromkeys(prompt_ranges(row.prompts) for row in contrast.rows if contrast.dimension != "prompt")
    first, second = (side_name(contrast.dimension, side) for side in (contrast.first, contrast.second))
    which = ""
    if len(prompts) == 1:
        (all_prompts,) = prompts
        which = f", prompt{'s' if set('-,') & set(all_prompts) else ''} {all_prompts}"
    alone = len(contrast.rows) == 1 and contrast.dimension != "language"  # no part of a family of tests
    where = "".join(f", {side_name(d, v)}" for d, v in contrast.fixed.items())
    about = {"task": contrast.task, "dimension": contrast.dimension, "first": contrast.first, "second": contrast.second}
    if metric and (by := contrast_metric(contrast, metric)):
        about["metric"] = by
    task = titled(contrast.task, metric) if contrast.is_score or not metric else f"{contrast.task}, {about['metric']}"
    signs, rows = unreviewed_signs(stars.values()), list[list[Any]]()
    if contrast.metric and not contrast.is_score:  # what the metric is
        name, balanced = contrast.metric.name, contrast.balanced
        described = DESCRIPTIONS.get(name, "accuracy" if balanced else "the metric for this comparison")
        signs.insert(0, f"balanced_{name}: {described}, {BALANCED}." if balanced else f"{name}: {described}.")
    for row in contrast.rows:
        head = [row.language, *([prompt_ranges(row.prompts)] if len(prompts) > 1 else [])]
        numbers = [row.first, row.second, row.difference, row.interval, row.adjusted, row.detectable]
        verdict = OUTCOMES.get(row.verdict) or why_not(row, metric)
        rows.append([*head, *numbers, f"{row.gained}/{row.lost}", row.gained, row.lost, row.n, verdict])
    title = f"{task}: {second} against {first}{where}{which}"
    columns = _columns(first, second, len(prompts) > 1, bounds_of(metric), alone)
    notes, findings, marks = _notes(contrast), [sentence(contrast, metric)], dict.fromkeys(stars, "*")
    return Table("contrast", title, columns, rows, notes, findings, about | contrast.fixed, signs, marks)


def average_difference_tables(averages: Sequence[AverageDifference]) -> list[Table]:
    """Returns in a table and a sentence how two models differ on average, for each setting; none if it is not known."""
    if not averages:
        return []
    first, second = averages[0].contrasts[0].first, averages[0].contrasts[0].second
    columns = [Column("settings"), *_columns(first, second, False, SHARE, alone=True)[1:5], Column("p", "p")]
    columns += [Column("detectable", "score", "", SHARE, DETECTABLE), Column("n", "count", says=SMALLEST)]
    columns += [Column("", "hidden", key) for key in ("tasks", "n_languages", "members", "verdict")]
    rows, findings, members, stars = list[list[Any]](), list[str](), list[str](), dict[str, Any]()
    for average in averages:
        tasks = {c.task: sorted(row.language for row in c.rows) for c in average.contrasts}
        codes = sorted({code for of_task in tasks.values() for code in of_task})
        origins = unreviewed_of([cell for c in average.contrasts for cell in c.cells])
        settings = {**average.contrasts[0].fixed, **({"prompt_language": "native"} if origins else {})}
        where = ", ".join(side_name(d, v) for d, v in settings.items())
        short = where.removesuffix(" prompts")
        stars |= {short: [*origins.values()]} if origins else {}
        low, high, shown = (
            average.interval.low / 100,
            average.interval.high / 100,
            (average.second - average.first) / 100,
        )
        values = [
            average.first / 100,
            average.second / 100,
            shown,
            Interval(low, high),
            average.p,
            average.detectable / 100,
        ]
        over = f"{f'{len(tasks)} tasks and ' * (len(tasks) > 1)}{len(codes)} African language{'s' * (len(codes) > 1)}"
        verb = {1: "scores higher than", -1: "scores lower than"}.get(average.verdict, "against")
        unread = average.floor and f"the better one is not above {unread_words(average.floor, PERCENT)}"
        why = OPEN if average.open else unread or ALIKE
        end = "" if average.verdict else f": {why}"
        rows.append([short, *values, average.n, len(tasks), len(codes), codes, OUTCOMES.get(average.verdict, why)])
        change = f"{shown_change(shown)} points, 95% CI {shown_change(low)} to {shown_change(high)}"
        findings.append(f"{second} {verb} {first}{where and f', {where},'} on average over {over}{end} ({change}).")
        members += [f"{task}: {language_names(of_task, None)}." for task, of_task in tasks.items()]
    columns[0] = columns[0]._replace(form="text" if any(row[0] for row in rows) else "hidden")
    about = {"dimension": "model", "first": first, "second": second}
    signs = unreviewed_signs(how for origins in stars.values() for how in origins)
    title, notes = f"Average: {second} against {first}", [PAIRED, *dict.fromkeys(members)]
    table = Table("average difference", title, columns, rows, notes, findings, about, signs, dict.fromkeys(stars, "*"))
    return naming_rows([table], [cell for of in averages for c in of.contrasts for cell in c.cells])


def contrast_metric(contrast: Contrast, metric: Metric | None = None) -> str:
    """Returns the metric of a contrast, if it is not the task's score; else nothing."""
    compared = contrast.metric or metric
    return f"{'balanced_' if contrast.balanced else ''}{compared.name}" if compared and not contrast.is_score else ""


def side_name(dimension: str, side: Any) -> str:
    """Returns what a value of a dimension is called."""
    if dimension == "prompt_language":
        return f"{WRITTEN[side]} prompts"
    if dimension == "prompt_set":
        return SETS[side]
    if dimension == "language":
        return LANGUAGES[side].name
    names = {"prompt": f"prompt {side}", "shots": f"{side}-shot", "answer_form": f"answer form {side}"}
    return names.get(dimension, str(side))


def _columns(first: str, second: str, with_prompts: bool, bounds: Bounds, alone: bool) -> list[Column]:
    heads = first.removesuffix(" prompts"), second.removesuffix(" prompts")
    if max(map(len, heads)) > 10:  # which leaves no room for other columns; the title has the names
        heads = "first", "second"
    of_all = Column(SIMULTANEOUS, "changes", "interval", bounds, AT_ONCE)
    return [
        Column("language", "language"),
        *([Column("prompts")] if with_prompts else []),
        Column(heads[0], "score", "first_score", bounds),
        Column(heads[1], "score", "second_score", bounds),
        Column("difference", "change", "", bounds, f"second score minus first{POINTS if bounds == SHARE else ''}"),
        *([Column(INTERVAL, "changes", "interval", bounds)] if alone else [of_all]),
        Column("p", "p", "p_adjusted"),
        Column("detectable", "score", "", bounds, DETECTABLE),
        Column("+/-", "count", "-", says="questions gained/lost by the second", minor=True),
        Column("", "hidden", "gained"),
        Column("", "hidden", "lost"),
        Column("n", "count"),
        Column("", "hidden", "verdict"),
    ]


def why_not(row: Difference, metric: Metric | None) -> str:
    """Returns why nothing follows from a row without a verdict, or that its sides do not differ detectably."""
    if row.concludes or row.open:
        return withheld(row, bounds_of(metric)) or ALIKE
    return NOTHING if metric is None or metric.ranked else f"{metric.name} alone, nothing is concluded"


def _notes(contrast: Contrast) -> list[str]:
    notes = []
    if dropped := sum(row.dropped for row in contrast.rows):
        notes.append(f"Left out: {dropped} questions that one side lacks, or whose right answers differ.")
    notes += [f"Not compared: {line}." for line in contrast.refused]
    notes += [f"Settings that differ: {line}." for line in contrast.settings]
    notes += [BY_LENGTH] if contrast.by_length else []
    notes += [ALONE] if contrast.metric and not contrast.metric.ranked else []
    if contrast.metric and not contrast.metric.calibrated:  # which has labels picked equally often
        notes += one_answer_notes(contrast.cells)
    return notes


def sentence(contrast: Contrast, metric: Metric | None = None) -> str:
    """Returns in plain words what a contrast shows, or why nothing is concluded although its sides differ."""
    bounds, better = bounds_of(metric), metric is None or metric.higher_is_better
    if contrast.dimension == "language":  # one row at most
        first, second = language_name(contrast.first), language_name(contrast.second)
        if not contrast.rows:
            return f"{second} and {first}: nothing to compare."
        (row,) = contrast.rows
        verb = {1: "scores higher than", -1: "scores lower than"}.get(row.verdict, "and")
        return f"{second} {verb} {first}{'' if row.verdict else f': {why_not(row, metric)}'}."
    names = {which: [r.language for r in contrast.rows if r.verdict == which] for which in (1, -1)}
    alike = [r.language for r in contrast.rows if r.concludes and not r.differs]
    native = contrast.dimension == "prompt_language"
    subject = "Native prompts" if native else _subject(contrast, contrast.second)
    helps = ("help", "hurt") if better else ("hurt", "help")
    higher, lower = helps if native else ("scores higher", "scores lower")
    parts = [f"{word} in {language_names(names[v])}" for v, word in ((1, higher), (-1, lower)) if names[v]]
    of_floors = {language_name(code): floor for code, floor in floors(contrast).items()}
    parts += [f"the better side {unread}" for unread in not_above_in(of_floors, bounds)]
    unsure = grouped([r for r in contrast.rows if not r.concludes], lambda r: why_not(r, metric)).items()
    for outcome, which in ((ALIKE, alike), *((why, [r.language for r in of]) for why, of in unsure)):
        where = f"{len(which)} languages" if len(which) > 3 else language_names(which)
        parts += [f"{outcome} in {where}"] if which else []
    none = [why for why, _ in unsure] if len(parts) == 1 else []
    text = ", ".join(none or parts) or "nothing to compare"
    if not (names[1] or names[-1]):
        return f"{subject}: {text}."
    against = "" if native else f" (against {_subject(contrast, contrast.first)})"
    return f"{subject} {text}{against}."


def _subject(contrast: Contrast, value: Any) -> str:
    name = side_name(contrast.dimension, value)
    return name[0].upper() + name[1:] if contrast.dimension != "model" else name
