"""Fields whose values are groups of another field's, such as categories of subjects: in stored samples."""

from collections.abc import Mapping

import numpy as np

from afrieval.results.schema import Declared
from afrieval.results.scores import Labels


def with_groups(fields: Mapping[str, Labels], declared: Declared, parts: Labels | None) -> dict[str, Labels]:
    """Returns the fields of documents with those that follow from others.

    Where documents were not stored, the parts that macro means are over were: they are a field, which has groups.

    Args:
        fields: those that all documents have.
        declared: what run.yaml says of the task.
        parts: the part of the benchmark that each document is of, if the task declares any.
    """
    found, macro = dict(fields), declared.get("macro")
    if macro and parts is not None:
        found.setdefault(macro, parts)
    for name, of in declared.get("grouped_fields", {}).items():
        if name not in found and of["of"] in found:
            found[name] = _grouped(found[of["of"]], of["groups"])
    return found


def _grouped(labels: Labels, groups: Mapping[str, list[str]]) -> Labels:
    """Returns the group of each document's value; a value that is in none has the code -1."""
    names = list(groups)
    group_of = {value: at for at, values in enumerate(groups.values()) for value in values}
    codes = np.array([*(group_of.get(name, -1) for name in labels.names), -1], dtype=np.int64)
    return Labels(codes[labels.codes], tuple(names))  # -1, a document without a value, is the last


def levels(declared: Declared, name: str) -> list[str]:
    """Returns a field and the fields that group its values, the largest groups first: category, subcategory, subject.

    Args:
        declared: what run.yaml says of the task.
        name: the field's.
    """
    found, grouped = [name], declared.get("grouped_fields", {})
    while above := next((of for of, field in grouped.items() if field["of"] == found[0] and of not in found), None):
        found.insert(0, above)  # a file that was changed may lead in a circle
    return found


def ordered(declared: Declared, name: str) -> list[str]:
    """Returns the values of a field that is grouped or groups others, in the order of the task file."""
    grouped = declared.get("grouped_fields", {})
    if name in grouped:
        return list(grouped[name]["groups"])
    above = next((field for field in grouped.values() if field["of"] == name), None)
    return [value for values in above["groups"].values() for value in values] if above else []


def nested_fields(declared: Declared) -> list[str]:
    """Returns the fields that scores of parts are shown by, the smallest first: subject, then subcategory."""
    return [*smallest(declared), *declared.get("grouped_fields", {})]


def smallest(declared: Declared) -> list[str]:
    """Returns the fields whose values are parts, but not groups of others: those of macro means, those in groups."""
    grouped, macro = declared.get("grouped_fields", {}), declared.get("macro")
    found = dict.fromkeys(field["of"] for field in grouped.values())
    return [name for name in ([macro] if macro else []) + [n for n in found if n != macro] if name not in grouped]
