"""The strings of a language, by id: what its prompt files and its vocabulary say, and where."""

import hashlib
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from afrieval.files.schema import Place
from afrieval.files.yaml import read_as
from afrieval.tasks.schema import PromptFile
from afrieval.tasks.spec import task_files
from afrieval.tasks.vocabulary import REFERENCE, load_vocabulary


@dataclass(frozen=True)
class String:
    """A text in a YAML file.

    Attributes:
        id: `afrimmlu/1/template`, `afrixnli/1/labels/neutral`, `afrimgsm/system`, `words/question`.
        path: the file.
        place: the keys that lead to it.
        text: what it says, without blanks and line ends around it; words of the vocabulary are not filled in.
    """

    id: str
    path: Path
    place: Place
    text: str

    @property
    def hash(self) -> str:
        """Hash of the text."""
        return text_hash(self.text)

    @property
    def task(self) -> str:
        """The task; `words` or `languages` for those of the vocabulary."""
        return self.id.partition("/")[0]

    @property
    def is_word(self) -> bool:
        """Whether it is in the vocabulary."""
        return self.task in ("words", "languages")

    @property
    def number(self) -> int | None:
        """The prompt's number; None if all prompts of the file share the string."""
        second = self.id.split("/")[1]
        return int(second) if second.isdigit() else None

    @property
    def references(self) -> list[str]:
        """The ids of the words of the vocabulary that it refers to."""
        return list(dict.fromkeys(f"{found[1]}/{found[2]}" for found in REFERENCE.finditer(self.text)))

    @property
    def is_reference(self) -> bool:
        """Whether it is a word of the vocabulary and nothing else; whoever changes it changes the word."""
        return REFERENCE.fullmatch(self.text) is not None


def text_hash(text: str) -> str:
    """Returns the hash of a text that reviews refer to."""
    return hashlib.sha256(unicodedata.normalize("NFC", text.strip()).encode()).hexdigest()[:16]


def strings(root: Path, language: str) -> dict[str, String]:
    """Returns all strings of a language by id: the words that tasks share, then task by task; paths are within `root`.

    Args:
        root: contains `tasks/` and `vocabulary/`.
        language: the suite's code.
    """
    found = list(vocabulary_strings(root / "vocabulary" / f"{language}.yaml"))
    for name, path in sorted(task_files(root / "tasks").items()):  # tasks without this folder share their prompts
        found += prompt_strings(name, path.parent / "prompts" / f"{language}.yaml")
    return {string.id: replace(string, path=string.path.relative_to(root)) for string in found}


def prompt_strings(task: str, path: Path) -> list[String]:
    """Returns the strings of a prompt file; none if it does not exist."""
    return list(_prompt_strings(task, path, path.stat().st_mtime_ns)) if path.is_file() else []


@lru_cache(256)
def _prompt_strings(task: str, path: Path, changed: int) -> tuple[String, ...]:
    """Reads a file once for each time that it was written: all prompts in it share it."""
    found = _of_prompts(read_as(PromptFile, path))
    return tuple(String(f"{task}/{name}", path, place, text.strip()) for name, place, text in found)


def vocabulary_strings(path: Path) -> list[String]:
    """Returns the strings of a vocabulary; none if it does not exist."""
    if not path.is_file():
        return []
    content = load_vocabulary(path)
    parts = {"words": content.words, "languages": content.languages}
    return [
        String(f"{part}/{name}", path, (part, name), text.strip())
        for part, texts in parts.items()
        for name, text in texts.items()
    ]


def _of_prompts(content: PromptFile) -> Iterator[tuple[str, Place, str]]:
    """Yields id within the task, place and text."""
    for number, prompt in content.prompts.items():
        if prompt.header:
            yield f"{number}/header", ("prompts", number, "header"), prompt.header
        yield f"{number}/template", ("prompts", number, "template"), prompt.template
        for name, word in prompt.labels.items():
            yield f"{number}/labels/{name}", ("prompts", number, "labels", name), word
    for name, word in content.labels.items():
        yield f"labels/{name}", ("labels", name), word
    for field, words in (content.values or {}).items():
        for raw, shown in words.items():
            yield f"values/{field}/{raw}", ("values", field, raw), shown
    for at, text in enumerate(content.lead_ins):
        place: Place = ("lead_in",) if isinstance(content.lead_in, str) else ("lead_in", at)
        yield f"lead_in/{at + 1}", place, text
    if content.system:
        yield "system", ("system",), content.system
