"""English prompts for a data set that no task declares: five for each kind, which its owner should make better."""

import re
from collections.abc import Mapping, Sequence
from textwrap import indent
from typing import NamedTuple

import yaml

HEAD = "origin: human\nwritten_by: afrieval\n"
LIST, LETTERS = '{{ choices | join(", ") }}', '{{ choices | lettered(": ") }}'


class Form(NamedTuple):
    """How questions of a kind are asked.

    Attributes:
        heading: what stands before the text if it is a single column.
        answer_forms: those that the prompts fit; empty for those of the kind.
        system: for chat models.
        templates: TEXT stands for the columns with their headings, WORD for what the answer is called.
    """

    heading: str
    answer_forms: Sequence[str]
    system: str
    templates: Sequence[str]


FORMS = {
    "classification": Form(
        "Text",
        (),
        "You classify texts. Reply with the correct choice only.",
        (
            f"TEXT\nChoices: {LIST}\nAnswer (WORD):",
            f"Read this and choose the WORD that fits best.\n\nTEXT\n\nPossible answers: {LIST}\nAnswer:",
            f"Which of these is the WORD of what follows: {LIST}?\n\nTEXT\n\nAnswer:",
            "Give the {{ language }} text below one WORD and write nothing else.\n\n"
            f"TEXT\n\nChoose from: {LIST}\nAnswer:",
            f"TEXT\n\nQuestion: What is the WORD here?\nOptions: {LIST}\nThe right option is:",
        ),
    ),
    "multiple_choice": Form(
        "Question",
        ("letter", "text", "generate"),
        "You answer multiple-choice questions. Reply with the correct choice only.",
        (
            f"TEXT\n{LETTERS}\nAnswer:",
            f"Choose the correct answer.\n\nTEXT\n\n{LETTERS}\n\nAnswer:",
            f"TEXT\n\nOptions:\n{LETTERS}\n\nCorrect option:",
            f"This is a question in {{{{ language }}}} from a test. Only one answer is right.\n\nTEXT\n{LETTERS}\n\n"
            "The right answer is:",
            f"Read everything, then name the best of the answers.\n\nTEXT\n\n{LETTERS}\nBest answer:",
        ),
    ),
    "question": Form(
        "Question",
        (),
        "You answer questions. Reply with a short answer only.",
        (
            "TEXT\nAnswer:",
            "Answer with as few words as possible.\n\nTEXT\n\nAnswer:",
            "TEXT\n\nShort answer in {{ language }}:",
            "Give a short answer in {{ language }}, and leave out everything else.\n\nTEXT\n\nShort answer:",
            "Someone asks you this. Reply in a few words.\n\nTEXT\nReply:",
        ),
    ),
}


def prompt_file(kind: str, fields: Mapping[str, str], label: str, words: Mapping[str, str]) -> str:
    """Returns the content of `prompts/eng.yaml`.

    Args:
        kind: one of FORMS.
        fields: name in templates to the column of the data.
        label: the column of the right answer.
        words: label to the word that is shown and scored; empty if rows have choices.
    """
    form = FORMS[kind]
    numbered = [f"{form.heading} {n}" for n in range(1, len(fields) + 1)] if len(fields) > 1 else [form.heading]
    named = [_word(column, numbered[at]) for at, column in enumerate(fields.values())]
    headings = named if len(fields) > 1 and len({*named}) == len(fields) else numbered
    text = "\n\n".join(f"{heading}: {{{{ {name} }}}}" for heading, name in zip(headings, fields, strict=True))
    filled = [t.replace("WORD", _word(label, "label").lower()).replace("TEXT", text) for t in form.templates]
    prompts = [f"  {n}:\n    template: |\n{indent(template, ' ' * 6)}\n" for n, template in enumerate(filled, 1)]
    labels = _dumped({"labels": dict(words)}) if words else ""
    return HEAD + _dumped({"system": form.system}) + labels + "prompts:\n" + "".join(prompts)


def _word(column: str, otherwise: str) -> str:
    """Returns a column's name as a word of a prompt, if it is one: a template must not have more than words."""
    word = re.sub(r"[_\s]+", " ", column).strip()
    return word[:1].upper() + word[1:] if re.fullmatch("[A-Za-z ]{3,30}", word) else otherwise


def _dumped(content: Mapping[str, object]) -> str:
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=120)
