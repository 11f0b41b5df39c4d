"""What an element of a page is about, as attributes that filters read."""

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup, escape

from afrieval.languages import LANGUAGES
from afrieval.pages.shell import safe

FILTERS = ("task", "language", "family", "model")


def place(about: Mapping[str, Any]) -> Markup:
    """Returns the attributes of an element, such as `data-task`, each after a blank.

    Args:
        about: of `task`, `language` and `model`, those that it is about; a language's family is added.
    """
    known = {name: about[name] for name in FILTERS if about.get(name)}
    if known.get("language") in LANGUAGES:
        known["family"] = LANGUAGES[known["language"]].family
    return Markup("").join(Markup(' data-{}="{}"').format(name, escape(safe(str(v)))) for name, v in known.items())
