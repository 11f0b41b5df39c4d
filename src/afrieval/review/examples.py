"""Shows strings as they reach a model: in a prompt, with a row of the samples filled in."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from afrieval.data.files import SAMPLES
from afrieval.errors import UserError
from afrieval.languages import ENGLISH
from afrieval.tasks.documents import Document
from afrieval.tasks.prompts import Prompt, answers, load_prompts, render
from afrieval.tasks.spec import TaskSpec, load_task
from afrieval.tasks.splits import load_split
from afrieval.tasks.strings import String


def golden(spec: TaskSpec, language: str) -> str:
    """Returns all prompts of a file on one row, each headed by what is scored as its answer."""
    document = first_document(spec, language)
    parts = []
    for number, prompt in load_prompts(spec, language).items():
        scored = " | ".join(answers(prompt, document, spec.answer_forms[0]))
        parts.append(f"=== prompt {number}, scored: {scored}\n{render(prompt, document, language)}\n")
    return "".join(parts)


def first_document(spec: TaskSpec, language: str) -> Document:
    """Returns the first sample row in a language, or in English.

    Raises:
        UserError: if the task has no English samples.
    """
    split = spec.data.evaluate
    found = load_split(spec, language, split, SAMPLES) or load_split(spec, ENGLISH, split, SAMPLES)
    if not found:
        raise UserError(f"{spec.name} has no English sample rows", f"add {spec.folder / spec.data.samples}/eng.jsonl")
    return found.documents[0]


def examples(root: Path, language: str, strings: Mapping[str, String]) -> dict[str, str]:
    """Returns, for each string by id, a whole prompt or the lines of one in which the string occurs.

    Args:
        root: contains `tasks/`.
        language: the suite's code.
        strings: the strings of the language.
    """
    found: dict[str, str] = {}
    for task in dict.fromkeys(s.task for s in strings.values() if s.task not in ("words", "languages")):
        spec = load_task(task, root / "tasks")
        document, prompts = first_document(spec, language), load_prompts(spec, language)
        for string in strings.values():
            if string.task == task:
                found[string.id] = _example(string, document, prompts, language)
    return {id: found[id] if id in found else _of_word(string, strings, found) for id, string in strings.items()}


def _example(string: String, document: Document, prompts: Mapping[int, Prompt], language: str) -> str:
    kind, *names = string.id.split("/")[2 if string.number else 1 :]
    if kind == "template" and string.number:
        return render(prompts[string.number], document, language)
    if kind == "labels" and string.number:
        return _lines(render(prompts[string.number], document, language), string.text)
    if kind == "values":
        field, raw = names
        row = replace(document, fields={**document.fields, field: raw})
        return next(filter(None, (_lines(render(p, row, language), string.text) for p in prompts.values())), "")
    if kind == "lead_in":
        answer = "A" if document.choices else "12"
        return string.text.replace("{answer}", answer) if "{answer}" in string.text else f"{string.text} {answer}"
    return ""


def _lines(text: str, part: str) -> str:
    return "\n".join(line for line in text.split("\n") if part in line)


def _of_word(word: String, strings: Mapping[str, String], found: Mapping[str, str]) -> str:
    """Returns the strings that use a word of the vocabulary, and a line in which it occurs."""
    users = [string.id for string in strings.values() if word.id in string.references]
    shown = next(filter(None, (_lines(found.get(id, ""), word.text) for id in users)), "")
    return "\n".join([f"in {', '.join(users)}" if users else "not used yet", *filter(None, [shown])])
