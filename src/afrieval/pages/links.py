"""Addresses of the pages of a leaderboard, relative to one of them."""

from markupsafe import Markup, escape

from afrieval.analysis.boards import Leaderboard
from afrieval.pages.file_names import file_name
from afrieval.pages.shell import safe
from afrieval.pages.tables import Links
from afrieval.terminal import brief

FOLDERS = {"task": "tasks", "language": "languages", "model": "models"}


def page_of(kind: str, name: str) -> str:
    """Returns the file of a page below the leaderboard's folder; `kind` is task, language or model."""
    return f"{FOLDERS[kind]}/{file_name(name)}.html"


def links_from(up: str, board: Leaderboard) -> Links:
    """Returns the addresses of all pages about a task, a language or a model.

    Args:
        up: from the page that has the links to the leaderboard's folder: empty, or `../`.
        board: what the pages are of.
    """
    codes = dict.fromkeys(code for _, code in board.pairs)
    names = {"task": [task.task for task in board.tasks], "language": codes, "model": board.models}
    return {kind: {name: up + page_of(kind, name) for name in of_kind} for kind, of_kind in names.items()}


def link(text: str, address: str) -> Markup:
    """Returns a link."""
    return Markup('<a href="{}">{}</a>').format(address, escape(safe(brief(text))))
