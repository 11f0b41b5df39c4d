"""What the columns of a data set have that no task declares: its languages, its labels and its choices."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from afrieval._util.errors import UserError, choices, nearest
from afrieval._util.grouping import grouped
from afrieval._util.tables import Row
from afrieval._util.terminal import note, shortened
from afrieval.config.options import NewTask
from afrieval.languages import language_of, named
from afrieval.tasks.answers.cell_values import LONGEST, label_text, normalise, parse_list
from afrieval.tasks.answers.choices import LETTERS
from afrieval.tasks.data.schema import fill
from afrieval.tasks.data.splits import at_path
from afrieval.tools.new_task.layout import CODE, Whereabouts
from afrieval.tools.new_task.new_task_prompts import FORMS

MOST = len(LETTERS)  # labels
LONGEST_LABEL = 200  # characters
UNKNOWN = "0 or 1"  # `first_answer` of numbers that may count from either; no task with it is run
OF_LANGUAGES = re.compile("lang|locale", re.IGNORECASE)  # in the name of a column that may have further languages
COPY = "in a copy of the data, which may be a file, as in file:FILE"


class ReadRows(NamedTuple):
    """The rows of the evaluated split, by language.

    Attributes:
        where: the column that says which language a row is in, as in `data.where`; empty if each has files of its own.
        codes: language to the data set's code, or to the text of that column.
        path: the first file.
    """

    split: str
    whereabouts: Whereabouts
    where: dict[str, str]
    codes: dict[str, str]
    rows: dict[str, list[Row]]
    path: Path

    def cells(self, column: str) -> Iterator[Any]:
        """Yields the values of a column in all languages."""
        return (value for language in self.rows for value in self.cells_in(language, column))

    def cells_in(self, language: str, column: str) -> list[Any]:
        """Returns the values of a column, which may be named after the language's code, in the rows that have it."""
        name = fill(column, {"{code}": self.codes[language], "{language}": language})
        lists = ([row[name]] if name in row else at_path(row, name) for row in self.rows[language])
        return [value for values in lists for value in values]


def languages_in(
    rows: Sequence[Row], options: NewTask, languages: Sequence[str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Returns `data.where`, and language to its text, if a column says which language each row is in; else empty maps.

    Raises:
        UserError: if no such column has a language, columns do not agree, or rows cannot be told apart.
    """
    columns = _language_columns(rows, options)
    fit = [column for column, known in columns.items() if {*languages} <= {*known.values()}]
    if columns and not fit:
        column, texts = next(iter(columns.items()))
        missing = next(language for language in languages if language not in texts.values())
        problem = f"no row is in {named(missing)}: column {column!r} has {shortened(', '.join(texts))}"
        raise UserError(problem, f"name another language, or remove the column {COPY}")
    for other in fit[1:]:
        if any(columns[fit[0]].get(str(row.get(fit[0]))) != columns[other].get(str(row.get(other))) for row in rows):
            raise UserError(f"columns {fit[0]!r} and {other!r} name different languages", f"remove one of them {COPY}")
    return ({fit[0]: CODE}, _texts_of(fit[0], columns[fit[0]], languages)) if fit else ({}, {})


def _language_columns(rows: Sequence[Row], options: NewTask) -> dict[str, dict[str, str | None]]:
    """Returns the columns with the names of several languages: each text with its language, if the suite has it."""
    named_columns = {*(options.text or ()), *(options.choices or ()), options.label}
    columns: dict[str, dict[str, str | None]] = {}
    for column in dict.fromkeys(str(column) for row in rows for column in row):
        texts = sorted({str(row[column]) for row in rows if normalise(row.get(column))})
        languages = {text: language_of(text) for text in texts}
        if column not in named_columns and any(languages.values()) and len(languages) > 1:
            columns |= {column: languages} if all(languages.values()) or OF_LANGUAGES.search(column) else {}
    return columns


def _texts_of(column: str, texts: Mapping[str, str | None], languages: Sequence[str]) -> dict[str, str]:
    """Returns each language that is asked about with its text, with which no other text may begin."""
    codes: dict[str, str] = {}
    for text, language in texts.items():
        if language and (language in languages or not languages):
            others = [one for one, of in texts.items() if one != text and (of == language or one.startswith(text))]
            if others:
                problem = f"column {column!r} has both {text!r} and {others[0]!r}: their rows cannot be told apart"
                raise UserError(problem, f"write one of them differently {COPY}")
            codes[language] = text
    return {language: codes[language] for language in languages or codes}


def check_columns(read: ReadRows, options: NewTask) -> None:
    """Refuses options that are missing, or name columns that the rows do not have."""
    rows = next(iter(read.rows.values()))
    columns = list(dict.fromkeys(str(column) for row in rows for column in row))
    needed = {"kind": options.kind, "text": options.text, "label": options.label}
    needed |= {"choices": options.choices} if options.kind == "multiple_choice" else {}
    if missing := [f"--{name}" for name, value in needed.items() if not value]:
        hint = f"kinds are {', '.join(FORMS)}; columns are {', '.join(columns)}"
        raise UserError(f"{', '.join(missing)} must be given for a new task", hint)
    if options.choices and options.kind != "multiple_choice":
        raise UserError(f"--choices is given for kind {options.kind}", "leave it out, or give --kind multiple_choice")
    if options.label in (options.text or ()):
        raise UserError(f"--text and --label both name the column {options.label!r}", choices(columns))
    for column in [*(options.text or ()), *(options.choices or ()), str(options.label)]:
        _check_column(read, column, has_maps=column in (options.choices or ()))
        if column != options.label and not any(map(normalise, read.cells(column))):
            raise UserError(f"column {column!r} is empty", choices(columns))


def _check_column(read: ReadRows, column: str, has_maps: bool) -> None:
    odd = None if has_maps else next((cell for cell in read.cells(column) if isinstance(cell, dict)), None)
    if odd:
        hint = f"name what is in it, as in {column}.{'text' if 'text' in odd else next(iter(odd), 'text')}"
        raise UserError(f"column {column!r} has maps, such as {odd!r:.60}", hint)
    if lacking := next((language for language in read.rows if not read.cells_in(language, column)), None):
        problem = f"there is no column {column!r} in {named(lacking)}"
        raise UserError(problem, nearest(column, list(dict.fromkeys(map(str, read.rows[lacking][0])))))
    if set(re.findall("{.*?}", column)) - {"{code}", "{language}"}:
        raise UserError(f"the column {column!r} has brackets, which stand for {{code}} only", "rename the column")


def labels_and_words(read: ReadRows, column: str) -> tuple[list[str], dict[str, str]]:
    """Returns the labels of a column, and the words of prompts for them: names if the file has them, else its values.

    Names that are numbers would be taken for the numbers of the rows: these are the labels then.
    """
    cells = [cell for cell in read.cells(column) if label_text(cell)]
    if odd := next((cell for cell in cells if isinstance(cell, list | dict)), None):
        problem = f"column {column!r} has {type(odd).__name__}s, such as {odd!r:.60}, and no labels"
        raise UserError(problem, "name a column with one label in each row, or another --kind")
    if long := next((cell for cell in cells if len(normalise(cell)) > LONGEST_LABEL), None):
        problem = f"column {column!r} has a text of {len(normalise(long))} characters, which is no label"
        raise UserError(problem, "name another --label, or give --kind question")
    names = _class_names(read.path, column) if all(isinstance(cell, int) for cell in cells) else []
    words = dict(zip(names, names, strict=True))
    if any(name.isdecimal() for name in names):
        words = {str(number): name for number, name in enumerate(names)}
    if not names:
        texts = {label_text(cell) for cell in cells}
        numbers = all(text.isdecimal() for text in texts)
        words = {text: text.removesuffix(".0") for text in sorted(texts, key=lambda t: (len(t) if numbers else 0, t))}
    if alike := next((list(same) for same in grouped(words, str.casefold).values() if same[1:]), None):
        hint = "write them alike in the data; a copy of it will do, as in file:FILE"
        raise UserError(f"column {column!r} has labels that differ in case only: {', '.join(alike)}", hint)
    if not 2 <= len(words) <= MOST:
        hint = "name another --label" if len(words) < 2 else "name another --label, or give --kind question"
        raise UserError(f"column {column!r} has {len(words)} labels, but there must be 2 to {MOST}", hint)
    return list(words), words


def _class_names(path: Path, column: str) -> list[str]:
    """Returns the names of the numbers in a column, as `datasets` writes them to a Parquet file; none otherwise."""
    if ".parquet" not in path.suffixes[-2:]:
        return []
    import pyarrow.parquet as pq

    try:
        written = json.loads((pq.read_schema(path).metadata or {})[b"huggingface"])
        names = written["info"]["features"][column]["names"]
        return [normalise(name) for name in names]
    except (ValueError, KeyError, TypeError):
        return []


def choice_keys(read: ReadRows, columns: list[str], label: str) -> dict[str, Any]:
    """Returns the keys about choices: where they are, and how the answer names one.

    Answers that fit two ways of naming a choice, and mean different ones, are refused: a guess gives wrong scores.
    """
    keys: dict[str, Any] = {"choices": columns[0] if len(columns) == 1 else columns}
    if label in columns and len(columns) > 1:  # the right choice is in the same place in every row
        return keys | {"shuffle": True}
    pairs = list(_answered(read, columns, label))
    if not pairs:  # lists with a 1 for the right choice
        return keys
    by_text = keys | {"choice_labels": keys["choices"]}
    if named := _label_column(read, columns, pairs):
        return keys | {"choice_labels": named}
    if (numbering := _places(pairs)) is None:
        if any(text in shown for text, shown in pairs):
            _note_odd(label, [text for text, shown in pairs if text not in shown], len(pairs))
            return by_text
        problem = f"column {label!r} has {min(pairs)[0]!r:.60}, but must have letters, numbers or texts of choices"
        raise UserError(problem, "name another --label, or other --choices")
    positions, counted = numbering
    odd = [text for at, (text, shown) in zip(positions, pairs, strict=True) if not 0 <= at < len(shown)]
    both = [(at, text, shown) for at, (text, shown) in zip(positions, pairs, strict=True)]
    if any(text not in shown for _, text, shown in both) or all(
        shown[at : at + 1] == [text] for at, text, shown in both
    ):
        _note_odd(label, odd, len(pairs))
        return keys | counted
    if odd:  # too high for a place
        return by_text
    problem = f"column {label!r} has {pairs[0][0]!r}, which may be a choice's text or its place"
    raise UserError(problem, "write letters in the file, or name another --label")


def _places(pairs: Sequence[tuple[str, list[str]]]) -> tuple[list[int], dict[str, Any]] | None:
    """Returns the place that each number or letter stands for, and the key of the number that is counted from."""
    texts = [text.upper() for text, _ in pairs]
    if all(text.isdecimal() and len(text) <= LONGEST for text in texts):
        from_0, from_1 = 0 in map(int, texts), any(int(text) == len(shown) for text, shown in pairs)
        first = {"first_answer": UNKNOWN} if from_0 == from_1 else {"first_answer": 1} if from_1 else {}
        return [int(text) - from_1 for text in texts], first
    return ([LETTERS.index(text) for text in texts], {}) if all(text in LETTERS for text in texts) else None


def _label_column(read: ReadRows, columns: list[str], pairs: Sequence[tuple[str, list[str]]]) -> str | None:
    """Returns the column next to the texts of choices whose lists label them, such as `choices.label` of ARC."""
    whole, dot, _ = columns[0].rpartition(".")
    if len(columns) > 1 or not dot:
        return None
    first = next((cell for cell in read.cells(whole) if isinstance(cell, dict)), {})
    for name in (f"{whole}.{key}" for key in first if f"{whole}.{key}" != columns[0]):
        lists = [[normalise(one) for one in _listed(cell)] for cell in read.cells(name)]
        fits = len(lists) == len(pairs) and all(
            text in labels and len(labels) == len(shown) for labels, (text, shown) in zip(lists, pairs, strict=True)
        )
        if fits:
            return name
    return None


def _note_odd(label: str, odd: Sequence[str], n: int) -> None:
    """Says that some answers name no choice: such a row is not scored."""
    if odd:
        note(f"column {label!r}: {len(odd)} of {n} answers are no choice of their row, such as {odd[0]!r:.40}")


def _answered(read: ReadRows, columns: list[str], label: str) -> Iterator[tuple[str, list[str]]]:
    """Yields the answer of each row that has one, with the row's choices."""
    for language in read.rows:
        cells = [read.cells_in(language, column) for column in columns]
        rows = zip(*cells, strict=True) if len(cells) > 1 else (_listed(cell) for cell in cells[0])
        for answer, shown in zip(read.cells_in(language, label), rows, strict=True):
            text = label_text(answer).removesuffix(".0")
            if text not in ("", "-1") and not isinstance(answer, list):
                yield text, [label_text(choice).removesuffix(".0") for choice in shown]


def _listed(cell: Any) -> Sequence[Any]:
    return list(cell.values()) if isinstance(cell, dict) else parse_list(cell) or []
