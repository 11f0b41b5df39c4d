"""Options of a task: words in its file that users choose, such as the name of a split."""

from collections.abc import Iterable, Mapping
from typing import Any

from afrieval.data.patterns import fill
from afrieval.errors import UserError, nearest
from afrieval.files.yaml import YamlFile
from afrieval.tasks.schema import WITH_COLUMNS

FILLED = ("data", "metrics", *WITH_COLUMNS)  # the keys whose texts may contain `{name}`


def chosen_options(task: str, declared: object, given: Mapping[str, str]) -> dict[str, str]:
    """Returns the value of each option that a task declares: the one given, or its first.

    Args:
        task: the task's name.
        declared: name to values, as in its file; a single one may be replaced by any other.
        given: name to value; other tasks may have further options.

    Raises:
        UserError: for a value that the option does not have.
    """
    every = declared if isinstance(declared, dict) else {}
    listed = {name: [of] if isinstance(of, str) else of for name, of in every.items() if isinstance(of, str | list)}
    # The schema reports all others.
    known = {name: of for name, of in listed.items() if of and all(isinstance(v, str) and v.strip() for v in of)}
    for name, values in known.items():
        if name in given and given[name] not in values and isinstance(every[name], list):
            raise UserError(f"the option {name} of {task} has no value {given[name]!r}", nearest(given[name], values))
    return {name: given.get(name, values[0]) for name, values in known.items()}


def check_options(given: Mapping[str, str], declared: Mapping[str, Iterable[str]]) -> None:
    """Rejects an option that no task has.

    Args:
        given: name to value.
        declared: task to the names of its options.

    Raises:
        UserError: for the first such option.
    """
    known = list(dict.fromkeys(name for options in declared.values() for name in options))
    for name in given:
        if name not in known:
            hint = nearest(name, known) if known else "leave task.options out"
            raise UserError(f"{' and '.join(list(declared)[:3])}: there is no option {name!r}", hint)


def with_options(file: YamlFile, chosen: Mapping[str, str]) -> YamlFile:
    """Returns a task file with the values of options in the place of their names."""
    if not chosen:
        return file
    values = {f"{{{name}}}": value for name, value in chosen.items()}
    content = {key: _filled(value, values) if key in FILLED else value for key, value in file.content.items()}
    return file._replace(content=content)


def _filled(value: Any, values: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return fill(value, values)
    if isinstance(value, dict):
        return {name: _filled(part, values) for name, part in value.items()}
    return [_filled(part, values) for part in value] if isinstance(value, list) else value
