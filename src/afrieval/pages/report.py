"""The report: views of runs and published scores, in one page."""

import importlib.metadata
from collections.abc import Callable
from typing import NamedTuple

from markupsafe import Markup

from afrieval.analysis.inputs import Inputs
from afrieval.languages import LANGUAGES
from afrieval.pages.cite import cite
from afrieval.pages.languages import languages
from afrieval.pages.native import native
from afrieval.pages.overview import overview
from afrieval.pages.prompts import prompts
from afrieval.pages.runs import runs
from afrieval.pages.shell import page
from afrieval.report.words import language_name
from afrieval.terminal import brief


class View(NamedTuple):
    """A part of the page that is shown at a time.

    Attributes:
        name: in the address.
        content: empty if there is nothing to show; the view is then left out.
    """

    name: str
    title: str
    content: Callable[[Inputs], Markup]


VIEWS = (
    View("overview", "Overview", overview),
    View("languages", "Languages", languages),
    View("native", "Native prompts", native),
    View("prompts", "Prompts", prompts),
    View("runs", "Runs", runs),
    View("cite", "How to cite", cite),
)


def report(given: Inputs, title: str = "Evaluation report") -> bytes:
    """Returns the page as UTF-8.

    Args:
        given: what to show.
        title: of the page.
    """
    views = [{"name": v.name, "title": v.title, "content": content} for v in VIEWS if (content := v.content(given))]
    found = _about(given)
    return page(
        "report.html",
        title=title,
        subtitle=", ".join(_counted(len(found[name]), name) for name in ("model", "task", "language")),
        views=views,
        filters={name: values for name, values in found.items() if len(values) > 1},
        version=importlib.metadata.version("afrieval"),
        about="",
    )


def _about(given: Inputs) -> dict[str, dict[str, str]]:
    """Returns the tasks, languages, families and models of the page, with what they are called."""
    cells = [*given.own, *given.foreign]
    codes = sorted(
        {c.language for c in cells} | {code for row in given.published for code in row.scores}, key=language_name
    )
    families = sorted({LANGUAGES[code].family for code in codes if code in LANGUAGES})
    return {
        "task": {name: name for name in [c.task for c in cells] + [row.task for row in given.published]},
        "language": {code: language_name(code) for code in codes},
        "family": {name: name for name in families},
        "model": {model: brief(model) for model in [c.model for c in cells] + [row.model for row in given.published]},
    }


def _counted(n: int, word: str) -> str:
    return f"{n} {word}{'' if n == 1 else 's'}"
