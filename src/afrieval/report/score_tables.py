"""Tables of scores per language, and the titles, columns and marks that other tables share with them."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from afrieval._util.grouping import grouped
from afrieval.analysis.means import Mean
from afrieval.analysis.scores import LanguageScore, alike_but_for
from afrieval.analysis.unparsed import MOST, share
from afrieval.analysis.verdicts import not_above, reading
from afrieval.languages import ENGLISH, LANGUAGES
from afrieval.report.columns import Column, rows_of
from afrieval.report.table import Table
from afrieval.report.values import (
    ANY,
    SHARE,
    Bounds,
    bounds_of,
    language_name,
    language_names,
    listed,
    shown_interval,
    shown_score,
)
from afrieval.results.cell_key import PAPER, SUITE, UNCLEANED, prompt_ranges
from afrieval.results.cell_scores import KEPT_APART, CellScores
from afrieval.results.identity import words
from afrieval.scoring.base import Metric
from afrieval.scoring.labels import COPIED, CUT, DESCRIPTIONS, EMPTY, GUESSED, NOT_PARSED, REFUSED
from afrieval.scoring.learned import is_of_network

WRITTEN = {"eng": "English", "native": "native"}
SETS = {SUITE: "prompts of the suite", PAPER: "prompts of the paper", UNCLEANED: "prompts of the paper, uncleaned"}
DEFECTIVE = "†"  # follows what has a known defect of its whole data
MACHINE, ORIGINS = "machine-written", {"human": "human-written", "paper": "published"}
UNREVIEWED = f"*: {MACHINE} prompts, not yet reviewed by two speakers."
UNNAMED = "°: not among the languages that the model's authors name."
INTERVAL = "95% CI"
N = Column("n", "count")
AS_WRONG = ", as unparsed answers count as wrong"
UNPARSED = "Unparsed answers, which count as wrong"
IN_ANY_CASE = "Verdicts and ranks hold if all unparsed answers are wrong, and if all of one side are right."
OF_PICKS = ("acc_matched", "acc_norm")  # accuracy without a preference for labels, and elsewhere for short texts
FEW = 20  # questions; such metrics say little of fewer
MANY = 0.2  # of the rows: some are above the interval of another score by chance
WRONG = (NOT_PARSED, REFUSED, CUT, EMPTY, COPIED)  # metrics of what went wrong: seen wherever anything did


def scored_columns(name: str, bounds: Bounds) -> list[Column]:
    """Returns the columns of a score and of its interval."""
    return [Column(name, "score", "", bounds), Column(INTERVAL, "interval", "interval", bounds)]


def metric_column(name: str, bounds: Bounds, values: Iterable[float | None]) -> Column:
    """Returns the column of a further metric."""
    minor = not (name in WRONG and any(values)) and not is_of_network(name)  # what judges say has tables of its own
    return Column(name, "score", name, bounds, DESCRIPTIONS.get(name, ""), minor)


def defective_column(counts: Iterable[int]) -> Column:
    """Returns the column of defective rows, which people see only if there are some."""
    says = "rows that cannot be scored or have a known defect"
    return Column("defective", "count", "n_defect", says=says, minor=not any(counts))


def score_table(
    title: str,
    scores: list[LanguageScore],
    notes: list[str],
    supported: set[str],
    means: Iterable[Mean] = (),
    metrics: Mapping[str, Metric] | None = None,
    shown: Iterable[str] = (),
) -> Table:
    """Returns a task's table: one row per language and prompt language.

    Languages that are not in `supported`, unless it is empty, get a mark. A metric that `metrics` lacks is a share.
    Metrics that are `shown`, and those of the same picks by which some score is far higher, stand next to the score.
    """
    main, others = scores[0].metric, list(dict.fromkeys(name for row in scores for name in row.others))
    bounds = {name: bounds_of((metrics or {}).get(name)) for name in (main, *others)}
    marks = {row.language: "°" for row in scores if supported and row.language not in supported}
    guess = [] if math.isnan(scores[0].chance) else [f"A random guess scores {shown_score(scores[0].chance)}%."]
    unranked = main in (metrics or {}) and not (metrics or {})[main].ranked
    columns = [*_PLACE, Column(main, "score", main, bounds[main], DESCRIPTIONS.get(main, "") if unranked else "")]
    columns += [Column(INTERVAL, "interval", "interval", bounds[main]), N]
    highs = [(row.others, row.interval.high) for row in scores if row.interval and row.n >= FEW]
    second = next((name for name in OF_PICKS if name in others), "")
    above = sum(of.get(second, -math.inf) > high for of, high in highs)
    beside = {*shown, *([second] if above and above >= MANY * len(scores) else [])}
    for name in sorted(others, key=lambda name: name not in beside):
        column = metric_column(name, bounds[name], [row.others.get(name) for row in scores])
        columns.append(column._replace(minor=column.minor and name not in beside))
    columns += [defective_column(row.n_defect for row in scores)]
    findings = [_mean_line(mean, scores, bounds[main]) for mean in means if len(mean.members) > 1]
    signs = [*unreviewed_signs(row.unreviewed for row in scores), *([UNNAMED] if marks else [])]
    rows, all_notes = rows_of(columns, map(score_record, scores)), [*guess, *unread(scores), *notes]
    return Table("scores", title, columns, rows, all_notes, findings, {"task": scores[0].task}, signs, marks)


def run_table(title: str, scores: list[LanguageScore], bounds: list[Bounds]) -> Table:
    """Returns all scores of a run in one table: one row per task, language and prompt language.

    `bounds` has the scale of each score. Shares, in percent, and scores on other scales have separate columns.
    """
    others = [of for of in dict.fromkeys(bounds) if of != SHARE]
    scale = others[0] if len(others) == 1 else ANY
    records = [*map(score_record, scores)]
    for record, row, scale_of_row in zip(records, scores, bounds, strict=True):
        record["shown prompts"] += DEFECTIVE if row.defect else ""
        on_scale, empty = (row.score, row.interval), (None, None)
        record["score"], record["interval"] = on_scale if scale_of_row == SHARE else empty
        record["value"], record["value interval"] = empty if scale_of_row == SHARE else on_scale
    defects = dict.fromkeys(f"{s.task} {LANGUAGES[s.language].name}: {s.defect}" for s in scores if s.defect)
    columns = [Column("task"), *_PLACE, Column("metric", "text", "-"), Column("", "hidden", "metric")]
    columns += _PERCENT if SHARE in bounds else []
    if others:  # shares are in the columns before
        columns += [
            Column("own scale", "score", "value", scale),
            Column("its 95% CI", "limits", "value interval", scale),
        ]
    columns += [N, defective_column(row.n_defect for row in scores)]
    notes = [f"{DEFECTIVE}: known defect of {line}." for line in defects]
    signs = unreviewed_signs(row.unreviewed for row in scores)
    return Table("scores", title, columns, rows_of(columns, records), notes, signs=signs)


_PLACE = [
    Column("language", "language"),
    Column("prompts", "text", "-"),
    *(Column("", "hidden", key) for key in ("prompt_language", "prompts")),
]
_PERCENT = [Column("score", "score"), Column(INTERVAL, "limits", "interval")]


def score_record(row: LanguageScore) -> dict[str, Any]:
    """Returns what tables have of a score, by the names of their columns for programs."""
    star = "*" * bool(row.unreviewed)
    prompts = f"{WRITTEN[row.prompt_language]} {prompt_ranges(row.prompts)}{star}" if row.prompts else ""
    head = {"task": row.task, "language": row.language, "prompt_language": row.prompt_language}
    named = {"shown prompts": prompts, "prompts": row.prompts, "shown metric": row.metric, "metric": row.metric}
    counts = {"n": row.n, "n_defect": row.n_defect}
    return {**row.others, row.metric: row.score, "interval": row.interval, **head, **named, **counts}


def unreviewed_of(cells: Iterable[CellScores]) -> dict[str, bool | str]:
    """Returns the languages of cells with native prompts that nobody has reviewed, with how these were made."""
    return {cell.language: cell.unreviewed for cell in cells if cell.unreviewed}


def unreviewed_signs(origins: Iterable[bool | str]) -> list[str]:
    """Returns what a star means, by how the prompts that have one were made; empty without any."""
    names = sorted({ORIGINS.get(str(how), MACHINE) for how in origins if how})
    return [UNREVIEWED.replace(MACHINE, listed(names))] if names else []


def unranked_notes(metrics: Iterable[Metric]) -> list[str]:
    """Returns a note on each metric that does not say how good answers are, or does so by a judge alone."""
    alone = "what a judge says, not corrected by people"
    return [f"{of.name}: {DESCRIPTIONS.get(of.name, alone)}." for of in metrics if not of.ranked]


def unread(rows: Iterable[LanguageScore]) -> list[str]:
    """Returns a note on the score of each baseline, where it is lowest and highest; empty if unknown."""
    by_baseline: dict[str, dict[str, float]] = {}
    for row in rows:
        for name, score in row.baselines.items():
            by_baseline.setdefault(name, {})[row.language] = score
    ranges = []
    for name, by_language in by_baseline.items():
        low, high = min(by_language, key=by_language.__getitem__), max(by_language, key=by_language.__getitem__)
        least, most = shown_score(by_language[low]), shown_score(by_language[high])
        names = language_name(low), language_name(high)
        ranges.append(f"{name} {least}" if least == most else f"{name} {least} ({names[0]}) to {most} ({names[1]})")
    return [f"Without reading: {', '.join(ranges)}."] if ranges else []


def not_better(cells: Iterable[CellScores]) -> list[str]:
    """Returns where a task's scores do not show beyond chance that the model reads; empty if all do.

    Languages whose baselines are not known are left out.
    """
    under: dict[bool, list[CellScores]] = {False: [], True: []}
    for prompts in alike_but_for(cells, "prompt"):
        if prompts[0].baseline_scores and (low := not_above(reading(prompts))):
            under[low.open].append(prompts[0])
    sentences = []
    for is_open, why in ((False, ""), (True, AS_WRONG)):
        of_sides = grouped(under[is_open], lambda cell: _side(cell.prompt_language, cell.prompt_set))
        sides = [f"{language_names(cell.language for cell in of)} ({side})" for side, of in of_sides.items()]
        names = {reading([cell]).metric.name for cell in under[is_open]} - {cell.main for cell in under[is_open]}
        by = f" by {listed(sorted(names))}" if names else ""
        sentences += [f"Not better than without reading{by}{why}: {'; '.join(sides)}."] if sides else []
    return sentences


def _side(prompt_language: str, prompt_set: str) -> str:
    return f"{WRITTEN[prompt_language]} prompts" if prompt_set == SUITE else SETS[prompt_set]


def _mean_line(mean: Mean, scores: Iterable[LanguageScore], bounds: Bounds) -> str:
    """Returns the mean over African languages, which are named if the table has others with such prompts."""
    kind, prompts = mean.dimensions["prompt_language"], mean.dimensions["prompt_set"]
    side = {row.language for row in scores if (row.prompt_language, row.prompt_set) == (kind, prompts)}
    interval = f" ({INTERVAL} {shown_interval(mean.interval, bounds)})" if mean.interval else ""
    only = f": {language_names(mean.members, None)}" if {*mean.members} != side else ""
    over = f"over {len(mean.members)} African languages, {_side(kind, prompts)}{only}"
    return f"Mean {shown_score(mean.score, bounds)}{interval} {over}."


HEADS = {"prompt_set": "prompt set", "prompt_language": "prompt language", "answer_form": "answer form"}


def varying(dimensions: list[dict[str, Any]]) -> list[str]:
    """Returns the dimensions that have several values, the language first."""
    names = [d for d in ("language", "prompt_set", "prompt_language", "model", "shots", "answer_form") if dimensions]
    return [d for d in names if d == "language" or len({str(x.get(d)) for x in dimensions}) > 1]


def column_of(name: str) -> Column:
    """Returns the column of a dimension."""
    return Column(HEADS.get(name, name), "language" if name == "language" else "text", name)


def named(dimensions: dict[str, Any], name: str) -> str:
    """Returns a dimension's value as tables have it."""
    value = dimensions[name]
    if name == "prompt_set":
        return SETS[value]
    return WRITTEN[value] if name == "prompt_language" else str(value)


def naming_options(tables: Iterable[Table], cells: Iterable[CellScores]) -> list[Table]:
    """Returns tables whose titles name the options of their task, since scores depend on them."""
    options = {}
    for cell in cells:
        extract = [name if on else f"no {name}" for name, on in cell.declared.get("extract", {}).items()]
        options[cell.task] = [*cell.declared.get("options", {}).values(), *extract]
    return [replace(t, title=", ".join([t.title, *options.get(t.about["task"], [])])) for t in tables]


LOOKED = "The sample grew: intervals and differences hold at all of its {} looks together."


def naming_rows(tables: Iterable[Table], cells: Iterable[CellScores]) -> list[Table]:
    """Returns tables whose titles and records say which rows of the test sets they are of, if not of all.

    Notes say if these rows were a growing sample, and where many answers are unparsed.
    """
    cell_list, named_tables = list(cells), []
    for table in tables:
        table_cells, sides = cell_list, [table.about[end] for end in ("first", "second") if end in table.about]
        for name in ("task", *KEPT_APART):  # as far as the table says what it is about
            if name in table.about:
                table_cells = [cell for cell in table_cells if getattr(cell, name) == table.about[name]]
        if sides:
            table_cells = [cell for cell in table_cells if getattr(cell, table.about["dimension"]) in sides]
        most, selection = max((c.looks for c in table_cells), default=1), words(c.selection for c in table_cells)
        notes = [*table.notes, *[LOOKED.format(most)] * (most > 1)]
        if any(column.form == "score" for column in table.columns):
            notes += unparsed_notes(table_cells, table.kind == "prompts")
        title = table.title if selection in table.title else f"{table.title}, {selection}"
        about = {**table.about, **({"selection": selection} if selection else {})}
        named_tables.append(_starred(replace(table, title=title, notes=notes, about=about), table_cells))
    return named_tables


def doubts(cells: Iterable[CellScores]) -> list[str]:
    """Returns what a star at native prompts means, if nobody has reviewed some, and `unparsed_notes`."""
    cell_list = list(cells)
    return [*unreviewed_signs(unreviewed_of(cell_list).values()), *unparsed_notes(cell_list)]


def unparsed_notes(cells: Iterable[CellScores], by_prompt: bool = False) -> list[str]:
    """Returns where many answers are unparsed, and where many are guessed, as sentences; empty if none are."""
    scored = [cell for cell in cells if cell.n]
    of_tasks = grouped(scored, lambda cell: cell.task)
    tasks, varied = {*of_tasks}, {d for of in of_tasks.values() for d in varying([cell.dimensions for cell in of])[1:]}
    apart = [d for d in varying([cell.dimensions for cell in scored])[1:] if d in varied]
    shares: dict[str, dict[tuple[str, str], float]] = {NOT_PARSED: {}, GUESSED: {}}
    averaged_over = () if by_prompt else ("prompt",)
    for side in alike_but_for(scored, *averaged_over):
        sides = [f"{named(side[0].dimensions, d)}{' prompts' * (d == 'prompt_language')}" for d in apart]
        about = ", ".join([*sides, *[side[0].task] * (len(tasks) > 1), *[f"prompt {side[0].prompt}"] * by_prompt])
        for name, by_side in shares.items():
            by_side[about, language_name(side[0].language)] = share(side, name)
    return [*unparsed_words(shares[NOT_PARSED], bool(apart)), *unparsed_words(shares[GUESSED], what="Guessed answers")]


def unparsed_words(shares: Mapping[tuple[str, str], float], compared: bool = False, what: str = UNPARSED) -> list[str]:
    """Returns in a sentence where the share of unparsed answers of a side and language is high; empty if nowhere.

    The highest are first. All sides are named, languages as far as there is room.
    """
    high = sorted((place for place, of in shares.items() if of > MOST), key=lambda key: -shares[key])
    sides = grouped(high, lambda key: key[0])
    parts = []
    for about, keys in sides.items():
        where = listed([f"{place[1]} {shown_score(shares[place])}%" for place in keys], max(2, 8 // len(sides)))
        parts.append(f"{about} ({where})" if about else where)
    return [f"{what}: {listed(parts)}.", *[IN_ANY_CASE] * compared] if high else []


STARRED = ("prompts", "means", "suite", "best", "breakdown")  # kinds of tables; others have their own stars


def _starred(table: Table, cells: list[CellScores]) -> Table:
    """Returns a table in which what is of native prompts that nobody has reviewed has a star."""
    unreviewed = unreviewed_of(cells) if table.kind in STARRED else {}
    names = {value for row in table.rows for value in row if isinstance(value, str)} & {WRITTEN["native"]}
    if not names and all(cell.prompt_language == "native" or cell.language == ENGLISH for cell in cells):
        names = {row[0] for row in table.rows if row[0] in unreviewed or row[0] not in LANGUAGES}
    if not unreviewed or not names:
        return table
    marks = {name: f"{table.marks.get(name, '')}*" for name in names}
    return replace(table, marks={**table.marks, **marks}, signs=[*table.signs, *unreviewed_signs(unreviewed.values())])


def defects_of(cells: Iterable[CellScores]) -> dict[str, str]:
    """Returns the languages of cells whose data has a known defect as a whole, with that defect."""
    return {cell.language: cell.defect for cell in cells if cell.defect}


def marked(table: Table, defects: Mapping[str, str]) -> Table:
    """Returns a table in which the languages with a defect have a mark, and a note says why."""
    columns = [at for at, column in enumerate(table.columns) if column.form == "language"]
    shown = {table.about.get("language"), *(row[at] for row in table.rows for at in columns)}
    defective = [code for code in defects if code in shown]
    marks = {**table.marks, **{code: f"{table.marks.get(code, '')}{DEFECTIVE}" for code in defective}}
    return replace(table, marks=marks, notes=[*table.notes, *(note_on(code, defects[code]) for code in defective)])


def noting_systems(table: Table, cells: Iterable[CellScores]) -> Table:
    """Returns a contrast, with a note on native prompts that had the English system text."""
    lacking = {(c.task, code): code for c in cells for code in c.declared.get("english_system", {})}
    shown = [code for code in (lacking.get((table.about["task"], row[0])) for row in table.rows) if code]
    notes = [f"System text in English, for lack of a native one: {language_names(shown)}."]
    return replace(table, notes=table.notes + notes) if shown and "native" in table.about.values() else table


def without(table: Table, defects: Mapping[str, str]) -> Table:
    """Returns a table of means with a note on each African language that is left out of them."""
    african = [code for code in defects if LANGUAGES[code].african]
    notes = [f"Left out: {LANGUAGES[code].name}, known defect of its data: {defects[code]}." for code in african]
    return replace(table, notes=[*table.notes, *notes])


def note_on(code: str, defect: str) -> str:
    """Returns a note on a language whose data has a known defect as a whole."""
    sign = f"{DEFECTIVE}: {LANGUAGES[code].name}, known defect of its data: {defect}"
    return f"{sign}; left out of means and of comparisons between languages."
