"""Sheets that people fill in: tables of cells, workbooks and pages for a browser, written and read."""

import csv
import io
import re
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZipFile

from jinja2 import Environment, StrictUndefined

from afrieval._util.errors import UserError
from afrieval._util.files import read_bytes, read_text
from afrieval._util.grouping import grouped
from afrieval.languages import LANGUAGES

LARGEST_WORKBOOK = 2**24  # bytes
ROWS, COLUMNS_READ = 20_000, 40  # of a sheet, which has a row per string
LAST = 2**20  # the last row that a program can have
EMPTY = "delete what is below the last row that says something, or copy the rows to a new sheet"
SAVE_AGAIN = "open it in Excel or LibreOffice and save it as .xlsx again"
LINE, HIGHEST = 16, 409  # a line's height in points, and the most that a row may have
TALLEST = 320  # points of a head that stays in sight; a larger one would leave no room for rows on a small screen
BROAD = 1.5  # what a character outside the Latin script may take, in widths of one
YELLOW, GREY = "FFF8DC", "E7E6E6"
RIGHT_TO_LEFT = ("Arab",)  # scripts
PAGE = Path(__file__).with_name("page.html")
_BRACES = re.compile(r"({{.*?}}|{%.*?%}|{answer})")
# What begins a formula in a spreadsheet; an apostrophe before it keeps it a text, and one that is there gets another.
_FORMULA = re.compile(r"'*[=+\-@＝＋－＠]")
_GUARDED = re.compile(r"'+[=+\-@＝＋－＠]")
ID, HOW_TO = "id", "what to do"


@dataclass(frozen=True)
class SheetForm:
    """A sheet for somebody to fill in.

    Attributes:
        title: in its first cell, what kind of sheet it is.
        language: of the texts that are looked at.
        head: name to text, above the rows.
        columns: the first one is `id`; each with its width in characters.
        rows: a text for each column.
        groups: of each row, a heading that it has in common with others, and its own; only pages show them.
        chosen: the column in which one of some words is chosen.
        choices: these words, each with what it means.
        filled: names of the head, and columns, that are filled in.
        native: columns whose texts are in the language.
        checked: the column that must not be changed.
        compared: columns that a page shows side by side.
        marked: columns in which a page marks what the computer fills in.
    """

    title: str
    language: str
    head: Mapping[str, str]
    columns: Mapping[str, int]
    rows: Sequence[Sequence[str]]
    groups: Sequence[tuple[str, str]]
    chosen: str
    choices: Mapping[str, str]
    filled: Collection[str]
    native: Collection[str]
    checked: str
    compared: Collection[str] = ()
    marked: Collection[str] = ()

    @property
    def cells(self) -> list[list[str]]:
        """The whole sheet as rows of cells: title, head, names of the columns, and rows."""
        top = [[self.title, self.language, LANGUAGES[self.language].name], *map(list, self.head.items())]
        cells = [*top, list(self.columns), *map(list, self.rows)]
        return [[f"'{cell}" if _FORMULA.match(cell) else cell for cell in row] for row in cells]

    @property
    def header(self) -> int:
        """The number of the row that names the columns."""
        return len(self.head) + 2

    @property
    def is_right_to_left(self) -> bool:
        """Whether the language is written so."""
        return LANGUAGES[self.language].script in RIGHT_TO_LEFT


class FilledIn(NamedTuple):
    """A form as somebody filled it in: rows by number, with texts by column; columns may be in any order."""

    language: str
    head: dict[str, str]
    rows: dict[int, dict[str, str]]


def as_xlsx(form: SheetForm) -> bytes:
    """Returns a form as a workbook: texts only, wrapped, with a list of words to choose from."""
    from openpyxl import Workbook
    from openpyxl.styles import Alignment
    from openpyxl.utils import get_column_letter
    from openpyxl.worksheet.datavalidation import DataValidation
    from openpyxl.worksheet.page import PageMargins

    book = Workbook()
    page = book.active
    page.title = LANGUAGES[form.language].name
    for number, row in enumerate(form.cells, 1):
        for column, text in enumerate(row, 1):
            cell = page.cell(number, column)
            cell.value, cell.number_format = text or None, "@"
            cell.alignment = Alignment(wrap_text=True, vertical="top")
            if text:  # also one that looks like a number or a formula
                cell.data_type, cell.quotePrefix = "s", True
    _style(page, form)
    column = get_column_letter(list(form.columns).index(form.chosen) + 1)
    offered = DataValidation(type="list", formula1=f'"{",".join(form.choices)}"', allow_blank=True)
    offered.error = f"choose {', '.join(form.choices)}, or leave the cell empty"
    page.add_data_validation(offered)
    offered.add(f"{column}{form.header + 1}:{column}{page.max_row}")
    page.page_setup.orientation, page.page_setup.paperSize = "landscape", page.PAPERSIZE_A4
    page.page_setup.fitToHeight, page.sheet_properties.pageSetUpPr.fitToPage = 0, True
    page.page_margins = PageMargins(left=0.4, right=0.4, top=0.5, bottom=0.5)
    page.print_title_rows = f"{form.header}:{form.header}"
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def _style(page: Any, form: SheetForm) -> None:
    from openpyxl.styles import Alignment, Border, Font, PatternFill, Side
    from openpyxl.utils import get_column_letter

    bold, header, widths = Font(name="Calibri", size=11, bold=True), form.header, list(form.columns.values())
    line = Side(style="thin", color="BFBFBF")
    yellow, grey = (PatternFill("solid", fgColor=colour) for colour in (YELLOW, GREY))
    for column, (name, width) in enumerate(form.columns.items(), 1):
        page.column_dimensions[get_column_letter(column)].width = width
        page.cell(header, column).font, page.cell(header, column).fill = bold, grey
        for row in range(header + 1, page.max_row + 1):
            page.cell(row, column).border = Border(line, line, line, line)
            if name in form.filled:
                page.cell(row, column).fill = yellow
            if name in form.native and form.is_right_to_left:
                page.cell(row, column).alignment = Alignment(wrap_text=True, vertical="top", readingOrder=2)
    for row in range(1, header):
        title = page.cell(row, 1)
        title.font = bold
        if row > 1:
            page.merge_cells(start_row=row, end_row=row, start_column=2, end_column=4)
        if title.value in form.filled:
            page.cell(row, 2).fill = yellow
        page.row_dimensions[row].height = _height([str(page.cell(row, 2).value or "")], [sum(widths[1:4])])
    for row, texts in enumerate(form.cells[header:], header + 1):
        page.row_dimensions[row].height = _height(texts, widths)
    tall = sum(page.row_dimensions[row].height for row in range(1, header)) > TALLEST
    page.freeze_panes = page.cell(1 if tall else header + 1, 2)


def _height(texts: Sequence[str], widths: Sequence[int]) -> int:
    """Returns the height of a row in points; LibreOffice does not fit it to the texts."""
    most = 1
    for text, width in zip(texts, widths, strict=False):
        lengths = [sum(BROAD if c > "\u1000" else 1 for c in line) for line in text.split("\n")]
        most = max(most, sum(1 + int(length / (width - 4)) for length in lengths))
    return min(HIGHEST, LINE * most)


def from_xlsx(path: Path) -> list[list[str]]:
    """Returns the texts on the first page of a workbook.

    Raises:
        UserError: if the file cannot be read.
    """
    content = io.BytesIO(read_bytes(path, SAVE_AGAIN, LARGEST_WORKBOOK))
    try:
        if sum(part.file_size for part in ZipFile(content).infolist()) > LARGEST_WORKBOOK:
            raise UserError(f"{path} is larger than {LARGEST_WORKBOOK} bytes when it is unpacked", SAVE_AGAIN)
        return _cells(content, path)
    except UserError:
        raise
    except Exception as e:  # damage shows itself in many ways: zip, zlib, XML, and what openpyxl makes of them
        raise UserError(f"{path} is not a workbook, or damaged: {type(e).__name__}: {e}", SAVE_AGAIN) from None


def _cells(content: io.BytesIO, path: Path) -> list[list[str]]:
    """Returns the texts of all rows up to the last one that has any; whatever size the sheet says it has."""
    from openpyxl import load_workbook

    rows: list[list[str]] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about drop-down lists that Excel stores in its own way
        page = load_workbook(content, read_only=True).worksheets[0]
        page.reset_dimensions()
        empty = None
        for number, row in enumerate(page.iter_rows(max_col=COLUMNS_READ), 1):
            cells = () if row is empty else row  # rows that were not written are one object
            if odd := next((cell for cell in cells if cell.data_type in "fe"), None):
                problem = f"{path}, cell {odd.coordinate}: {odd.value!r} is a formula or an error"
                raise UserError(problem, "write it as text")
            texts = ["" if cell.value is None else str(cell.value) for cell in cells]
            if number > (ROWS if any(texts) else LAST):
                raise UserError(f"{path} has a row {number:,}; {ROWS:,} are the limit for a sheet", EMPTY)
            if any(texts):
                rows += [[] for _ in range(number - 1 - len(rows))]
                rows.append(texts)
            else:
                empty = row
    return rows


LARGEST = 2**22  # bytes
SEND = "give the .xlsx or .csv file that was filled in and saved"


def as_csv(form: SheetForm) -> bytes:
    """Returns a form as CSV in UTF-8, with the byte order mark without which Excel takes it for another coding."""
    text = io.StringIO()
    csv.writer(text).writerows(form.cells)
    return text.getvalue().encode("utf-8-sig")


def from_csv(path: Path) -> list[list[str]]:
    """Returns the texts in a CSV file, with commas, semicolons or tabs between cells.

    Raises:
        UserError: if the file cannot be read.
    """
    text = read_text(path, "save it as 'CSV UTF-8' or as .xlsx", LARGEST)
    first = re.match(r'"?[\w ]*"?([,;\t])', text)
    try:
        return list(csv.reader(io.StringIO(text, newline=""), delimiter=first[1] if first else ",", strict=True))
    except csv.Error as e:
        raise UserError(f"{path} is not valid CSV: {e}", SEND) from None


def as_html(form: SheetForm) -> bytes:
    """Returns the page of a form, in UTF-8."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["marked"] = marked
    rows = [dict(zip(form.columns, row, strict=True)) for row in form.rows]
    cards = [(*headings, row) for headings, row in zip(form.groups, rows, strict=True)]
    text = environment.from_string(PAGE.read_text(encoding="utf-8")).render(
        form=form,
        language=LANGUAGES[form.language].name,
        direction="rtl" if form.is_right_to_left else "ltr",
        groups=grouped(cards, lambda card: card[0]),
        others=[name for name in form.columns if name not in ("id", "status", *form.compared, *form.filled)],
        typed=[name for name in form.columns if name in form.filled and name not in (form.chosen, "new text")],
        kept=[name for name in form.columns if name in ("id", form.checked, *form.filled)],
    )
    return text.encode()


def marked(text: str) -> str:
    """Returns a text as HTML in which what the computer fills in is marked."""
    parts = map(escape, _BRACES.split(text))
    return "".join(f"<mark>{part}</mark>" if at % 2 else part for at, part in enumerate(parts))


WRITERS: dict[str, Callable[[SheetForm], bytes]] = {".xlsx": as_xlsx, ".csv": as_csv, ".html": as_html}
READERS: dict[str, Callable[[Path], list[list[str]]]] = {".xlsx": from_xlsx, ".csv": from_csv}


def form_bytes(form: SheetForm, path: Path) -> bytes:
    """Returns a form in the format of a file that `check_form` accepts."""
    return WRITERS[path.suffix.lower()](form)


def check_form(path: Path) -> None:
    """Refuses a file that cannot be a sheet.

    Raises:
        UserError: if its suffix is not a sheet's, or its folder does not exist.
    """
    if path.suffix.lower() not in WRITERS:
        raise UserError(f"{path} is not the name of a sheet", f"it must end in {', '.join(WRITERS)}")
    if not path.parent.is_dir():
        raise UserError(f"the folder {path.parent} does not exist", "create it, or name another file")


def read_form(path: Path, title: str, needed: Sequence[str], command: str) -> FilledIn:
    """Returns the head and the rows of a filled-in form.

    Args:
        path: a file that somebody saved.
        title: of the kind of form that it must be.
        needed: the columns that it must have.
        command: what writes such forms.

    Raises:
        UserError: if it cannot be read, or is not such a form.
    """
    if path.suffix.lower() not in READERS:
        raise UserError(f"{path} is not a filled-in sheet", SEND)
    if not path.exists():
        raise UserError(f"{path} does not exist", SEND)
    cells = [list(map(_text, row)) for row in READERS[path.suffix.lower()](path)]
    header = next((n for n, row in enumerate(cells) if set(needed) <= set(row)), None)
    head = {row[0]: (*row[1:], "")[0] for row in cells[:header] if row}
    if header is None or head.get(title) not in LANGUAGES:
        missing = f"a row with the columns {', '.join(needed)}" if header is None else f"the row {title!r}, LANGUAGE"
        raise UserError(f"{path} is not a review sheet: it lacks {missing}", f"fill in a file that `{command}` wrote")
    names = cells[header]
    rows = {n: dict(zip(names, row, strict=False)) for n, row in enumerate(cells[header + 1 :], header + 2) if any(row)}
    return FilledIn(head.pop(title), head, rows)


def _text(cell: str) -> str:
    text = cell.replace("\r\n", "\n").replace("\r", "\n").strip()
    return text[1:] if _GUARDED.match(text) else text
