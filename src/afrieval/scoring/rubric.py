"""What a judge, or a person, is asked about an answer: levels to choose from, and what each is worth."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any

from afrieval._util.errors import UserError
from afrieval._util.schema import AT_LEAST_ONE, CLOSED, UNIQUE, Positive, Text
from afrieval._util.stamps import digest


@dataclass(frozen=True)
class JudgedExample:
    """An answer with its level, which a judge is shown first.

    Attributes:
        fields: what the question's fields have.
        answer: the answer that is judged.
        level: one of the rubric's.
        reason: why, in a sentence.
        right: the right answer, if the rubric shows it.
    """

    __pydantic_config__ = CLOSED

    fields: dict[str, Text]
    answer: str
    level: Text
    reason: Text
    right: str = ""


@dataclass(frozen=True)
class Rubric:
    """How answers are judged, by a model or by people.

    Attributes:
        version: raised with every change, since scores change with it.
        asks: what is judged, in English.
        levels: name to what it means. If the names are whole numbers, they are steps of equal size, given from the
            lowest to the highest. Otherwise they are kinds of answers, and the wanted kind is the document's right
            answer.
        shows: the fields of the question that are shown; by default all but groups of others.
        shows_right: whether the right answer of the data is shown.
        examples: judged answers that the judge is shown first.
    """

    __pydantic_config__ = CLOSED

    version: Positive
    asks: Text
    levels: Annotated[dict[Text, Text], AT_LEAST_ONE]
    shows: Annotated[list[Text], UNIQUE] = field(default_factory=list)
    shows_right: bool = False
    examples: list[JudgedExample] = field(default_factory=list)

    @property
    def is_scale(self) -> bool:
        """Whether the levels are steps, not kinds."""
        return is_scale(self.levels)

    @property
    def stored(self) -> dict[str, Any]:
        """The rubric as run.yaml stores it, where answers were judged or rated."""
        return {"version": self.version, "levels": self.levels, "hash": digest(json.dumps(asdict(self)))}


def is_scale(levels: Iterable[str]) -> bool:
    """Returns whether levels are steps: all names are whole numbers."""
    return all(name.lstrip("-").isdecimal() for name in levels)


def worth(levels: Mapping[str, str], level: str, right: Any) -> float:
    """Returns the worth of a level: its place between the lowest and the highest, or whether it is the wanted kind.

    Args:
        levels: a rubric's.
        level: one of them.
        right: the document's right answer, which is the wanted kind where levels are kinds.
    """
    if level not in levels:
        raise UserError(f"there is no level {level!r} in the rubric", f"the levels are {', '.join(levels)}")
    if not is_scale(levels):
        return float(level == right)
    steps = list(map(int, levels))
    return (int(level) - steps[0]) / (steps[-1] - steps[0])
