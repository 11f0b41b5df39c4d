"""Parts of generated pages in Markdown, as MyST reads it."""

import re
from collections.abc import Iterable, Sequence


def plain(text: object) -> str:
    """Returns a text on one line in which no character is Markdown."""
    return re.sub(r"[\\`*_\[\]<>|&#~$^{}]", r"\\\g<0>", " ".join(str(text).split()))


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Returns a table of cells that are Markdown already; columns without content are left out."""
    filled = [["" if cell is None else str(cell) for cell in row] for row in rows]
    kept = [n for n, head in enumerate(heads) if any(row[n] for row in filled)]
    lines = [[heads[n] for n in kept], ["---"] * len(kept), *([row[n] for n in kept] for row in filled)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Returns a list of names with what is said of each; those of which nothing is said are left out."""
    return "".join(f"* **{name}:** {of}\n" for name, of in pairs if of)


def fenced(text: str, language: str = "text") -> str:
    """Returns a text as a block of code, whatever is in it."""
    fence = "`" * max([3, *(len(ticks) + 1 for ticks in re.findall("`+", text))])
    return f"{fence}{language}\n{text.strip()}\n{fence}\n"


def toctree(entries: Iterable[str], caption: str = "", hidden: bool = True) -> str:
    """Returns the part of a page that puts other pages below it in the navigation."""
    options = [":hidden:"] * hidden + [f":caption: {caption}"] * bool(caption)
    return "\n".join(["```{toctree}", *options, "", *entries, "```"]) + "\n"


def page(title: str, *parts: str) -> str:
    """Returns a page; empty parts are left out."""
    return "\n\n".join([f"# {title}", *(part.strip("\n") for part in parts if part.strip())]) + "\n"
