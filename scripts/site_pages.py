"""Writes the pages of the documentation's site, from which `make site` makes HTML: python scripts/site_pages.py FOLDER.

The pages of `docs/` are copied, with links as the site has them. Pages on tasks, languages, commands and the Python API
are generated from what the package knows. The navigation is the list of documentation in README.md.
"""

import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import site_languages
import site_reference
import site_tasks
from site_markdown import page, toctree

from afrieval.cli.registry import COMMANDS
from afrieval.languages import LANGUAGES
from afrieval.tasks.declaration.spec import TaskSpec, load_task, task_names

ROOT = Path(__file__).parents[1]
OUTSIDE = {  # pages outside docs/
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "CODE_OF_CONDUCT.md": "conduct.md",
    "SECURITY.md": "security.md",
    "src/afrieval/models/engine/README.md": "engine.md",
}
FILES = "files"  # other files that pages link, such as images and YAML files
LINK = re.compile(r"\]\(([^)\s#:]+)(#[^)\s]*)?\)")
GENERATED = {"tasks": ["tasks/index", "languages/index"]}  # page to generated pages that follow it in the navigation
REFERENCE = ["reference/python", "reference/commands/index", "engine", "tables/index"]


def main(folder: Path) -> None:
    """Writes all sources into a folder, which is emptied first."""
    shutil.rmtree(folder, ignore_errors=True)
    written, linked = copied(), dict[str, Path]()
    for path, (source, text) in written.items():
        write(folder / path, relinked(text, source, path, linked))
    specs = [load_task(name) for name in task_names()]
    for path, text in generated(specs).items():
        write(folder / path, text)
    for path, source in {**linked, "conf.py": ROOT / "docs/conf.py", "site.css": ROOT / "docs/site.css"}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, folder / path)
    groups = navigation((ROOT / "README.md").read_text(encoding="utf-8"))
    home = (folder / "index.md").read_text(encoding="utf-8")
    trees = [toctree([path.removesuffix(".md") for path in of], caption) for caption, of in groups.items()]
    write(folder / "index.md", "\n".join([home, *trees]))
    write(folder / "llms.txt", overview(folder, groups, specs))
    write(folder / "llms-full.txt", "\n\n".join(whole(folder, groups)))


def write(path: Path, text: str) -> None:
    """Writes a file, and the folders that it is in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def copied() -> dict[str, tuple[Path, str]]:
    """Returns the pages that people or other programs wrote: path on the site, to the file and its text."""
    places = {ROOT / name: path for name, path in OUTSIDE.items()}
    places |= {path: path.relative_to(ROOT / "docs").as_posix() for path in sorted((ROOT / "docs").rglob("*.md"))}
    return {path: (source, source.read_text(encoding="utf-8")) for source, path in places.items()}


def relinked(text: str, source: Path, path: str, linked: dict[str, Path]) -> str:
    """Returns a page whose links to files of the repository lead to their places on the site.

    Args:
        text: the page.
        source: its file in the repository.
        path: its path on the site.
        linked: gets the files that are not pages, and their paths on the site.
    """
    pages = {of: other for other, (of, _) in copied().items()}

    def link(found: re.Match[str]) -> str:
        target = Path(os.path.normpath(source.parent / found[1]))
        if not target.is_file():
            return found[0]  # if it is broken, Sphinx says so
        place = pages.get(target)
        if place is None:
            place = f"{FILES}/{target.relative_to(ROOT).as_posix()}"
            linked[place] = target
        return f"]({os.path.relpath(place, Path(path).parent)}{found[2] or ''})"

    return LINK.sub(link, text)


def generated(specs: list[TaskSpec]) -> dict[str, str]:
    """Returns the generated pages by path."""
    pages = {"tasks/index.md": site_tasks.index(specs), "languages/index.md": site_languages.index(specs)}
    pages |= {f"tasks/{spec.name}.md": site_tasks.task_page(spec) for spec in specs}
    for code in site_languages.languages_of(specs):
        pages[f"languages/{code}.md"] = site_languages.language_page(specs, code, ROOT)
    pages["reference/python.md"] = site_reference.python_api()
    pages["reference/commands/index.md"] = site_reference.command_index()
    pages |= {f"reference/commands/{name}.md": site_reference.command_page(name) for name in COMMANDS}
    names = sorted(path.stem for path in (ROOT / "docs/tables").glob("*.md"))
    pages["tables/index.md"] = page(
        "Tables", "Long tables, of which other pages show a part.", toctree(names, hidden=False)
    )
    return pages


def navigation(readme: str) -> dict[str, list[str]]:
    """Returns the pages of the site in a newcomer's order, by group: the list in README.md, and what is generated."""
    groups = dict[str, list[str]]()
    for caption, items in re.findall(r"^\*\*(.+?)\*\*\n\n(.*?)(?=^\*\*|^## |\Z)", _documentation(readme), re.M | re.S):
        names = [OUTSIDE.get(found[1], found[1].removeprefix("docs/")) for found in LINK.finditer(items)]
        pages = list(dict.fromkeys(name.removesuffix(".md") for name in names if name.endswith(".md")))
        groups[caption] = [each for name in pages for each in (name, *GENERATED.get(name, []))]
    return {**groups, "Reference": REFERENCE}


def _documentation(readme: str) -> str:
    return readme.partition("\n## Documentation\n")[2].partition("\n## ")[0]


def overview(folder: Path, groups: Mapping[str, list[str]], specs: list[TaskSpec]) -> str:
    """Returns llms.txt: all pages in Markdown, by group, with what they are about."""
    parts = summary((folder / "index.md").read_text(encoding="utf-8"))
    for caption, pages in groups.items():
        parts += [f"## {caption}", "\n".join(_entry(title(folder / f"{of}.md"), f"{of}.md") for of in pages)]
    parts += ["## Tasks", "\n".join(_entry(s.title, f"tasks/{s.name}.md", s.description) for s in specs)]
    codes = site_languages.languages_of(specs)
    parts += ["## Languages", "\n".join(_entry(LANGUAGES[c].name, f"languages/{c}.md") for c in codes)]
    return "\n\n".join(parts) + "\n"


def summary(home: str) -> list[str]:
    """Returns the heading and the first paragraph of the home page, as llms.txt begins."""
    head, about = home.split("\n\n")[:2]
    return [head, "> " + " ".join(LINKED.sub(r"\1", about).split())]


LINKED = re.compile(r"\[([^]]*)\]\([^)]*\)")


def _entry(name: str, path: str, about: str = "") -> str:
    return f"- [{name}](_sources/{path}){f': {about}' if about else ''}"


def title(path: Path) -> str:
    """Returns the heading of a page."""
    return path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")


def whole(folder: Path, groups: Mapping[str, list[str]]) -> Iterator[str]:
    """Yields the texts of llms-full.txt: the home page, and those of the navigation."""
    for name in ["index", *(name for pages in groups.values() for name in pages if not name.endswith("index"))]:
        text = (folder / f"{name}.md").read_text(encoding="utf-8")
        yield re.sub(r"^```\{toctree\}\n.*?^```\n", "", text, flags=re.M | re.S).strip()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
