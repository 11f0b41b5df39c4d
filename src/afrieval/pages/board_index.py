"""The index of a leaderboard: averages by name, the best in each language, tasks, and files of all numbers."""

from collections.abc import Iterable

from markupsafe import Markup

from afrieval.analysis.averages import RULES
from afrieval.analysis.boards import Leaderboard
from afrieval.analysis.standings import Board
from afrieval.pages.board_frame import TITLE, averages_of, counted, filters_of, framed, tables_html
from afrieval.pages.board_heat import board_heat
from afrieval.pages.links import link, links_from
from afrieval.pages.tables import Links, table_html
from afrieval.report.boards import best_table, left_out_table, tasks_table
from afrieval.report.suites import PERCENT
from afrieval.report.words import language_name


def index(board: Leaderboard, data: Iterable[str]) -> bytes:
    """Returns the page.

    Args:
        board: what to show.
        data: the files of numbers.
    """
    here = links_from("", board)
    codes = {code for _, code in board.pairs}
    counts = [counted(board.models, "model"), counted(board.tasks, "task"), counted(codes, "language")]
    views = [
        *((name, title, tables_html(averages_of(boards, board.tasks), here)) for name, title, boards in _views(board)),
        ("languages", "Languages", _languages(board, here)),
        ("data", "Tasks and data", _data(board, data, here)),
    ]
    return framed(board, TITLE, ", ".join(counts), views, filters_of(codes, board.models))


def _views(board: Leaderboard) -> list[tuple[str, str, list[Board]]]:
    """Returns the views of averages: name, title and boards."""
    named = {average.name: [average] for average in board.averages if average.name in RULES}
    families = [average for average in board.averages if average.name not in RULES]
    titles = {"suite": "Average", "afrobench": "AfroBench's average"}
    return [*((name, titles[name], boards) for name, boards in named.items()), ("families", "By family", families)]


def _languages(board: Leaderboard, here: Links) -> Markup:
    boards = sorted(board.languages.values(), key=lambda of_language: language_name(of_language.name))
    note = "Means over the tasks that most models have in the language, in percent of their metrics' ranges."
    if not boards:
        return Markup("")
    heat = board_heat("All models in each language", board.languages, board.order, PERCENT, here, note)
    best = best_table(boards, board.tasks)
    return (table_html(best, links=here) if best.rows else Markup("")) + heat


def _data(board: Leaderboard, data: Iterable[str], here: Links) -> Markup:
    items = Markup("").join(Markup("<li>{}</li>").format(link(name, name)) for name in data)
    files = Markup("<section><h3>All numbers as files</h3><ul>{}</ul></section>").format(items)
    left_out = table_html(left_out_table(board.left_out)) if board.left_out else ""
    return table_html(tasks_table(board.tasks), links=here) + files + left_out
