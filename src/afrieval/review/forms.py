"""The files that a review sheet can be: tables of cells, written and read."""

import csv
import io
from collections.abc import Callable
from pathlib import Path

from afrieval.errors import UserError
from afrieval.files.content import read_text
from afrieval.review.page import as_html
from afrieval.review.sheet import TITLE, Sheet, cells_of, sheet_from
from afrieval.review.xlsx import as_xlsx, from_xlsx

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
        UserError: if its name does not end as that of a sheet, or its folder does not exist.
    """
    if path.suffix.lower() not in WRITERS:
        raise UserError(f"the name {path} is not that of a sheet", f"it must end in {', '.join(WRITERS)}")
    if not path.parent.is_dir():
        raise UserError(f"the folder {path.parent} does not exist", "create it, or name another file")


def read_sheet(path: Path) -> Sheet:
    """Returns the sheet in a file.

    Raises:
        UserError: if it cannot be read, or is not a review sheet.
    """
    if path.suffix.lower() not in READERS:
        raise UserError(f"{path} is not a filled-in sheet", SEND)
    if not path.exists():
        raise UserError(f"{path} does not exist", SEND)
    return READERS[path.suffix.lower()](path)
