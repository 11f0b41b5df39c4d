"""Entrants of leaderboards in tables: the columns of what they are."""

from collections.abc import Iterable, Sequence
from typing import Any

from afrieval.analysis.entrants import Entrant
from afrieval.grouping import ranges
from afrieval.report.scores import SETS, WRITTEN
from afrieval.report.table import Column
from afrieval.results.prompts import SUITE

HEADS = {"kind": "prompts", "shots": "shots", "answer_form": "answer form", "rows": "rows"}  # of entrants of one model


def prompts_of(entrant: Entrant) -> str:
    """Returns what an entrant's prompts are called."""
    if entrant.published:
        return entrant.prompt_set if entrant.prompt_language == "eng" else f"{entrant.prompt_set}, native"
    return WRITTEN[entrant.prompt_language] if entrant.prompt_set == SUITE else SETS[entrant.prompt_set]


def titles(entrants: Iterable[Entrant]) -> dict[Entrant, str]:
    """Returns a name for each entrant: the model, and all that differs among those of one model."""
    every = list(dict.fromkeys(entrants))
    varying = _varying(every)
    return {
        each: ", ".join([each.model, *(text for name in varying if (text := value_of(each, name)))]) for each in every
    }


def kinds_of(entrants: Sequence[Entrant]) -> list[Column]:
    """Returns the columns of what varies; published scores are always marked."""
    always = ["kind"] if any(entrant.published for entrant in entrants) else []
    return [Column(HEADS[name], "text", name) for name in dict.fromkeys([*always, *_varying(entrants)])]


def _varying(entrants: Sequence[Entrant]) -> list[str]:
    values = {name: {value_of(e, name) for e in entrants} - {""} for name in HEADS}
    return [name for name, of in values.items() if len(of) > (name != "rows")]  # rows are named if they are not all


def value_of(entrant: Entrant, name: str) -> Any:
    """Returns what an entrant is along one of `HEADS`, as tables have it."""
    if name == "kind":
        return prompts_of(entrant)
    if name == "rows":
        return entrant.rows.words
    value = getattr(entrant, name)
    return f"{value} shots" if name == "shots" and value is not None else value or ""


def numbers(prompts: Sequence[str]) -> str:
    """Returns prompts in short, such as 1-5."""
    numbers = sorted(int(prompt) for prompt in prompts if prompt.isdecimal())
    others = [prompt for prompt in prompts if not prompt.isdecimal()]
    return " ".join([*([ranges(numbers)] if numbers else []), *others])
