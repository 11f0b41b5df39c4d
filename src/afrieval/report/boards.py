"""Tables of a leaderboard: averages, the best model in each language, scores of a task in a language."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from afrieval._util.grouping import ranges
from afrieval.analysis.entries import LeaderboardModel, TaskEntries, TaskEntry
from afrieval.analysis.leaderboard import ModelBoard, ModelStanding
from afrieval.analysis.ranks import PERCENT
from afrieval.analysis.suites import RULES
from afrieval.languages import LANGUAGES
from afrieval.report.columns import Column, rows_of
from afrieval.report.score_tables import SETS, WRITTEN, scored_columns, unparsed_words, unreviewed_signs
from afrieval.report.standing_words import NAMED, best_words, not_read
from afrieval.report.suite_tables import OUTSIDE, shares
from afrieval.report.table import Table
from afrieval.report.values import SHARE, bounds_of, language_name, language_names, listed
from afrieval.results.cell_key import SUITE

HEADS = {"kind": "prompts", "shots": "shots", "answer_form": "answer form", "rows": "rows"}  # of rows of one model


def prompts_of(model: LeaderboardModel) -> str:
    """Returns what a model's prompts are called."""
    if model.published:
        return model.prompt_set if model.prompt_language == "eng" else f"{model.prompt_set}, native"
    return WRITTEN[model.prompt_language] if model.prompt_set == SUITE else SETS[model.prompt_set]


def titles(models: Iterable[LeaderboardModel]) -> dict[LeaderboardModel, str]:
    """Returns a title for each: the model's name, and all that differs among those with the same name."""
    distinct = list(dict.fromkeys(models))
    varying = _varying(distinct)
    return {
        each: ", ".join([each.name, *(text for name in varying if (text := value_of(each, name)))]) for each in distinct
    }


def kinds_of(models: Sequence[LeaderboardModel]) -> list[Column]:
    """Returns the columns of what varies; published scores are always marked."""
    always = ["kind"] if any(model.published for model in models) else []
    return [Column(HEADS[name], "text", name) for name in dict.fromkeys([*always, *_varying(models)])]


def _varying(models: Sequence[LeaderboardModel]) -> list[str]:
    values = {name: {value_of(e, name) for e in models} - {""} for name in HEADS}
    return [name for name, of in values.items() if len(of) > (name != "rows")]  # rows are named if they are not all


def value_of(model: LeaderboardModel, name: str) -> Any:
    """Returns what a model is along one of `HEADS`, as tables have it."""
    if name == "kind":
        return prompts_of(model)
    if name == "rows":
        return model.rows.words
    value = getattr(model, name)
    return f"{value} shots" if name == "shots" and value is not None else value or ""


def numbers(prompts: Sequence[str]) -> str:
    """Returns prompts in short, such as 1-5."""
    numbers = sorted(int(prompt) for prompt in prompts if prompt.isdecimal())
    others = [prompt for prompt in prompts if not prompt.isdecimal()]
    return " ".join([*([ranges(numbers)] if numbers else []), *others])


RANKS = (
    "rank: 1-3 is first, second or third. Models that cannot be told apart share ranks; all ranks of a table are right "
    "at once with 95% confidence (paired differences, all pairs of models, Holm)."
)
TWICE = "Every kind of prompts has a rank: a model with English and native prompts has two of them."
PUBLISHED = (
    "published: scores that others have published, with their own prompts. Their documents are not known, so their "
    "errors are taken to be as large as they can be."
)
CHOSEN = "Ranks do not correct for the choice of prompts: a model with more prompts has more to choose from."
APART = "It is in AfroBench's average, but in no other one."
KINDS = "Each row is of one kind of prompts: no mean mixes runs with published scores."


def average_tables(board: ModelBoard, tasks: Sequence[TaskEntries]) -> list[Table]:
    """Returns the table of an average, and a table of the models that lack some of its pairs."""
    whole = [standing for standing in board.standings if standing.whole]
    partial = [standing for standing in board.standings if not standing.whole]
    lacking = sum(standing.concludes for standing in partial)
    tables = [_average_table(board, whole, lacking, tasks)] if whole else []
    if not partial:
        return tables
    columns = [*scored_columns("mean", SHARE), Column("pairs", "count")]
    notes = [
        "These lack some of the pairs of task and language that ranks are over; pairs: how many of "
        f"{board.n_pairs} they have. Their means are over other pairs, and cannot be compared with those of others."
    ] * (lacking > 0)
    notes += _unranked(partial)
    title, about = f"{_described(board)[0]}: models without a rank", {"average": board.name}
    other = _table("other average", title, partial, columns, _averages(partial), notes, about, ranked=False)
    return [*tables, other]


def _average_table(
    board: ModelBoard, standings: list[ModelStanding], others: int, tasks: Sequence[TaskEntries]
) -> Table:
    title, says = _described(board)
    columns = [*scored_columns("mean", SHARE), Column("pairs", "count"), Column("n", "count")]
    used = [task for task in tasks if task.task in board.tasks]
    total = "all" if len(board.pairs) == board.n_pairs else f"{len(board.pairs)} of {board.n_pairs}"
    lack = f"; {others} {'row lacks' if others == 1 else 'rows lack'} some of them" if others else ""
    pairs = f"pairs: how many of {board.n_pairs} pairs of task and language a row has."
    covered = f"{pairs} All means here are over the same pairs, {total} that any row has{lack}."
    languages = {task: sorted(code for of, code in board.pairs if of == task) for task in board.tasks}
    members = f"{'; '.join(f'{task}: {language_names(codes, None)}' for task, codes in languages.items())}."
    if len({tuple(codes) for codes in languages.values()}) < 2:
        members = f"Tasks: {', '.join(languages)}. Languages: {language_names(board.languages, None)}."
    sharing = [task for task in tasks if {*task.languages} & {*board.languages}]
    notes = [says, members, covered, *_outside(sharing), *_notes(standings, used)]
    notes += [CHOSEN] if board.name == "afrobench" and any(standing.rank for standing in standings) else []
    notes += [*_defects(board, used, True), *([] if board.name in board.languages else _defects(board, used, False))]
    return _table("average", title, standings, columns, _averages(standings), notes, {"average": board.name})


def task_table(board: ModelBoard, task: TaskEntries) -> Table | None:
    """Returns the means of a task over African languages; None without one."""
    if not board.standings:
        return None
    columns = [*scored_columns("mean", bounds_of(task.metric)), Column("languages", "count"), Column("n", "count")]
    counts = [len(board.languages) if s.whole else len(s.pairs) for s in board.standings]
    records = [{**_record(s), "languages": n} for s, n in zip(board.standings, counts, strict=True)]
    others = any(not s.whole and s.concludes for s in board.standings)
    over = f"Means over {len(board.languages)} African languages: {language_names(board.languages, None)}."
    notes = [over] if board.languages else []
    notes += ["Without a rank: means over other languages, not to be compared."] if others else []
    notes += [*_notes(board.standings, [task]), *_defects(board, [task], False), *task.notes]
    title = f"{_titled(task)}: mean over African languages"
    return _table("task", title, board.standings, columns, records, notes)


def pair_table(board: ModelBoard, task: TaskEntries, language: str) -> Table:
    """Returns the scores of a task in a language, the best first."""
    columns = [*scored_columns("score", bounds_of(task.metric)), Column("n", "count")]
    columns += [Column("prompt", "text", "prompts"), Column("source")]
    records = [_record(s, task.entries[s.side][language]) for s in board.standings]
    notes = [*_notes(board.standings, [task]), *task.notes]
    if language in task.defects:
        notes.append(f"The data in this language has a known defect: {task.defects[language]}. {APART}")
    about = {"task": task.task, "language": language}
    return _table("scores", _titled(task), board.standings, columns, records, notes, about)


def model_averages(boards: Sequence[ModelBoard], name: str) -> Table | None:
    """Returns the averages of a model; None without one."""
    ranked = [(board, s) for board in boards for s in board.standings if s.side.name == name]
    kinds = kinds_of([standing.side for _, standing in ranked])
    columns = [Column("average"), *kinds, Column("rank", "rank"), Column("of", "count", "entrants")]
    columns += [*scored_columns("mean", SHARE), Column("pairs", "count"), Column("of all", "count", "all_pairs")]
    records = _averages([standing for _, standing in ranked])
    for (board, s), record in zip(ranked, records, strict=True):
        record |= {"average": _described(board)[0], "all_pairs": board.n_pairs}
        record["entrants"] = sum(each.rank is not None for each in board.standings) if s.rank else None
        record["pairs"] = len(board.pairs) if s.whole else len(s.pairs)
    notes = ["Without a rank: over other pairs of task and language than ranked ones, or of unknown error."]
    table = Table("model averages", "Averages", columns, rows_of(columns, records), notes, about={"model": name})
    return _doubted(table, [standing for _, standing in ranked]) if records else None


def model_table(task: TaskEntries, name: str, ranks: dict[str, ModelBoard]) -> Table:
    """Returns all scores of a model in a task; `ranks` has the board of each language."""
    kinds = kinds_of([model for model in task.entries if model.name == name])
    columns = [Column("language", "language"), *kinds, Column("rank", "rank"), Column("of", "count", "entrants")]
    columns += [*scored_columns("score", bounds_of(task.metric)), Column("n", "count")]
    columns += [Column("prompt", "text", "prompts"), Column("source")]
    records, shown = [], list[ModelStanding]()
    for language in task.languages:
        standings = ranks[language].standings
        n = sum(standing.concludes for standing in standings)
        shown += (of_language := [s for s in standings if s.side.name == name])
        for s in of_language:
            records.append({**_record(s, task.entries[s.side][language]), "language": language, "entrants": n})
    about = {"task": task.task, "model": name}
    table = Table("model", _titled(task), columns, rows_of(columns, records), task.notes, about=about)
    return _doubted(table, shown)


def best_table(boards: Sequence[ModelBoard], tasks: Sequence[TaskEntries]) -> Table:
    """Returns the best model of each language, and the models that do not differ from it significantly.

    Languages in which no model can have a rank are left out.
    """
    boards = [board for board in boards if board.standings and board.standings[0].whole]
    others = kinds_of([standing.side for board in boards for standing in board.standings])
    kinds = [Column("prompts", "text", "kind"), *(kind for kind in others if kind.key != "kind")]
    columns = [Column("language", "language"), Column("best", "text", "model"), *kinds]
    columns += scored_columns("mean", SHARE)
    columns += [Column("cannot be told apart from", "text", "rivals"), Column("models", "count", "entrants")]
    columns += [Column("tasks", "count")]
    records = []
    for board in boards:
        first, rivals = board.standings[0], listed(_rivals(board), NAMED)
        nobody = "" if first.rank else "not known"
        names = rivals or "none" if first.rank and len(board.standings) > 1 else nobody
        if unread := not_read([s.floor for s in board.standings if s.whole], PERCENT):
            names = "; ".join(filter(None, [rivals, unread]))
        models = {standing.side.name for standing in board.standings if standing.whole}
        (record,) = _averages([first])
        counts = {"entrants": len(models), "tasks": len(board.tasks)}
        records.append({**record, "language": board.name, "rivals": names, **counts})
    unsure = [task.task for task in tasks if task.averaged and not task.is_sure]
    sure = f" whose errors are known (not: {', '.join(unsure)})" if unsure else ""
    notes = [
        f"Means over the tasks{sure} that most models have in the language, in percent of their metrics' ranges; other "
        "tasks in other languages, so rows are not to be compared. Models that are not named score significantly lower "
        "(5%, all pairs of models, Holm).",
        *([PUBLISHED] if any(s.side.published for board in boards for s in board.standings) else []),
        *(note for board in boards for note in _defects(board, tasks, True)),
    ]
    table = Table("best", "Best model in each language", columns, rows_of(columns, records), notes)
    return _doubted(table, [board.standings[0] for board in boards], [s for of in boards for s in of.standings[1:]])


def _names(board: ModelBoard) -> dict[LeaderboardModel, str]:
    """Returns the titles of models without the language of their prompts."""
    plain = {standing.side: standing.side._replace(prompt_language="eng") for standing in board.standings}
    names = titles(plain.values())
    return {model: names[of] for model, of in plain.items()}


def _rivals(board: ModelBoard) -> list[str]:
    """Returns the models that cannot be told apart from the first one, each once."""
    names = _names(board)
    distinct = dict.fromkeys(names[side] for side in board.rivals)
    return [name for name in distinct if name != names[board.standings[0].side]]


def best_sentence(board: ModelBoard, task: TaskEntries | None = None) -> str:
    """Returns who is best over tasks in a language, or in one of them, and how sure that is; empty if nobody can be."""
    first = board.standings[0]
    if not first.whole or not first.concludes:
        return ""
    bounds = bounds_of(task.metric) if task else PERCENT
    whole = [standing.side for standing in board.standings if standing.whole]
    with_ = f" with {prompts_of(first.side)} prompts" if len({model.prompt_language for model in whole}) > 1 else ""
    unread = not_read([s.floor for s in board.standings if s.whole], bounds)
    alone = len({model.name for model in whole}) == 1
    words = best_words(_names(board)[first.side] + with_, first, bounds, _rivals(board), alone, unread)
    return f"{task.task if task else f'Mean over {len(board.tasks)} tasks'}: {words}."


def tasks_table(tasks: Sequence[TaskEntries]) -> Table:
    """Returns what there is of each task."""
    columns = [Column("task"), Column("metric"), Column("languages", "count"), Column("models", "count")]
    columns += [Column("with published scores", "count", "published"), Column("averaged", "text")]
    rows = []
    for task in tasks:
        models, published = (
            {e.name for e in task.entries if e.published in kinds} for kinds in ((True, False), (True,))
        )
        metric = task.metric.name if task.metric else "not known"
        rows.append(
            [task.task, metric, len(task.languages), len(models), len(published), "yes" if task.averaged else "no"]
        )
    return Table("tasks", "Tasks", columns, rows, _outside(tasks))


def _outside(tasks: Sequence[TaskEntries]) -> list[str]:
    """Returns a note on the tasks that no average has."""
    names = [task.task for task in tasks if not task.averaged]
    return [OUTSIDE.format(", ".join(names))] if names else []


def left_out_table(left_out: Sequence[tuple[str, str]]) -> Table:
    """Returns what is not shown, and why."""
    return Table("left out", "Left out", [Column("place"), Column("reason")], [list(each) for each in left_out])


def _table(
    kind: str,
    title: str,
    standings: Sequence[ModelStanding],
    columns: list[Column],
    records: list[dict[str, Any]],
    notes: Sequence[str],
    about: dict[str, Any] | None = None,
    ranked: bool = True,
) -> Table:
    """Returns a table of models: name, rank, what they are, and further columns."""
    kinds = kinds_of([standing.side for standing in standings])
    columns = [Column("model"), *([Column("rank", "rank")] if ranked else []), *kinds, *columns]
    faint, notes = [at for at, s in enumerate(standings) if s.side.published], [note for note in notes if note]
    table = Table(kind, title, columns, rows_of(columns, records), notes, about=about or {}, dimmed=faint)
    return _doubted(table, standings)


def _record(s: ModelStanding, entry: TaskEntry | None = None) -> dict[str, Any]:
    """Returns what tables have of a standing, by the names of their columns; `entry` is its score in a single pair."""
    head = {"model": s.side.name, "rank": s.rank, **{name: value_of(s.side, name) for name in HEADS}}
    numbers_of = {"score": s.score, "mean": s.score, "interval": s.interval, "pairs": len(s.pairs), "n": s.n}
    of_entry = {"n": entry.n, "prompts": numbers([*entry.by_prompt]), "source": entry.source} if entry else {}
    return {**head, **numbers_of, **of_entry}


def _averages(standings: Sequence[ModelStanding]) -> list[dict[str, Any]]:
    """Returns what tables have of means in percent: they are shown as shares."""
    return [
        {**_record(s), **dict(zip(("mean", "interval"), shares(s.score, s.interval), strict=True))} for s in standings
    ]


def doubts_of(standings: Sequence[ModelStanding]) -> list[str]:
    """Returns which answers of models are unparsed, and which prompts nobody has reviewed, as sentences."""
    names, tasks = titles(s.side for s in standings), {task for s in standings for task, _ in s.unparsed}
    shares = {
        (", ".join([names[s.side], *[task] * (len(tasks) > 1)]), language_name(code)): of
        for s in standings
        for (task, code), of in s.unparsed.items()
    }
    signs = unreviewed_signs(how for s in standings for how in s.unreviewed)
    return [*signs, *unparsed_words(shares, any(s.rank for s in standings))]


def _doubted(table: Table, standings: Sequence[ModelStanding], others: Sequence[ModelStanding] = ()) -> Table:
    """Returns a table with `doubts_of` the standings of its rows and others, and stars at rows, or kinds of prompts."""
    kind = next((at for at, column in enumerate(table.columns) if column.key == "kind"), 0)
    marks = {row[kind]: "*" for row, standing in zip(table.rows, standings, strict=True) if standing.unreviewed}
    return replace(table, notes=[*table.notes, *doubts_of([*standings, *others])], marks=marks)


def _titled(task: TaskEntries) -> str:
    return f"{task.task}, {task.metric.name}" if task.metric and task.metric.name != "acc" else task.task


def _described(board: ModelBoard) -> tuple[str, str]:
    if board.name == "suite":
        how = "Mean over tasks of their means over African languages, in percent of the metrics' ranges."
        return "Average: tasks and African languages", how
    if board.name == "afrobench":
        return "Average: AfroBench's rule", RULES["afrobench"].says.replace("group", "task")
    if board.name in board.languages:
        return "Mean over tasks", "In percent of the metrics' ranges."
    how = f"Mean over tasks of their means over the {board.name} languages, in percent of the metrics' ranges."
    return f"Average: {board.name} languages", how


def _notes(standings: Sequence[ModelStanding], tasks: Sequence[TaskEntries]) -> list[str]:
    """Returns the notes that all tables with ranks share, as far as they apply."""
    notes = [RANKS] if any(standing.rank for standing in standings) else []
    notes += [TWICE] if len({s.side.prompt_language for s in standings if s.rank}) > 1 else []
    published = [s for s in standings if s.side.published]
    notes += [PUBLISHED] if published else []
    notes += [KINDS] if published and len(published) < len(standings) else []
    unsure = [s for s in standings if s.whole and s.rank is None]
    names = ", ".join(dict.fromkeys(task.metric.name if task.metric else "the metric" for task in tasks))
    if unsure and len(standings) > 1:
        notes.append(f"Rows without an interval have no rank: how sure their scores are ({names}) is not known.")
    notes += _unranked(standings)
    sizes = {standing.n for standing in standings if standing.n and standing.concludes}
    if len(sizes) > 1:
        notes.append("n, the smallest number of documents in a language, differs: runs are compared on the documents "
                     "that both have.")  # fmt: skip
    return notes


def _unranked(standings: Sequence[ModelStanding]) -> list[str]:
    """Returns a note on the rows from which nothing is concluded."""
    words = dict.fromkeys(s.side.rows.words for s in standings if not s.concludes)
    return [f"Never ranked, since nothing can be concluded from such rows: {'; '.join(words)}."] if words else []


def _defects(board: ModelBoard, tasks: Sequence[TaskEntries], included: bool) -> list[str]:
    """Returns which languages with defective data are in a mean, or which are left out of it."""
    named = [
        f"{task.task}: {LANGUAGES[code].name} ({what})"
        for task in tasks
        for code, what in task.defects.items()
        if code in LANGUAGES and ((task.task, code) in board.pairs) == included
    ]
    head = "Included, in spite of" if included else "Left out, for"
    return [f"{head} known defects of their data: {'; '.join(named)}."] if named else []
