"""Fields whose values are groups of another field's values, such as the categories of subjects."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from afrieval._util.errors import UserError, nearest
from afrieval.tasks.declaration.schema import GroupedField

CURE = "correct fields; the documentation page 'Add a task' describes groups of values"


def with_groups(fields: Mapping[str, Any], texts: dict[str, str], where: str) -> dict[str, str]:
    """Returns the fields of a row with its groups, in the order of the task file.

    Args:
        fields: of the task, as in its file.
        texts: the other fields of the row; one without text is in no group, and the group's name is empty too.
        where: the row, for messages.

    Raises:
        UserError: if a value is in no group.
    """
    if not any(isinstance(of, GroupedField) for of in fields.values()):
        return texts
    completed: dict[str, str] = {}
    for name, field in fields.items():
        if not isinstance(field, GroupedField):
            completed[name] = texts[name]
            continue
        value = completed[field.of]
        if value and value not in field.group_of:
            raise UserError(
                f"{where}: {field.of} {value!r} is in no group of {name}",
                f"correct the row, or add the value to fields.{name}.groups in the task file",
            )
        completed[name] = field.group_of[value] if value else ""
    return completed


def with_groups_of(
    kin: Mapping[str, GroupedField], others: Mapping[str, Any], fields: dict[str, Any]
) -> dict[str, Any]:
    """Returns the fields of a task that is like another, with the other's groups of fields that it has too."""
    merged = dict(fields)
    for name, field in kin.items():
        if field.of in merged:
            merged.setdefault(name, others[name])
    return merged


def check_grouped_fields(fields: Mapping[str, Any], path: Path) -> None:
    """Rejects groups of a field that is not declared before them, and values in two groups or of no group."""
    before: dict[str, Any] = {}
    for name, field in fields.items():
        if isinstance(field, GroupedField):
            if field.of not in before:
                hint = f"name a field that stands before {name}: {', '.join(before) or 'none does'}"
                raise UserError(f"{path}: fields.{name} is of {field.of!r}, which is not declared before it", hint)
            _check_groups(name, field, before[field.of], path)
        before[name] = field


def _check_groups(name: str, field: GroupedField, below: Any, path: Path) -> None:
    values = [value for group in field.groups.values() for value in group]
    if twice := [value for value in values if values.count(value) > 1]:
        raise UserError(f"{path}: fields.{name} has {twice[0]!r} twice", "leave it in one group")
    if not isinstance(below, GroupedField):
        return
    if unknown := [value for value in values if value not in below.groups]:
        raise UserError(
            f"{path}: fields.{name} has {unknown[0]!r}, which {field.of} does not have",
            nearest(unknown[0], list(below.groups)),
        )
    if missing := [value for value in below.groups if value not in values]:
        raise UserError(f"{path}: fields.{name} has no group for {missing[0]!r} of {field.of}", CURE)
