"""The prompts of a task's paper: read from the installed harness, cleaned and corrected as the task file declares."""

import unicodedata
from collections.abc import Sequence
from dataclasses import replace

from afrieval.config.settings import RunConfig
from afrieval.errors import UserError, choices
from afrieval.languages import ENGLISH
from afrieval.tasks.cleaning import clean
from afrieval.tasks.columns import in_language
from afrieval.tasks.harness_prompts import HarnessPrompt, harness_file, read_harness_prompt
from afrieval.tasks.prompts import Prompt
from afrieval.tasks.schema import PaperPromptSpec, PaperSpec
from afrieval.tasks.spec import TaskSpec


def paper_prompts(spec: TaskSpec, language: str, uncleaned: bool = False) -> dict[int, Prompt]:
    """Returns the prompts of the paper in a language by number; empty if the harness does not have the language.

    Args:
        spec: a task.
        language: code of the language of the texts, which some prompts name.
        uncleaned: whether to return them as the harness has them, including prompts that are refused.

    Raises:
        UserError: if a correction does not apply, since the installed harness has another text.
    """
    if spec.paper is None:
        return {}
    found = {}
    for number, declared in spec.paper.prompts.items():
        path = harness_file(spec, language, number)
        if path is not None and (uncleaned or not declared.refused):
            read = read_harness_prompt(in_language(spec, language), path)
            prompt = _uncleaned(number, read) if uncleaned else _cleaned(number, declared, read, str(path))
            found[number] = replace(prompt, source=f"{spec.paper.name} prompt {number}")
    return found


def _uncleaned(number: int, read: HarnessPrompt) -> Prompt:
    template = f"{read.template}\n"  # Jinja drops one line end
    return Prompt(ENGLISH, number, template, read.labels, origin="paper", paper="uncleaned", delimiter=read.delimiter)


def _cleaned(number: int, declared: PaperPromptSpec, read: HarnessPrompt, path: str) -> Prompt:
    template, labels = clean(read.template), dict(read.labels)
    for correction in declared.corrections:
        if not (correction.replace or correction.labels):
            _refuse(path, f"{correction.what}: it has neither replace nor labels")
        for old, new in correction.replace.items():
            if old not in template:
                _refuse(path, f"{correction.what}: the text has no {old!r}")
            template = template.replace(old, new)
        for label, word in correction.labels.items():
            if labels.get(label) in (None, word):
                _refuse(path, f"{correction.what}: the answer for {label} is {labels.get(label)!r}")
            labels[label] = word
    template = unicodedata.normalize("NFC", clean(template))
    return Prompt(ENGLISH, number, template, labels, origin="paper", paper="cleaned", path=path)


def _refuse(path: str, problem: str) -> None:
    raise UserError(
        f"{path}: the declared correction does not apply ({problem})",
        "install the version of lm-eval that pyproject.toml names, or correct `paper` in the task file",
    )


def chosen_paper_prompts(spec: TaskSpec, config: RunConfig, language: str) -> list[Prompt]:
    """Returns the prompts of the paper that a config selects; empty if the harness does not have the language.

    Raises:
        UserError: for an unknown or refused number, or a language that is named and missing.
    """
    paper = check_paper(spec, config)
    for number in config.task.prompts or ():
        _check_number(spec, paper, number, config.task.uncleaned)
    prompts = paper_prompts(spec, spec.text_language or language, config.task.uncleaned)
    if not prompts and config.task.demanded:
        raise UserError(
            f"{paper.name} has no prompts of {spec.name} for {language}",
            f"remove {language} from task.languages, or give --task.prompt_set suite",
        )
    return [prompts[n] for n in dict.fromkeys(config.task.prompts or prompts) if n in prompts]


def _check_number(spec: TaskSpec, paper: PaperSpec, number: int, uncleaned: bool) -> None:
    if number not in paper.prompts:
        raise UserError(f"{spec.name} has no prompt {number} of {paper.name}", choices([*paper.prompts]))
    if (reason := paper.prompts[number].refused) and not uncleaned:
        raise UserError(
            f"prompt {number} of {paper.name} is not supported for {spec.name}: {reason}",
            "choose other prompts, or give --task.uncleaned true to run it as it is",
        )


def check_paper(spec: TaskSpec, config: RunConfig) -> PaperSpec:
    """Returns the declaration of a task's paper.

    Raises:
        UserError: if it has none, or if a translated test set is to have uncleaned prompts.
    """
    if spec.paper is None:
        raise UserError(
            f"{spec.name} has no prompts of a paper", "give --task.prompt_set suite; `afrieval list` shows prompts"
        )
    if config.task.uncleaned and spec.text_language:
        raise UserError(
            "task.uncleaned is not supported for translated test sets, whose prompts name the wrong language",
            "leave task.uncleaned out, or run the harness' own tasks with task.harness_tasks",
        )
    return spec.paper


def left_out_of_paper(spec: TaskSpec, config: RunConfig, absent: Sequence[str]) -> list[str]:
    """Returns a line for each prompt of the paper that is refused, and one for languages without prompts."""
    if config.task.prompt_set != "paper" or spec.paper is None:
        return []
    lines = [f"{spec.name}: no prompts of {spec.paper.name} for {', '.join(absent)}"] if absent else []
    if config.task.uncleaned or config.task.prompts:
        return lines
    return lines + [
        f"{spec.name}: prompt {number} of {spec.paper.name}, {declared.refused}"
        for number, declared in spec.paper.prompts.items()
        if declared.refused
    ]
