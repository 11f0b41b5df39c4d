"""The text of `--help`, from what a command declares."""

import inspect
from dataclasses import MISSING
from textwrap import fill
from typing import Any, get_origin

from annotated_types import Ge, Le

from afrieval.config.options import Metavar, Option
from afrieval.terminal import visible

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
    """Returns how a command is used, what it does, examples and all options.

    Args:
        command: its name.
        kind: the class that declares its options, and whose docstring describes it.
        sections: its options, by heading.
    """
    described, _, examples = str(inspect.getdoc(kind)).partition("\n\nExamples:\n")
    own = next(iter(sections.values()))
    usage = [f"{o.flag} {_metavar(o)}" for o in own if o.default is MISSING and not o.word]
    usage += [o.word for o in own if o.word]
    parts = [f"usage: {' '.join(['afrieval', command, *usage, '[options]'])}"]
    parts += [fill(" ".join(paragraph.split()), WIDTH) for paragraph in described.split("\n\n")]
    parts += [f"Examples:\n{examples.replace('    ', '  ')}"] if examples else []
    parts += ["\n".join([f"{title}:", *map(_entry, options)]) for title, options in sections.items() if options]
    return "\n\n".join([*parts, GENERAL, *([NOTES] if len(sections) > 1 else [])])


def _entry(option: Option) -> str:
    """Returns the lines on one option: its name and values, what it does, its range and its default."""
    head = f"  {option.word or f'{option.flag} {_metavar(option)}'}"
    return "\n".join(
        [head, fill(visible(_described(option)), WIDTH, initial_indent=" " * 6, subsequent_indent=" " * 6)]
    )


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


def _described(option: Option) -> str:
    what, _, default = option.help.partition("Default: ")
    parts = [what.strip()]
    least = next((each.ge for each in option.annotations if isinstance(each, Ge)), None)
    most = next((each.le for each in option.annotations if isinstance(each, Le)), None)
    if least is not None:
        parts.append(f"{least} or more." if most is None else f"{least} to {most}.")
    if option.repeats:
        parts.append("May be repeated.")
    if option.default is MISSING:
        return " ".join([*parts, "Required."])
    return " ".join([*parts, f"Default: {default or _shown(option.default)}"])


def _shown(default: Any) -> str:
    if isinstance(default, bool):
        return f"{default}.".lower()
    return f"{default}." if default or default == 0 else "none."
