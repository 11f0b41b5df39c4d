"""A task for a data set that no task declares: a task file and prompts, written from what its rows have."""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from afrieval._util.errors import UserError, choices, nearest
from afrieval._util.files import check_file, read_bytes, read_text, user_path
from afrieval._util.tables import DEFECT, SURROGATE, Row, check_is_text, read_rows
from afrieval._util.terminal import note, say, shortened
from afrieval._util.whole_files import made, write_output
from afrieval.config.options import FROM_HUB, NEW, NewTask
from afrieval.config.settings import RunConfig
from afrieval.languages import LANGUAGES, named
from afrieval.models.processes import Processes
from afrieval.tasks.answers.cell_values import normalise
from afrieval.tasks.data.files import HUB, SAMPLES, SplitFiles, data_files
from afrieval.tasks.data.schema import conversion, fill, filled
from afrieval.tasks.data.splits import DOWNLOAD, UNLOCKED
from afrieval.tasks.declaration.spec import load_task
from afrieval.tools.new_task.layout import MAIN, SPLITS, TEST, Part, Whereabouts, chosen, layout, parts_of, tables
from afrieval.tools.new_task.new_task_columns import (
    UNKNOWN,
    ReadRows,
    check_columns,
    choice_keys,
    labels_and_words,
    languages_in,
)
from afrieval.tools.new_task.new_task_prompts import FORMS, prompt_file

FOLDER = Path("my_tasks")  # in the working folder
OPTIONS = ("kind", "text", "label", "choices", "config")


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


def with_new_task(config: RunConfig, options: NewTask, processes: Processes) -> RunConfig:
    """Returns a config with the name of a written task in the place of `hub:ORG/NAME` or `file:FILE`.

    Raises:
        UserError: if the data set, its columns or the options do not make a task.
    """
    words = [name for name in config.task.names if name.startswith(NEW)]
    option_names = [name for name in OPTIONS if getattr(options, name) is not None]
    if option_names and not words:
        raise UserError(f"--{option_names[0]} is for hub:ORG/NAME or file:FILE", "name one of them as the task")
    if not words:
        return config
    if words[1:]:
        raise UserError(f"{words[0]} and {words[1]} are both to become tasks", "run them one after the other")
    languages, source = config.task.languages or [], config.data.source
    name = processes.run_on_rank_zero(lambda: _written(words[0], options, languages, source))
    names = [name if word == words[0] else word for word in config.task.names]
    folders = [*config.task.folders, str(FOLDER.resolve())]
    return replace(config, task=replace(config.task, task_name=names, folder=folders))


def _written(word: str, options: NewTask, languages: Sequence[str], source: str) -> str:
    """Writes a task unless it is there, and returns its name."""
    what = word.partition(":")[2]
    file = None if word.startswith(FROM_HUB) else user_path(what)
    stem = file.stem if file else f"{what} {options.config or ''}"
    name = re.sub(r"[^a-z0-9]+", "_", stem.lower()).strip("_") or "data"
    folder = FOLDER / name
    path, head = folder / "task.yaml", _head(word, options)
    if path.exists():
        _check_same(path, head, languages, file)
        note(f"{path} is there and is used as it is")
        return name
    if file:
        data = _of_file(file, name, options.config)
    elif source == SAMPLES:
        raise UserError(f"{what} has no sample rows", "give --data hub, or --data FOLDER with the data set")
    else:
        data = _DataSet(what, source, chosen(parts_of(what, source), options.config))
    read = _read(data, options, languages)
    fields = {"text" if n == 1 else f"text_{n}": column for n, column in enumerate(options.text or (), 1)}
    content, words = _declaration(data, read, options, name, fields)
    text = f"{head}\n{yaml.safe_dump(content, sort_keys=False, allow_unicode=True, default_flow_style=None, width=100)}"
    if data.file:
        write_output(made(folder / "data") / data.file.name, read_bytes(data.file, DOWNLOAD))
    prompts = prompt_file(str(options.kind), fields, str(options.label), words)
    write_output(made(folder / "prompts") / "eng.yaml", prompts.encode())
    write_output(path, text.encode())  # last: a task without it is written again
    say(text)
    if content.get("first_answer") == UNKNOWN:
        problem = f"the numbers in column {options.label!r} may count the choices from 0 or from 1"
        raise UserError(problem, f"set first_answer in {path} to 0 or 1, then: afrieval run MODEL {folder}")
    note(f"{path} and {folder / 'prompts/eng.yaml'} are written; edit them, then: afrieval run MODEL {folder}")
    return name


def _head(word: str, options: NewTask) -> str:
    values = {name: value for name in OPTIONS if (value := getattr(options, name)) is not None}
    texts = {name: value if isinstance(value, str) else ",".join(value) for name, value in values.items()}
    words = [word, *(each for name, text in texts.items() for each in (f"--{name}", text))]
    return f"# Written by: {' '.join(['afrieval run MODEL', *map(shlex.quote, words)])}".replace("\n", " ")


def _check_same(path: Path, head: str, languages: Sequence[str], file: Path | None) -> None:
    """Refuses a task that other options, or other rows of a file, have written, or that lacks a language."""
    hint = f"run it with: afrieval run MODEL {path.parent}; or delete that folder to have it written again"
    if read_text(path, "delete it").partition("\n")[0] != head:
        raise UserError(f"{path} is there, but was not written from these options", hint)
    declared = load_task(path.parent.name, FOLDER).languages
    if missing := [language for language in languages if language not in declared]:
        raise UserError(f"{path} has no {named(missing[0])}", f"add it to languages there, or {hint}")
    copy = path.parent / "data" / file.name if file else None
    if file and copy and read_bytes(file, DOWNLOAD) != read_bytes(copy, DOWNLOAD):
        raise UserError(f"{file} has changed since it was copied to {copy}", hint)


def _of_file(file: Path, name: str, config: str | None) -> _DataSet:
    hint = "name a .csv, .tsv, .jsonl, .json or .parquet file"
    check_file(file, hint)
    if config is not None:
        raise UserError(f"--config is {config!r}, but a file has no configurations", "leave it out")
    if SURROGATE.search(str(file)):
        raise UserError(f"the path {shortened(str(file))} is not valid text", "rename the file")
    check_is_text(file, b"" if tables([file.name]) else read_bytes(file, hint))
    if not (parts := tables([file.name])):
        raise UserError(f"{file} is not a table", hint)
    return _DataSet(f"own/{name}", str(file.parent), parts, file)


def _read(data: _DataSet, options: NewTask, languages: Sequence[str]) -> ReadRows:
    """Returns the rows of the first split with right answers: test, else validation, else train."""
    splits = sorted({part.split for part in data.parts}, key=lambda split: (SPLITS.get(split, TEST - 1), split))
    for split in splits:
        whereabouts = layout(data.parts, split)
        where, codes, by_language = _by_language(data, whereabouts, split, options, languages)
        if data.file and not by_language:
            raise UserError(f"{data.file} has no rows", "name another file")
        if missing := [language for language in languages if language not in by_language]:
            raise UserError(
                f"{data.source} lacks the {split} split of {data.repository} in {named(missing[0])}", DOWNLOAD
            )
        if not by_language:
            continue
        rows = {language: rows for language, (rows, _) in by_language.items()}
        codes, path = {language: codes[language] for language in by_language}, next(iter(by_language.values()))[1]
        read = ReadRows(split, whereabouts, where, codes, rows, path)
        check_columns(read, options)
        if any(normalise(cell) not in ("", "-1") for cell in read.cells(str(options.label))):
            return read
    raise UserError(
        f"column {options.label!r} of {data.repository} is empty in {', '.join(splits)}", "name another --label"
    )


def _by_language(
    data: _DataSet, whereabouts: Whereabouts, split: str, options: NewTask, languages: Sequence[str]
) -> tuple[dict[str, str], dict[str, str], dict[str, tuple[list[Row], Path]]]:
    """Returns `data.where`, language to code, and language to its rows of a split with their first file."""
    if unknown := [language for language in languages if language not in LANGUAGES]:
        raise UserError(f"unknown language {unknown[0]!r}", nearest(unknown[0], [of.name for of in LANGUAGES.values()]))
    if missing := [
        language for language in languages if whereabouts.languages and language not in whereabouts.languages
    ]:
        raise UserError(f"{data.repository} has no {named(missing[0])}", choices(list(whereabouts.languages)))
    if whereabouts.languages:
        codes = {language: whereabouts.languages[language] for language in languages or whereabouts.languages}
        each = {language: _rows(data, whereabouts, split, code, language) for language, code in codes.items()}
        return {}, codes, {language: one for language, one in each.items() if one}
    whole = _rows(data, whereabouts, split, "", "")
    where, codes = languages_in(whole[0], options, languages) if whole else ({}, {})
    if not where and len(languages) != 1:
        problem = f"nothing in {data.repository} says which language it is in"
        raise UserError(problem, "give its language, as in --languages hausa")
    codes = codes or {languages[0]: languages[0]}
    return where, codes, {of: (_of(whole[0], where, code), whole[1]) for of, code in codes.items()} if whole else {}


def _of(rows: list[Row], where: Mapping[str, str], code: str) -> list[Row]:
    """Returns the rows of a language: all, or those that have its code in the column of `data.where`."""
    return [row for row in rows if all(str(row.get(column)) == code for column in where)]


def _rows(
    data: _DataSet, whereabouts: Whereabouts, split: str, code: str, language: str
) -> tuple[list[Row], Path] | None:
    """Returns the rows of a split in a language, and their first file; None if a folder lacks it."""
    values = {"{code}": code, "{language}": language}
    part = conversion(whereabouts.files, split, {split: whereabouts.converted} if whereabouts.converted else {})
    folders = ["."] if data.file else []
    request = SplitFiles(data.repository, MAIN, filled(whereabouts.files, values), split, folders=folders)
    files = data_files(request._replace(converted=fill(part, values) if part else None), data.source, UNLOCKED)
    rows = [row for file in files for row in read_rows(file.path, read_bytes(file.path, DOWNLOAD))]
    rows = [row for row in rows if DEFECT not in row]  # its cells may be in other columns
    return (rows, files[0].path) if rows else None


def _declaration(
    data: _DataSet, read: ReadRows, options: NewTask, name: str, fields: Mapping[str, str]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Returns the content of a task file, and label to word."""
    labels, words = labels_and_words(read, str(options.label)) if options.kind == "classification" else ([], {})
    page = f"https://huggingface.co/datasets/{data.repository}"
    see = f"see {data.file.name}" if data.file else f"see {page}"
    form = FORMS[str(options.kind)]
    forms = {"answer_forms": list(form.answer_forms)} if form.answer_forms else {}
    keys = (
        choice_keys(read, options.choices, str(options.label))
        if options.choices
        else {"labels": labels}
        if labels
        else {}
    )
    content = {
        "name": name,
        "version": 1,
        "title": data.file.stem if data.file else data.repository,
        "description": f"{options.label} from {', '.join(fields.values())}",
        "citation": see,
        "licence": see,
        "kind": options.kind,
        **forms,
        "data": {"hub": data.repository, "revision": MAIN, **_splits(data, read)},
        "languages": read.codes,
        "fields": dict(fields),
        **keys,
        "answer": options.label,
    }
    return content, words


def _splits(data: _DataSet, read: ReadRows) -> dict[str, Any]:
    """Returns where the evaluated split and few-shot examples are; they may share a split."""
    layouts = {read.split: read.whereabouts}
    after = max(TEST, SPLITS.get(read.split, TEST))  # those before have no answers
    others = {part.split for part in data.parts if SPLITS.get(part.split, TEST) > after}
    for split in sorted(others, key=lambda split: (-SPLITS.get(split, TEST - 1), split)):
        other = layout(data.parts, split)
        same = not read.whereabouts.languages or read.codes.items() <= other.languages.items()
        if not same:
            continue
        in_folder = (  # which may lack it in some languages
            (rows := _rows(data, other, split, code, language)) and _of(rows[0], read.where, code)
            for language, code in read.codes.items()
        )
        if data.source == HUB or all(in_folder):
            layouts[split] = other
            break
    converted = {split: of.converted for split, of in layouts.items() if of.converted}
    files = {split: of.files for split, of in layouts.items()}
    return {
        "files": files,
        **({"converted": converted} if converted else {}),
        **({"where": read.where} if read.where else {}),
        "evaluate": read.split,
        "fewshot": [*layouts][-1],
    }
