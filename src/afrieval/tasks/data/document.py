"""A document: a row of a data set, normalised, as prompts and scoring see it."""

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Document:
    """One row, normalised.

    Attributes:
        id: row number in its split, from 0.
        fields: name to text, for prompts.
        choices: option texts or label names; empty if there are none.
        gold: index of the right choice, or the right answer in the form of the task's answer type;
            None if the row has none and cannot be scored.
        defect: the row's defect; usually empty.
        worked: a worked solution, if a few-shot row has one.
        prompt: the complete prompt, if the row has one.
        verdict: whether the answer that the data's authors recorded was right; None if unknown.
        key: identifies the question in every language; empty if it is missing or not unique.
        roles: what each choice is, if the choices are texts whose likelihood is measured.
        rest: the text after the blank that the choices fill; empty if there is none.
    """

    id: int
    fields: dict[str, str]
    choices: tuple[str, ...]
    gold: Any | None
    defect: str = ""
    worked: str = ""
    prompt: str = ""
    verdict: bool | None = None
    key: str = ""
    roles: tuple[str, ...] = ()
    rest: str = ""

    @property
    def gold_cell(self) -> int | str | None:
        """The right answer as the cell of a table: a list or map as JSON."""
        return json.dumps(self.gold) if isinstance(self.gold, list | dict) else self.gold
