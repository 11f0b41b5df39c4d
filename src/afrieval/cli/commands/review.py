"""`afrieval review`: sheets for speakers, and what they wrote, brought into the prompt files or the runs."""

from contextlib import ExitStack
from dataclasses import fields, replace
from datetime import date
from difflib import unified_diff
from pathlib import Path

from afrieval._util.errors import UserError, nearest
from afrieval._util.files import user_path
from afrieval._util.resources import CHECKOUT, HOME
from afrieval._util.terminal import complain, note, say
from afrieval._util.whole_files import write_output
from afrieval.cli.declarations.tasks import ReviewCommand
from afrieval.config.arguments import read_options
from afrieval.languages import LANGUAGES, language_of
from afrieval.results.comparable_runs import check_run
from afrieval.results.run_files import locked
from afrieval.results.run_folder import RunFolder
from afrieval.tools.review.answer_sheet import answer_form, to_rate
from afrieval.tools.review.forms import WRITERS, check_form, form_bytes
from afrieval.tools.review.read import read, write_all
from afrieval.tools.review.read_ratings import read_ratings, store_ratings
from afrieval.tools.review.sheet import read_sheet, sheet_bytes, sheet_of

TAKES = {  # the options of each action
    "sheet": ("language", "output"),
    "read": ("files", "reviewer", "dry_run"),
    "answers": ("files", "language", "output", "n", "seed", "tasks", "task"),
    "ratings": ("files", "dry_run", "task"),
}


def main(argv: list[str]) -> None:
    """Writes a sheet, or reads one."""
    options = read_options(ReviewCommand, argv, "review")
    usual = ReviewCommand(options.action)
    for name in [of.name for of in fields(options) if of.name not in ("action", *TAKES[options.action])]:
        if (value := getattr(options, name)) != getattr(usual, name):
            flag = f"--{name.replace('_', '-')}" if name != "task" else "--task.folder"
            argument = f"FILE ({value[0]!r})" if name == "files" else flag
            raise UserError(f"afrieval review {options.action} does not take {argument}", "remove it")
    {"sheet": _sheet, "read": _read, "answers": _answers, "ratings": _ratings}[options.action](options)


def _language_and_path(options: ReviewCommand) -> tuple[str, Path]:
    """Returns what a sheet needs that is to be written."""
    if not options.language or not options.output:
        missing = "--output" if options.language else "--language"
        runs = " RUN" if options.action == "answers" else ""
        hint = f"write afrieval review {options.action}{runs} --language yor --output yor.xlsx"
        raise UserError(f"{missing} is missing", hint)
    path = user_path(options.output)
    check_form(path)
    return language_of(options.language) or options.language, path


def _sheet(options: ReviewCommand) -> None:
    language, path = _language_and_path(options)
    sheet = sheet_of(HOME, language)
    write_output(path, sheet_bytes(sheet, path))
    say(f"wrote {path}: {len(sheet.rows)} strings to review")


def _read(options: ReviewCommand) -> None:
    if len(options.files) != 1:
        problem = f"unexpected argument {options.files[1]}" if options.files else "FILE is missing"
        raise UserError(problem, "write afrieval review read FILE")
    path = user_path(options.files[0])
    sheet = read_sheet(path)
    sheet = replace(sheet, reviewer=(options.reviewer or sheet.reviewer).strip())
    changes, errors = read(HOME, sheet, str(path), date.today().isoformat())
    _raise_all(errors)
    if not changes:
        say(f"nothing changes: {path} has no verdicts, or was read before")
        return
    if options.dry_run:
        lines = list[str]()
        for name, text in changes.items():
            old = (HOME / name).read_bytes().decode() if (HOME / name).is_file() else ""
            before, after = (of.splitlines(keepends=True) for of in (old, text))
            lines += unified_diff(before, after, f"a/{name}", f"b/{name}")
        say("".join(lines))
        return
    if CHECKOUT is None:
        raise UserError(
            f"{path} is in order, but only a checkout of afrieval can be changed",
            "send the file to the project; the documentation page 'Native prompts' describes how",
        )
    write_all(CHECKOUT, changes)
    for name in changes:
        note(f"wrote {name}")


def _raise_all(errors: list[UserError]) -> None:
    if errors:
        for error in errors[:-1]:
            complain(error.message, error.hint)
        raise errors[-1]


def _answers(options: ReviewCommand) -> None:
    language, path = _language_and_path(options)
    if language not in LANGUAGES:
        raise UserError(f"unknown language {language!r}", nearest(language, list(LANGUAGES)))
    runs = _runs(options.files, "answers RUN")
    form, n = answer_form(runs, to_rate(runs, language, options.tasks, options.task.folder), options.n, options.seed)
    write_output(path, form_bytes(form, path))
    equal = f"; equal ones of the {n:,} have one row" if n > len(form.rows) else ""
    say(f"wrote {path}: {len(form.rows):,} answers to rate{equal}")


def _ratings(options: ReviewCommand) -> None:
    sheets = [user_path(name) for name in options.files if Path(name).suffix.lower() in WRITERS]
    if not sheets:
        raise UserError("SHEET is missing", "write afrieval review ratings SHEET RUN")
    runs = _runs([name for name in options.files if user_path(name) not in sheets], "ratings SHEET RUN")
    with ExitStack() as stack:
        checks = [stack.enter_context(locked(run.path)) for run in runs]
        ratings, errors = read_ratings(sheets, runs, options.task.folder)
        _raise_all(errors)
        for run, check in zip(runs, checks, strict=True):
            for line in store_ratings(run, ratings, None if options.dry_run else check):
                say(f"{run.path}: {line}{'; dry run, nothing is written' if options.dry_run else ''}")


def _runs(names: list[str], usage: str) -> list[RunFolder]:
    if not names:
        raise UserError("RUN is missing", f"write afrieval review {usage}")
    folders = list(dict.fromkeys(map(user_path, names)))
    for folder in folders:
        check_run(folder)
    return [RunFolder(folder) for folder in folders]
