"""A review sheet as a page for a browser: one file, which needs no network; its answers are saved as CSV."""

import re
from html import escape
from pathlib import Path

from jinja2 import Environment, StrictUndefined

from afrieval.grouping import grouped
from afrieval.languages import LANGUAGES
from afrieval.review.sheet import DIALECT, NAME, RIGHT_TO_LEFT, TITLE, Sheet
from afrieval.tasks.reviews import VERDICTS

PAGE = Path(__file__).with_name("page.html")
_BRACES = re.compile(r"({{.*?}}|{%.*?%}|{answer})")


def as_html(sheet: Sheet) -> bytes:
    """Returns the page of a sheet, in UTF-8."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["marked"] = marked
    known = LANGUAGES[sheet.language]
    text = environment.from_string(PAGE.read_text(encoding="utf-8")).render(
        sheet=sheet,
        language=known.name,
        direction="rtl" if known.script in RIGHT_TO_LEFT else "ltr",
        groups={sheet.titles[task]: rows for task, rows in grouped(sheet.rows, lambda row: row.task).items()},
        verdicts=VERDICTS,
        head={"title": TITLE, "name": NAME, "dialect": DIALECT},
    )
    return text.encode()


def marked(text: str) -> str:
    """Returns a text as HTML in which what the computer fills in is marked."""
    parts = map(escape, _BRACES.split(text))
    return "".join(f"<mark>{part}</mark>" if at % 2 else part for at, part in enumerate(parts))
