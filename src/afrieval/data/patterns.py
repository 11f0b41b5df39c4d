"""The forms in which a task file names the files of a split."""

from collections.abc import Mapping
from typing import Annotated

from afrieval.files.schema import AT_LEAST_ONE

CONFIG = "config:"  # then a configuration that the repository's card lists
PARQUET = "parquet:"  # then CONFIG/SPLIT of the repository's conversion by the hub, or ORG/NAME@CONFIG/SPLIT

# A table, or for each column a plain text with a row per line.
Source = str | Annotated[dict[str, str], AT_LEAST_ONE]
# A source, or several, of which the first that exists is used.
Files = Source | Annotated[list[Source], AT_LEAST_ONE]


def alternatives(files: Files) -> list[Source]:
    """Returns the sources of a split, in the order in which they are tried."""
    return files if isinstance(files, list) else [files]


def of_other(part: str, hub: str) -> tuple[str, str]:
    """Returns the data set and CONFIG/SPLIT of what follows `parquet:`; a copy of the data may be another data set.

    Args:
        part: CONFIG/SPLIT or ORG/NAME@CONFIG/SPLIT.
        hub: the data set if it names none.
    """
    named, _, split = part.rpartition("@")
    return named or hub, split


def patterns_of(files: Files) -> list[str]:
    """Returns all patterns in it."""
    named = alternatives(files)
    return [pattern for one in named for pattern in (one.values() if isinstance(one, dict) else [one])]


def filled(files: Files, values: Mapping[str, str]) -> Files:
    """Returns it with placeholders replaced, such as `{code}`.

    Args:
        files: the patterns.
        values: placeholder, with its braces, to text.
    """
    if isinstance(files, list):
        return [_filled(one, values) for one in files]
    return _filled(files, values)


def _filled(source: Source, values: Mapping[str, str]) -> Source:
    if isinstance(source, dict):
        return {column: fill(pattern, values) for column, pattern in source.items()}
    return fill(source, values)


def fill(text: str, values: Mapping[str, str]) -> str:
    """Returns a text with placeholders replaced."""
    for placeholder, value in values.items():
        text = text.replace(placeholder, value)
    return text
