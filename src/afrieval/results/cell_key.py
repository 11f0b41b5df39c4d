"""What names a cell everywhere: task, language, prompt, prompt language, shots and answer format."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Optional

from afrieval._util.grouping import grouped, ranges

PromptId = int | str
SETS = SUITE, PAPER, UNCLEANED = "suite", "paper", "paper_uncleaned"
_PAPER = re.compile(r"paper([1-9]\d*)(_uncleaned)?")


def paper_id(number: int, uncleaned: bool = False) -> str:
    """Returns the id of a prompt of the paper."""
    return f"paper{number}{'_uncleaned' if uncleaned else ''}"


def is_prompt_id(prompt: PromptId) -> bool:
    """Returns whether a value of a sample file is the id of a prompt."""
    return isinstance(prompt, int) or bool(_PAPER.fullmatch(prompt))


def prompt_set(prompt: PromptId) -> str:
    """Returns the set that a prompt belongs to: `suite`, `paper` or `paper_uncleaned`."""
    if prompt in SETS:
        return str(prompt)
    match = _PAPER.fullmatch(str(prompt))
    return SUITE if match is None else UNCLEANED if match[2] else PAPER


def prompt_number(prompt: PromptId) -> int:
    """Returns a prompt's number within its set; 0 if it has none, as tasks of the harness."""
    match = _PAPER.fullmatch(str(prompt))
    return int(match[1]) if match else int(prompt or 0)


def prompt_order(prompt: PromptId) -> tuple[int, int]:
    """Returns a key to sort prompts by: the suite's first, then by number."""
    return SETS.index(prompt_set(prompt)), prompt_number(prompt)


def prompt_ranges(prompts: Iterable[PromptId]) -> str:
    """Returns sorted prompts in short: 1-3,5; prompts of the paper as paper1-3,5."""
    shortened = []
    for of_set in grouped(prompts, prompt_set).values():
        numbers = [prompt_number(prompt) for prompt in of_set]
        before, after = str(of_set[0]).split(str(numbers[0]))
        shortened.append(f"{before}{ranges(numbers)}{after}")
    return " ".join(shortened)


@dataclass(frozen=True)
class CellKey:
    """What names a cell; with blank fields, what several cells have in common.

    Attributes:
        task: a task of the harness has no prompt, and may have no language.
        language: ISO 639-3.
        prompt: its id; blank for tasks of the harness.
        prompt_language: `eng` or `native`.
        answer_form: blank if the source does not tell.
    """

    task: str = ""
    language: str = ""
    prompt: PromptId = ""
    prompt_language: str = ""
    shots: int = 0
    answer_form: str = ""

    @classmethod
    def parse(cls, text: str) -> Optional["CellKey"]:
        """Returns the key that `text` is made of, without shots and answer format; None for other names."""
        ending = "_uncleaned" if text.endswith("_uncleaned") else ""
        parts = text.removesuffix(ending).rsplit("_", 3)
        if len(parts) < 4 or parts[2] not in ("eng", "native"):
            return None
        task, language, prompt_language, number = parts
        prompt = int(number) if number.isdecimal() and not ending else f"{number}{ending}"
        named = task and len(language) == 3 and language.isascii() and language.islower() and is_prompt_id(prompt)
        return CellKey(task, language, prompt, prompt_language) if named else None

    def text(self) -> str:
        """Returns the name of the cell, as of its sample file: the task's own without a prompt."""
        if self.prompt == "":
            return self.task
        return f"{self.task}_{self.language}_{self.prompt_language}_{self.prompt}"

    def without(self, *dimensions: str) -> "CellKey":
        """Returns what cells have in common that differ in some dimensions only.

        Without `prompt`, the set of the prompt is kept, since the sets share no prompt; without `prompt_set`, neither.
        """
        key = {each.name: getattr(self, each.name) for each in fields(CellKey) if each.name not in dimensions}
        if "prompt_set" in dimensions:
            key["prompt"] = ""
        return CellKey(**{"prompt": self.prompt_set, **key})

    @property
    def prompt_set(self) -> str:
        """The set that its prompt belongs to: `suite`, `paper` or `paper_uncleaned`; blank without a prompt."""
        return "" if self.prompt == "" else prompt_set(self.prompt)
