"""What every task, language and prompt must keep. Each check returns its complaints; none means all is well."""

import json
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import spec_of

from afrieval._util.tables import Row, parallel_rows, read_rows
from afrieval._util.templates import names
from afrieval.languages import ENGLISH
from afrieval.tasks.cells.cell import CellSettings
from afrieval.tasks.cells.harness_tasks import NO_DOCUMENT, InMemoryTask
from afrieval.tasks.cells.task_cell import TaskCell
from afrieval.tasks.data.document import Document
from afrieval.tasks.data.files import SAMPLES
from afrieval.tasks.data.splits import Split, has_split, load_split
from afrieval.tasks.declaration.spec import TaskSpec
from afrieval.tasks.prompts.prompts import (
    Prompt,
    PromptFiles,
    answers,
    choice_texts,
    example_answer,
    render,
    render_header,
    suits,
    telling,
)

Complaints = list[str]
Splits = dict[str, list[Document]]

SHOTS = 2
FIRST = 6  # rows of real data in each language; make test-data has all
RUN_OF_BLANKS, EMPTY_LINES, EMPTY_END = "a run of blanks", "two empty lines in a row", "an empty line at an end"
WITH_REASON = {RUN_OF_BLANKS, EMPTY_LINES, EMPTY_END}  # allowed where a prompt says why they belong there
MARK = "90909"  # digits: a word of no language, and of every script
MIN_SAMPLES = 12


@dataclass(frozen=True)
class Case:
    """One prompt, asked about documents in one language."""

    spec: TaskSpec
    prompt: Prompt
    language: str
    documents: Sequence[Document]
    files: PromptFiles | None = None  # of the task, where they are read already
    _shown: dict[int, tuple[Document, str]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def at(self, document: Document | None = None) -> str:
        where = f"{self.spec.name}, {self.language}, prompt {self.prompt.language} {self.prompt.number}"
        return where if document is None else f"{where}, document {document.id}"

    def render(self, document: Document) -> str:
        """The header and the question: all that is shown of a document without examples."""
        if id(document) not in self._shown:  # all checks look at the same texts
            text = f"{self.header(document)}{render(self.prompt, document, self.language)}"
            self._shown[id(document)] = document, text
        return self._shown[id(document)][1]

    def header(self, document: Document) -> str:
        header = render_header(self.prompt, document, self.language)
        return f"{header}\n\n" if header else ""

    @property
    def used(self) -> frozenset[str]:
        return _names_in(self.prompt.template) | _names_in(self.prompt.header)

    @property
    def placeholder(self) -> Document:
        return placeholder(self.spec, len(self.documents[0].choices))


@cache
def _names_in(template: str) -> frozenset[str]:
    return frozenset(names(template))


def placeholder(spec: TaskSpec, n_choices: int) -> Document:
    """A document without words: what its prompt says, the template says."""
    fields = {name: str(70001 + i) for i, name in enumerate(spec.fields)}
    choices = tuple(spec.labels) or tuple(str(80001 + i) for i in range(n_choices))
    return Document(0, fields, choices, 0)


def sample_splits(spec: TaskSpec, language: str) -> Splits:
    """The sample rows of a language by split; none where it has no sample file."""
    path = spec.samples_folder / f"{language}.jsonl"
    if not path.is_file():
        return {}
    named = dict.fromkeys(json.loads(line)["split"] for line in path.read_text(encoding="utf-8").splitlines())
    shared = spec.kin is not None  # tasks that share samples may have fewer splits
    return data_splits(spec, language, [s for s in named if s in spec.data.files or not shared], SAMPLES)


def data_splits(spec: TaskSpec, language: str, splits: Iterable[str], source: str) -> Splits:
    found = {split: load_split(spec, language, split, source) for split in splits}
    return {split: data.documents for split, data in found.items() if data}


@cache
def first_rows(spec_name: str, language: str, source: str) -> list[Document]:
    """The first rows of the evaluated split, of which no more are read than show how they are coded."""
    spec = spec_of(spec_name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("afrieval.tasks.data.splits.read_rows", _first_rows_of_a_table)
        patch.setattr("afrieval.tasks.data.splits.parallel_rows", lambda texts: parallel_rows(texts)[: 5 * FIRST])
        found = load_split(spec, language, spec.data.evaluate, source)
    return found.documents[:FIRST] if found else []


def _first_rows_of_a_table(path: Path, content: bytes, *more: Any) -> list[Row]:
    """Parses no more of a long file than it needs; a line end between quotation marks is no end of a row."""
    if path.suffix in (".jsonl", ".tsv", ".csv"):
        lines = content.split(b"\n", 50 * FIRST)
        starts = (b"\n".join(lines[:n]) for n in range(5 * FIRST, len(lines)))
        content = next((start for start in starts if not start.count(b'"') % 2), content)
    if path.suffix in (".txt", ".conll"):
        content = b"\n\n".join(content.split(b"\n\n", 5 * FIRST)[: 5 * FIRST])
    return read_rows(path, content, *more)[: 5 * FIRST]


def kinds(spec: TaskSpec) -> set[str]:
    """The fields that name kinds of questions, such as subjects, and are not texts in the data's language."""
    return {*spec.breakdowns, *in_groups(spec)}


def in_groups(spec: TaskSpec) -> set[str]:
    """The fields whose values form groups, such as MMLU's subjects: results need them, prompts may not."""
    return {field.of for field in spec.grouped_fields.values()}


def of_results(case: Case) -> set[str]:
    """The fields that results need and prompts may leave out: in groups, or breakdowns that no English prompt shows."""
    english = case.files.load(ENGLISH).values() if case.files else ()
    shown = {name for prompt in english for name in _names_in(prompt.template) | _names_in(prompt.header)}
    return in_groups(case.spec) | ({*case.spec.breakdowns} - shown if case.files else set())


def has_data(spec: TaskSpec, language: str, source: str) -> bool:
    """Whether a folder has the evaluated split in a language."""
    return has_split(spec, language, spec.data.evaluate, source)


def flat(splits: Splits) -> list[Document]:
    return [document for documents in splits.values() for document in documents]


# Checks of one prompt on documents


def renders(case: Case) -> Complaints:
    complaints = []
    for document in case.documents:
        try:
            if not case.render(document):
                complaints.append(f"{case.at(document)}: the prompt is empty")
        except Exception as e:  # whatever it is, the complaint must name the document
            complaints.append(f"{case.at(document)}: {type(e).__name__}: {e}")
    return complaints


def uses_every_field(case: Case) -> Complaints:
    """Each column of the data is in the template or header, and all of its text reaches the prompt.

    A field whose values form groups may be left out, and a breakdown that no prompt of the task shows.
    """
    choices = ["choices"] if has_letters(case) else []
    sides = ["source_language", "target_language"] if case.spec.direction else []
    left_out = of_results(case) - case.used
    declared = {*case.spec.field_columns, *choices, *sides} - left_out
    complaints = [f"{case.at()}: the template does not use {name!r}" for name in sorted(declared - case.used)]
    for document in telling(case.prompt, case.documents):
        marked, marks = _marked(case.spec, document, left_out)
        changed = case.render(marked)
        for name, mark in marks.items():
            if mark not in changed:
                complaints.append(f"{case.at(document)}: a change of {name} does not change the prompt")
    for document in case.documents:
        text = case.render(document)
        for name, data in _verbatim(case, document):
            if data not in text:
                complaints.append(f"{case.at(document)}: the prompt lacks or changes {name} {data!r}")
    return complaints


def _marked(spec: TaskSpec, document: Document, left_out: Collection[str]) -> tuple[Document, dict[str, str]]:
    """A document with a mark at the end of each text, where a cut would lose it, and each text's mark."""
    choices = [f"choice {i}" for i in range(len(document.choices) if spec.choices else 0)]
    named = [*(name for name in spec.field_columns if name not in left_out), *choices]
    marks = {name: f"{MARK}{at:02}" for at, name in enumerate(named)}
    fields = {name: f"{text} {marks[name]}" if name in marks else text for name, text in document.fields.items()}
    texts = [f"{text} {marks[name]}" for name, text in zip(choices, document.choices, strict=False)]
    return replace(document, fields=fields, choices=tuple(texts) or document.choices), marks


def _verbatim(case: Case, document: Document) -> Iterator[tuple[str, str]]:
    named = {*case.prompt.values, *kinds(case.spec)}  # words may stand for them
    yield from ((name, document.fields[name]) for name in case.spec.field_columns if name not in named)
    for i, text in enumerate(document.choices if case.spec.choices else ()):  # shown without invisible characters
        yield f"choice {i}", text if case.prompt.verbatim else re.sub("[\u200b-\u200f\u2060\ufeff\u00ad]", "", text)


def tells_documents_apart(case: Case) -> Complaints:
    seen: dict[str, Document] = {}
    twins = [(d, seen.setdefault(case.render(d), d)) for d in case.documents]
    pairs = [(d, twin) for d, twin in twins if d is not twin]
    return [
        f"{case.at(d)}: same prompt as document {twin.id}" for d, twin in pairs if _shown(case, d) != _shown(case, twin)
    ]


def _shown(case: Case, document: Document) -> tuple[object, ...]:
    left_out = of_results(case) - case.used
    return {n: text for n, text in document.fields.items() if n not in left_out}, document.choices


def has_letters(case: Case) -> bool:
    return bool(case.spec.choices) or case.prompt.lettered


def names_what_is_scored(case: Case) -> Complaints:
    """Labels as whole words, exactly as scored; letters before the texts of their choices."""
    if case.spec.texts:  # nothing is chosen
        return []
    text = case.render(case.placeholder)
    scored = choice_texts(case.prompt, case.placeholder)
    complaints = _letters(case) if has_letters(case) else []
    return complaints + [
        f"{case.at()}: {w!r} is scored, but not in the prompt" for w in scored if not has_word(text, w)
    ]


def _letters(case: Case) -> Complaints:
    complaints = []
    for n in sorted({len(d.choices) for d in case.documents}):
        document = placeholder(case.spec, n)
        scored = answers(case.prompt, document, "letter")
        lines = case.render(document).splitlines()
        texts = tuple(choice_texts(case.prompt, document))
        heads = [line.removesuffix(text) for text in texts for line in lines if line.endswith(text)]
        shown = [m.group(1) if (m := re.fullmatch(r"(\w+)\W{1,3}", head)) else head for head in heads]
        if shown != scored:
            complaints.append(f"{case.at()}: choices are headed by {shown}, but {scored} are scored")
        rest = " ".join(line for line in lines if not line.endswith(texts))
        # vowels are words of their own in some languages
        named = set(re.findall(r"(?<!\w)[BCDFGHJ](?!\w)", rest))
        if named and named != set(scored) & set("BCDFGHJ"):
            complaints.append(f"{case.at()}: the text names the letters {sorted(named)}, but {scored} are scored")
    return complaints


def names_nothing_else(case: Case, siblings: Mapping[int, Prompt], english: Mapping[int, Prompt]) -> Complaints:
    """No label word of another prompt of the file, unless the English prompt uses that word in its text too."""
    if not case.spec.labels:
        return []
    text = f"{case.prompt.system}\n{case.render(case.placeholder)}"
    for word in sorted(case.prompt.labels.values(), key=len, reverse=True):
        text = _cut(text, word)
    return [
        f"{case.at()}: names {word!r} of prompt {number}, which is not scored"
        for number, sibling in siblings.items()
        for name, word in sibling.labels.items()
        if has_word(text, word) and not _ordinary(case, english, number, name)
    ]


def _ordinary(case: Case, english: Mapping[int, Prompt], number: int, label: str) -> bool:
    """Whether the English prompt's text holds a label's word in lower case: scripts without case cannot tell."""
    if case.prompt.language == ENGLISH or not {case.prompt.number, number} <= set(english):
        return False
    return has_word(words_only(english[case.prompt.number].template), english[number].labels[label].casefold())


def answers_look_scored(case: Case) -> Complaints:
    """The answer that is shown where a document is an example is the one that is scored as right."""
    complaints = []
    solved = case.spec.chain_of_thought  # a worked solution is shown in the place of the answer
    for form in _forms(case):
        for d in (d for d in case.documents if not (d.defect or (solved and d.worked))):
            shown, scored = example_answer(case.spec, case.prompt, d, form), answers(case.prompt, d, form)
            if scored and case.spec.scoring.answer.has_choices and shown != scored[int(d.gold or 0)]:
                complaints.append(f"{case.at(d)}: its answer as an example is {shown!r}")
    return complaints


def _forms(case: Case) -> list[str]:
    return [form for form in case.spec.answer_forms if suits(case.prompt, form)]


class WithExamples(InMemoryTask):
    """The harness' task of a cell, with other examples than the cell's own."""

    def __init__(self, cell: TaskCell, documents: Sequence[Document], chosen: Callable[[Document], list[Document]]):
        self._chosen = chosen
        super().__init__(cell, documents)

    def examples(self, document: Document, shots: int) -> list[Document]:
        """Returns the first of the chosen examples."""
        return self._chosen(document)[:shots]

    @property
    def of_documents(self) -> list[Any]:
        """The requests, but for those with neutral prompts."""
        self.build_all_requests()
        return [request for request in self.instances if request.doc_id != NO_DOCUMENT]


def few_shot_prompts_look_scored(case: Case) -> Complaints:
    """What the harness asks: examples, each with its answer, then the document, and the continuations scored."""
    usable = [replace(d, id=i) for i, d in enumerate(d for d in case.documents if not d.defect)]
    if len(usable) <= SHOTS:
        return [f"{case.at()}: no document is left beside the {SHOTS} examples"]
    return [c for form in _forms(case) for c in _few_shot(case, form, usable[: SHOTS + 1])]


def _few_shot(case: Case, form: str, asked: list[Document]) -> Complaints:
    pool = asked[:SHOTS]
    answer = {d.id: " " + example_answer(case.spec, case.prompt, d, form) for d in pool}
    settings = CellSettings(shots=SHOTS)
    split, files = Split(asked, "", {}), case.files or PromptFiles(case.spec)
    cell = TaskCell(case.spec, case.language, case.prompt, "eng", form, split, None, settings, files)
    requests = WithExamples(cell, asked, lambda document: pool).of_documents
    golds = {d.id: d.gold for d in asked}
    contexts = {r.doc_id: r.args[0] for r in requests if r.idx in (0, golds[r.doc_id])}
    scored = {d.id: [r.args[1] for r in requests if r.doc_id == d.id] for d in asked}
    expected = {d.id: [f" {word}" for word in answers(case.prompt, d, form)] for d in asked}
    shown = {d.id: cell.text(d) if cell.fills else render(case.prompt, d, case.language) for d in asked}
    examples = "".join(f"{shown[d.id]}{answer[d.id]}\n\n" for d in pool)
    complaints = []
    for d in asked:
        if form != "generate" and scored[d.id] != expected[d.id]:
            complaints.append(f"{case.at(d)}: scored are {scored[d.id]}, not {expected[d.id]}")
        expected_text = f"{case.header(d)}{examples}{shown[d.id]}"
        if contexts[d.id] != expected_text:
            complaints.append(f"{case.at(d)}: asked is\n{contexts[d.id]}\nand not\n{expected_text}")
    return complaints


# Checks of one prompt


def labels_differ(case: Case, siblings: Mapping[int, Prompt]) -> Complaints:
    """No label starts with another, and a word means one class in the whole file."""
    prompt = case.prompt
    complaints = []
    for (a, first), (b, second) in combinations(prompt.labels.items(), 2):
        short, long = sorted((first.casefold(), second.casefold()), key=len)
        if long.startswith(short):
            complaints.append(f"{case.at()}: label {a} {first!r} and label {b} {second!r} begin alike")
    everywhere = [(p.number, name, word) for p in siblings.values() for name, word in p.labels.items()]
    for name, word in prompt.labels.items():
        for number, other, its_word in everywhere:
            if other != name and word.casefold() in (other.casefold(), its_word.casefold()):
                complaints.append(f"{case.at()}: {word!r} is {name}, but {other} in prompt {number}")
    return complaints


def clean(case: Case) -> Complaints:
    prompt = case.prompt
    texts = {"prompt": case.render(case.placeholder), "system text": prompt.system}
    texts |= {"template": prompt.template.removesuffix("\n"), "header": prompt.header.removesuffix("\n")}
    texts |= {f"label {name}": word for name, word in prompt.labels.items()}
    texts |= {f"words for {raw}": words for field in prompt.values.values() for raw, words in field.items()}
    allowed = WITH_REASON if prompt.blanks else set()
    faults = [(name, f) for name, text in texts.items() for f in _unclean(text) if f not in allowed]
    complaints = [f"{case.at()}: {name}: {f}: {texts[name]!r}" for name, f in faults]
    if prompt.blanks and not any(WITH_REASON & {*_unclean(text)} for text in texts.values()):
        complaints.append(f"{case.at()}: it has no run of blanks, but a reason for them")
    if prompt.language == ENGLISH and re.search(r"[a-z]{2}[.!?][A-Z]", texts["prompt"]):
        complaints.append(f"{case.at()}: no blank follows a full stop")
    if prompt.language == ENGLISH and texts["prompt"].count('"') % 2:
        complaints.append(f"{case.at()}: a quotation mark is not closed")
    if re.search(r"{{|}}|{%|%}|{#", texts["prompt"]):
        complaints.append(f"{case.at()}: the prompt holds template code: {texts['prompt']!r}")
    return complaints


def _unclean(text: str) -> list[str]:
    faults = {
        RUN_OF_BLANKS: r"[^\S\n]{2}",
        "a blank at a line's end": r"[^\S\n](\n|\Z)",
        "a leading blank": r"(?m)^[^\S\n]",
        EMPTY_LINES: r"\n\n\n",
        EMPTY_END: r"\A\n|\n\Z",
        "a blank that is none": r"[^\S \n]|[\u200b\u2060\ufeff\u00ad]",
        "a backslash": r"\\",
    }
    found = [fault for fault, pattern in faults.items() if re.search(pattern, text)]
    return found if unicodedata.is_normalized("NFC", text) else [*found, "not NFC"]


def words_only(template: str) -> str:
    return re.sub(r"{{.*?}}|{%.*?%}", " ", template)


_PART_OF_A_WORD = r"[\w\u0300-\u036f\u135d-\u135f]"  # Python's \w leaves out tone marks and the like


def has_word(text: str, word: str) -> bool:
    return _cut(text, word) != text


def _cut(text: str, word: str) -> str:
    return re.sub(rf"(?<!{_PART_OF_A_WORD}){re.escape(word)}(?!{_PART_OF_A_WORD})", "", text)
