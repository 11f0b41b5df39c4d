"""Shows strings as they reach a model: in a prompt, with a row of the samples filled in."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from afrieval._util.errors import UserError
from afrieval._util.grouping import grouped, ranges
from afrieval.languages import ENGLISH
from afrieval.tasks.data.document import Document
from afrieval.tasks.data.files import SAMPLES
from afrieval.tasks.data.splits import load_split
from afrieval.tasks.declaration.spec import TaskSpec, load_task
from afrieval.tasks.prompts.prompts import Prompt, answers, load_prompts, render, render_header
from afrieval.tasks.prompts.vocabulary import CLOSING, CLOSINGS, REFERENCE, String, shown_closing

LONGEST, UNUSED = 160, "not used yet"


def golden(spec: TaskSpec, language: str) -> str:
    """Returns all prompts of a file on one row, each headed by what is scored as its answer."""
    document, parts = first_document(spec, language), []
    translated = spec.direction and language not in spec.languages
    evaluated = _near(spec, language) or language if translated else language
    for number, prompt in load_prompts(spec, language).items():
        scored = " | ".join(answers(prompt, document, spec.answer_forms[0]))
        parts.append(f"=== prompt {number}, scored: {scored}\n{_whole(prompt, document, evaluated)}\n")
    return "".join(parts)


def _whole(prompt: Prompt, document: Document, language: str) -> str:
    header = render_header(prompt, document, language)
    return "\n\n".join(filter(None, (header, render(prompt, document, language))))


def first_document(spec: TaskSpec, language: str) -> Document:
    """Returns the first sample row in a language, or in English, or in any.

    Raises:
        UserError: if the task has no samples.
    """
    near = _near(spec, language)
    split = load_split(spec, near, spec.data.evaluate, SAMPLES) if near else None
    if not split:
        raise UserError(f"{spec.name} has no sample rows", f"add {spec.samples_folder}/eng.jsonl")
    return split.documents[0]


def _near(spec: TaskSpec, language: str) -> str | None:
    """Returns a language with sample rows: this one, English, or any."""
    with_rows = sorted(path.stem for path in spec.samples_folder.glob("*.jsonl") if path.stem in spec.languages)
    return next((code for code in (language, ENGLISH, *with_rows) if code in with_rows), None)


def examples(root: Path, language: str, strings: Mapping[str, String]) -> dict[str, str]:
    """Returns, for each string by id, a whole prompt or the lines of one in which the string occurs."""
    example_of: dict[str, str] = {}
    for task in dict.fromkeys(s.task for s in strings.values() if not s.is_word):
        spec = load_task(task, root / "tasks")
        document, prompts = first_document(spec, language), load_prompts(spec, language)
        for string in strings.values():
            if string.task == task:
                example_of[string.id] = _example(string, filled(string.text, strings), document, prompts, language)
    return {
        id: example_of[id] if id in example_of else _of_word(string, strings, example_of)
        for id, string in strings.items()
    }


def filled(text: str, strings: Mapping[str, String]) -> str:
    """Returns a text in which references to the vocabulary, and the closing words of answers, are filled in."""
    closing = strings.get(f"words/{CLOSING}")
    text = CLOSINGS.sub(lambda _: shown_closing(closing.text if closing else ""), text)
    return REFERENCE.sub(lambda match: strings[f"{match[1]}/{match[2]}"].text, text)


def _example(string: String, text: str, document: Document, prompts: Mapping[int, Prompt], language: str) -> str:
    kind, *names = string.id.split("/")[2 if string.number else 1 :]
    if string.number:
        whole = _whole(prompts[string.number], document, language)
        return whole if kind == "template" else _lines(whole, text)
    if kind == "values":
        document = replace(document, fields={**document.fields, names[0]: names[1]})
    if kind in ("labels", "values"):
        return next(filter(None, (_lines(render(p, document, language), text) for p in prompts.values())), "")
    if kind == "lead_in":
        answer = "A" if document.choices else "12"
        return text.replace("{answer}", answer) if "{answer}" in text else f"{text} {answer}"
    return text if text != string.text else ""


def _lines(text: str, part: str) -> str:
    return "\n".join(line for line in text.split("\n") if part in line)


def _of_word(word: String, strings: Mapping[str, String], example_of: Mapping[str, str]) -> str:
    users = [string for string in strings.values() if word.id in string.references]
    line = next(filter(None, (_lines(example_of[user.id], word.text) for user in users)), "").partition("\n")[0]
    shown = [line if len(line) <= LONGEST else f"{line[:LONGEST]} ..."] if line else []
    uses = []  # such as `afrimgsm 1-3, system`
    for task, of_task in grouped(users, lambda user: user.task).items():
        numbers = sorted({user.number for user in of_task if user.number})
        others = dict.fromkeys(user.id.split("/")[1] for user in of_task if not user.number)
        uses.append(", ".join([f"{task} {ranges(numbers)}".strip(), *others]))
    return "\n".join([f"in {'; '.join(uses)}" if users else UNUSED, *shown])
