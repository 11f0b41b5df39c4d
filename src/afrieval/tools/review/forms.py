"""The files that a review sheet can be: tables of cells and workbooks, written and read."""

import csv
import io
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from afrieval._util.errors import UserError
from afrieval._util.files import read_bytes, read_text
from afrieval.languages import LANGUAGES
from afrieval.tasks.prompts.reviews import VERDICTS
from afrieval.tools.review.sheet import (
    COLUMNS,
    DIALECT,
    HOW_TO,
    NAME,
    RIGHT_TO_LEFT,
    TITLE,
    Sheet,
    as_html,
    cells_of,
    sheet_from,
)

LARGEST_WORKBOOK = 2**24  # bytes
ROWS, COLUMNS_READ = 20_000, 40  # of a sheet, which has a row per string
LAST = 2**20  # the last row that a program can have
EMPTY = "delete what is below the last string, or copy the rows to a new sheet"
SAVE_AGAIN = "open it in Excel or LibreOffice and save it as .xlsx again"
# Widths of columns in characters; a line's height in points, and the most that a row may have.
WIDTHS = {"id": 23, "status": 11, "verdict": 9, "dialect": 12}
WIDTHS |= dict.fromkeys(("back-translation", "evidence", "doubt", "comment"), 24)
WIDE, LINE, HIGHEST = 34, 16, 409
BROAD = 1.5  # what a character outside the Latin script may take, in widths of one
FILLED_IN = ("verdict", "new text", "comment", "dialect")
YELLOW, GREY = "FFF8DC", "E7E6E6"


def as_xlsx(sheet: Sheet) -> bytes:
    """Returns a sheet as a workbook: texts only, wrapped, with a list of verdicts to choose from."""
    from openpyxl import Workbook
    from openpyxl.utils import get_column_letter
    from openpyxl.worksheet.datavalidation import DataValidation

    book = Workbook()
    page = book.active
    page.title = LANGUAGES[sheet.language].name
    for number, row in enumerate(cells_of(sheet), 1):
        for column, text in enumerate(row, 1):
            _put(page.cell(number, column), text)
    header = 1 + next(n for n, row in enumerate(cells_of(sheet)) if row == list(COLUMNS))
    _style(page, header, sheet)
    column = get_column_letter(list(COLUMNS).index("verdict") + 1)
    offered = DataValidation(type="list", formula1=f'"{",".join(VERDICTS)}"', allow_blank=True)
    offered.error = f"choose {', '.join(VERDICTS)}, or leave the cell empty"
    page.add_data_validation(offered)
    offered.add(f"{column}{header + 1}:{column}{page.max_row}")
    _fit_paper(page, header)
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def _put(cell: Any, text: str) -> None:
    """Writes a text, also one that looks like a number or a formula."""
    from openpyxl.styles import Alignment

    cell.value = text or None
    if text:
        cell.data_type = "s"
        cell.quotePrefix = True
    cell.number_format = "@"
    cell.alignment = Alignment(wrap_text=True, vertical="top")


def _style(page: Any, header: int, sheet: Sheet) -> None:
    from openpyxl.styles import Alignment, Border, Font, PatternFill, Side
    from openpyxl.utils import get_column_letter

    bold = Font(name="Calibri", size=11, bold=True)
    line, names = Side(style="thin", color="BFBFBF"), list(COLUMNS)
    yellow, grey = (PatternFill("solid", fgColor=colour) for colour in (YELLOW, GREY))
    for column, name in enumerate(names, 1):
        page.column_dimensions[get_column_letter(column)].width = WIDTHS.get(name, WIDE)
        page.cell(header, column).font, page.cell(header, column).fill = bold, grey
        for row in range(header + 1, page.max_row + 1):
            page.cell(row, column).border = Border(line, line, line, line)
            if name in FILLED_IN:
                page.cell(row, column).fill = yellow
            if name in ("native", "new text") and LANGUAGES[sheet.language].script in RIGHT_TO_LEFT:
                page.cell(row, column).alignment = Alignment(wrap_text=True, vertical="top", readingOrder=2)
    for row in range(1, header):
        title = page.cell(row, 1)
        title.font = bold
        if title.value != TITLE:
            page.merge_cells(start_row=row, end_row=row, start_column=2, end_column=4)
        if title.value in (NAME, DIALECT):
            page.cell(row, 2).fill = yellow
        if page.cell(row, 2).value == HOW_TO:
            page.row_dimensions[row].height = 4 * LINE
    for row, texts in enumerate(cells_of(sheet)[header:], header + 1):
        page.row_dimensions[row].height = min(HIGHEST, LINE * max(map(_lines, texts, names)))
    page.freeze_panes = page.cell(header + 1, 2)


def _lines(text: str, column: str) -> int:
    """Returns how many lines a text needs; LibreOffice does not fit the height of rows to them."""
    width = WIDTHS.get(column, WIDE) - 4
    return sum(1 + int(sum(BROAD if c > "\u1000" else 1 for c in line) / width) for line in text.split("\n"))


def _fit_paper(page: Any, header: int) -> None:
    from openpyxl.worksheet.page import PageMargins

    page.page_setup.orientation, page.page_setup.paperSize = "landscape", page.PAPERSIZE_A4
    page.page_setup.fitToHeight, page.sheet_properties.pageSetUpPr.fitToPage = 0, True
    page.page_margins = PageMargins(left=0.4, right=0.4, top=0.5, bottom=0.5)
    page.print_title_rows = f"{header}:{header}"


def from_xlsx(path: Path) -> Sheet:
    """Returns the sheet on the first page of a workbook.

    Raises:
        UserError: if the file cannot be read, or is not a review sheet.
    """
    content = io.BytesIO(read_bytes(path, SAVE_AGAIN, LARGEST_WORKBOOK))
    try:
        if sum(part.file_size for part in ZipFile(content).infolist()) > LARGEST_WORKBOOK:
            raise UserError(f"{path} is larger than {LARGEST_WORKBOOK} bytes when it is unpacked", SAVE_AGAIN)
        cells = _cells(content, path)
    except UserError:
        raise
    except Exception as e:  # damage shows itself in many ways: zip, zlib, XML, and what openpyxl makes of them
        raise UserError(f"{path} is not a workbook, or damaged: {type(e).__name__}: {e}", SAVE_AGAIN) from None
    return sheet_from(cells, str(path))


def _cells(content: io.BytesIO, path: Path) -> list[list[str]]:
    """Returns the texts of all rows up to the last one that has any; whatever size the sheet says it has."""
    from openpyxl import load_workbook

    found: list[list[str]] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about drop-down lists that Excel stores in its own way
        page = load_workbook(content, read_only=True).worksheets[0]
        page.reset_dimensions()
        empty = None
        for number, row in enumerate(page.iter_rows(max_col=COLUMNS_READ), 1):
            texts = [] if row is empty else list(_texts(row, path))  # rows that were not written are one object
            if number > (ROWS if any(texts) else LAST):
                raise UserError(f"{path} has a row {number:,}; {ROWS:,} are the limit for a sheet", EMPTY)
            if any(texts):
                found += [[] for _ in range(number - 1 - len(found))]
                found.append(texts)
            else:
                empty = row
    return found


def _texts(row: Iterable[Any], path: Path) -> Iterator[str]:
    for cell in row:
        if cell.data_type in "fe":
            raise UserError(
                f"{path}, cell {cell.coordinate}: {cell.value!r} is a formula or an error", "write it as text"
            )
        yield "" if cell.value is None else str(cell.value)


LARGEST = 2**22  # bytes
SEND = "give the .xlsx or .csv file that the reviewer saved"


def as_csv(sheet: Sheet) -> bytes:
    """Returns a sheet as CSV in UTF-8, with the byte order mark without which Excel takes it for another coding."""
    text = io.StringIO()
    csv.writer(text).writerows(cells_of(sheet))
    return text.getvalue().encode("utf-8-sig")


def from_csv(path: Path) -> Sheet:
    """Returns the sheet in a CSV file, with commas, semicolons or tabs between cells.

    Raises:
        UserError: if the file cannot be read, or is not a review sheet.
    """
    text = read_text(path, "save it as 'CSV UTF-8' or as .xlsx", LARGEST)
    delimiter = next((d for d in ",;\t" if text.lstrip('"').removeprefix(TITLE).lstrip('"').startswith(d)), ",")
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as e:
        raise UserError(f"{path} is not valid CSV: {e}", SEND) from None
    return sheet_from(rows, str(path))


WRITERS: dict[str, Callable[[Sheet], bytes]] = {".xlsx": as_xlsx, ".csv": as_csv, ".html": as_html}
READERS: dict[str, Callable[[Path], Sheet]] = {".xlsx": from_xlsx, ".csv": from_csv}


def sheet_bytes(sheet: Sheet, path: Path) -> bytes:
    """Returns a sheet in the format of a file that `check_form` accepts."""
    return WRITERS[path.suffix.lower()](sheet)


def check_form(path: Path) -> None:
    """Refuses a file that cannot be a sheet.

    Raises:
        UserError: if its suffix is not a sheet's, or its folder does not exist.
    """
    if path.suffix.lower() not in WRITERS:
        raise UserError(f"{path} is not the name of a sheet", f"it must end in {', '.join(WRITERS)}")
    if not path.parent.is_dir():
        raise UserError(f"the folder {path.parent} does not exist", "create it, or name another file")


def read_sheet(path: Path) -> Sheet:
    """Returns the sheet in a file; raises UserError if it cannot be read, or is not a review sheet."""
    if path.suffix.lower() not in READERS:
        raise UserError(f"{path} is not a filled-in sheet", SEND)
    if not path.exists():
        raise UserError(f"{path} does not exist", SEND)
    return READERS[path.suffix.lower()](path)
