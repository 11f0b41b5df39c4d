"""`afrieval review`: sheets for speakers, and what they wrote, brought into the prompt files."""

from dataclasses import replace
from datetime import date
from difflib import unified_diff
from pathlib import Path

from afrieval._util.errors import UserError
from afrieval._util.files import user_path
from afrieval._util.resources import CHECKOUT, HOME
from afrieval._util.terminal import complain, note, say
from afrieval._util.whole_files import write_output
from afrieval.cli.commands.exchange_options import ReviewCommand
from afrieval.config.arguments import read_options
from afrieval.tools.review.forms import check_form
from afrieval.tools.review.read import Change, read, write_all
from afrieval.tools.review.sheet import read_sheet, sheet_bytes, sheet_of

NOT_FOR = {"sheet": ("file", "reviewer", "dry_run"), "read": ("language", "output")}


def main(argv: list[str]) -> None:
    """Writes a sheet, or reads one."""
    asked = read_options(ReviewCommand, argv, "review")
    for name in NOT_FOR[asked.action]:
        if value := getattr(asked, name):
            given = f"FILE ({value!r})" if name == "file" else f"--{name.replace('_', '-')}"
            raise UserError(f"afrieval review {asked.action} does not take {given}", "remove it")
    {"sheet": _sheet, "read": _read}[asked.action](asked)


def _sheet(asked: ReviewCommand) -> None:
    if not asked.language or not asked.output:
        missing = "--output" if asked.language else "--language"
        raise UserError(f"{missing} is missing", "write afrieval review sheet --language yor --output yor.xlsx")
    path = user_path(asked.output)
    check_form(path)
    sheet = sheet_of(HOME, asked.language)
    write_output(path, sheet_bytes(sheet, path))
    say(f"wrote {path}: {len(sheet.rows)} strings to review")


def _read(asked: ReviewCommand) -> None:
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
    if not changes:
        say(f"nothing changes: {path} has no verdicts, or was read before")
        return
    if asked.dry_run:
        say("".join(line for name, change in changes.items() for line in _diff(name, change)))
        return
    if CHECKOUT is None:
        raise UserError(
            f"{path} is in order, but only a checkout of afrieval can be changed",
            "send the file to the project; the documentation page 'Native prompts' describes how",
        )
    write_all(CHECKOUT, changes)
    for name in changes:
        note(f"wrote {name}")


def _diff(name: Path, change: Change) -> list[str]:
    before, after = (text.splitlines(keepends=True) for text in change)
    return list(unified_diff(before, after, f"a/{name}", f"b/{name}"))
