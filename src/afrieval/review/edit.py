"""Replaces one value in a YAML text, and leaves every other character as it is."""

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import yaml

from afrieval.files.schema import Place
from afrieval.files.yaml import parsed


class NotEditableError(Exception):
    """The value is written in a way that cannot be replaced safely."""


def replaced(source: str, place: Place, value: str | int) -> str:
    """Returns a YAML text in which one value is another.

    The way in which it is written (plain, in quotes, a block) is kept where the new value allows it.

    Args:
        source: the YAML text.
        place: the keys that lead to the value, which must be a text or a number.
        value: the new value; line ends after a text are as they were.

    Raises:
        NotEditableError: if no way of writing it changes this value and no other.
    """
    content, root = parsed(source)
    node = _node(root, place)
    if isinstance(value, str):
        old = str(_get(content, place))
        value = value.strip() + old[len(old.rstrip()) :]
    wanted = deepcopy(content)
    _get(wanted, place[:-1])[place[-1]] = value
    for candidate in _candidates(source, node, str(value)):
        try:
            if parsed(candidate)[0] == wanted:
                return candidate
        except yaml.YAMLError:
            continue
    raise NotEditableError(f"line {node.start_mark.line + 1}")


def _node(root: yaml.Node | None, place: Place) -> yaml.ScalarNode:
    node: Any = root
    for step in place:
        if isinstance(node, yaml.SequenceNode):
            node = node.value[int(step)]
        else:
            node = next(value for key, value in node.value if key.value == str(step))
    if not isinstance(node, yaml.ScalarNode):
        raise NotEditableError(f"line {node.start_mark.line + 1}")
    return node


def _get(content: Any, place: Place) -> Any:
    for step in place:
        content = content[step]
    return content


def _candidates(source: str, node: yaml.ScalarNode, value: str) -> Iterator[str]:
    """Yields the text with the value written in several ways, the present one first."""
    if node.style == "|":
        yield _with_block(source, node, value)
        return
    if node.style == ">":  # its lines are not those of the value
        return
    ways = {None: value, "'": "'" + value.replace("'", "''") + "'", '"': json.dumps(value, ensure_ascii=False)}
    first, last = source[: node.start_mark.index], source[node.end_mark.index :]
    for style in (node.style, '"'):
        yield f"{first}{ways[style]}{last}"


def _with_block(source: str, node: yaml.ScalarNode, value: str) -> str:
    """Returns the text with other lines in a literal block, which has one line for each of the value."""
    lines = source.split("\n")
    start = node.start_mark.line + 1
    end = start + len(node.value.rstrip("\n").split("\n"))
    first = lines[start]
    indent = first[: len(first) - len(first.lstrip(" "))]
    new = [f"{indent}{line}" if line else "" for line in value.rstrip("\n").split("\n")]
    return "\n".join([*lines[:start], *new, *lines[end:]])
