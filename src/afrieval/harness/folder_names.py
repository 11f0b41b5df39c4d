"""Parses names of harness tasks: task, language, prompt language, prompt number."""

import re
from functools import cache
from typing import NamedTuple

from afrieval.languages import ENGLISH, LANGUAGES, names
from afrieval.results.prompts import PromptId
from afrieval.tasks.spec import load_task, task_names

EXPORTED = re.compile(
    r"(.+)_([a-z]{3})_(eng|native)_(\d+|paper\d+(?:_uncleaned)?)"
)  # as afrieval.harness.export names its cells
# yor or yor_Latn, but not part of a pair of languages, nor agieval_lsat_ar (analytical reasoning) and blimp_nl's om_te.
LANGUAGE = r"(?<=_)(?<!_lsat_)(?!om_te)({code})(?:_[A-Z][a-z]{{3}})?+(?=_|$)"
WRITTEN = re.compile(r"_(en|eng|native)(?=_)")


class Named(NamedTuple):
    """A parsed name.

    Attributes:
        language: ISO 639-3; empty if the name has no language of the suite.
        prompt: its id; 0 if the name has none.
        ours: whether it has the form of our exported tasks.
    """

    task: str
    language: str
    prompt_language: str
    prompt: PromptId
    ours: bool

    @property
    def is_namesake(self) -> bool:
        """Whether one of our tasks has its name, so that a harness task must be marked."""
        return self.task.removesuffix("_translate") in task_names()

    @property
    def problem(self) -> str:
        """Why scores under this name are left out; empty if they are not."""
        if not self.language:
            return "its name has no language of the suite"
        if self.language == ENGLISH and self.prompt_language == "native":
            return "for English, native prompts are the English ones"
        return ""


def named(name: str) -> Named:
    """Parses a task's name; the rest, without language and prompt, is the task."""
    if name in _complete():
        return Named(name, ENGLISH, "eng", 1, True)
    exported = EXPORTED.fullmatch(name)
    if exported and exported[2] in LANGUAGES and exported[1].removesuffix("_translate") in task_names():
        return Named(exported[1], exported[2], exported[3], _prompt(exported[4]), True)
    task, _, number = name.partition("_prompt_")
    prompt = int(number) if number.isdecimal() else 0
    task = task if prompt else name
    found = list(re.finditer(LANGUAGE.format(code="|".join(_codes())), task))
    if not found:
        return Named(name, "", "eng", 0, False)
    at = found[-1]
    task = task[: at.start() - 1] + task[at.end() :]
    written = WRITTEN.search(task)
    task = WRITTEN.sub("", task, count=1)
    return Named(task, _codes()[at[1]], "native" if written and written[1] == "native" else "eng", prompt, False)


def _prompt(text: str) -> PromptId:
    return int(text) if text.isdecimal() else text


@cache
def _complete() -> set[str]:
    """Returns the tasks with complete prompts, which are exported by their names."""
    return {name for name in task_names() if load_task(name).prompt}


@cache
def _codes() -> dict[str, str]:
    """Returns all names of languages to the suite's codes: the data sets' own, and the codes and names of standards."""
    theirs = {code: ours for name in task_names() for ours, code in load_task(name).languages.items()}
    theirs = {code: ours for code, ours in theirs.items() if "-" not in code}  # en-yor is a pair of languages
    known = {code.split("_")[0]: ours for code, ours in theirs.items()}
    return known | {name.replace(" ", "_"): code for name, code in names().items()} | {c: c for c in LANGUAGES}
