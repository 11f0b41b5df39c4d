"""Parses tables of any supported format, and texts with a row per line, to rows: column to value."""

import codecs
import json
import re
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, NoReturn

from afrieval._util.delimited import line_end, parse_delimited
from afrieval._util.errors import UserError

Row = dict[str, Any]
DEFECT = "(defect)"  # the key, not a column of any data set, for why a row cannot be scored
DELIMITERS = {".tsv": "\t", ".csv": ","}
SENTENCES = (".txt", ".conll")
DOCUMENT = "-DOCSTART-"  # a line that begins with it separates documents
_BLANKS = " \t"  # not all of Unicode's: a no-break space may be a token
SURROGATE = re.compile("[\ud800-\udfff]")
DEEPEST = 100  # levels of a JSON row; published data has a handful
SAVE = "save the sheet as CSV UTF-8, in Excel or LibreOffice"
FORMS = {  # how files that are not text begin, and what to do with them
    b"PK\x03\x04": ("a workbook of Excel, or a ZIP archive", f"{SAVE}; unpack an archive"),
    b"\xd0\xcf\x11\xe0": ("a workbook of an old Excel", SAVE),
    b"\x1f\x8b": ("compressed with gzip", "unpack it with gunzip"),
    b"PAR1": ("a Parquet file", "name it .parquet"),
}
MARKS = {codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
HOLDERS = ("data", "rows", "examples", "instances")  # keys of a map that has all rows of a file


def read_rows(path: Path, content: bytes, columns: Sequence[str] = ()) -> list[Row]:
    """Returns the rows of a table, by its header; all values of a csv or tsv file are text.

    The rows of a CoNLL file (txt or conll) are its sentences: lists of `tokens` and `tags`.

    Args:
        path: its suffix is the format; messages name it.
        content: the file's bytes.
        columns: those of a csv or tsv file without a header; one that is given several times is a list of cells.

    Returns:
        All rows, in order; one of a csv, tsv or CoNLL file that cannot be parsed has the key DEFECT, which says why.

    Raises:
        UserError: if no row can be parsed.
    """
    if ".parquet" in path.suffixes[-2:]:  # as in x.parquet.gzip, whose columns are compressed
        return _parquet_rows(path, content)
    check_is_text(path, content)
    if path.suffix not in (*DELIMITERS, *SENTENCES, ".json", ".jsonl"):
        _refuse(
            path,
            f"the format {path.suffix or '(no suffix)'} is not supported",
            "it must be tsv, csv, json, jsonl, parquet, or txt or conll (CoNLL)",
        )
    text = decoded(path, content)
    if path.suffix in DELIMITERS:
        return _delimited_rows(path, text, columns)
    if path.suffix in SENTENCES:
        rows = parse_conll(text)
        if rows and all(DEFECT in row for row in rows):
            _refuse(path, f"no sentence can be parsed; {rows[0][DEFECT]}")
        return [row | {DEFECT: f"{path.name}, {row[DEFECT]}"} if DEFECT in row else row for row in rows]
    return _json_rows(path, text)


def check_is_text(path: Path, content: bytes) -> None:
    """Refuses a file that another program has to convert first."""
    if form := next((form for start, form in FORMS.items() if content.startswith(start)), None):
        _refuse(path, f"it is {form[0]}", form[1])


def decoded(path: Path, content: bytes) -> str:
    """Returns the text of a file in UTF-8, or in UTF-16 or UTF-32, without a byte order mark."""
    start = content[:1000]
    # Without a mark, every other byte of Latin letters is 0 in UTF-16.
    even, odd = (start[offset::2].count(0) * 4 > len(start) for offset in (0, 1))
    unmarked = {(False, True): "utf-16-le", (True, False): "utf-16-be"}.get((even, odd), "utf-8-sig")
    try:
        return content.decode(next((coding for mark, coding in MARKS.items() if content.startswith(mark)), unmarked))
    except UnicodeDecodeError as e:
        line = content[: e.start].count(b"\n") + 1
        hint = "save it as UTF-8, which Excel calls CSV UTF-8; or download it again"
        _refuse(path, f"line {line} is not UTF-8 text, maybe Windows-1252", hint)


def _json_rows(path: Path, text: str) -> list[Row]:
    lines = [(f"line {number}", line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    by_line = path.suffix == ".jsonl" or text.lstrip().startswith("{")
    if by_line and (_is_json(lines[0][1] if lines else "{}") or not _is_json(text)):
        rows = [_json_row(path, _json(path, line, where), where) for where, line in lines]
        return _held(path, rows[0]) if len(rows) == 1 else rows
    whole = _json(path, text, "")
    if isinstance(whole, dict):
        return _held(path, _json_row(path, whole, "it"))
    if not isinstance(whole, list):
        _refuse(path, "it is not a list of rows")
    return [_json_row(path, row, f"row {number}") for number, row in enumerate(whole)]


def _is_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict | list)
    except (ValueError, RecursionError):
        return False


def _held(path: Path, row: Row) -> list[Row]:
    """Returns the rows that a map holds, as files for SQuAD do; the map itself, as the only row, if it holds none."""
    lists = [row[name] for name in HOLDERS if isinstance(row.get(name), list) and row[name]]
    if len(lists) == 1 and all(isinstance(one, dict) for one in lists[0]):
        return list(lists[0])
    return [row]


def _delimiter(path: Path, text: str) -> str:
    """Returns what separates a table's columns: not what the suffix says if only another character does so."""
    usual = DELIMITERS[path.suffix]
    header = next((line for line in text.splitlines() if line.strip()), "")
    for other in () if usual in header else (";", "\t", ","):
        rows = parse_delimited(text, other) if other in header else []
        if rows and not any(row.defect for row in rows):
            return other
    return usual


def _delimited_rows(path: Path, text: str, named: Sequence[str]) -> list[Row]:
    records = parse_delimited(text, DELIMITERS[path.suffix] if named else _delimiter(path, text), named)
    header, *records = records or _refuse(path, "it is empty")
    columns = header.cells
    if named and not records:
        _refuse(path, "it is empty")
    twice = [name for name in columns if name and columns.count(name) > 1]
    if twice and not named:
        _refuse(path, f"the header has the column {twice[0]!r} twice")
    if header.defect:
        _refuse(path, header.defect, "it must be UTF-8 text")
    if records and all(record.defect for record in records):
        _refuse(path, f"no row can be parsed; {records[0].defect}")
    rows: list[Row] = []
    for record in records:
        pairs = list(zip_longest(columns, record.cells, fillvalue=""))
        rows.append(dict(pairs) | {name: [cell for column, cell in pairs if column == name] for name in twice})
        if record.defect:
            rows[-1][DEFECT] = f"{path.name}, {record.defect}"
    return rows


def parse_conll(text: str) -> list[Row]:
    """Returns the sentences of a text, in order: lists of `tokens` and `tags`, and DEFECT if a line is not both.

    Columns are separated by a tab, or else by blanks.
    """
    rows: list[Row] = []
    inside = False
    for number, line in enumerate(re.split(line_end(text), text), 1):
        content = line.strip(_BLANKS)
        if not content or content.startswith(DOCUMENT):
            inside = False
            continue
        if not inside:
            rows.append({"tokens": [], "tags": []})
            inside = True
        cells = [cell.strip(_BLANKS) for cell in line.split("\t")] if "\t" in line else line.split(" ")
        columns = [cell for cell in cells if cell]
        if len(columns) == 2:
            rows[-1]["tokens"].append(columns[0])
            rows[-1]["tags"].append(columns[1])
        elif DEFECT not in rows[-1]:
            number_of_columns = "1 column" if len(columns) == 1 else f"{len(columns)} columns"
            rows[-1][DEFECT] = f"line {number}: {number_of_columns} instead of a token and a tag"
    return rows


def _parquet_rows(path: Path, content: bytes) -> list[Row]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(pa.BufferReader(content))
        level = [column.type for column in table.schema]
        for _ in range(DEEPEST):
            level = [kind.field(at).type for kind in level for at in range(kind.num_fields)]
        rows: list[Row] = [] if level else table.to_pylist()
    except Exception as e:  # pyarrow raises its own, Python's and the decompressors'
        _refuse(path, " ".join(str(e).split()) or type(e).__name__)
    return _refuse(path, "a column is nested too deeply") if level else rows


def _json(path: Path, text: str, where: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_map, parse_constant=_not_a_number)
    except json.JSONDecodeError as e:
        _refuse(path, f"{where or f'line {e.lineno}'} is not JSON: {e.msg.removesuffix(' at')} at column {e.colno}")
    except RecursionError:
        _refuse(path, f"{where or 'it'} is nested too deeply")
    except ValueError as e:  # from the two functions, or a number with thousands of digits
        _refuse(path, f"{where}: {e}".removeprefix(": ").partition(";")[0])


def _json_row(path: Path, row: Any, where: str) -> Row:
    if not isinstance(row, dict):
        _refuse(path, f"{where} is not a map of columns and values: {json.dumps(row)[:40]}")
    level: list[Any] = [row]
    for _ in range(DEEPEST):
        if not level:
            return row
        if any(isinstance(value, str) and SURROGATE.search(value) for value in level):
            _refuse(path, f"{where} contains half of a surrogate pair, which is not a character")
        held = [
            value.values() if isinstance(value, dict) else value for value in level if isinstance(value, dict | list)
        ]
        level = [value for values in held for value in values]
    if level:
        _refuse(path, f"{where} is nested too deeply")
    return row


def _map(pairs: list[tuple[str, Any]]) -> Row:
    row = dict(pairs)
    if len(row) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {next(name for name in names if names.count(name) > 1)!r} is given twice")
    return row


def _not_a_number(name: str) -> None:
    """Returns a missing value for NaN, as Python's json module writes pandas' missing values."""
    if name != "NaN":
        raise ValueError(f"{name} is not a JSON number")


def _refuse(path: Path, why: str, cure: str = "check the file, or download it again") -> NoReturn:
    raise UserError(f"{path} cannot be parsed: {why}", cure) from None


def parallel_rows(texts: Mapping[str, tuple[Path, bytes]]) -> list[Row]:
    """Returns the rows of parallel texts; an empty line is an empty cell.

    Raises:
        UserError: if a file is not UTF-8 text, or the files have different numbers of lines.
    """
    columns: dict[str, list[str]] = {}
    for column, (path, content) in texts.items():
        lines = decoded(path, content).replace("\r\n", "\n").split("\n")  # U+2028 and such belong to a line
        columns[column] = lines if lines[-1] else lines[:-1]
    (first, path), *others = ((column, path) for column, (path, _) in texts.items())
    for column, other in others:
        if len(columns[column]) != len(columns[first]):
            raise UserError(
                f"{path} has {len(columns[first])} lines, but {other} has {len(columns[column])}",
                "line n of one must be the translation of line n of the other; download both files again",
            )
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
