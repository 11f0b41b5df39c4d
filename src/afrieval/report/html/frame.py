"""The frame of every page: one file that loads nothing, with views and filters, and what its elements are about."""

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from afrieval._util.terminal import brief, shortened, visible
from afrieval._util.version import __version__
from afrieval.languages import LANGUAGES
from afrieval.report.values import language_name

HERE = Path(__file__).parent
LONGEST = 8_000  # characters: what is longer is not a name, and questions are shortened before


class View(NamedTuple):
    """A part of a page that is shown at a time; `name` is in its address. It is left out if it has no content."""

    name: str
    title: str
    content: Markup


def framed(
    template: str,
    title: str,
    subtitle: str,
    views: Sequence[View],
    filters: Mapping[str, Mapping[str, str]],
    about: str = "",
    **values: Any,
) -> bytes:
    """Returns a page of views as UTF-8, with the filters that have several values; `about` is at its foot.

    Style and script are in it, with a content security policy that allows only these. `template` extends base.html.
    """
    style, script = ((HERE / name).read_text(encoding="utf-8") for name in ("style.css", "script.js"))
    allowed = f"style-src '{_hash(style)}'; script-src '{_hash(script)}'"
    policy = f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"
    return fragment(
        template,
        style=Markup(style),
        script=Markup(script),
        policy=Markup(policy),
        title=title,
        subtitle=subtitle,
        views=[view for view in views if view.content],
        filters={name: options for name, options in filters.items() if len(options) > 1},
        version=__version__,
        about=about,
        **values,
    ).encode()


def filters_of(codes: Iterable[str], models: Iterable[str]) -> dict[str, dict[str, str]]:
    """Returns the filters by language, family and model."""
    order = sorted(codes, key=language_name)
    families = sorted({LANGUAGES[code].family for code in order if code in LANGUAGES})
    return {
        "language": {code: language_name(code) for code in order},
        "family": {name: name for name in families},
        "model": {model: brief(model) for model in models},
    }


def counted(things: Iterable[object], word: str) -> str:
    """Returns the number of things with their name, such as `3 models`."""
    n = len(list(things))
    return f"{n} {word}{'' if n == 1 else 's'}"


def fragment(template: str, **values: Any) -> Markup:
    """Returns a part of a page from a file in templates/; all text is escaped, except `Markup`."""
    return Markup(_environment().get_template(template).render(**values))


def findings_html(title: str, sentences: Sequence[tuple[Markup, str]]) -> Markup:
    """Returns sentences as a list, each with what it is about, as `filter_attributes` has it; empty without any."""
    return fragment("findings.html", title=title, said=sentences) if sentences else Markup()


def behind(title: str, content: Markup, about: Mapping[str, Any], is_open: bool = False) -> Markup:
    """Returns what a click on its title shows; `about` is as for `filter_attributes`."""
    return fragment(
        "behind.html", title=brief(title), content=content, attributes=filter_attributes(about), open=is_open
    )


def link(text: str, address: str) -> Markup:
    """Returns a text that leads to an address."""
    return Markup('<a href="{}">{}</a>').format(address, escape(safe(brief(text))))


@cache
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: safe(value) if isinstance(value, str) and not isinstance(value, Markup) else value,
    )


def safe(text: str) -> str:
    """Returns a text with invisible and unwritable characters as escapes; the middle of a very long one is left out."""
    return visible(shortened(text, LONGEST))


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


FILTERS = ("task", "language", "family", "model")
WHEN = "when"  # filters without which an element is not shown; `all`: shown only without a language


def filter_attributes(about: Mapping[str, Any]) -> Markup:
    """Returns the attributes of an element, such as `data-task`, each after a blank.

    It says of which task, language and model an element is, and when it is shown; a language's family is added.
    """
    shown = {name: about[name] for name in (*FILTERS, WHEN) if about.get(name)}
    if shown.get("language") in LANGUAGES:
        shown["family"] = LANGUAGES[shown["language"]].family
    return Markup("").join(Markup(' data-{}="{}"').format(name, escape(safe(str(v)))) for name, v in shown.items())
