"""The forms in which a task file names the files of a split."""

from collections.abc import Mapping
from typing import Annotated

from afrieval.files.schema import AT_LEAST_ONE

CONFIG = "config:"  # then a configuration that the repository's card lists
USUAL = "{code}/{split}"  # CONFIG/SPLIT in the hub's conversion to Parquet, of most data sets
SHARD = "{part}/{number:04}.parquet"  # a file of the conversion

# A table, or for each column a plain text with a row per line.
Source = str | Annotated[dict[str, str], AT_LEAST_ONE]
# A source, or several, of which the first that exists is used; none if only the hub's conversion has the split.
Files = Source | list[Source]


def alternatives(files: Files) -> list[Source]:
    """Returns the sources of a split, in the order in which they are tried."""
    return files if isinstance(files, list) else [files]


def of_other(part: str, hub: str) -> tuple[str, str]:
    """Returns the data set and CONFIG/SPLIT of a split in the hub's conversion, which may be that of a copy.

    Args:
        part: CONFIG/SPLIT, or ORG/NAME@CONFIG/SPLIT.
        hub: the data set if it names none.
    """
    named, _, split = part.rpartition("@")
    return named or hub, split


def conversion(files: Files, split: str, declared: Mapping[str, str | None]) -> str | None:
    """Returns where the hub's conversion to Parquet has a split: CONFIG/SPLIT, with placeholders; None if nowhere.

    Args:
        files: the split's sources; a configuration of the card has the same name in the conversion.
        split: its name.
        declared: split to CONFIG/SPLIT, where these differ from most data sets'.
    """
    if split in declared:
        return declared[split]
    configs = [one.removeprefix(CONFIG) for one in patterns_of(files) if one.startswith(CONFIG)]
    return f"{configs[0]}/{split}" if configs else USUAL.replace("{split}", split)


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
