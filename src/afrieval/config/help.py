"""Texts of `--help`: the daily options of a command on one screen, or all of them."""

import inspect
import re
from dataclasses import MISSING
from textwrap import fill
from typing import get_origin

from annotated_types import Ge, Le

from afrieval._util.terminal import visible
from afrieval.config.options import Metavar, Option

WIDTH, INDENT = 80, " " * 6
GENERAL = """
General:
  --help
      Print this help.
  --debug
      Show the traceback of an error.
""".strip()
NOTES = """
Options beat files, and the eval: map of a task file beats that of a model file.
Names may have dashes or underscores, and an equals sign or a blank before the
value: --eval.num-fewshot 2, --eval.num_fewshot=2. An option that is true or
false may stand alone: --eval.write-out. A list is written a,b or [a, b]. null
stands for no value. A backend argument may be given by its own name:
--model.backend_args.NAME VALUE.
""".strip()


def help_text(command: str, kind: type, sections: dict[str, list[Option]]) -> str:
    """Returns how a command is used, what it does, examples and all options."""
    parts = _head(command, kind, next(iter(sections.values())))
    parts += ["\n".join([f"{title}:", *map(_entry, options)]) for title, options in sections.items() if options]
    return "\n\n".join([*parts, GENERAL, *([NOTES] if len(sections) > 1 else [])])


def daily_help(command: str, kind: type, options: list[Option], daily: dict[str, Option]) -> str:
    """Returns how a command is used, with the options that are used daily, on one screen.

    Args:
        command: the command.
        kind: the dataclass that declares it.
        options: those that it declares.
        daily: settings by short name.
    """
    rows = {option.word or f"{option.flag} {_metavar(option)}": option for option in options}
    rows |= {f"--{name.replace('_', '-')} {_metavar(option)}": option for name, option in daily.items()}
    width = min(max(map(len, rows)) + 4, 30)
    lines = [line for head, option in rows.items() for line in _row(head, option, width)]
    more = f"afrieval {command} --help-all describes all options. --debug shows the traceback of an error."
    return "\n\n".join([*_head(command, kind, options), "\n".join(["Daily options:", *lines]), fill(more, WIDTH)])


def _head(command: str, kind: type, options: list[Option]) -> list[str]:
    described, _, examples = str(inspect.getdoc(kind)).partition("\n\nExamples:\n")
    usage = [f"{o.flag} {_metavar(o)}" for o in options if o.default is MISSING and not o.word]
    usage += [o.word for o in options if o.word]
    parts = [f"usage: {' '.join(['afrieval', command, *usage, '[options]'])}"]
    parts += [fill(" ".join(paragraph.split()), WIDTH) for paragraph in described.split("\n\n")]
    return parts + ([f"Examples:\n{examples.replace('    ', '  ')}"] if examples else [])


def _row(head: str, option: Option, width: int) -> list[str]:
    """Returns an option and the first sentence about it, side by side."""
    what = visible(re.split(r"(?<=\.) ", f"{option.help} ")[0].strip())
    blank = " " * width
    first = f"  {head}".ljust(width)
    fits = len(first) <= width and not first.endswith(head)
    start = first if fits else blank
    text = fill(what, WIDTH, initial_indent=start, subsequent_indent=blank, break_on_hyphens=False)
    return [*([] if fits else [first]), *text.splitlines()]


def _metavar(option: Option) -> str:
    """Returns what stands for the value of an option: the words that it takes, or their kind."""
    if declared := [each.text for each in option.annotations if isinstance(each, Metavar)]:
        return declared[0]
    if option.choices:
        return f"{{{','.join(option.choices)}}}"
    if bool in option.types:
        return "[true|false]"
    kinds = {
        "LIST": bool(option.members),
        "MAP": any(get_origin(m) is dict for m in option.types),
        "N": str not in option.types,
    }
    return next((name for name, fits in kinds.items() if fits), "VALUE")


def _entry(option: Option) -> str:
    """Returns an option with all that is known of its values, below its name."""
    what, _, default = option.help.partition("Default: ")
    parts = [what.strip()]
    least = next((each.ge for each in option.annotations if isinstance(each, Ge)), None)
    most = next((each.le for each in option.annotations if isinstance(each, Le)), None)
    if least is not None:
        parts.append(f"{least} or more." if most is None else f"{least} to {most}.")
    if option.repeats:
        parts.append("May be repeated.")
    if option.default is MISSING:
        parts.append("Required.")
    else:
        shown = str(option.default).lower() if isinstance(option.default, bool) else option.default
        usual = f"{shown}." if shown or shown == 0 else "none."
        parts.append(f"Default: {default or usual}")
    text = fill(visible(" ".join(parts)), WIDTH, initial_indent=INDENT, subsequent_indent=INDENT)
    return f"  {option.word or f'{option.flag} {_metavar(option)}'}\n{text}"
