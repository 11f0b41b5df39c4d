"""Finds the columns that a task file names in the rows of a language."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from afrieval.data.patterns import fill
from afrieval.data.tables import Row
from afrieval.tasks.schema import WITH_COLUMNS, AnswerSpec, column_names
from afrieval.tasks.spec import TaskSpec

ABSENT = object()


def in_language(spec: TaskSpec, language: str) -> TaskSpec:
    """Returns a task with the names of its columns in a language: `{code}` and `{language}` are filled in.

    Args:
        spec: the task.
        language: the suite's code.
    """
    values = placeholders(spec, language)
    return replace(spec, **{key: _filled(getattr(spec, key), values) for key in WITH_COLUMNS})


def placeholders(spec: TaskSpec, language: str) -> dict[str, str]:
    """Returns what the placeholders of a task file stand for in a language."""
    return {"{code}": spec.languages.get(language, language), "{language}": language}


def with_columns(spec: TaskSpec, rows: Sequence[Row]) -> list[Row]:
    """Returns rows that have the task's columns under the names that the task file gives them.

    A dotted name such as `translation.en` is a path into nested maps, unless a column has this name. A field with
    several columns takes the first that a row has, under the name of the first.

    Args:
        spec: the task, with its columns in the rows' language.
        rows: as in the file.
    """
    paths = [column for key in WITH_COLUMNS for column in column_names(getattr(spec, key)) if "." in column]
    several = [columns for columns in spec.fields.values() if isinstance(columns, list)]
    return [_completed(row, paths, several) for row in rows] if paths or several else list(rows)


def _completed(row: Row, paths: Sequence[str], several: Sequence[Sequence[str]]) -> Row:
    nested = {path: _at(row, path) for path in paths if path not in row}
    row = row | {path: value for path, value in nested.items() if value is not ABSENT}
    there = [(columns[0], [column for column in columns if column in row]) for columns in several]
    return row | {name: row[found[0]] for name, found in there if found}


def _at(row: Row, path: str) -> Any:
    """Returns the value at a path; None if a map on the way is null, as in Parquet, and ABSENT if a key is missing."""
    value: Any = row
    for step in path.split("."):
        if value is None:
            return None
        if not isinstance(value, dict) or step not in value:
            return ABSENT
        value = value[step]
    return value


def _filled(value: Any, values: dict[str, str]) -> Any:
    if isinstance(value, str):
        return fill(value, values)
    if isinstance(value, AnswerSpec):
        return replace(value, field=_filled(value.field, values))
    if isinstance(value, dict):
        return {name: _filled(part, values) for name, part in value.items()}
    return [_filled(part, values) for part in value] if isinstance(value, list) else value
