"""A task for a data set that no task declares: a task file and prompts, written from what its rows have."""

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from afrieval._util.errors import UserError, choices, nearest
from afrieval._util.files import check_file, read_bytes, read_text, user_path
from afrieval._util.tables import DEFECT, Row, read_rows
from afrieval._util.terminal import note, say
from afrieval._util.whole_files import made, write_output
from afrieval.config.arguments import FROM_HUB, NEW, NewTask
from afrieval.config.settings import RunConfig
from afrieval.languages import LANGUAGES, named
from afrieval.models.processes import Processes
from afrieval.tasks.data.documents import LETTERS
from afrieval.tasks.data.files import HUB, SAMPLES, Wanted, data_files
from afrieval.tasks.data.layout import MAIN, SPLITS, TEST, Part, Whereabouts, chosen, layout, parts_of, tables
from afrieval.tasks.data.schema import conversion, fill, filled
from afrieval.tasks.data.splits import DOWNLOAD, UNLOCKED, at_path
from afrieval.tasks.declaration.answers import normalise, parse_list
from afrieval.tasks.declaration.spec import load_task
from afrieval.tools.new_task_prompts import FORMS, prompt_file

FOLDER = Path("my_tasks")  # in the working folder
OPTIONS = ("kind", "text", "label", "choices", "config")
MOST = len(LETTERS)  # labels
UNKNOWN = "0 or 1"  # `first_answer` of numbers that may count from either; no task with it is run


class _DataSet(NamedTuple):
    """What a task is made from.

    Attributes:
        repository: ORG/NAME; of a file, a name for it.
        source: `hub`, or the folder that has it.
        parts: its splits.
        file: the file, if it is one.
    """

    repository: str
    source: str
    parts: Sequence[Part]
    file: Path | None = None


class _Read(NamedTuple):
    """The rows of the evaluated split: by language, with the data set's code of each, and the first file."""

    split: str
    at: Whereabouts
    codes: dict[str, str]
    rows: dict[str, list[Row]]
    path: Path

    def cells(self, column: str) -> Iterator[Any]:
        """Yields the values of a column in all languages."""
        return (value for language in self.rows for value in self.cells_in(language, column))

    def cells_in(self, language: str, column: str) -> list[Any]:
        """Returns the values of a column, which may be named after the language's code, in the rows that have it."""
        name = fill(column, {"{code}": self.codes[language], "{language}": language})
        found = ([row[name]] if name in row else at_path(row, name) for row in self.rows[language])
        return [value for values in found for value in values]


def with_new_task(config: RunConfig, asked: NewTask, processes: Processes) -> RunConfig:
    """Returns a config with the name of a written task in the place of `hub:ORG/NAME` or `file:FILE`.

    Raises:
        UserError: if the data set, its columns or the options do not make a task.
    """
    words = [name for name in config.task_names if name.startswith(NEW)]
    given = [name for name in OPTIONS if getattr(asked, name) is not None]
    if given and not words:
        raise UserError(f"--{given[0]} is for hub:ORG/NAME or file:FILE", "name one of them as the task")
    if not words:
        return config
    if words[1:]:
        raise UserError(f"{words[0]} and {words[1]} are both to become tasks", "run them one after the other")
    languages, source = config.task.languages or [], config.data.source
    name = processes.run_on_rank_zero(lambda: _written(words[0], asked, languages, source))
    names = [name if word == words[0] else word for word in config.task_names]
    folders = [*config.task.folders, str(FOLDER.resolve())]
    return replace(config, task=replace(config.task, task_name=names, folder=folders))


def _written(word: str, asked: NewTask, languages: Sequence[str], source: str) -> str:
    """Writes a task unless it is there, and returns its name."""
    what = word.partition(":")[2]
    file = None if word.startswith(FROM_HUB) else user_path(what)
    stem = file.stem if file else f"{what} {asked.config or ''}"
    name = re.sub(r"[^a-z0-9]+", "_", stem.lower()).strip("_") or "data"
    folder = FOLDER / name
    path, head = folder / "task.yaml", _head(word, asked)
    if path.exists():
        _check_same(path, head, languages, file)
        note(f"{path} is there and is used as it is")
        return name
    data = _of_file(file, name) if file else _of_hub(what, source, asked.config)
    read = _read(data, asked, languages)
    fields = {"text" if n == 1 else f"text_{n}": column for n, column in enumerate(asked.text or (), 1)}
    content, words = _declaration(data, read, asked, name, fields)
    text = f"{head}\n{yaml.safe_dump(content, sort_keys=False, allow_unicode=True, default_flow_style=None, width=100)}"
    if data.file:
        write_output(made(folder / "data") / data.file.name, read_bytes(data.file, DOWNLOAD))
    prompts = prompt_file(str(asked.kind), fields, str(asked.label), words)
    write_output(made(folder / "prompts") / "eng.yaml", prompts.encode())
    write_output(path, text.encode())  # last: a task without it is written again
    say(text)
    if content.get("first_answer") == UNKNOWN:
        problem = f"the numbers in column {asked.label!r} may count the choices from 0 or from 1"
        raise UserError(problem, f"set first_answer in {path} to 0 or 1, then: afrieval run MODEL {folder}")
    note(f"{path} and {folder / 'prompts/eng.yaml'} are written; edit them, then: afrieval run MODEL {folder}")
    return name


def _head(word: str, asked: NewTask) -> str:
    given = {name: value for name in OPTIONS if (value := getattr(asked, name)) is not None}
    texts = {name: value if isinstance(value, str) else ",".join(value) for name, value in given.items()}
    words = [word, *(each for name, text in texts.items() for each in (f"--{name}", text))]
    return f"# Written by: {' '.join(['afrieval run MODEL', *map(shlex.quote, words)])}".replace("\n", " ")


def _check_same(path: Path, head: str, languages: Sequence[str], file: Path | None) -> None:
    """Refuses a task that other options, or other rows of a file, have written, or that lacks a language."""
    hint = f"run it with: afrieval run MODEL {path.parent}; or delete that folder to have it written again"
    if read_text(path, "delete it").partition("\n")[0] != head:
        raise UserError(f"{path} is there, but was not written from these options", hint)
    known = load_task(path.parent.name, FOLDER).languages
    if missing := [language for language in languages if language not in known]:
        raise UserError(f"{path} has no {named(missing[0])}", f"add it to languages there, or {hint}")
    copy = path.parent / "data" / file.name if file else None
    if file and copy and read_bytes(file, DOWNLOAD) != read_bytes(copy, DOWNLOAD):
        raise UserError(f"{file} has changed since it was copied to {copy}", hint)


def _of_hub(name: str, source: str, config: str | None) -> _DataSet:
    if source == SAMPLES:
        raise UserError(f"{name} has no sample rows", "give --data hub, or --data FOLDER with the data set")
    return _DataSet(name, source, chosen(parts_of(name, source), config))


def _of_file(file: Path, name: str) -> _DataSet:
    hint = "name a .csv, .tsv, .jsonl, .json or .parquet file"
    check_file(file, hint)
    if not (parts := tables([file.name])):
        raise UserError(f"{file} is not a table", hint)
    return _DataSet(f"own/{name}", str(file.parent), parts, file)


def _read(data: _DataSet, asked: NewTask, languages: Sequence[str]) -> _Read:
    """Returns the rows of the first split with right answers: test, else validation, else train."""
    splits = sorted({part.split for part in data.parts}, key=lambda split: (SPLITS.get(split, TEST - 1), split))
    for split in splits:
        at = layout(data.parts, split)
        codes = _codes(data, at, languages)
        found = {language: one for language in codes if (one := _rows(data, at, split, codes[language], language))}
        if data.file and not found:
            raise UserError(f"{data.file} has no rows", "name another file")
        if missing := [language for language in languages if language not in found]:
            raise UserError(
                f"{data.source} lacks the {split} split of {data.repository} in {named(missing[0])}", DOWNLOAD
            )
        if not found:
            continue
        rows = {language: rows for language, (rows, _) in found.items()}
        read = _Read(split, at, {language: codes[language] for language in found}, rows, next(iter(found.values()))[1])
        _check_columns(read, asked)
        if any(normalise(cell) not in ("", "-1") for cell in read.cells(str(asked.label))):
            return read
    raise UserError(
        f"column {asked.label!r} of {data.repository} is empty in {', '.join(splits)}", "name another --label"
    )


def _codes(data: _DataSet, at: Whereabouts, languages: Sequence[str]) -> dict[str, str]:
    if unknown := [language for language in languages if language not in LANGUAGES]:
        raise UserError(f"unknown language {unknown[0]!r}", nearest(unknown[0], [of.name for of in LANGUAGES.values()]))
    if not at.languages:
        if len(languages) != 1:
            problem = f"nothing in {data.repository} says which language it is in"
            raise UserError(problem, "give its language, as in --languages hausa")
        return {languages[0]: languages[0]}
    if missing := [language for language in languages if language not in at.languages]:
        raise UserError(f"{data.repository} has no {named(missing[0])}", choices(list(at.languages)))
    return {language: at.languages[language] for language in languages or at.languages}


def _rows(data: _DataSet, at: Whereabouts, split: str, code: str, language: str) -> tuple[list[Row], Path] | None:
    """Returns the rows of a split in a language, and their first file; None if a folder lacks it."""
    values = {"{code}": code, "{language}": language}
    part = conversion(at.files, split, {split: at.converted} if at.converted else {})
    folders = ["."] if data.file else []
    wanted = Wanted(data.repository, MAIN, filled(at.files, values), split, folders=folders)
    files = data_files(wanted._replace(converted=fill(part, values) if part else None), data.source, UNLOCKED)
    rows = [row for file in files for row in read_rows(file.path, read_bytes(file.path, DOWNLOAD))]
    rows = [row for row in rows if DEFECT not in row]  # its cells may be in other columns
    return (rows, files[0].path) if rows else None


def _check_columns(read: _Read, asked: NewTask) -> None:
    """Refuses options that are missing, or name columns that the rows do not have."""
    rows = next(iter(read.rows.values()))
    columns = list(dict.fromkeys(str(column) for row in rows for column in row))
    needed = {"kind": asked.kind, "text": asked.text, "label": asked.label}
    needed |= {"choices": asked.choices} if asked.kind == "multiple_choice" else {}
    if missing := [f"--{name}" for name, value in needed.items() if not value]:
        hint = f"kinds are {', '.join(FORMS)}; columns are {', '.join(columns)}"
        raise UserError(f"{', '.join(missing)} must be given for a new task", hint)
    if asked.choices and asked.kind != "multiple_choice":
        raise UserError(f"--choices is given for kind {asked.kind}", "leave it out, or give --kind multiple_choice")
    for column in [*(asked.text or ()), *(asked.choices or ()), str(asked.label)]:
        if column == asked.label and column in (asked.text or ()):
            raise UserError(f"--text and --label both name the column {column!r}", choices(columns))
        if odd := next(
            (cell for cell in read.cells(column) if isinstance(cell, dict) and column not in (asked.choices or ())),
            None,
        ):
            hint = f"name what is in it, as in {column}.{'text' if 'text' in odd else next(iter(odd), 'text')}"
            raise UserError(f"column {column!r} has maps, such as {odd!r:.60}", hint)
        if lacking := next((language for language in read.rows if not read.cells_in(language, column)), None):
            problem = f"there is no column {column!r} in {named(lacking)}"
            raise UserError(problem, nearest(column, list(dict.fromkeys(map(str, read.rows[lacking][0])))))
        if set(re.findall("{.*?}", column)) - {"{code}", "{language}"}:
            raise UserError(f"the column {column!r} has brackets, which stand for {{code}} only", "rename the column")
        if column != asked.label and not any(map(normalise, read.cells(column))):
            raise UserError(f"column {column!r} is empty", choices(columns))


def _declaration(
    data: _DataSet, read: _Read, asked: NewTask, name: str, fields: Mapping[str, str]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Returns the content of a task file, and label to word."""
    labels, words = _labels(read, str(asked.label)) if asked.kind == "classification" else ([], {})
    page = f"https://huggingface.co/datasets/{data.repository}"
    see = f"see {data.file.name}" if data.file else f"see {page}"
    form = FORMS[str(asked.kind)]
    forms = {"answer_forms": list(form.answer_forms)} if form.answer_forms else {}
    keys = _choices(read, asked.choices, str(asked.label)) if asked.choices else {"labels": labels} if labels else {}
    content = {
        "name": name,
        "version": 1,
        "title": data.file.stem if data.file else data.repository,
        "description": f"{asked.label} from {', '.join(fields.values())}",
        "citation": see,
        "licence": see,
        "kind": asked.kind,
        **forms,
        "data": {"hub": data.repository, "revision": MAIN, **_splits(data, read)},
        "languages": read.codes,
        "fields": dict(fields),
        **keys,
        "answer": asked.label,
    }
    return content, words


def _splits(data: _DataSet, read: _Read) -> dict[str, Any]:
    """Returns where the evaluated split and few-shot examples are; these may be of the same split."""
    at = {read.split: read.at}
    after = max(TEST, SPLITS.get(read.split, TEST))  # those before have no answers
    others = {part.split for part in data.parts if SPLITS.get(part.split, TEST) > after}
    for split in sorted(others, key=lambda split: (-SPLITS.get(split, TEST - 1), split)):
        other = layout(data.parts, split)
        same = not read.at.languages or read.codes.items() <= other.languages.items()
        if same and all(data.source == HUB or _rows(data, other, split, code, of) for of, code in read.codes.items()):
            at[split] = other
            break
    converted = {split: of.converted for split, of in at.items() if of.converted}
    files = {split: of.files for split, of in at.items()}
    return {
        "files": files,
        **({"converted": converted} if converted else {}),
        "evaluate": read.split,
        "fewshot": [*at][-1],
    }


def _labels(read: _Read, column: str) -> tuple[list[str], dict[str, str]]:
    """Returns the labels of a column, and the words of prompts for them: names if the file has them, else its values.

    Names that are numbers would be taken for the numbers of the rows: these are the labels then.
    """
    cells = [cell for cell in read.cells(column) if normalise(cell)]
    if odd := next((cell for cell in cells if isinstance(cell, list | dict)), None):
        problem = f"column {column!r} has {type(odd).__name__}s, such as {odd!r:.60}, and no labels"
        raise UserError(problem, "name a column with one label in each row, or another --kind")
    names = _class_names(read.path, column) if all(isinstance(cell, int) for cell in cells) else []
    words = dict(zip(names, names, strict=True))
    if any(name.isdecimal() for name in names):
        words = {str(number): name for number, name in enumerate(names)}
    if not names:
        texts = {normalise(cell) for cell in cells}
        numbers = all(text.isdecimal() for text in texts)
        words = {text: text.removesuffix(".0") for text in sorted(texts, key=lambda t: (len(t) if numbers else 0, t))}
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


def _choices(read: _Read, columns: list[str], label: str) -> dict[str, Any]:
    """Returns the keys about choices: where they are, and how the answer names one.

    Answers that fit two ways of naming a choice, and mean different ones, are refused: a guess gives wrong scores.
    """
    keys: dict[str, Any] = {"choices": columns[0] if len(columns) == 1 else columns}
    if label in columns and len(columns) > 1:  # the right choice is in the same place in every row
        return keys | {"shuffle": True}
    pairs = list(_answered(read, columns, label))
    texts = [text for text, _ in pairs]
    if not pairs:  # lists with a 1 for the right choice
        return keys
    is_text = all(text in shown for text, shown in pairs)
    if all(text.isdecimal() for text in texts):
        from_0, from_1 = "0" in texts, any(int(text) == len(shown) for text, shown in pairs)
        places = [int(text) - from_1 for text in texts]
        found = keys | ({"first_answer": UNKNOWN} if from_0 == from_1 else {"first_answer": 1} if from_1 else {})
    elif all(text in LETTERS for text in texts):
        places, found = [LETTERS.index(text) for text in texts], keys
    elif len(columns) == 1 and any(text in shown for text, shown in pairs):
        return keys | {"choice_labels": columns[0]}
    else:
        problem = f"column {label!r} has {min(texts)!r:.60}, but must have letters or numbers of choices"
        raise UserError(problem, "name another --label, or a single column with the list of choices")
    if not is_text or all(shown[at : at + 1] == [text] for at, (text, shown) in zip(places, pairs, strict=True)):
        return found
    if len(columns) == 1 and not all(at < len(shown) for at, (_, shown) in zip(places, pairs, strict=True)):
        return keys | {"choice_labels": columns[0]}  # too high for a place
    problem = f"column {label!r} has {texts[0]!r}, which may be a choice's text or its place"
    raise UserError(problem, "write letters in the file, or name another --label")


def _answered(read: _Read, columns: list[str], label: str) -> Iterator[tuple[str, list[str]]]:
    """Yields the answer of each row that has one, with the row's choices."""
    for language in read.rows:
        cells = [read.cells_in(language, column) for column in columns]
        rows = zip(*cells, strict=True) if len(cells) > 1 else (_listed(cell) for cell in cells[0])
        for answer, shown in zip(read.cells_in(language, label), rows, strict=True):
            text = normalise(answer).removesuffix(".0")
            if text not in ("", "-1") and not isinstance(answer, list):
                yield text, [normalise(choice).removesuffix(".0") for choice in shown]


def _listed(cell: Any) -> Sequence[Any]:
    return list(cell.values()) if isinstance(cell, dict) else parse_list(cell) or []
