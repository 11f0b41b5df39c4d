"""Parses YAML files to plain values, or to the type that they must have; errors name the line."""

import difflib
import os
from collections.abc import Iterable
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import yaml
from yaml.composer import Composer
from yaml.constructor import SafeConstructor
from yaml.resolver import Resolver

from afrieval._util.errors import UserError, nearest
from afrieval._util.files import read_text
from afrieval._util.resources import here_or_shipped
from afrieval._util.schema import KeyPath, validated
from afrieval._util.terminal import shortened

T = TypeVar("T")
LARGE = 100_000  # characters from which on a text is not kept: run.yaml of a thousand cells, whose nodes take 20 MB
LARGEST = 2**24  # bytes; weights given instead of a config are refused, and parsing this much takes a minute
MOST_NODES = 2_000_000  # with aliases expanded
EXAMPLES = "see the files in configs/ for examples"
NOT_JSON = ("timestamp", "binary", "omap", "pairs", "set")  # dates stay texts


class _PythonParser(yaml.reader.Reader, yaml.scanner.Scanner, yaml.parser.Parser):
    __init__ = yaml.SafeLoader.__init__


_Parser: Any = yaml.cyaml.CParser if yaml.__with_libyaml__ else _PythonParser  # type: ignore[attr-defined]


class _Loader(Composer, _Parser, SafeConstructor, Resolver):
    """A safe loader of the types of JSON that refuses a key given twice; YAML would silently drop the first.

    libyaml, if it is there, parses eight times as fast as Python. Nodes are composed in Python: libyaml's own composer
    crashes the process if a text is nested too deeply.
    """

    def __init__(self, text: str) -> None:
        _Parser.__init__(self, text)
        Composer.__init__(self)
        SafeConstructor.__init__(self)
        Resolver.__init__(self)

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            value = super().construct_object(node, deep)
            if isinstance(node, yaml.ScalarNode):
                str(value).encode()  # fails for half a character, or a number with thousands of digits
        except (ValueError, LookupError):  # also for a tag that does not fit the text
            kind = node.tag.rpartition(":")[2]
            raise _marked(f"{shortened(str(node.value))!r} is not a valid {kind}", node) from None
        return value

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value if isinstance(node, yaml.MappingNode) else ():
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, str | int) or isinstance(key, bool):
                shown = f"{key_node.value!r} " if isinstance(key_node, yaml.ScalarNode) else ""
                raise _marked(f"the key {shown}is not text; put it in quotes", key_node)
            if key in seen:
                raise _marked(f"key {key!r} is given twice", key_node)
            seen.add(key)
        return super().construct_mapping(node, deep)

    def construct_undefined(self, node: yaml.Node) -> Any:
        name = "the merge key <<" if node.tag.endswith(":merge") else f"the tag {shortened(node.tag)!r}"
        raise _marked(f"{name} is not supported", node)


_Loader.yaml_constructors = {
    tag: make for tag, make in _Loader.yaml_constructors.items() if str(tag).rpartition(":")[2] not in NOT_JSON
}
_Loader.yaml_constructors[None] = _Loader.construct_undefined
_Loader.yaml_implicit_resolvers = {
    first: [(tag, form) for tag, form in known if tag.rpartition(":")[2] not in NOT_JSON]
    for first, known in _Loader.yaml_implicit_resolvers.items()
}


class YamlFile(NamedTuple):
    """The content of a YAML file, and its lines.

    Attributes:
        content: maps, lists, texts, numbers, true, false and null; None for an empty file.
        root: the nodes that it was parsed from.
    """

    path: Path
    content: Any
    root: yaml.Node | None

    def line(self, keys: KeyPath) -> int | None:
        """Returns the line of a key or entry, from 1; if it is missing, the line of the map."""
        node = self.root
        nearest_node = node
        for step in keys:
            if isinstance(node, yaml.MappingNode):
                pairs = {key.value: (key, value) for key, value in node.value}
                nearest_node, node = pairs.get(str(step), (node, None))
            elif isinstance(node, yaml.SequenceNode) and isinstance(step, int):
                nearest_node = node = node.value[step]
        return nearest_node.start_mark.line + 1 if nearest_node is not None else None

    def checked(self, kind: type[T], hint: str = "") -> T:
        """Returns the content as the type that it must have."""
        return validated(kind, self.content, str(self.path), hint, self.line)


def read_as(kind: type[T], path: Path, hint: str = "") -> T:
    """Returns the content of a YAML file as the type that it must have.

    Args:
        kind: a dataclass or typed dict, as for `validated`.
        path: the file.
        hint: how to fix any error; by default, each error has its own.

    Raises:
        UserError: if the file does not exist or is invalid; file, line and key are named.
    """
    return read_map_file(path, hint).checked(kind, hint)


def read_map_file(path: Path, hint: str = "") -> YamlFile:
    """Returns a YAML file with a map; arguments and errors as for `read_as`."""
    text = read_text(path, hint or _near_files(path), LARGEST)
    try:
        content, root = parsed(text) if len(text) > LARGE else _parsed(text)
        if len(text) <= LARGE:
            content = deepcopy(content)  # the one that is kept must not change
    except yaml.YAMLError as e:
        mark = getattr(e, "problem_mark", None)
        where = f"{path}, line {mark.line + 1}," if mark else str(path)
        problem = getattr(e, "problem", None) or " ".join(str(e).split())
        raise UserError(f"{where} is not valid YAML: {problem}", hint or "correct that line") from None
    except RecursionError:
        raise UserError(f"{path} is nested too deeply", hint or EXAMPLES) from None
    if content is None:
        raise UserError(f"{path} is empty", hint or EXAMPLES)
    if not isinstance(content, dict):
        raise UserError(f"{path} is not a map of keys and values", hint or EXAMPLES)
    return YamlFile(path, content, root)


def parsed(text: str) -> tuple[Any, yaml.Node | None]:
    """Returns the content of a YAML text, and its nodes.

    Raises:
        yaml.YAMLError: if it is not YAML, or its aliases are circular or expand to too much.
        RecursionError: if it is nested too deeply.
    """
    loader = _Loader(text)
    try:
        root = loader.get_single_node()
        if root is None:
            return None, None
        if _size(root, {}) > MOST_NODES:
            raise _marked("its aliases expand to too much", root)
        return loader.construct_document(root), root
    finally:
        loader.dispose()


_parsed = lru_cache(1024)(parsed)  # tasks are loaded many times, and parsing takes most of it


def _size(node: yaml.Node, sizes: dict[int, int]) -> int:
    """Returns the number of nodes with aliases expanded, which doubles with each line of a YAML bomb."""
    if id(node) in sizes:
        if not sizes[id(node)]:
            raise _marked("an alias refers to a value that contains it", node)
        return sizes[id(node)]
    sizes[id(node)] = 0
    inner = node.value if isinstance(node, yaml.CollectionNode) else []
    size = 1 + sum(_size(part, sizes) for each in inner for part in (each if isinstance(each, tuple) else (each,)))
    sizes[id(node)] = size
    return size


def _marked(problem: str, node: yaml.Node) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)


def check_keys(keys: Iterable[Any], names: Iterable[str], where: str) -> None:
    """Refuses an unknown key."""
    names = list(names)
    for key in keys:
        if key not in names:
            raise UserError(f"{where}: unknown key {key!r}", nearest(str(key), names))


def _near_files(path: Path) -> str:
    """Returns a hint for a path that cannot be read: the existing files."""
    if os.path.exists(path) and not os.path.isdir(path):  # noqa: PTH110, PTH112  # as below
        return "give a YAML file in UTF-8"
    named = path if os.path.isdir(path) else path.parent  # noqa: PTH112  # Path.is_dir raises on impossible names
    folder = here_or_shipped(named)
    files = sorted(p.name for p in folder.glob("*.yaml") if p != path) if os.path.isdir(folder) else []  # noqa: PTH112
    if near := difflib.get_close_matches(path.name, files, n=3):
        return f"did you mean {' or '.join(near)}? {named} has {len(files)} such files"
    return f"{named} has {', '.join(files[:5])}" if files else "check the path"
