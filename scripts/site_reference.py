"""Reference pages of the site: the Python API from its docstrings, and the help of each command."""

import inspect
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO

from site_markdown import fenced, page, toctree

import afrieval
from afrieval.cli.main import main
from afrieval.cli.registry import COMMANDS


def python_api() -> str:
    """Returns the page on the public names of the package; Sphinx fills in their docstrings."""
    about = "All that `import afrieval` offers. [From Python](../python.md) shows how it is used together."
    return page("Python API", about, *(part for name in _names() for part in _documented(name)))


def _names() -> list[str]:
    """Returns public names, functions first; constants are no part of a reference."""
    public = [name for name in afrieval.__all__ if callable(getattr(afrieval, name))]
    return sorted(public, key=lambda name: (inspect.isclass(getattr(afrieval, name)), name))


def _documented(name: str) -> Iterator[str]:
    found = getattr(afrieval, name)
    kind = "class" if inspect.isclass(found) else "function"
    members = ["   :members:"] if kind == "class" else []
    yield f"## {name}"
    yield "\n".join(["```{eval-rst}", f".. auto{kind}:: afrieval.{name}", *members, "```"])


def command_index() -> str:
    """Returns the page that lists the commands."""
    rows = "".join(f"* [`afrieval {name}`]({name}.md): {command.summary}\n" for name, command in COMMANDS.items())
    about = "What `afrieval COMMAND --help` prints. [afrieval run](run.md) has all settings of a run (`--help-all`)."
    return page("Commands", about, rows, toctree(COMMANDS))


def command_page(name: str) -> str:
    """Returns the page of a command, with its help; the settings of a run are on one page only."""
    with redirect_stdout(StringIO()) as printed:
        main([name, "--help-all" if name == "run" else "--help"])
    return page(f"afrieval {name}", fenced(printed.getvalue().strip()))
