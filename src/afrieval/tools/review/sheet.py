"""A review sheet: what a speaker sees of each string, and what they fill in; also as a page for a browser."""

import re
from collections.abc import Iterator
from dataclasses import astuple, dataclass, field
from html import escape
from pathlib import Path

from jinja2 import Environment, StrictUndefined

from afrieval._util.errors import UserError, nearest
from afrieval._util.grouping import grouped
from afrieval.languages import ENGLISH, LANGUAGES
from afrieval.tasks.declaration.spec import load_task
from afrieval.tasks.prompts.reviews import VERDICTS, is_rewritten, read_reviews, status
from afrieval.tasks.prompts.vocabulary import Note, load_vocabulary, strings
from afrieval.tools.review.shown_strings import examples, filled

TITLE, NAME, DIALECT = "afrieval review", "your name", "your dialect or region"
HOW_TO = (
    "For each row, choose a verdict: ok, change or unsure. For change, write the new text. Keep what is in braces { } "
    "and the number of lines. Leave the verdict empty for what you did not look at. Then save the file and send it."
)
# The name of a column in files to the attribute of `SheetRow`.
COLUMNS = {
    "id": "id",
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
RIGHT_TO_LEFT = ("Arab",)  # scripts
# What begins a formula in a spreadsheet; an apostrophe before it keeps it a text, and one that is there gets another.
_FORMULA = re.compile(r"'*[=+\-@＝＋－＠]")
_GUARDED = re.compile(r"'+[=+\-@＝＋－＠]")


@dataclass(frozen=True)
class SheetRow:
    """A string as a sheet shows it, and what a speaker says of it.

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
    known = native_languages(root)
    if language not in known:
        raise UserError(f"{language!r} has no native prompts", nearest(language, known))
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
        same = english.get(string.id)
        texts = filled(same.text, english) if same else _in_english(string.id), string.text
        note = Note() if is_rewritten(string, reviews) else notes.get(string.id, Note())
        yield SheetRow(
            string.id,
            status(string, reviews),
            *texts,
            note.back,
            examples_of.get(string.id, ""),
            note.evidence,
            note.doubt,
        )


def _in_english(id: str) -> str:
    """Returns the English words of a string that English prompts lack: from the data, or a language's name."""
    last = id.rpartition("/")[2]
    if id.startswith("languages/") and last in LANGUAGES:
        return LANGUAGES[last].name
    return last.replace("_", " ") if "/values/" in id else ""


def cells_of(sheet: Sheet) -> list[list[str]]:
    """Returns a sheet as rows of cells: who reviews, what to do, a header, and a row for each string."""
    head = [[TITLE, sheet.language, LANGUAGES[sheet.language].name]]
    head += [[NAME, sheet.reviewer], [DIALECT, sheet.dialect], ["what to do", HOW_TO], list(COLUMNS)]
    cells = [*head, *(list(astuple(row)[: len(COLUMNS)]) for row in sheet.rows)]
    return [[f"'{cell}" if _FORMULA.match(cell) else cell for cell in row] for row in cells]


def sheet_from(cells: list[list[str]], where: str) -> Sheet:
    """Returns the sheet that rows of cells hold; columns are found by name, in any order.

    Raises:
        UserError: if they are not a review sheet.
    """
    cells = [[cell.replace("\r\n", "\n").replace("\r", "\n").strip() for cell in row] for row in cells]
    cells = [[cell[1:] if _GUARDED.match(cell) else cell for cell in row] for row in cells]
    named = {row[0]: (*row[1:], "")[0] for row in cells if row}
    header = next((n for n, row in enumerate(cells) if set(NEEDED) <= set(row)), None)
    language = named.get(TITLE, "")
    if header is None or language not in LANGUAGES:
        missing = f"a row with the columns {', '.join(NEEDED)}" if header is None else f"the row {TITLE!r}, LANGUAGE"
        raise UserError(
            f"{where} is not a review sheet: it lacks {missing}", "fill in a file that `afrieval review sheet` wrote"
        )
    rows = []
    for number, row in enumerate(cells[header + 1 :], header + 2):
        if any(row):
            known = zip(cells[header], row, strict=False)
            values = {COLUMNS[name]: text for name, text in known if name in COLUMNS}
            rows.append(SheetRow(**{"id": "", **values}, number=number))
    return Sheet(language, rows, named.get(NAME, ""), named.get(DIALECT, ""))


PAGE = Path(__file__).with_name("page.html")
_BRACES = re.compile(r"({{.*?}}|{%.*?%}|{answer})")


def as_html(sheet: Sheet) -> bytes:
    """Returns the page of a sheet, in UTF-8."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["marked"] = marked
    known = LANGUAGES[sheet.language]
    text = environment.from_string(PAGE.read_text(encoding="utf-8")).render(
        sheet=sheet,
        language=known.name,
        direction="rtl" if known.script in RIGHT_TO_LEFT else "ltr",
        groups={sheet.titles[task]: rows for task, rows in grouped(sheet.rows, lambda row: row.task).items()},
        verdicts=VERDICTS,
        head={"title": TITLE, "name": NAME, "dialect": DIALECT},
    )
    return text.encode()


def marked(text: str) -> str:
    """Returns a text as HTML in which what the computer fills in is marked."""
    parts = map(escape, _BRACES.split(text))
    return "".join(f"<mark>{part}</mark>" if at % 2 else part for at, part in enumerate(parts))
