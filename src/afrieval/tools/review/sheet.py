"""A review sheet of native prompts: what a speaker sees of each string, as a model gets it, and what they fill in."""

from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path

from afrieval._util.errors import UserError, nearest
from afrieval._util.grouping import grouped, ranges
from afrieval.languages import ENGLISH, LANGUAGES
from afrieval.tasks.data.document import Document
from afrieval.tasks.data.files import SAMPLES
from afrieval.tasks.data.splits import load_split
from afrieval.tasks.declaration.spec import TaskSpec, load_task
from afrieval.tasks.prompts.prompts import Prompt, answers, load_prompts, render, render_header
from afrieval.tasks.prompts.reviews import VERDICTS, is_rewritten, read_reviews, status
from afrieval.tasks.prompts.vocabulary import (
    CLOSING,
    CLOSINGS,
    REFERENCE,
    Note,
    String,
    load_vocabulary,
    shown_closing,
    strings,
)
from afrieval.tools.review.forms import HOW_TO, ID, SheetForm, form_bytes, read_form

TITLE, NAME, DIALECT = "afrieval review", "your name", "your dialect or region"
TASK = (
    "These texts ask a language model questions. Compare each with the English text; the example shows what the model "
    "gets. For each row, choose a verdict: ok, change or unsure. For change, write the new text. Keep what is in "
    "braces { }, which the computer fills in, and the number of lines. Leave the verdict empty for what you did not "
    "look at. Then save the file and send it."
)
# The name of a column in files to the attribute of `SheetRow`.
COLUMNS = {
    ID: "id",
    "status": "status",
    "English": "english",
    "native": "native",
    "back-translation": "back",
    "example": "example",
    "evidence": "evidence",
    "doubt": "doubt",
    "verdict": "verdict",
    "new text": "new",
    "comment": "comment",
    "dialect": "dialect",
}
SHARED = {"words": "Words that all tasks share", "languages": "Names of languages"}
NEEDED = ("id", "native", "verdict", "new text")
FILLED_IN = ("verdict", "new text", "comment", "dialect")
WIDTHS = {ID: 23, "status": 11, "verdict": 9, "dialect": 12}  # in characters
WIDTHS |= dict.fromkeys(("back-translation", "evidence", "doubt", "comment"), 24)
WIDE = 34
LONGEST, UNUSED = 160, "not used yet"


@dataclass(frozen=True)
class SheetRow:
    """A string as a sheet shows it, and a speaker's remarks.

    Attributes:
        number: the row in the file, from 1.
        back: what the native text says, translated back into English.
        example: what a model gets to see, with the text in it.
    """

    id: str
    status: str = ""
    english: str = ""
    native: str = ""
    back: str = ""
    example: str = ""
    evidence: str = ""
    doubt: str = ""
    verdict: str = ""
    new: str = ""
    comment: str = ""
    dialect: str = ""
    number: int = 0

    @property
    def task(self) -> str:
        """The task; `words` or `languages` for words that tasks share."""
        return self.id.partition("/")[0]

    @property
    def title(self) -> str:
        """What the string is, in words."""
        first, *rest = self.id.split("/")
        if first in ("words", "languages"):
            return " ".join(rest).replace("_", " ")
        if rest[0].isdigit():
            return f"Prompt {rest[0]}" + (f", answer {'/'.join(rest[2:])!r}" if rest[1] == "labels" else "")
        if rest[0] == "labels":
            return f"Answer {'/'.join(rest[1:])!r}"
        named = {"system": "Instruction for chat models", "lead_in": "Words before an answer"}
        return named.get(rest[0]) or ": ".join(rest[1:]).replace("_", " ")


@dataclass(frozen=True)
class Sheet:
    """All rows of a language, and who fills them in; `titles` has titles of tasks by name."""

    language: str
    rows: list[SheetRow]
    reviewer: str = ""
    dialect: str = ""
    titles: dict[str, str] = field(default_factory=dict)


def sheet_of(root: Path, language: str, shown: bool = True) -> Sheet:
    """Returns the empty sheet of a language.

    Args:
        root: contains `tasks/`, `vocabulary/` and `reviews/`.
        language: its code.
        shown: whether rows have the prompts in which their strings are shown, which takes half of the time.

    Raises:
        UserError: if the language has no native prompts.
    """
    languages = native_languages(root)
    if language not in languages:
        raise UserError(f"{language!r} has no native prompts", nearest(language, languages))
    rows = list(_rows(root, language, shown))
    tasks = dict.fromkeys(row.task for row in rows)
    titles = {task: SHARED[task] if task in SHARED else load_task(task, root / "tasks").title for task in tasks}
    return Sheet(language, rows, titles=titles)


def native_languages(root: Path) -> list[str]:
    """Returns the codes of all languages with native prompts, sorted by the language's name."""
    files = (root / "tasks").glob("**/prompts/*.yaml")
    return sorted({p.stem for p in files} & {*LANGUAGES} - {ENGLISH}, key=lambda code: LANGUAGES[code].name)


def _rows(root: Path, language: str, shown: bool) -> Iterator[SheetRow]:
    native, english = strings(root, language), strings(root, ENGLISH)
    reviews = read_reviews(root / "reviews" / f"{language}.yaml")
    vocabulary = root / "vocabulary" / f"{language}.yaml"
    notes = load_vocabulary(vocabulary).notes if vocabulary.is_file() else {}
    examples_of = examples(root, language, native) if shown else {}
    for string in native.values():
        if string.is_reference:  # whoever reviews the word reviews it
            continue
        last = string.id.rpartition("/")[2]
        if same := english.get(string.id):
            in_english = filled(same.text, english)
        elif string.id.startswith("languages/") and last in LANGUAGES:  # what English prompts lack: a language's name,
            in_english = LANGUAGES[last].name
        else:  # or a word from the data
            in_english = last.replace("_", " ") if "/values/" in string.id else ""
        note = Note() if is_rewritten(string, reviews) else notes.get(string.id, Note())
        example, state = examples_of.get(string.id, ""), status(string, reviews)
        yield SheetRow(string.id, state, in_english, string.text, note.back, example, note.evidence, note.doubt)


def sheet_bytes(sheet: Sheet, path: Path) -> bytes:
    """Returns a sheet in the format of a file that `check_form` accepts."""
    head = {NAME: sheet.reviewer, DIALECT: sheet.dialect, HOW_TO: TASK}
    form = SheetForm(
        title=TITLE,
        language=sheet.language,
        head=head,
        columns={name: WIDTHS.get(name, WIDE) for name in COLUMNS},
        rows=[astuple(row)[: len(COLUMNS)] for row in sheet.rows],
        groups=[(sheet.titles.get(row.task, row.task), row.title) for row in sheet.rows],
        chosen="verdict",
        choices=dict.fromkeys(VERDICTS, ""),
        filled=(NAME, DIALECT, *FILLED_IN),
        native=("native", "new text"),
        checked="native",
        compared=("English", "native"),
        marked=("English", "native"),
    )
    return form_bytes(form, path)


def read_sheet(path: Path) -> Sheet:
    """Returns the sheet in a file; raises UserError if it cannot be read, or is not a review sheet."""
    filled_in = read_form(path, TITLE, NEEDED, "afrieval review sheet")
    rows = [
        SheetRow(**{"id": "", **{COLUMNS[name]: text for name, text in row.items() if name in COLUMNS}}, number=number)
        for number, row in filled_in.rows.items()
    ]
    return Sheet(filled_in.language, rows, filled_in.head.get(NAME, ""), filled_in.head.get(DIALECT, ""))


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
