"""Checks the paths in task files, dataset cards and locks: none may leave its folder."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from afrieval.data.patterns import CONFIG, USUAL, alternatives, conversion, fill, of_other, patterns_of
from afrieval.data.schema import DataSpec, JoinSpec, TranslateSpec
from afrieval.errors import UserError
from afrieval.terminal import shortened

# The hub's rule: letters, digits, - _ and . up to 96 of them, with neither - nor . at an end.
_NAME = r"(?=[\w.-]{1,96}(?:/|\Z))\w(?:[\w.-]*\w)?"
_REPOSITORY = re.compile(rf"{_NAME}/{_NAME}", re.ASCII)
# A root, a home, an address or a drive, and characters that no file of a data set has.
_OUTSIDE = re.compile(r"[/~]|[A-Za-z][\w+.-]*:|.*[\\\x00-\x1f\x7f]", re.DOTALL)

LONGEST = 255  # bytes of a file's name
OLD_CONVERTED = "parquet:"  # named the hub's conversion among the files


def check_sources(
    path: Path, data: DataSpec, translate: TranslateSpec | None, join: JoinSpec | None, languages: Mapping[str, str]
) -> None:
    """Refuses a task file whose paths leave the data sets' folders, or that counts rows of unknown splits.

    Args:
        path: the task file, for messages.
        data: its section.
        translate: its section, if it has one.
        join: its section, if it has one.
        languages: the suite's code to the data set's own, which fill in `{language}` and `{code}`.

    Raises:
        UserError: naming file and key.
    """
    for language, code in languages.items():
        check_inside(code, f"{path}: languages.{language}")
    _check_parts(path, data)
    for split, files in data.files.items():
        if not (alternatives(files) or conversion(files, split, data.converted)):
            raise UserError(f"{path}: data.files.{split} names no file", "name a file, or data.converted")
        for pattern in patterns_of(files):
            _check_file(pattern, f"{path}: data.files.{split}", languages)
    for split, part in data.converted.items():
        _check_converted(part, data, split, f"{path}: data.converted", languages)
    for name, section in (("data", data), ("translate", translate), ("join", join)):
        if section is None:
            continue
        check_repository(section.hub, f"{path}: {name}.hub")
        check_inside(section.revision, f"{path}: {name}.revision")
        if not isinstance(section, DataSpec):
            _check_file(section.file, f"{path}: {name}.file", languages)
    check_inside(data.samples, f"{path}: data.samples", below=1)
    check_inside(data.defects, f"{path}: data.defects", below=1)
    _check_rows(path, data, languages)


def check_repository(name: Any, where: str) -> None:
    """Refuses an invalid name of a dataset repository, by the hub's rule.

    Raises:
        UserError: naming `where`.
    """
    filled = name.replace("{evals}", "evals") if isinstance(name, str) else ""
    forbidden = "--" in filled or ".." in filled or filled.endswith(".git")
    if forbidden or not _REPOSITORY.fullmatch(filled):
        raise UserError(
            f"{where} is {name!r}, but must be ORG/NAME", "write it as on the hub, such as masakhane/afrimmlu"
        )


def check_inside(name: Any, where: str, below: int = 0) -> None:
    """Refuses what is not a relative path, or leaves its folder; links are not followed.

    Args:
        name: the path, a pattern of paths, or a part of one.
        where: file and key, for messages.
        below: how many levels above its folder are allowed.

    Raises:
        UserError: naming `where`.
    """
    hint = "write a path inside the folder, without .. or a leading /"
    if not isinstance(name, str) or not name.strip():
        raise UserError(f"{where} is {name!r}, but must be a path", hint)
    depth = below
    for part in name.split("/"):
        depth += {"..": -1, ".": 0, "": 0}.get(part, 1)
        if len(part.encode()) > LONGEST:
            raise UserError(f"{where} is {shortened(name)!r}, which no file can be named", "write a shorter path")
        if depth < 0 or (part == ".." and not below) or _OUTSIDE.match(name):
            raise UserError(f"{where} is {name!r}, which leaves its folder", hint)


def _check_file(file: str, where: str, languages: Mapping[str, str]) -> None:
    """Refuses a file outside its folder in any language; the name of a configuration is not a path."""
    if file.startswith(OLD_CONVERTED):
        cure = f"remove it; if it is not {USUAL}, name it in data.converted"
        raise UserError(f"{where} is {file!r}, but the hub's conversion is found without it", cure)
    for language, code in {"{language}": "{code}", **languages}.items():
        if not file.startswith(CONFIG):
            check_inside(fill(file, {"{code}": code, "{language}": language}), where)


def _check_converted(part: str | None, data: DataSpec, split: str, where: str, languages: Mapping[str, str]) -> None:
    if split not in data.files:
        raise UserError(f"{where} has an unknown split {split!r}", f"it has: {', '.join(data.files)}")
    if part is not None:
        hub, named = of_other(part, data.hub)
        check_repository(hub, f"{where}.{split}")
        _check_file(named, f"{where}.{split}", languages)


def _check_parts(path: Path, data: DataSpec) -> None:
    for folder in data.folders:
        check_inside(folder, f"{path}: data.folders")
    for name, texts in data.parts.items():
        for text in texts:
            check_inside(text, f"{path}: data.parts.{name}")


def _check_rows(path: Path, data: DataSpec, languages: Mapping[str, str]) -> None:
    for split, rows in (data.rows if isinstance(data.rows, dict) else {}).items():
        if isinstance(rows, dict) and (unknown := [code for code in rows if code not in languages]):
            raise UserError(f"{path}: data.rows.{split} has an unknown language {unknown[0]!r}", "correct it")
        if split not in data.files:
            raise UserError(f"{path}: data.rows has an unknown split {split!r}", f"it has: {', '.join(data.files)}")
