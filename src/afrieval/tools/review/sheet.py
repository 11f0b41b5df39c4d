"""A review sheet of native prompts: what a speaker sees of each string, and what they fill in."""

from collections.abc import Iterator
from dataclasses import astuple, dataclass, field
from pathlib import Path

from afrieval._util.errors import UserError, nearest
from afrieval.languages import ENGLISH, LANGUAGES
from afrieval.tasks.declaration.spec import load_task
from afrieval.tasks.prompts.reviews import VERDICTS, is_rewritten, read_reviews, status
from afrieval.tasks.prompts.vocabulary import Note, load_vocabulary, strings
from afrieval.tools.review.forms import HOW_TO, ID, SheetForm, form_bytes, read_form
from afrieval.tools.review.shown_strings import examples, filled

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
