"""Words that all prompts in a language share, those with which answers close, and the strings of a language by id."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, TypeVar

from afrieval._util.errors import UserError, nearest
from afrieval._util.resources import shipped
from afrieval._util.schema import CLOSED, KeyPath, Text
from afrieval._util.stamps import digest
from afrieval._util.yaml_files import YamlFile, read_as
from afrieval.languages import ENGLISH
from afrieval.scoring.extract.announcement import ANSWER
from afrieval.scoring.extract.number import last_number, parse_number
from afrieval.tasks.data.document import Document
from afrieval.tasks.declaration.schema import PromptFile
from afrieval.tasks.declaration.spec import TaskSpec, task_files

VOCABULARY = shipped("vocabulary")
T = TypeVar("T")
REFERENCE = re.compile(r"{{\s*(words|languages)\.(\w+)\s*}}")
CLOSING = "answer_is"  # the placeholder, and the word of the vocabulary
CLOSINGS = re.compile(r"{{\s*answer_is\s*}}")


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
        languages = ", ".join(sorted(p.stem for p in VOCABULARY.glob("*.yaml")))
        raise UserError(
            f"no vocabulary has the words of {path.stem!r}", f"write the words themselves; {languages} have one"
        )
    return read_once(Vocabulary, path)


def read_once(form: type[T], path: Path) -> T:
    """Returns the content of a file, which is parsed once for each time that it was written: many tasks share it."""
    hashable: Any = form  # which mypy does not know of types
    content: T = _parsed(hashable, path, path.stat().st_mtime_ns)
    return content


_parsed = lru_cache(512)(lambda form, path, changed: read_as(form, path))


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
    folder_file = tasks.parent / "vocabulary" / prompts.name
    return folder_file if folder_file.is_file() else VOCABULARY / prompts.name


def answer_words(prompts: Path, tasks: Path) -> list[str]:
    """Returns the words for an answer in a prompt file's language; none if it has no vocabulary.

    A noun is followed by a colon; arguments as for `with_words`.
    """
    path = vocabulary_of(prompts, tasks)
    words = load_vocabulary(path).words if path.is_file() else {}
    nouns = [f"{words[name]}:" for name in ("answer", "correct_answer") if name in words]
    return [*nouns, *([words["answer_is"]] if "answer_is" in words else [])]


def _filled(value: Any, keys: KeyPath, file: YamlFile, path: Path) -> Any:
    if isinstance(value, dict):
        return {key: _filled(entry, (*keys, key), file, path) for key, entry in value.items()}
    if isinstance(value, list):
        return [_filled(entry, (*keys, number), file, path) for number, entry in enumerate(value)]
    if not isinstance(value, str):
        return value

    def word(match: re.Match[str]) -> str:
        vocabulary = load_vocabulary(path)
        entries, name = vocabulary.words if match[1] == "words" else vocabulary.languages, match[2]
        if name not in entries:
            where = f"{file.path}, line {file.line(keys)}: {'.'.join(map(str, keys))}"
            raise UserError(f"{where}: vocabulary/{path.name} has no {match[1]}.{name}", nearest(name, list(entries)))
        return entries[name]

    return REFERENCE.sub(word, value)


@dataclass(frozen=True)
class String:
    """A text in a YAML file.

    Attributes:
        id: `afrimmlu/1/template`, `afrixnli/1/labels/neutral`, `afrimgsm/system`, `words/question`.
        path: the file.
        keys: the keys that lead to it.
        text: what it says, without blanks and line ends around it; words of the vocabulary are not filled in.
    """

    id: str
    path: Path
    keys: KeyPath
    text: str

    @property
    def hash(self) -> str:
        """Hash of the text."""
        return text_hash(self.text)

    @property
    def task(self) -> str:
        """The task; `words` or `languages` for a string of the vocabulary."""
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
        """The ids of the words of the vocabulary that it refers to, closing words among them."""
        return list(dict.fromkeys(map("/".join, REFERENCE.findall(CLOSINGS.sub("{{ words.answer_is }}", self.text)))))

    @property
    def is_reference(self) -> bool:
        """Whether it is a word of the vocabulary and nothing else; whoever changes it changes the word."""
        return REFERENCE.fullmatch(self.text) is not None


def text_hash(text: str) -> str:
    """Returns the hash of a text that reviews refer to."""
    return digest(unicodedata.normalize("NFC", text.strip()))


def strings(root: Path, language: str) -> dict[str, String]:
    """Returns all strings of a language by id: the words that tasks share, then task by task; paths are within `root`.

    Args:
        root: contains `tasks/` and `vocabulary/`.
        language: the suite's code.
    """
    all_strings = list(vocabulary_strings(root / "vocabulary" / f"{language}.yaml"))
    for name, path in sorted(task_files(root / "tasks").items()):  # tasks without this folder share their prompts
        all_strings += prompt_strings(name, path.parent / "prompts" / f"{language}.yaml")
    return {string.id: replace(string, path=string.path.relative_to(root)) for string in all_strings}


def prompt_strings(task: str, path: Path) -> list[String]:
    """Returns the strings of a prompt file; none if it does not exist."""
    entries = _of_prompts(read_once(PromptFile, path)) if path.is_file() else ()
    return [String(f"{task}/{name}", path, place, text.strip()) for name, place, text in entries]


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


def _of_prompts(content: PromptFile) -> Iterator[tuple[str, KeyPath, str]]:
    """Yields id within the task, place and text."""
    for number, prompt in content.prompts.items():
        if prompt.header:
            yield f"{number}/header", ("prompts", number, "header"), prompt.header
        yield f"{number}/template", ("prompts", number, "template"), prompt.template
        for name, word in prompt.labels.items():
            yield f"{number}/labels/{name}", ("prompts", number, "labels", name), word
    for name, word in content.labels.items():
        yield f"labels/{name}", ("labels", name), word
    for name, words in (content.values or {}).items():
        for raw, shown in words.items():
            yield f"values/{name}/{raw}", ("values", name, raw), shown
    for index, text in enumerate(content.lead_ins):
        keys: KeyPath = ("lead_in",) if isinstance(content.lead_in, str) else ("lead_in", index)
        yield f"lead_in/{index + 1}", keys, text
    if content.system:
        yield "system", ("system",), content.system


END = re.compile(r"^([^{}()\n]*[^{}()\s:：])\s*(?:\(.*\)\s*)?[:：]\s*\Z", re.MULTILINE)  # of a prompt
MOST, FEWEST = 3 / 4, 3  # the share of solutions that must agree, and their number
_ENDS, _BLANKS = ".!?።\n", " \u00a0\u202f"


def closing_lead_in(worked: Sequence[Document]) -> str:
    """Returns the words around the answer at the end of worked solutions, with `{answer}`; empty if they differ.

    Only the sentence of the last number counts, and only if that number is the right answer. A heading such as
    "Step-by-step answer:" announces the reasoning, whose first number is not the answer, so it is not used.
    """
    counts = Counter(_closing(document) for document in worked if document.worked)
    if not counts:
        return ""
    words, times = counts.most_common(1)[0]
    return words if times >= max(FEWEST, MOST * counts.total()) else ""


def _closing(document: Document) -> str:
    number = last_number(document.worked)
    if number is None or parse_number(number[0]) != document.gold:
        return ""
    before, after = document.worked[: number.start()], document.worked[number.end() :].rstrip(_ENDS + _BLANKS)
    before = before[max(before.rfind(mark) for mark in _ENDS) + 1 :].lstrip()
    if any(mark in after for mark in _ENDS) or not any(c.isalpha() for c in before + after):
        return ""
    plain = not before or before[-1].isspace() or before[-1].isalpha() or before[-1] == "-"
    return f"{before}{ANSWER}{after}" if plain else ""


def closing_words(spec: TaskSpec) -> dict[str, str]:
    """Returns what closes an answer in each language: the vocabulary's words, or the English ones."""
    files = {code: spec.prompts_folder / f"{code}.yaml" for code in (*spec.languages, ENGLISH)}
    paths = {code: vocabulary_of(file, spec.author.root) for code, file in files.items()}
    words = {code: load_vocabulary(path).words for code, path in paths.items() if path.is_file()}
    return {code: shown_closing(words.get(code, {}).get(CLOSING, "")) for code in paths}


def shown_closing(words: str) -> str:
    """Returns a vocabulary's closing words, or the English ones if it has none, as prompts show them."""
    return (words or load_vocabulary(VOCABULARY / "eng.yaml").words[CLOSING]).replace(ANSWER, "...")
