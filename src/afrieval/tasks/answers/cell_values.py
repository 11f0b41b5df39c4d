"""Reads the cells of rows: texts, lists and numbers in whatever coding."""

import ast
import unicodedata
from typing import Any

from afrieval.scoring.extract.number import parse_number
from afrieval.scoring.texts import visible

LONGEST = 18  # digits of a number that can be a position among choices, and of any that is read in no time


def normalise(value: Any) -> str:
    """Returns a cell's text in NFC, stripped of leading and trailing whitespace."""
    missing = value is None or value != value  # a missing number is NaN in some files
    return unicodedata.normalize("NFC", "" if missing else str(value)).strip()


def label_text(value: Any) -> str:
    """Returns a cell's text as labels and tokens are compared: normalised, without invisible characters."""
    return visible(normalise(value)).strip()


def whole_number(value: Any) -> int | None:
    """Parses a whole number, however a cell writes it; None if it is none."""
    number = parse_number(normalise(value))
    return int(number) if number is not None and number == int(number) else None


def digits(value: Any) -> int | None:
    """Parses a whole number in digits of any script, also one that a table reader converted to 1.0."""
    text = normalise(value).removesuffix(".0")
    return int(text) if text.isdecimal() and len(text) <= LONGEST else None


def parse_list(value: Any) -> list[Any] | None:
    """Parses a list, or the text of a Python list; a single value is a list of one."""
    if isinstance(value, str) and value.strip().startswith("["):
        try:
            value = ast.literal_eval(value.strip())
        except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
            return None
    return list(value) if isinstance(value, list | tuple) else [value]


def parse_entries(value: Any) -> list[str] | None:
    """Parses a list of texts; None if one of them is empty."""
    entries = parse_list(value)
    texts = None if entries is None else [normalise(entry) for entry in entries]
    return None if texts is None or "" in texts else texts
