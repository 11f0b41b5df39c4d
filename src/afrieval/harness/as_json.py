"""The config or samples of a harness task as plain JSON, and their hash."""

import datetime
import hashlib
import inspect
import json
from functools import partial
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Returns a value as JSON: functions as their source, arrays as lists, other types as text."""
    if value is None or isinstance(value, bool | int | float | str):
        return value.item() if isinstance(value, np.generic) else value
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, set | frozenset):
        return sorted((plain(v) for v in value), key=str)
    if isinstance(value, np.generic | np.ndarray):
        return plain(value.tolist())
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return _function(value) if callable(value) else _text(value)


def _function(function: Any) -> Any:
    """Returns a function's source; its address differs from run to run."""
    if isinstance(function, partial):
        return [_function(function.func), plain(function.args), plain(function.keywords)]
    try:
        return inspect.getsource(function)
    except (TypeError, OSError):
        return f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', type(function).__name__)}"


def _text(value: Any) -> Any:
    fields = getattr(value, "__dict__", None)
    return [type(value).__name__, plain(fields)] if fields else str(value)


def digest(value: Any) -> str:
    """Returns a short hash of a value in its plain form."""
    text = json.dumps(plain(value), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
