"""The pages of a leaderboard about one task, one language or one model."""

from collections.abc import Iterator

from afrieval.analysis.boards import Leaderboard
from afrieval.analysis.entrants import TaskEntries
from afrieval.languages import LANGUAGES
from afrieval.pages.board_frame import Charted, averages_of, counted, filters_of, framed, tables_html
from afrieval.pages.board_heat import board_heat
from afrieval.pages.links import links_from
from afrieval.report.boards import model_averages, model_table, pair_table, task_table
from afrieval.report.records import record_tables
from afrieval.report.values import SHARE, Bounds
from afrieval.report.words import language_name


def task_page(board: Leaderboard, task: TaskEntries) -> bytes:
    """Returns the means of all models in a task, and a heat map of languages."""
    up, bounds = links_from("../", board), bounds_of(task)
    means = board.means[task.task]
    table = task_table(means, task)
    content = tables_html([(table, means.standings, bounds)] if table else [], up)
    rows = {code: board.pairs[task.task, code] for code in task.languages}
    content += board_heat("All models in each language", rows, board.order, bounds, up)
    models = sorted({entrant.model for entrant in task.entries})
    subtitle = f"{counted(models, 'model')}, {counted(task.languages, 'language')}"
    return framed(board, task.task, subtitle, [("scores", "Scores", content)], filters_of(task.languages, models))


def language_page(board: Leaderboard, code: str) -> bytes:
    """Returns the models in a language, best first, over all tasks and in each one."""
    content = tables_html([*_over_tasks(board, code), *_in_tasks(board, code)], links_from("../", board))
    known = LANGUAGES.get(code)
    subtitle = f"{code}, {known.family}, {known.place}, {known.script_name} script" if known else code
    return framed(board, language_name(code), subtitle, [("scores", "Which model is best", content)], {})


def _over_tasks(board: Leaderboard, code: str) -> Iterator[Charted]:
    several = len({task for task, of in board.pairs if of == code}) > 1
    return averages_of([board.languages[code]] if several and code in board.languages else [], board.tasks)


def _in_tasks(board: Leaderboard, code: str) -> Iterator[Charted]:
    for task in board.tasks:
        if found := board.pairs.get((task.task, code)):
            yield pair_table(found, task, code), found.standings, bounds_of(task)


def model_page(board: Leaderboard, model: str) -> bytes:
    """Returns all scores of a model, and what its runs were made with."""
    up = links_from("../", board)
    means = model_averages(board.averages, model)
    tables = [
        model_table(task, model, {code: board.pairs[task.task, code] for code in task.languages})
        for task in board.tasks
        if any(entrant.model == model for entrant in task.entries)
    ]
    tables = [means, *tables] if means else tables
    records, others = board.records.get(model, []), board.settings.get(model, [])
    made = tables_html([(table, [], SHARE) for table in record_tables(records, others)], up)
    views = [
        ("scores", "Scores", tables_html([(table, [], SHARE) for table in tables], up)),
        ("settings", "Settings, versions and hashes", made),
    ]
    runs = [*records, *others]
    known = counted(runs, "run") if runs else "Scores that others have published."
    return framed(board, model, known, views, {})


def bounds_of(task: TaskEntries) -> Bounds:
    """Returns the lowest and highest score of a task; those of a share if its metric is not known."""
    return task.metric.bounds if task.metric else SHARE
