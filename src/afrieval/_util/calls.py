"""Checks the arguments of public functions against their annotations: the same types, and the same words, as for files.

Nothing is converted that could be meant otherwise: the text "5" is not the number 5, and True is not 1. But numbers of
NumPy are numbers, paths are texts, and whatever can be iterated, such as a generator or a column of a data frame, is a
list.
"""

import inspect
import os
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import is_dataclass
from functools import cache, partial, reduce, wraps
from operator import or_
from pathlib import PurePath
from typing import Annotated, Any, ParamSpec, TypeVar, Union, get_args, get_origin, overload

from typing_extensions import TypedDict, is_typeddict

from afrieval._util.errors import UserError, nearest
from afrieval._util.schema import explained, validated, validator

P = ParamSpec("P")
R = TypeVar("R")
LEAVE = "give a value, or leave it out"
SCALARS = (bool, int, float, str)


@overload
def checked_call(public: type[R]) -> type[R]: ...
@overload
def checked_call(public: Callable[P, R]) -> Callable[P, R]: ...
def checked_call(public: Any) -> Any:
    """Returns a function, or a class, whose arguments are checked when it is called.

    A text in the annotation of a parameter, as in `Annotated[int, "give a number"]`, is the hint of its errors. The
    annotations may be of scalars, literals, paths, `Iterable`, `Mapping`, and classes; a dataclass or typed dict may be
    given as a map.

    Raises:
        UserError: by the function, for an argument that is unknown, missing or of another type; it is named.
    """
    if isinstance(public, type):
        public.__init__ = checked_call(public.__init__)  # type: ignore[misc]
        return public
    signature, name = inspect.signature(public), public.__qualname__.removesuffix(".__init__")
    names = [parameter for parameter in signature.parameters if parameter != "self"]
    has_others = inspect.Parameter.VAR_KEYWORD in {parameter.kind for parameter in signature.parameters.values()}

    @wraps(public)
    def call(*positional: Any, **named: Any) -> Any:
        if unknown := next((word for word in named if word not in names and not has_others), None):
            raise UserError(f"{name}: unknown argument {unknown!r}", nearest(unknown, names))
        try:
            bound = signature.bind(*positional, **named)
        except TypeError as e:
            hint = f"its arguments are {', '.join(names)}" if names else "leave it out"
            raise UserError(f"{name}: {e}", hint) from None
        for parameter in list(bound.arguments):
            kind = signature.parameters[parameter].annotation
            if kind not in (inspect.Parameter.empty, Any):
                bound.arguments[parameter] = fitted(kind, parameter, bound.arguments[parameter], name)
        return public(*bound.args, **bound.kwargs)

    return call


def fitted(hint: Any, name: str, value: Any, where: str) -> Any:
    """Returns an argument as a value of its type.

    Args:
        hint: its type, as `checked_call` takes it.
        name: its name.
        value: what was given.
        where: name of the function.

    Raises:
        UserError: if it is of another type.
    """
    from pydantic import ValidationError

    kind, value = _kind(hint, name), _members(value) if _takes_list(hint) else value
    try:
        return validator(kind).validate_python({name: value})[name]
    except ValidationError as e:
        texts = [each for each in getattr(hint, "__metadata__", ()) if isinstance(each, str)]
        cure = texts[0] if texts else LEAVE * (value is None)
        raise explained(e, kind, {name: value}, where, cure, shown=_shown) from None


@cache
def _kind(hint: Any, name: str) -> Any:
    kind = TypedDict("kind", {name: _of_python(hint, name)})  # type: ignore[misc]
    kind.__pydantic_config__ = {"extra": "forbid", "strict": True, "arbitrary_types_allowed": True}  # type: ignore[attr-defined]
    return kind


def _of_python(hint: Any, name: str) -> Any:
    """Returns a type for pydantic: the JSON values that Python's values stand for."""
    from pydantic import BeforeValidator, PlainValidator

    origin, members = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return Annotated[(_of_python(members[0], name), *members[1:])]
    types_of_members: Any = [_of_python(member, name) for member in members] if origin not in (None, tuple) else []
    if origin in (Union, types.UnionType):
        return reduce(or_, types_of_members)
    if origin in (Iterable, list):
        return Annotated[types.GenericAlias(list, types_of_members[0]), BeforeValidator(_members)]
    if origin in (Mapping, dict):
        return Annotated[
            types.GenericAlias(dict, tuple(types_of_members)),
            BeforeValidator(lambda value: dict(value) if isinstance(value, Mapping) else value),
        ]
    if origin is tuple:
        return Annotated[Any, PlainValidator(partial(_tuple, len(members)))]
    if hint in SCALARS:
        return Annotated[hint, BeforeValidator(partial(_scalar, hint))]
    if is_dataclass(hint) or is_typeddict(hint):
        return Annotated[Any, PlainValidator(partial(_section, hint, name))]
    return hint


def _takes_list(hint: Any) -> bool:
    several = get_origin(hint) in (Annotated, Union, types.UnionType)
    return get_origin(hint) is Iterable or (several and any(map(_takes_list, get_args(hint))))


def _scalar(kind: type, value: Any) -> Any:
    if kind is str and isinstance(value, PurePath):
        return os.fspath(value)
    return value.item() if getattr(value, "ndim", None) == 0 and hasattr(value, "item") else value


def _members(value: Any) -> Any:
    """Returns a list of what can be iterated and is not one thing, such as a text or a data frame."""
    one = isinstance(value, str | bytes | Mapping) or getattr(value, "ndim", 1) != 1
    return value if one or not isinstance(value, Iterable) else list(value)


def _tuple(n: int, value: Any) -> Any:
    if isinstance(value, tuple) and len(value) == n:
        return value
    raise ValueError(f"a tuple of {n}")


def _section(kind: Any, name: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        return validated(kind, dict(value), name)
    if is_dataclass(kind) and isinstance(value, kind):  # type: ignore[arg-type]
        return value
    raise ValueError("a map")


def _shown(value: Any) -> str:
    """Returns a value as Python writes it, or its type if no file could hold it."""
    value = _scalar(type(value), value)
    plain = value is None or isinstance(value, (*SCALARS, list, dict))
    return repr(value) if plain else f"a value of the type {type(value).__name__}"
