"""Registries: what people can add to the suite, such as backends, metrics, extractors, readers and commands."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from inspect import getsourcefile, isclass, isfunction, unwrap
from operator import attrgetter
from pathlib import Path
from traceback import extract_tb
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, Generic, TypeVar, get_type_hints

from afrieval._util.errors import UserError, nearest
from afrieval._util.files import read_text
from afrieval._util.grouping import grouped
from afrieval._util.stamps import digest

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")
PASSED = (UserError, OSError, MemoryError, ImportError)  # which are explained where the program ends


class Registry(Generic[T]):
    """The entries of one kind by name: those of the suite, of other packages, and of a user's file.

    A room declares its registry once. An entry of the suite is an object, or a string "module:object" that is imported
    when the entry is used; names are known without any import. The suite's entries come before others of their name:

        READERS = Registry("reader", "afrieval.readers", {"lighteval": "afrieval.addons.readers.lighteval:reader"})

        list(READERS)  # all names
        READERS["lighteval"]  # the entry; a UserError with similar names if there is none
        with READERS.calling("lighteval", f"for {path}"):
            READERS["lighteval"].read(path)  # what it raises is answered with its file, its line and the path

    Another package adds an entry in its pyproject.toml:

        [project.entry-points."afrieval.readers"]
        mine = "my_package.readers:reader"

    A file of the user's adds what it defines of a `kind`: `METRICS.with_file(folder / "metrics.py")`. Its functions are
    entries if their annotation says that they return the kind, as in `def mine() -> Metric`.

    Args:
        noun: what an entry is called in messages, such as `reader`.
        group: the group of entry points of other packages.
        entries: the suite's own entries, or where they are.
        needs: attributes that each entry must have; `__call__` for functions.
        kind: what functions of a user's file return, if they are entries.
        where: the command that lists all entries, for messages.

    Attributes:
        file: the user's file; None if there is none.
        of_file: names of the entries that it defines.
        stamp: the hash of that file, by which a run knows whether it has changed.
    """

    def __init__(
        self,
        noun: str,
        group: str,
        entries: Mapping[str, T | str],
        needs: Sequence[str] = (),
        kind: Any = None,
        where: str = "",
    ):
        self.noun, self.group, self.kind = noun, group, kind
        self._entries: dict[str, T | str] = dict(entries)
        self._needs, self._where = needs, where
        self._points: dict[str, list[EntryPoint]] | None = None
        self.file: Path | None = None
        self.of_file: Sequence[str] = ()
        self.stamp = ""
        self._unmarked: Mapping[str, int] = {}

    def __contains__(self, name: object) -> bool:
        return name in self._entries or name in self._of_packages()

    def __iter__(self) -> Iterator[str]:
        return iter({**self._entries, **self._of_packages()})

    def __getitem__(self, name: str) -> T:
        """Returns an entry, which is imported if it was not used before.

        Raises:
            UserError: if there is none, or it is of another package and cannot be imported or lacks something.
        """
        if name not in self and name in self._unmarked:
            start = f"{self.file}, line {self._unmarked[name]}"
            problem = f"{start}: {name} is not marked as a function that returns {self.kind_name}"
            raise UserError(problem, f"write `-> {self.kind_name}:` after its arguments")
        if name not in self:
            raise UserError(f"there is no {self.noun} {name!r}", nearest(name, sorted(self), self._where))
        if name not in self._entries:
            self._entries[name] = self._of_package(name, self._of_packages()[name])
        entry = self._entries[name]
        if isinstance(entry, str):
            module, _, attribute = entry.partition(":")
            entry = self._entries[name] = _attribute(import_module(module), attribute)
        return entry

    def __setitem__(self, name: str, entry: T | str) -> None:
        """Adds an entry in this process, as code that is no package does."""
        self._entries[name] = entry

    def __delitem__(self, name: str) -> None:
        del self._entries[name]

    def get(self, name: str, default: Any = None) -> Any:
        """Returns an entry, or the default if there is none."""
        return self[name] if name in self else default  # noqa: SIM401  # it is what `get` is

    @property
    def kind_name(self) -> str:
        """The name of the kind, as people write it in an annotation."""
        return str(getattr(self.kind, "__name__", "")) if isclass(self.kind) else self.noun.capitalize()

    def items(self) -> list[tuple[str, T]]:
        """Returns all names with their entries, which are imported."""
        return [(name, self[name]) for name in self]

    def with_file(self, path: Path, hint: str) -> "Registry[T]":
        """Returns a registry with these entries and those of a user's file, if there is one; its code is run.

        Args:
            path: the file.
            hint: how to write an entry.

        Raises:
            UserError: if the file cannot be run, defines no entry, or one with the name of an entry of the suite.
        """
        if not path.is_file():
            return self
        source = read_text(path, "write Python in UTF-8")
        module = module_of_file(path, source)
        entries: dict[str, Any] = entries_of(module, self.kind)
        if not entries:
            raise UserError(f"{path} defines no {self.noun}", hint)
        if twice := [name for name in entries if name in self]:
            article = "an" if self.noun[0] in "aeiou" else "a"
            raise UserError(f"{path} defines {min(twice)}, {article} {self.noun} of the suite", "rename the function")
        whole = Registry(self.noun, self.group, {**self._entries, **entries}, self._needs, self.kind, self._where)
        whole.file, whole.of_file, whole.stamp = path, [*entries], digest(source)
        whole._unmarked = {name: entry.__code__.co_firstlineno for name, entry in _public_functions(module)}
        return whole

    @contextmanager
    def calling(self, name: str, about: str = "") -> Iterator[None]:
        """Answers an error that an entry raises in a block with a UserError that names its file and line.

        Args:
            name: the entry.
            about: what it was called for, such as `for row 3 of FILE`.
        """
        with blaming(" ".join(filter(None, [f"the {self.noun} {name}", about])), self[name]):
            yield

    def _of_packages(self) -> Mapping[str, list["EntryPoint"]]:
        if self._points is None:
            from importlib.metadata import entry_points  # takes time, which `--help` has not

            points = [point for point in entry_points(group=self.group) if not _is_removed(point)]
            self._points = grouped(points, lambda point: point.name)
        return self._points

    def _of_package(self, name: str, points: Sequence["EntryPoint"]) -> T:
        packages, point = [point.dist.name if point.dist else point.module for point in points], points[0]
        if len(points) > 1:
            raise UserError(f"the {self.noun} {name} is in the packages {' and '.join(packages)}", "uninstall one")
        origin, cure = f"the {self.noun} {name} of the package {packages[0]}", "correct that package, or uninstall it"
        try:
            module = import_module(point.module)
        except Exception as e:
            raise UserError(f"{origin} cannot be imported: {fault(e)}", cure) from e
        try:
            entry: T = _attribute(module, point.attr)
        except AttributeError:
            raise UserError(f"{origin} is missing: {module.__file__} has no {point.attr}", cure) from None
        if lacking := [attribute for attribute in self._needs if not hasattr(entry, attribute)]:
            raise UserError(f"{origin} has no {lacking[0]} ({file_of(entry) or module.__file__})", cure)
        return entry


def _is_removed(point: "EntryPoint") -> bool:
    """Returns whether an entry is in a deleted folder of the suite, which works without its add-ons."""
    if point.module.partition(".")[0] != __name__.partition(".")[0]:
        return False
    try:
        return find_spec(point.module) is None
    except ModuleNotFoundError:
        return True


def _attribute(module: ModuleType, path: str) -> Any:
    return attrgetter(path)(module) if path else module


def entries_of(module: ModuleType, kind: Any) -> dict[str, Callable[..., Any]]:
    """Returns the public functions that a module defines and whose annotation says that they return `kind`, by name."""
    entries: dict[str, Callable[..., Any]] = {}
    for name, function in _public_functions(module):
        try:
            returned = get_type_hints(function).get("return")
        except NameError:  # an annotation of another name that is imported for type checkers only
            returned = function.__annotations__.get("return")
        if returned == kind:
            entries[name] = function
    return entries


def _public_functions(module: ModuleType) -> list[tuple[str, FunctionType]]:
    functions = [(name, entry) for name, entry in vars(module).items() if isinstance(entry, FunctionType)]
    return [pair for pair in functions if pair[1].__module__ == module.__name__ and not pair[0].startswith("_")]


@lru_cache
def module_of_file(path: Path, source: str) -> ModuleType:
    """Returns a user's file of Python as a module; its code is run.

    Raises:
        UserError: naming the file and the line, if it cannot be run.
    """
    module = ModuleType(f"afrieval {path}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module  # dataclasses look their module up
    try:
        exec(compile(source, str(path), "exec"), vars(module))
    except Exception as e:
        raise UserError(fault(e, str(path)), "correct the file") from None
    return module


@contextmanager
def blaming(part: str, code: object) -> Iterator[None]:
    """Answers an error that code of others raises in a block with a UserError that names its file and line.

    Args:
        part: what is called, and for what: `the metric words, for row 3 of quiz`.
        code: the function, class or object that is called.
    """
    try:
        yield
    except PASSED:
        raise
    except Exception as e:
        problem = f"{fault(e, file_of(code))}, in {part}"
        raise UserError(problem, "correct the code; --debug shows where it fails") from e


def file_of(code: object) -> str:
    """Returns the file that defines a function, class or object; empty if it is not known."""
    code = unwrap(code) if callable(code) else code
    try:
        return getsourcefile(code if isfunction(code) or isclass(code) else type(code)) or ""
    except TypeError:
        return ""


def fault(error: Exception, file: str = "") -> str:
    """Returns where and why code failed: the file, the line, and the error.

    Args:
        error: what was raised.
        file: the file to blame, if the error passed through it; by default, that of the innermost call.
    """
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}, line {error.lineno}: {type(error).__name__}: {error}"
    calls = [call for call in extract_tb(error.__traceback__) if not call.filename.startswith("<")]
    inside = [call for call in calls if call.filename == file] or calls
    position = f"{inside[-1].filename}, line {inside[-1].lineno}" if inside else f"{file}, line 1"
    return f"{position}: {type(error).__name__}: {error}"
