"""What cells are, but for the prompt, as columns of tables: language, prompt language, model, shots."""

from typing import Any

from afrieval.report.scores import SETS, WRITTEN
from afrieval.report.table import Column

HEADS = {"prompt_set": "prompt set", "prompt_language": "prompt language", "answer_form": "answer form"}


def varying(dimensions: list[dict[str, Any]]) -> list[str]:
    """Returns the dimensions that have several values, the language first."""
    names = [d for d in ("language", "prompt_set", "prompt_language", "model", "shots", "answer_form") if dimensions]
    return [d for d in names if d == "language" or len({str(x.get(d)) for x in dimensions}) > 1]


def column_of(name: str) -> Column:
    """Returns the column of a dimension."""
    return Column(HEADS.get(name, name), "language" if name == "language" else "text", name)


def named(dimensions: dict[str, Any], name: str) -> str:
    """Returns a dimension's value as tables have it."""
    value = dimensions[name]
    if name == "prompt_set":
        return SETS[value]
    return WRITTEN[value] if name == "prompt_language" else str(value)
