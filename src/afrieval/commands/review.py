"""`afrieval review`: sheets for speakers, and what they said, brought into the prompt files."""

from dataclasses import replace
from datetime import date
from difflib import unified_diff
from pathlib import Path

from afrieval.commands.options import Review
from afrieval.config.arguments import read_options
from afrieval.errors import UserError
from afrieval.files.paths import user_path
from afrieval.resources import CHECKOUT, HOME
from afrieval.review.forms import read_sheet, sheet_bytes
from afrieval.review.read import Change, read, write_all
from afrieval.review.sheet import sheet_of
from afrieval.terminal import complain, note, say


def main(argv: list[str]) -> None:
    """Writes a sheet, or reads one.

    Raises:
        UserError: for a missing or invalid option or file, or a sheet with errors; each of them is printed.
    """
    asked = read_options(Review, argv, "review")
    {"sheet": _sheet, "read": _read}[asked.action](asked)


def _sheet(asked: Review) -> None:
    if not asked.language or not asked.output:
        missing = "--output" if asked.language else "--language"
        raise UserError(f"{missing} is missing", "write afrieval review sheet --language yor --output yor.xlsx")
    path = user_path(asked.output)
    sheet = sheet_of(HOME, asked.language)
    path.write_bytes(sheet_bytes(sheet, path))
    say(f"wrote {path}: {len(sheet.rows)} strings to review")


def _read(asked: Review) -> None:
    if not asked.file:
        raise UserError("FILE is missing", "write afrieval review read FILE")
    path = user_path(asked.file)
    sheet = read_sheet(path)
    sheet = replace(sheet, reviewer=(asked.reviewer or sheet.reviewer).strip())
    changes, errors = read(HOME, sheet, str(path), date.today().isoformat())
    if errors:
        for error in errors[:-1]:
            complain(error.message, error.hint)
        raise errors[-1]
    if asked.dry_run:
        say("".join(line for name, change in changes.items() for line in _diff(name, change)))
        return
    if CHECKOUT is None:
        raise UserError(
            "this installation is not a checkout of afrieval", f"{path} is in order: send it to the project"
        )
    write_all(CHECKOUT, changes)
    for name in changes:
        note(f"wrote {name}")


def _diff(name: Path, change: Change) -> list[str]:
    before, after = (text.splitlines(keepends=True) for text in change)
    return list(unified_diff(before, after, f"a/{name}", f"b/{name}"))
