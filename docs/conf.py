"""Settings of Sphinx; `make site` copies them to the pages that scripts/site_pages.py writes.

Why Sphinx, with furo and MyST (compared in November 2026): support of Material for MkDocs ends in May 2027, and MkDocs
1 has had no release since 2024. Zensical, their successor, is at version 0 and changes monthly. Both load a script from
a CDN to search pages that are opened from disk; Sphinx searches without. It reports broken links and anchors (-W), and
its autodoc reads docstrings. It is slower: 34 seconds against 18 for the pages of docs/, and some more for all.
"""

import inspect
from contextlib import suppress
from typing import Any, get_type_hints

from sphinx.application import Sphinx

project = author = "afrieval"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "furo"
html_title = "afrieval"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_extra_path = ["llms.txt", "llms-full.txt"]
html_sourcelink_suffix = ""  # pages in Markdown at _sources/PAGE.md, which llms.txt lists
html_show_copyright = False
exclude_patterns = ["files"]
myst_heading_anchors = 4  # as GitHub has them
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
suppress_warnings = ["myst.header"]  # tables have headings of the third level only
smartquotes = False  # quotes in prompts are as models see them
default_role = "code"  # as docstrings use single backticks


def setup(app: Sphinx) -> None:
    """Connects what follows."""
    app.connect("autodoc-before-process-signature", _without_checks)
    app.connect("html-page-context", _short_navigation, priority=400)  # before furo asks for the navigation


def _without_checks(_app: Sphinx, found: Any, _bound: bool) -> None:
    """Removes ranges and hints of errors, which are annotated to types, from the signature of a function."""
    function = inspect.unwrap(found)
    with suppress(NameError, TypeError):  # imported for type checkers only, or not a function
        function.__annotations__.update(get_type_hints(function))


def _short_navigation(_app: Sphinx, _page: str, _template: str, context: dict[str, Any], _doctree: Any) -> None:
    """Opens only the branch of the navigation that a page is in; with all 240 pages, it takes half of the time."""
    whole = context.get("toctree")
    if whole:
        context["toctree"] = lambda **options: whole(**{**options, "collapse": True})
