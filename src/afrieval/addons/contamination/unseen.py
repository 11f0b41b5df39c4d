"""Texts that a model cannot have seen: the suite's sample rows, or a file."""

from collections.abc import Collection, Sequence
from pathlib import Path

from afrieval._util.errors import UserError
from afrieval._util.files import read_bytes, user_path
from afrieval._util.tables import DEFECT, Row, decoded, read_rows
from afrieval._util.terminal import shortened
from afrieval.addons.contamination.rows import question_text, units
from afrieval.config.settings import TaskConfig
from afrieval.languages import LANGUAGES
from afrieval.tasks.answers.cell_values import normalise
from afrieval.tasks.data.document import Document
from afrieval.tasks.data.files import SAMPLES
from afrieval.tasks.data.splits import load_split
from afrieval.tasks.declaration.spec import TaskSpec

TEXT, LANGUAGE, TASK = "text", "language", "task"  # columns
TABLES = (".json", ".jsonl", ".csv", ".tsv", ".parquet")


def unseen_rows(spec: TaskSpec, language: str, source: str, rows: Sequence[Row] | None) -> list[str]:
    """Returns texts to compare the rows of a test set with, which a model cannot have seen.

    `rows` are those of a file, as `read_unseen` returns them; None stands for sample rows, which are not compared with
    themselves.
    """
    if rows is not None:
        criteria = {LANGUAGE: language, TASK: spec.name}
        matching = [row for row in rows if all(row.get(name, value) == value for name, value in criteria.items())]
        return list(dict.fromkeys(normalise(row[TEXT]) for row in matching))
    if source == SAMPLES:
        return []
    splits = [load_split(spec, language, split, SAMPLES) for split in spec.data.files]
    questions = [question_text(spec, unit[0]) for split in splits if split for unit in units(spec, split.documents)]
    return list(dict.fromkeys(questions))


def check_unseen(spec: TaskSpec, language: str, documents: Sequence[Document], texts: Sequence[str]) -> None:
    """Rejects texts of a file that are in the test set, with the first of them in a UserError."""
    test_texts = {question_text(spec, row) for row in documents} | {
        text for row in documents for text in row.fields.values()
    }
    if seen := [text for text in texts if text in test_texts]:
        count = f"{len(seen)} of {len(texts)} texts" if len(seen) > 1 else "a text"
        raise UserError(
            f"task.unseen has {count} of the test set of {spec.name} in {language}, such as {seen[0]!r:.80}",
            "name a file whose texts are not in the test set",
        )


def read_unseen(task: TaskConfig, tasks: Collection[str]) -> list[Row] | None:
    """Returns the rows of the file of unseen texts, each with a text; None if none is named.

    Raises:
        UserError: if it cannot be read, a row has no text, it is not clear of which task and language rows are, or
            they are of unknown ones.
    """
    if task.unseen is None:
        return None
    path = user_path(task.unseen)
    rows = _rows(path)
    for number, row in enumerate(rows, 1):
        text = row.get(TEXT)
        if DEFECT in row or not isinstance(text, str) or not text.strip():
            raise UserError(f"{path}, row {number}: {row.get(DEFECT) or 'it has no text'}", _COLUMNS)
    if not rows:
        raise UserError(f"{path} has no texts", "give a file with unseen texts to task.unseen")
    for column, named in ((LANGUAGE, task.languages), (TASK, task.of)):
        has = sum(column in row for row in rows)
        if has < len(rows) and (has or len(named or ["all", "languages"]) > 1):
            raise UserError(f"{path} does not say which {column} each text is of", f"name one {column}, or {_COLUMNS}")
    allowed = {LANGUAGE: (LANGUAGES, "write ISO 639-3 codes, such as hau"), TASK: (tasks, "write the names of tasks")}
    for column, (names, cure) in allowed.items():
        if odd := next((number for number, row in enumerate(rows, 1) if row.get(column, min(names)) not in names), 0):
            shown = shortened(repr(rows[odd - 1][column]))
            raise UserError(f"{path}, row {odd}: there is no {column} {shown}", cure)
    return rows


_COLUMNS = f"give JSON lines, CSV or parquet with the column {TEXT}, and {LANGUAGE} and {TASK} if there are several"


def _rows(path: Path) -> list[Row]:
    content = read_bytes(path, "give another file to task.unseen")
    if path.suffix in TABLES:
        return read_rows(path, content)
    if path.suffix != ".txt":
        raise UserError(f"{path}: the format {path.suffix or '(no suffix)'} is not supported", f"{_COLUMNS}, or .txt")
    return [{TEXT: line.strip()} for line in decoded(path, content).splitlines() if line.strip()]
