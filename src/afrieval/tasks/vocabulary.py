"""Words that all prompts in a language share: `vocabulary/<language>.yaml`, referred to as `{{ words.question }}`."""

import re
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from afrieval.errors import UserError, nearest
from afrieval.files.schema import CLOSED, Place, Text
from afrieval.files.yaml import YamlFile, read_as
from afrieval.resources import shipped

VOCABULARY = shipped("vocabulary")
REFERENCE = re.compile(r"{{\s*(words|languages)\.(\w+)\s*}}")


@dataclass(frozen=True)
class Note:
    """What a reviewer should know about a string.

    Attributes:
        back: what it says, translated back into English word by word.
        evidence: where it is attested.
        doubt: what its author was unsure of.
    """

    __pydantic_config__ = CLOSED
    back: str = ""
    evidence: str = ""
    doubt: str = ""


@dataclass(frozen=True)
class Vocabulary:
    """The content of `vocabulary/<language>.yaml`.

    Attributes:
        words: name to word; `vocabulary/eng.yaml` says in English what each name stands for.
        languages: code to the name of that language.
        notes: the id of a string to its note; `words/answer` is a word of this file,
            `afrixnli/1/labels/neutral` a label of a prompt.
    """

    __pydantic_config__ = CLOSED
    origin: Literal["human", "machine"]
    written_by: Text
    words: dict[Text, Text]
    languages: dict[str, Text] = field(default_factory=dict)
    notes: dict[str, Note] = field(default_factory=dict)


def load_vocabulary(path: Path) -> Vocabulary:
    """Returns the words in a file.

    Raises:
        UserError: if it does not exist, or is invalid.
    """
    if not path.is_file():
        known = ", ".join(sorted(p.stem for p in VOCABULARY.glob("*.yaml")))
        raise UserError(
            f"no vocabulary has the words of {path.stem!r}", f"write the words themselves; {known} have one"
        )
    return _read(path, path.stat().st_mtime_ns)


@lru_cache(64)
def _read(path: Path, changed: int) -> Vocabulary:
    """Reads a file once for each time that it was written: all prompt files of a language share it."""
    return read_as(Vocabulary, path)


def with_words(file: YamlFile, tasks: Path) -> YamlFile:
    """Returns a prompt file in which each `{{ words.NAME }}` and `{{ languages.CODE }}` is replaced.

    Args:
        file: `<language>.yaml`.
        tasks: the folder of all tasks; a folder `vocabulary` next to it takes the place of the suite's.

    Raises:
        UserError: if the language's vocabulary lacks the word; file, line and key are named.
    """
    path = vocabulary_of(file.path, tasks)
    return file._replace(content=_filled(file.content, (), file, path))


def vocabulary_of(prompts: Path, tasks: Path) -> Path:
    """Returns the vocabulary of a prompt file; arguments as for `with_words`."""
    own = tasks.parent / "vocabulary" / prompts.name
    return own if own.is_file() else VOCABULARY / prompts.name


def _filled(value: Any, place: Place, file: YamlFile, path: Path) -> Any:
    if isinstance(value, dict):
        return {key: _filled(entry, (*place, key), file, path) for key, entry in value.items()}
    if isinstance(value, list):
        return [_filled(entry, (*place, number), file, path) for number, entry in enumerate(value)]
    if not isinstance(value, str):
        return value
    return REFERENCE.sub(lambda found: _word(found[1], found[2], place, file, path), value)


def _word(part: str, name: str, place: Place, file: YamlFile, path: Path) -> str:
    vocabulary = load_vocabulary(path)
    known = vocabulary.words if part == "words" else vocabulary.languages
    if name not in known:
        where = f"{file.path}, line {file.line(place)}: {'.'.join(map(str, place))}"
        raise UserError(f"{where}: vocabulary/{path.name} has no {part}.{name}", nearest(name, list(known)))
    return known[name]
