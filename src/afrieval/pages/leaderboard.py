"""A leaderboard as a folder of pages that need no server: index, tasks, languages and models, and their data."""

from afrieval.analysis.boards import Leaderboard
from afrieval.pages.board_index import index
from afrieval.pages.board_pages import language_page, model_page, task_page
from afrieval.pages.links import page_of
from afrieval.report.boards import average_tables, best_table, left_out_table, pair_table, task_table
from afrieval.report.formats import csv_files, write
from afrieval.report.table import Table


def site(board: Leaderboard) -> dict[str, bytes]:
    """Returns all files by name.

    Args:
        board: what to show.
    """
    texts: dict[str, str] = {}
    for name, tables in _data(board).items():
        texts |= {f"data/{name}.json": write(tables, "json"), **csv_files(f"data/{name}.csv", tables)}
    data = {name: text.encode(errors="backslashreplace") for name, text in texts.items()}
    codes = dict.fromkeys(code for _, code in board.pairs)
    return {
        "index.html": index(board, data),
        **{page_of("task", task.task): task_page(board, task) for task in board.tasks},
        **{page_of("language", code): language_page(board, code) for code in codes},
        **{page_of("model", model): model_page(board, model) for model in board.models},
        **data,
    }


def _data(board: Leaderboard) -> dict[str, list[Table]]:
    """Returns everything as tables, by the name of the files."""
    tasks = {task.task: task for task in board.tasks}
    every = {
        "averages": [table for average in board.averages for table in average_tables(average, board.tasks)],
        "tasks": [table for name, means in board.means.items() if (table := task_table(means, tasks[name]))],
        "languages": [best_table(list(board.languages.values()), board.tasks)] if board.languages else [],
        "scores": [pair_table(found, tasks[task], code) for (task, code), found in board.pairs.items()],
        "left-out": [left_out_table(board.left_out)] if board.left_out else [],
    }
    return {name: tables for name, tables in every.items() if tables}
