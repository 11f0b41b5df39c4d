"""Brings a filled-in sheet into the files of a checkout: first into a copy, then all of it or nothing."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import fill
from typing import NamedTuple

from afrieval.errors import UserError
from afrieval.languages import LANGUAGES
from afrieval.review.check import Decision, decisions
from afrieval.review.edit import NotEditableError, replaced
from afrieval.review.generated import GOLDEN, INDEX, golden_files, index
from afrieval.review.sheet import Sheet
from afrieval.tasks.reviews import Review, as_yaml, read_reviews, with_review
from afrieval.tasks.spec import TaskSpec, load_task
from afrieval.tasks.strings import String, strings, text_hash

PARTS = ("tasks", "vocabulary", "reviews", "docs", GOLDEN.as_posix(), "CHANGELOG.md")
UNRELEASED = "## Unreleased\n\n"


class Change(NamedTuple):
    """The text of a file, before and after; empty if it did not exist."""

    before: str
    after: str


def read(root: Path, sheet: Sheet, where: str, date: str) -> tuple[dict[Path, Change], list[UserError]]:
    """Returns what a sheet changes in a checkout, by path within it, or what is wrong with the sheet.

    Args:
        root: the checkout; nothing in it is changed.
        sheet: a filled-in sheet.
        where: its file, for messages.
        date: today, 2026-01-31.
    """
    if not sheet.reviewer:
        raise UserError(f"{where} names no reviewer", "fill in 'your name' at its top, or give --reviewer NAME")
    found, errors = decisions(sheet, strings(root, sheet.language), where)
    if errors:
        return {}, errors
    with TemporaryDirectory() as folder:
        copy = Path(folder)
        _copy(root, copy)
        _apply(copy, sheet, found, date)
        return _changes(root, copy), []


def _copy(root: Path, copy: Path) -> None:
    for name in PARTS:
        path = copy / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if (root / name).is_dir():
            shutil.copytree(root / name, path)
        elif (root / name).exists():
            shutil.copy(root / name, path)


def _changes(root: Path, copy: Path) -> dict[Path, Change]:
    files = sorted(path.relative_to(copy) for path in copy.rglob("*") if path.is_file())
    texts = {path: Change(_text(root / path), _text(copy / path)) for path in files}
    return {path: change for path, change in texts.items() if change.before != change.after}


def _text(path: Path) -> str:
    return path.read_bytes().decode() if path.is_file() else ""


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())


def _apply(root: Path, sheet: Sheet, found: list[Decision], date: str) -> None:
    """Changes the copy: strings, reviews, versions, changelog, and the files made from them."""
    known = strings(root, sheet.language)
    changed = {d.string.id: d for d in found if d.text != d.string.text}
    for decision in changed.values():
        _edit(root / decision.string.path, decision)
    _store_reviews(root / "reviews" / f"{sheet.language}.yaml", sheet, found, date)
    tasks = [load_task(name, root / "tasks") for name in _tasks_of(changed, known)]
    for spec in tasks:
        path = spec.folder / "task.yaml"
        _write(path, replaced(_text(path), ("version",), spec.version + 1))
    _note_change(root / "CHANGELOG.md", sheet.language, len(changed), tasks)
    for path, text in golden_files(root, [sheet.language]).items():
        _write(root / path, text)
    _write(root / INDEX, index(root))


def _edit(path: Path, decision: Decision) -> None:
    string = decision.string
    try:
        _write(path, replaced(_text(path), string.place, decision.text))
    except NotEditableError as e:
        where = f"{string.path}, {e}: {string.id} is written in a form that cannot be edited"
        raise UserError(where, "change it by hand to plain text, quotes or a block with |") from None


def _store_reviews(path: Path, sheet: Sheet, found: list[Decision], date: str) -> None:
    reviews = read_reviews(path)
    for decision in found:
        dialect = decision.row.dialect or sheet.dialect
        said = (text_hash(decision.text), decision.verdict, sheet.reviewer, date, dialect, decision.row.comment)
        reviews = with_review(reviews, decision.string.id, Review(*said))
    if found:
        _write(path, as_yaml(reviews))


def _tasks_of(changed: Mapping[str, Decision], known: Mapping[str, String]) -> list[str]:
    """Returns the tasks whose prompts say something else now."""
    users = [s for s in known.values() if s.id in changed or {*s.references} & {*changed}]
    return sorted({s.task for s in users} - {"words", "languages"})


def _note_change(path: Path, language: str, number: int, tasks: list[TaskSpec]) -> None:
    if not tasks:
        return
    before, heading, after = _text(path).partition(UNRELEASED)
    versions = ", ".join(f"{spec.title} (version {spec.version + 1})" for spec in tasks)
    count = "a string" if number == 1 else f"{number} strings"
    line = f"* A speaker of {LANGUAGES[language].name} changed {count} of the native prompts: "
    line += f"scores with native {LANGUAGES[language].name} prompts change in {versions}."
    _write(path, f"{before}{heading}{fill(line, 100, subsequent_indent='  ')}\n{after}")


def write_all(root: Path, changes: Mapping[Path, Change]) -> None:
    """Writes all changes into a checkout; if that fails or is stopped, the files are as they were before.

    Args:
        root: the checkout.
        changes: as `read` returns them.
    """
    done: list[Path] = []
    try:
        for path, change in changes.items():
            done.append(path)
            _write(root / path, change.after)
    except BaseException:
        for path in done:
            _restore(root / path, changes[path].before)
        raise


def _restore(path: Path, before: str) -> None:
    if before:
        _write(path, before)
    else:
        path.unlink(missing_ok=True)
