"""Validates files and options against dataclasses and typed dicts, with pydantic; each error is one line.

Values are what JSON has: maps, lists, texts, numbers, true, false and null. Nothing is converted: the text "5" is not
the number 5, and 1 is not true.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args, get_type_hints

import orjson
from annotated_types import Ge, Le, MinLen, Predicate
from typing_extensions import TypedDict, is_typeddict

from afrieval._util.errors import UserError, nearest
from afrieval._util.terminal import shortened

if TYPE_CHECKING:  # takes a tenth of a second, which --help must not
    from pydantic import ConfigDict, ValidationError

T = TypeVar("T")
KeyPath = tuple[str | int, ...]
Positive = Annotated[int, Ge(1)]
NotNegative = Annotated[int, Ge(0)]
Seed = Annotated[int, Ge(0), Le(2**32 - 1)]
AT_LEAST_ONE = MinLen(1)


def _not_blank(text: str) -> bool:
    return bool(text.strip())


def _no_repeats(entries: list[Any]) -> bool:
    return len(set(entries)) == len(entries)


Text = Annotated[str, Predicate(_not_blank)]
UNIQUE = Predicate(_no_repeats)
LineOf = Callable[[KeyPath], int | None]

CLOSED: "ConfigDict" = {"extra": "forbid", "strict": True}  # files that people write: an unknown key is a typo
OPEN: "ConfigDict" = {"extra": "allow", "strict": True}  # files that the suite writes, and that later versions extend
LINE: "ConfigDict" = {"extra": "ignore", "strict": True}  # as OPEN, for lines, which are kept unchanged


class OpenMap(TypedDict, total=False):
    """The base of maps that the suite or another program writes; other keys are kept."""

    __pydantic_config__ = OPEN  # type: ignore[misc]


class OpenLine(TypedDict, total=False):
    """The base of lines of files, which are kept unchanged."""

    __pydantic_config__ = LINE  # type: ignore[misc]


# pydantic's type of an error, or its message, to what the value must be
WANTED = {
    "string_type": "text",
    "string_too_short": "text that is not empty",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "int_parsing_size": "a smaller whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a map",
    "dataclass_type": "a map",
    "none_required": "null",
    "too_short": "a list or map that is not empty",
    "too_long": "a list with at most {max_length} entries",
    "literal_error": "{expected}",
    "greater_than": "a number greater than {gt:g}",
    "greater_than_equal": "{ge} or more",
    "less_than_equal": "{le} or less",
    "finite_number": "a finite number",
    "is_instance_of": "a {class}",
    "Predicate '_not_blank' failed": "text that is not empty",
    "Predicate '_no_repeats' failed": "a list without repetitions",
}
DIGITS = re.compile(rb"\d{4301}")  # of a number that Python does not write as text
MISSING = ("missing", "missing_argument", "missing_keyword_only_argument")
UNKNOWN = ("unexpected_keyword_argument", "extra_forbidden")


@cache
def validator(kind: Any) -> Any:
    """Returns pydantic's adapter of a type, built once."""
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def validated(kind: type[T], content: Any, where: str, hint: str = "", line: LineOf = lambda keys: None) -> T:
    """Returns content as the type that it must have, validated.

    Args:
        kind: a dataclass or typed dict whose `__pydantic_config__` is `CLOSED` or `OPEN`.
        content: the content of a file, of the types of JSON; maps may have whole numbers as keys.
        where: the file, for messages; `--` for options.
        hint: how to fix it; by default, what the value must be.
        line: returns the line of a place in the file; None if unknown.

    Raises:
        UserError: naming file, line and key of the first error.
    """
    try:
        text = json.dumps(content)
    except (ValueError, TypeError, RecursionError) as e:  # circles, numbers of thousands of digits, deep nesting
        raise UserError(f"{where} cannot be used: {e}", hint or "write only maps, lists, text and numbers") from None
    return validated_json(kind, text, where, hint, line)


def validated_json(kind: type[T], text: str | bytes, where: str, hint: str = "", line: LineOf = lambda keys: None) -> T:
    """Returns the content of a JSON text as the type that it must have; arguments and errors as for `validated`."""
    from pydantic import ValidationError

    try:
        if DIGITS.search(text if isinstance(text, bytes) else text.encode(errors="replace")):
            parsed_json(text, where, hint)  # which refuses such a number, but no text that has such digits
        content: T = validator(kind).validate_json(text)  # type: ignore[arg-type]  # a type is hashable
    except ValidationError as e:
        first: Any = e.errors(include_url=False)[0]
        if first["type"] == "json_invalid":
            problem = str(first["ctx"]["error"]).replace(" at line 1 column", " at column")
            raise UserError(f"{where} is not valid JSON: {problem}", hint or "correct that place") from None
        raise explained(e, kind, parsed_json(text, where, hint), where, hint, line) from None
    return content


def parsed_json(text: str | bytes, where: str, hint: str) -> Any:
    """Returns the content of a JSON text of any form, for what has no declared type.

    Raises:
        UserError: if it is not JSON, is nested too deeply or has a number of thousands of digits.
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise UserError(f"{where} is not valid JSON: it is nested too deeply", hint) from None
    except ValueError as e:
        raise UserError(f"{where} is not valid JSON: {str(e)[:200]}", hint) from None


def checked_line(kind: type[T], line: bytes, where: str, hint: str) -> dict[str, Any]:
    """Returns the map in a line of JSON unchanged, including keys that the type does not have.

    It is faster than `validated_json`, for files of a million lines; arguments and errors are the same.
    """
    try:
        content: dict[str, Any] = orjson.loads(line)
        validator(kind).validator.validate_python(content)  # type: ignore[arg-type]
    except ValueError:  # from orjson, which does not support infinity, or from pydantic
        validated_json(kind, line, where, hint)
        content = parsed_json(line, where, hint)
    return content


AS_JSON = partial(json.dumps, ensure_ascii=False)


def explained(
    error: "ValidationError",
    kind: Any,
    content: Any,
    where: str,
    hint: str = "",
    line: LineOf = lambda keys: None,
    shown: Callable[[Any], str] = AS_JSON,
) -> UserError:
    """Returns the first error of pydantic in words: an unknown key before the errors that its typo caused.

    Arguments are as for `validated`, and `shown` writes a value.
    """
    findings: list[Any] = list(error.errors(include_url=False))
    order = {**dict.fromkeys(UNKNOWN, 0), **dict.fromkeys(MISSING, 1)}
    # If a value may have several types, the error of the best match is the deepest.
    first = min(findings, key=lambda finding: (order.get(finding["type"], 2), -len(_key_path(finding, content))))
    keys = _key_path(first, content)
    number, name = line(keys), ".".join(str(step) for step in keys if where != "--" or isinstance(step, str))
    position = "--" if where == "--" else f"{where}: " if number is None else f"{where}, line {number}: "
    if first["type"] in UNKNOWN:
        return UserError(
            f"{position}unknown key {name!r}", hint or nearest(str(keys[-1]), list(_keys(kind, keys[:-1])))
        )
    if first["type"] in MISSING:
        return UserError(f"{position}the key {name!r} is missing", hint or f"add {keys[-1]}: and its value")
    *others, last = dict.fromkeys(_in_words(f) for f in findings if _key_path(f, content) == keys)
    expected = f"{', '.join(others)} or {last}" if others else last
    actual = shortened(shown(first["input"]))
    return UserError(
        f"{position}{name or 'the content'} must be {expected}, not {actual}", hint or _cure(first, expected)
    )


def _key_path(finding: Any, content: Any) -> KeyPath:
    """Returns the keys and indices of a place, without the names of types that pydantic inserts."""
    keys: list[str | int] = []
    steps = finding["loc"]
    for number, step in enumerate(steps):
        if isinstance(content, dict) and str(step) in content:
            content = content[str(step)]
        elif isinstance(content, list | tuple) and isinstance(step, int) and step < len(content):
            content = content[step]
        elif number < len(steps) - 1 or finding["type"] not in MISSING:
            continue  # the name of a type
        keys.append(step)
    return tuple(keys)


def _keys(kind: Any, keys: KeyPath) -> Iterator[str]:
    """Yields the keys that the map at a place may have, if they are declared."""
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        names = [f.name for f in fields(kind)]
        yield from _keys(hints[str(keys[0])], keys[1:]) if keys and keys[0] in names else () if keys else names
    elif is_typeddict(kind):
        yield from _keys(get_type_hints(kind)[str(keys[0])], keys[1:]) if keys else get_type_hints(kind)
    else:  # a map's or list's members, or several types
        rest = keys[1:] if getattr(kind, "__origin__", None) in (dict, list) else keys
        for member in get_args(kind):
            yield from _keys(member, rest)


def _in_words(finding: Any) -> str:
    message = str(finding["msg"])
    if finding["type"] == "int_type" and re.fullmatch(r"[+-]?\d{19,}", str(finding["input"])):
        return WANTED["int_parsing_size"]  # what an option holds is a text if it has too many digits
    words = WANTED.get(finding["type"], WANTED.get(message))
    if words is None:
        return message.removeprefix("Value error, ")
    return words.format(**finding.get("ctx", {})).replace("'", "").replace("a PathLike", "a path")


def _cure(first: Any, expected: str) -> str:
    if first["input"] is None:
        return "give a value, or leave the key out"
    if first["type"] == "literal_error" and isinstance(first["input"], str):
        return nearest(first["input"], re.findall("'(.*?)'", first["ctx"]["expected"]))
    if expected == "text" and isinstance(first["input"], bool | int | float):
        return 'put it in quotes, as in "No" or "1"'
    return f"write {expected}" + {"a whole number": ", such as 50", "a number": ", such as 0.5"}.get(expected, "")
