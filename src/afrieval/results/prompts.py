"""Ids of prompts in results: numbers for those of the suite, `paper3` and the like for those of the paper.

`paper3_uncleaned` is prompt 3 of the paper with all its defects, as lm-evaluation-harness has it.
"""

import re
from collections.abc import Iterable

from afrieval.grouping import grouped, ranges

PromptId = int | str
SUITE, PAPER, UNCLEANED = "suite", "paper", "paper_uncleaned"
_PAPER = re.compile(r"paper([1-9]\d*)(_uncleaned)?")


def paper_id(number: int, uncleaned: bool = False) -> str:
    """Returns the id of a prompt of the paper."""
    return f"paper{number}{'_uncleaned' if uncleaned else ''}"


def is_prompt_id(prompt: PromptId) -> bool:
    """Returns whether a value of a sample file is the id of a prompt."""
    return isinstance(prompt, int) or bool(_PAPER.fullmatch(prompt))


def prompt_set(prompt: PromptId) -> str:
    """Returns the set that a prompt belongs to: `suite`, `paper` or `paper_uncleaned`."""
    found = _PAPER.fullmatch(str(prompt))
    return SUITE if found is None else UNCLEANED if found[2] else PAPER


def prompt_number(prompt: PromptId) -> int:
    """Returns a prompt's number within its set; 0 if it has none, as tasks of the harness."""
    found = _PAPER.fullmatch(str(prompt))
    return int(found[1]) if found else int(prompt or 0)


def prompt_order(prompt: PromptId) -> tuple[int, int]:
    """Returns a key to sort prompts by: the suite's first, then by number."""
    return (SUITE, PAPER, UNCLEANED).index(prompt_set(prompt)), prompt_number(prompt)


def prompt_ranges(prompts: Iterable[PromptId]) -> str:
    """Returns sorted prompts in short: 1-3,5; those of the paper as paper1-3,5."""
    return " ".join(map(_ranges, grouped(prompts, prompt_set).values()))


def _ranges(prompts: list[PromptId]) -> str:
    numbers = [prompt_number(prompt) for prompt in prompts]
    before, after = str(prompts[0]).split(str(numbers[0]))
    return f"{before}{ranges(numbers)}{after}"
