"""The strings of a language, by id: what its prompt files and its vocabulary say, and where."""

import hashlib
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from afrieval.files.schema import Place
from afrieval.files.yaml import read_map
from afrieval.tasks.spec import load_task, task_names

_REFERENCE = re.compile(r"{{\s*(words|languages)\.(\w+)\s*}}")


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
    def number(self) -> int | None:
        """The prompt's number; None if all prompts of the file share the string."""
        second = self.id.split("/")[1]
        return int(second) if second.isdigit() else None

    @property
    def references(self) -> list[str]:
        """The ids of the words of the vocabulary that it refers to."""
        return list(dict.fromkeys(f"{found[1]}/{found[2]}" for found in _REFERENCE.finditer(self.text)))

    @property
    def is_reference(self) -> bool:
        """Whether it is a word of the vocabulary and nothing else; whoever changes it changes the word."""
        return _REFERENCE.fullmatch(self.text) is not None


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
    for name in task_names(root / "tasks"):
        found += prompt_strings(name, load_task(name, root / "tasks").folder / "prompts" / f"{language}.yaml")
    return {string.id: replace(string, path=string.path.relative_to(root)) for string in found}


def prompt_strings(task: str, path: Path) -> list[String]:
    """Returns the strings of a prompt file; none if it does not exist."""
    return [String(f"{task}/{name}", path, place, text) for name, place, text in _of_prompts(_content(path))]


def vocabulary_strings(path: Path) -> list[String]:
    """Returns the strings of a vocabulary; none if it does not exist."""
    content = _content(path)
    return [
        String(f"{part}/{name}", path, (part, name), text.strip())
        for part in ("words", "languages")
        for name, text in (content.get(part) or {}).items()
    ]


def _content(path: Path) -> dict[str, Any]:
    return read_map(path) if path.is_file() else {}


def _of_prompts(content: dict[str, Any]) -> Iterator[tuple[str, Place, str]]:
    """Yields id within the task, place and text."""
    for number, prompt in (content.get("prompts") or {}).items():
        yield f"{number}/template", ("prompts", number, "template"), prompt["template"].strip()
        for name, word in (prompt.get("labels") or {}).items():
            yield f"{number}/labels/{name}", ("prompts", number, "labels", name), word.strip()
    for field, words in (content.get("values") or {}).items():
        for raw, shown in words.items():
            yield f"values/{field}/{raw}", ("values", field, raw), shown.strip()
    lead_in = content.get("lead_in") or []
    if isinstance(lead_in, str):
        yield "lead_in/1", ("lead_in",), lead_in.strip()
    else:
        yield from ((f"lead_in/{n}", ("lead_in", n - 1), text.strip()) for n, text in enumerate(lead_in, 1))
    if content.get("system"):
        yield "system", ("system",), content["system"].strip()
