"""Loads prompt files and renders documents with their templates."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from afrieval._util import templates
from afrieval._util.errors import UserError
from afrieval._util.stamps import digest
from afrieval._util.templates import TemplateFault
from afrieval._util.yaml_files import check_keys, read_map_file
from afrieval.languages import ENGLISH, LANGUAGES
from afrieval.results.cell_key import PromptId, paper_id
from afrieval.scoring.extract.announcement import ANSWER
from afrieval.scoring.texts import visible
from afrieval.tasks.answers.choices import BLANK, LETTERS
from afrieval.tasks.data.document import Document
from afrieval.tasks.declaration.schema import PromptFile
from afrieval.tasks.declaration.spec import TaskSpec
from afrieval.tasks.prompts.reviews import reviewers
from afrieval.tasks.prompts.vocabulary import (
    CLOSINGS,
    END,
    answer_words,
    closing_words,
    load_vocabulary,
    vocabulary_of,
    with_words,
)

CURE = "correct the template; the documentation page 'Add a language or a prompt' describes placeholders"
SIDES = {"from": "source", "to": "target"}
ANSWERED = "answer_language"
MARK = "\x00"  # a place in a rendered prompt
LETTERED = 'write {{ choices | lettered(": ") }} where they belong, or remove `lettered`'


@dataclass(frozen=True)
class Prompt:
    """A numbered template of a prompt file.

    Attributes:
        language: the language that it is written in.
        labels: label name to the word that is shown and scored; empty if rows have choices.
        lettered: whether the letters of the choices are scored, whatever the answer form.
        values: field to raw value to the words shown for it.
        system: system text for chat models.
        english_system: whether that is the English one, because the file of this native prompt has none.
        lead_ins: words that announce an answer, such as "The answer is"; may contain `{answer}`.
        origin: human, machine or paper.
        reviewed_by: who reviewed it; empty unless the file names a reviewer, or two people reviewed
            each of its strings.
        paper: whether it is a prompt of the paper, cleaned or as the harness has it; empty for one of the suite.
        delimiter: the text between prompt and answer.
        header: a template that is shown once, before the examples; empty if there is none.
        verbatim: whether blanks around the texts of rows are shown.
        blanks: why runs of blanks in it belong there; empty if it must not have any.
        source: where its text is from; empty if unknown.
        path: the prompt file, for messages.
        complete: whether rows have whole prompts, in its place.
        direction: as in the task file.
        answered_in: evaluated language to the language of its answers, where they differ.
        languages: code to name, in the prompt's language, of the languages that it names.
        closings: evaluated language to its words for "The answer is", if the prompt names them.
    """

    language: str
    number: int
    template: str
    labels: dict[str, str] = field(default_factory=dict)
    lettered: bool = False
    values: dict[str, dict[str, str]] = field(default_factory=dict)
    system: str = ""
    english_system: bool = False
    lead_ins: tuple[str, ...] = ()
    origin: str = "human"
    reviewed_by: str = ""
    paper: Literal["", "cleaned", "uncleaned"] = ""
    delimiter: str = " "
    header: str = ""
    verbatim: bool = False
    blanks: str = field(default="", compare=False)
    source: str = field(default="", compare=False)
    path: str = field(default="", compare=False)
    complete: bool = False
    direction: dict[str, str] = field(default_factory=dict)
    answered_in: dict[str, str] = field(default_factory=dict)
    languages: dict[str, str] = field(default_factory=dict)
    closings: dict[str, str] = field(default_factory=dict)

    @property
    def id(self) -> PromptId:
        """Its name in results: the number, or `paper3` and the like for a prompt of the paper."""
        return paper_id(self.number, self.paper == "uncleaned") if self.paper else self.number

    @property
    def title(self) -> str:
        """The prompt's file and number, for messages."""
        return f"{self.path or self.language}, prompt {self.number}"

    @property
    def hash(self) -> str:
        """Hash of everything that reaches the model."""
        parts: list[Any] = [self.template, self.labels, self.values, self.system, *self.lead_ins]
        parts += ["lettered"] if self.lettered else []
        parts += ["header", self.header] if self.header else []
        parts += ["verbatim"] if self.verbatim else []
        parts += [self.paper, self.delimiter] if self.paper else []
        parts += [self.direction, self.languages] if self.direction else []
        parts += [self.answered_in, self.languages] if self.answered_in else []
        parts += [self.closings] if self.closings else []
        return digest(json.dumps(parts, sort_keys=True, ensure_ascii=False))


def render(prompt: Prompt, document: Document, language: str) -> str:
    """Returns the rendered prompt; the answer follows after a space.

    Raises:
        UserError: if the template cannot be filled in, or needs too much time or memory.
    """
    return _render(prompt, prompt.template, document, language, _where(prompt, document, language))


def render_to_blank(prompt: Prompt, document: Document, field: str, language: str) -> str:
    """Returns the rendered prompt up to the blank in a field's text, filled with the gold choice."""
    filled = f"{BLANK.split(document.fields[field])[0]}{choice_texts(prompt, document)[int(document.gold or 0)]}"
    marked = replace(document, fields={**document.fields, field: f"{filled}{MARK}"})
    return render(prompt, marked, language).partition(MARK)[0]


def render_header(prompt: Prompt, document: Document, language: str) -> str:
    """Returns the rendered header, which precedes the examples of a document; empty if there is none."""
    if not prompt.header:
        return ""
    text = _render(prompt, prompt.header, document, language, f"{_where(prompt, document, language)}, header")
    return text if prompt.verbatim else text.strip()


def _where(prompt: Prompt, document: Document, language: str) -> str:
    return f"{prompt.title}, with row {document.id} of {_name(language)}"


def telling(prompt: Prompt, documents: Iterable[Document]) -> list[Document]:
    """Returns the documents whose rendering shows whether all can be rendered.

    Where a template does not choose between values, that is the longest document with the same fields and number of
    choices.
    """
    try:
        if not all(map(templates.is_uniform, (prompt.template, prompt.header))):
            return list(documents)
    except TemplateFault:
        return list(documents)  # rendering explains it
    longest: dict[tuple[Any, ...], tuple[int, Document]] = {}
    for document in documents:
        shape = (len(document.choices), *document.fields)
        length = sum(map(len, document.fields.values())) + sum(map(len, document.choices))
        if shape not in longest or length > longest[shape][0]:
            longest[shape] = length, document
    return [document for _, document in longest.values()]


def _render(prompt: Prompt, template: str, document: Document, language: str, where: str) -> str:
    values: dict[str, Any] = {n: prompt.values.get(n, {}).get(text, text) for n, text in document.fields.items()}
    values["choices"] = choice_texts(prompt, document)
    values |= {"labels": prompt.labels, "language": LANGUAGES[language].name}
    # The languages of the answer, and of the texts that are translated from and to.
    codes = {ANSWERED: prompt.answered_in.get(language, language)}
    if prompt.direction:
        codes |= {f"{side}_language": prompt.direction.get(end, language) for end, side in SIDES.items()}
    values |= {name: prompt.languages.get(code, LANGUAGES[code].name) for name, code in codes.items()}
    values["answer_is"] = prompt.closings.get(language, "")
    try:
        text = templates.fill(template, values)
    except TemplateFault as e:
        raise UserError(f"{where}: the template cannot be filled in: {e.reason}", CURE) from None
    return text if prompt.verbatim or prompt.paper == "uncleaned" else text.strip()


def choice_texts(prompt: Prompt, document: Document) -> list[str]:
    """Returns the option texts, or the label words in the prompt's language; without invisible characters."""
    texts = [prompt.labels.get(choice, choice) for choice in document.choices]
    return texts if prompt.verbatim or prompt.paper == "uncleaned" else [*map(visible, texts)]


def answers(prompt: Prompt, document: Document, answer_form: str) -> list[str]:
    """Returns the answers to score or to parse, one per choice; empty if there are no choices.

    Letters for `letter` and lettered prompts; option texts or label words for `text`, or what follows the blank that
    they fill; for `generate`, label words if the task has labels, else letters.
    """
    if document.rest and answer_form == "text":
        return [document.rest] * len(document.choices)
    texts = choice_texts(prompt, document)
    lettered = prompt.lettered or answer_form == "letter" or (answer_form == "generate" and not prompt.labels)
    return list(LETTERS[: len(texts)]) if lettered else texts


def suits(prompt: Prompt, answer_form: str) -> bool:
    """Returns whether a prompt shows what an answer form scores: label words, or their letters.

    Prompts without labels show both, and a generated answer may be either.
    """
    return not prompt.labels or answer_form == "generate" or prompt.lettered == (answer_form == "letter")


def example_answer(spec: TaskSpec, prompt: Prompt, document: Document, answer_form: str) -> str:
    """Returns the answer shown in a worked example; the document must have a gold answer."""
    if spec.chain_of_thought and document.worked:
        return document.worked
    return spec.scoring.answer.example(document, answers(prompt, document, answer_form), prompt.labels)


def lines_before(spec: TaskSpec, prompt: Prompt, language: str) -> list[str]:
    """Returns the lines of a prompt up to its question; the last one ends where that begins."""
    name = next(iter(spec.fields))
    document = Document(0, {**dict.fromkeys(spec.fields, ""), name: MARK}, (), None)
    text = _render(prompt, prompt.template, document, language, f"{prompt.title}, with all fields but {name} empty")
    return text.partition(MARK)[0].split("\n")


def prompt_languages(spec: TaskSpec) -> list[str]:
    """Returns the languages of the task's prompts, sorted; tasks that share them may have others."""
    files = {path.stem for path in spec.prompts_folder.glob("*.yaml")} & {ENGLISH, *spec.languages}
    return sorted(files | {ENGLISH}) if spec.prompts or not spec.prompted else sorted(files)


def load_prompts(spec: TaskSpec, language: str) -> dict[int, Prompt]:
    """Returns the prompts of a file by number; a single empty one if rows have complete prompts, or need none.

    Raises:
        UserError: if the file does not exist, or a key, name or template in it is invalid.
    """
    if not spec.prompted and language == ENGLISH:
        delimiter = "" if spec.request == "rolling" else " "
        return {1: Prompt(ENGLISH, 1, "", origin="paper", delimiter=delimiter, complete=bool(spec.prompt))}
    path, content = _content(spec, language)
    check_keys(content.values or {}, spec.fields, f"{path}, values")
    for words in content.lead_ins:
        rest = words.replace(ANSWER, "", 1)
        if set(rest) & {*"{}"} or (words and not rest.strip()):
            cure = f"write the words before the number; {ANSWER} may stand once, in the place of the number"
            raise UserError(f"{path}: lead_in {words!r} does not announce a number", cure)
    answered_in = {code: other for code in spec.languages if (other := spec.answers_in(code)) != code}
    system_text, others = content.system, language != ENGLISH and ENGLISH in prompt_languages(spec)
    system = system_text or (_content(spec, ENGLISH)[1].system if others else "") or ""
    prompts = {
        number: Prompt(
            language=language,
            number=number,
            template=entry.template,
            labels=entry.labels or content.labels,
            lettered=entry.lettered,
            header=entry.header,
            verbatim=spec.data.verbatim,
            blanks=entry.blanks,
            values=content.values or {},
            system=system.strip(),
            english_system=bool(system and not system_text),
            lead_ins=tuple(words.strip() for words in content.lead_ins if words.strip()),
            origin=content.origin,
            source=entry.source or "",
            reviewed_by=(content.reviewed_by or "").strip() or reviewers(path, number),
            path=str(path),
            direction=dict(spec.direction.items()),
            answered_in=answered_in if ANSWERED in entry.template else {},
            languages=_languages(spec, path, language, entry.template),
            closings=closing_words(spec) if CLOSINGS.search(f"{system}{entry.header}{entry.template}") else {},
        )
        for number, entry in content.prompts.items()
    }
    for prompt in prompts.values():
        _check(spec, prompt)
    return prompts


def _languages(spec: TaskSpec, path: Path, language: str, template: str) -> dict[str, str]:
    """Returns the names, in the language of native prompts, of the languages that are translated or answered in."""
    needed = dict.fromkeys([language, *spec.direction.values()] if spec.direction else [])
    needed |= {spec.answers_in(language): None} if ANSWERED in template else {}
    if language == ENGLISH or not needed:
        return {}
    vocabulary = vocabulary_of(path, spec.author.root)
    names = load_vocabulary(vocabulary).languages
    if missing := [code for code in needed if code not in names]:
        raise UserError(f"{vocabulary} has no name of {_name(missing[0])}", f"add languages.{missing[0]}")
    return {code: names[code] for code in needed}


def _content(spec: TaskSpec, language: str) -> tuple[Path, PromptFile]:
    """Returns the file and its prompts in a language; the task file may have the English ones."""
    path = spec.prompts_folder / f"{language}.yaml"
    if spec.prompts and language == ENGLISH:
        where = spec.folder / "task.yaml"
        if path.exists():
            raise UserError(f"{where} and {path} both have English prompts", "delete one of them")
        as_named = {name: name for name in spec.labels}
        prompts = {n: replace(entry, labels=entry.labels or as_named) for n, entry in spec.prompts.items()}
        return where, PromptFile("human", prompts)
    if not path.is_file():
        raise UserError(
            f"{spec.name} has no prompts in {_name(language)}",
            f"it has prompts in {', '.join(prompt_languages(spec))}; "
            "to add prompts, see 'Native prompts' in the documentation",
        )
    return path, with_words(read_map_file(path), spec.author.root).checked(PromptFile)


class PromptFiles:
    """The prompt files of a task, each parsed once.

    Attributes:
        spec: the task.
        languages: the languages of the task's prompts.
        load: returns a language's prompts by number.
    """

    def __init__(self, spec: TaskSpec):
        self.spec = spec
        self.languages = prompt_languages(spec)
        self.load = cache(partial(load_prompts, spec))

    def announced(self, prompt: Prompt, language: str) -> list[str]:
        """Returns the words that may announce an answer, of the prompt, the text's language and English.

        Models often answer an English prompt in the language of the question. The words are the end of the prompt, up
        to a list of choices in brackets, lead-ins of prompt files, and the vocabularies' words for an answer. Where the
        answer is a worked solution, the end of the prompt announces that, not its result. For complete prompts, only
        the task file says which words announce an answer.
        """
        if prompt.complete:
            return []
        end = None if self.spec.chain_of_thought else END.search(prompt.template)
        codes = dict.fromkeys((prompt.language, language, ENGLISH))
        of_files = [next(iter(self.load(code).values())).lead_ins for code in codes if code in self.languages]
        of_words = [answer_words(self.spec.prompts_folder / f"{code}.yaml", self.spec.author.root) for code in codes]
        return list(dict.fromkeys([*([f"{end[1]}:"] if end else []), *prompt.lead_ins, *chain(*of_files, *of_words)]))


def _check(spec: TaskSpec, prompt: Prompt) -> None:
    """Rejects labels that are not the task's, and templates that cannot be filled in."""
    if set(prompt.labels) != set(spec.labels):
        raise UserError(
            f"{prompt.title}: labels are {', '.join(prompt.labels) or 'missing'}",
            f"give {', '.join(spec.labels) or 'none'}",
        )
    try:
        used = [*templates.names(prompt.template), *templates.names(prompt.header)]
    except TemplateFault as e:
        raise UserError(f"{prompt.title}: the template cannot be filled in: {e.reason}", CURE) from None
    sides = [f"{side}_language" for side in SIDES.values()] if spec.direction else []
    check_keys(used, [*spec.fields, "choices", "labels", "language", ANSWERED, "answer_is", *sides], prompt.title)
    if spec.blank and spec.blank not in used:
        raise UserError(f"{prompt.title}: the template lacks {spec.blank}, which has the blank", CURE)
    if prompt.lettered and "choices" not in used:
        raise UserError(f"{prompt.title}: a lettered prompt must show the choices", LETTERED)
    probe = Document(0, dict.fromkeys(spec.fields, "x"), tuple(spec.labels or "xy"), 0)
    for template in (prompt.header, prompt.template):
        _render(prompt, template, probe, ENGLISH, f"{prompt.title}, with x in each field")


def _name(language: str) -> str:
    return f"{LANGUAGES[language].name} ({language})" if language in LANGUAGES else language


BLANKS = re.compile(r"[ \t]+")
LINE_END = re.compile(r"\r\n?")
EMPTY_LINES = re.compile(r"\n{3,}")


def clean(text: str) -> str:
    """Returns a text without indentation, repeated or trailing spaces, or repeated empty lines.

    Spaces include tabs; a no-break space is text. Both ends are stripped.
    """
    lines = [BLANKS.sub(" ", line).strip(" ") for line in LINE_END.sub("\n", text).split("\n")]
    return EMPTY_LINES.sub("\n\n", "\n".join(lines)).strip("\n")
