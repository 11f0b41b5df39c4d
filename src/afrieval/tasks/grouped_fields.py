"""Fields whose values are groups of another field's values, such as MMLU's categories of subjects."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from afrieval.errors import UserError, nearest
from afrieval.tasks.schema import GroupedField

if TYPE_CHECKING:
    from afrieval.tasks.spec import TaskSpec

DECLARED = "correct fields; the documentation page 'Add a task' describes groups of values"


def with_groups(spec: "TaskSpec", texts: dict[str, str], where: str) -> dict[str, str]:
    """Returns the fields of a row with its groups, in the order of the task file.

    Args:
        spec: the task.
        texts: its other fields; one without text is in no group, and the group's name is empty too.
        where: the row, for messages.

    Raises:
        UserError: if a value is in no group.
    """
    if not spec.grouped_fields:
        return texts
    found: dict[str, str] = {}
    for name, of in spec.fields.items():
        found[name] = _group(name, of, found[of.of], where) if isinstance(of, GroupedField) else texts[name]
    return found


def _group(name: str, field: GroupedField, value: str, where: str) -> str:
    groups = field.group_of
    if value and value not in groups:
        raise UserError(
            f"{where}: {field.of} {value!r} is in no group of {name}",
            f"correct the row, or add the value to fields.{name}.groups in the task file",
        )
    return groups[value] if value else ""


def with_groups_of(kin: Mapping[str, GroupedField], others: Mapping[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """Returns the fields of a task that is like another, with the other's groups of fields that it has too.

    Args:
        kin: the other task's groups.
        others: the other task's fields, as in its file.
        own: those of the file.
    """
    found = dict(own)
    for name, field in kin.items():
        if field.of in found:
            found.setdefault(name, others[name])
    return found


def check_grouped_fields(fields: Mapping[str, Any], path: Path) -> None:
    """Rejects groups of a field that is not declared before them, and values in two groups or of no group.

    Raises:
        UserError: names the file and the value.
    """
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
        raise UserError(f"{path}: fields.{name} has no group for {missing[0]!r} of {field.of}", DECLARED)
