"""Brings a filled-in sheet into the files of a checkout: first into a copy, then whole or not at all."""

import json
import shutil
from collections.abc import Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import fill
from typing import Any

import yaml

from afrieval._util.errors import UserError
from afrieval._util.schema import KeyPath
from afrieval._util.whole_files import write_whole
from afrieval._util.yaml_files import parsed
from afrieval.languages import LANGUAGES
from afrieval.tasks.declaration.spec import load_task
from afrieval.tasks.prompts.prompts import load_prompts, prompt_languages
from afrieval.tasks.prompts.reviews import VERDICTS, Review, as_yaml, read_reviews, with_review
from afrieval.tasks.prompts.vocabulary import String, strings, text_hash
from afrieval.tools.review.check import decisions, label_faults
from afrieval.tools.review.generated import GOLDEN, INDEX, golden_files, pages, templated
from afrieval.tools.review.sheet import Sheet, SheetRow


class NotEditableError(Exception):
    """The value is written in a way that cannot be replaced safely."""


def replaced(source: str, keys: KeyPath, value: str | int) -> str:
    """Returns a YAML text in which one value is another.

    The way in which it is written (plain, in quotes, a block) is kept where the new value allows it.

    Args:
        source: the YAML text.
        keys: the keys that lead to the value, which must be a text or a number.
        value: the new value; line ends after a text are as they were.

    Raises:
        NotEditableError: if no way of writing it changes this value and no other.
    """
    content, root = parsed(source)
    node = _node(root, keys)
    if isinstance(value, str):
        old = str(_get(content, keys))
        value = value.strip() + old[len(old.rstrip()) :]
    expected = deepcopy(content)
    _get(expected, keys[:-1])[keys[-1]] = value
    for candidate in _candidates(source, node, str(value)):
        try:
            if parsed(candidate)[0] == expected:
                return candidate
        except yaml.YAMLError:
            continue
    raise NotEditableError(f"line {node.start_mark.line + 1}")


def _node(root: yaml.Node | None, keys: KeyPath) -> yaml.ScalarNode:
    node: Any = root
    for step in keys:
        if isinstance(node, yaml.SequenceNode):
            node = node.value[int(step)]
        else:
            node = next(value for key, value in node.value if key.value == str(step))
    if not isinstance(node, yaml.ScalarNode):
        raise NotEditableError(f"line {node.start_mark.line + 1}")
    return node


def _get(content: Any, keys: KeyPath) -> Any:
    for step in keys:
        content = content[step]
    return content


def _candidates(source: str, node: yaml.ScalarNode, value: str) -> Iterator[str]:
    """Yields the text with the value written in several ways, the present one first."""
    if node.style == "|":  # a block has one line for each of the value
        lines = source.split("\n")
        start = node.start_mark.line + 1
        end = start + len(node.value.rstrip("\n").split("\n"))
        indent = lines[start][: len(lines[start]) - len(lines[start].lstrip(" "))]
        new = [f"{indent}{line}" if line else "" for line in value.rstrip("\n").split("\n")]
        yield "\n".join([*lines[:start], *new, *lines[end:]])
    elif node.style != ">":  # whose lines are not those of the value
        ways = {"": value, "'": "'" + value.replace("'", "''") + "'", '"': json.dumps(value, ensure_ascii=False)}
        first, last = source[: node.start_mark.index], source[node.end_mark.index :]
        for style in (node.style or "", '"'):  # libyaml has "" for plain text, and PyYAML None
            yield f"{first}{ways[style]}{last}"


PARTS = ("tasks", "vocabulary", "reviews", "docs", GOLDEN.as_posix(), "CHANGELOG.md")
UNRELEASED = "## Unreleased\n\n"


def read(root: Path, sheet: Sheet, where: str, date: str) -> tuple[dict[Path, str], list[UserError]]:
    """Returns the new texts of the files that a sheet changes, by path within a checkout, or what is wrong with it.

    Nothing in the checkout is changed.
    """
    if not sheet.reviewer:
        raise UserError(f"{where} names no reviewer", "fill in 'your name' at its top, or give --reviewer NAME")
    native = strings(root, sheet.language)
    decided, errors = decisions(sheet, native, where)
    if errors or not decided:
        return {}, errors
    with TemporaryDirectory() as folder:
        copy = Path(folder)
        _copy(root, copy)
        changed = [row for row in decided if row.new != native[row.id].text]
        for row in changed:
            _edit(copy / native[row.id].path, native[row.id], row.new)
        if errors := list(_label_errors(root, copy, sheet.language, changed, where)):
            return {}, errors
        path = copy / "reviews" / f"{sheet.language}.yaml"
        reviews, name = read_reviews(path), " ".join(sheet.reviewer.split())
        for row in decided:
            verdict = VERDICTS[VERDICTS.index(row.verdict)]
            review = Review(text_hash(row.new), verdict, name, date, row.dialect or sheet.dialect, row.comment)
            reviews = with_review(reviews, row.id, review)
        _write(path, as_yaml(reviews))
        _raise_versions(copy, sheet.language, changed)
        if (copy / INDEX).is_file():
            for path, text in (golden_files(copy, [sheet.language]) | pages(copy, [sheet.language])).items():
                _write(copy / path, text)
        files = sorted(path.relative_to(copy) for path in copy.rglob("*") if path.is_file())
        return {path: _text(copy / path) for path in files if _content(root / path) != _content(copy / path)}, []


def _copy(root: Path, copy: Path) -> None:
    for name in PARTS:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        if (root / name).is_dir():
            shutil.copytree(root / name, copy / name)
        elif (root / name).exists():
            shutil.copy(root / name, copy / name)


def _content(path: Path) -> bytes:  # not all are texts
    return path.read_bytes() if path.is_file() else b""


def _text(path: Path) -> str:
    return _content(path).decode()


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text.encode())


def _edit(path: Path, string: String, text: str) -> None:
    try:
        _write(path, replaced(_text(path), string.keys, text))
    except NotEditableError as e:
        where = f"{string.path}, {e}: {string.id} is written in a form that cannot be edited"
        raise UserError(where, "change it by hand to plain text, quotes or a block with |") from None


def _label_errors(root: Path, copy: Path, language: str, changed: list[SheetRow], where: str) -> Iterator[UserError]:
    """Yields label words that could be distinguished in an answer before, and no longer can."""
    for spec in templated(copy):
        if not spec.labels or language not in prompt_languages(spec):
            continue
        before, after = (
            label_faults(load_prompts(load_task(spec.name, of / "tasks"), language)) for of in (root, copy)
        )
        for words in sorted(after.keys() - before.keys()):
            rows = [row.number for row in changed if any(row.new in word for word in words)]
            cell = f"{where}, row {', '.join(map(str, rows))}, column new text"
            yield UserError(f"{cell}: {after[words]} ({spec.name})", "choose another word")


def _raise_versions(root: Path, language: str, changed: list[SheetRow]) -> None:
    """Raises the versions of the tasks whose prompts say something else now, and says so in the changelog.

    Raises:
        UserError: if the changelog has no place for it.
    """
    ids = {row.id for row in changed}
    users = [s for s in strings(root, language).values() if s.id in ids or ids & {*s.references}]
    homes = {load_task(s.task, root / "tasks").prompts_folder for s in users if not s.is_word}
    tasks = [spec for spec in templated(root) if spec.prompts_folder in homes and language in prompt_languages(spec)]
    for spec in tasks:
        path = spec.folder / "task.yaml"
        _write(path, replaced(_text(path), ("version",), spec.version + 1))
    path = root / "CHANGELOG.md"
    if not tasks or not path.is_file():
        return
    before, heading, after = _text(path).partition(UNRELEASED)
    if not heading:
        problem = f"{path.name} has no heading {UNRELEASED.strip()!r}"
        raise UserError(problem, "add it above the first heading of a version")
    versions = ", ".join(f"{spec.title} (version {spec.version + 1})" for spec in tasks)
    count = "a string" if len(changed) == 1 else f"{len(changed)} strings"
    line = f"* A speaker of {LANGUAGES[language].name} changed {count} of the native prompts: "
    line += f"scores with native {LANGUAGES[language].name} prompts change in {versions}."
    _write(path, f"{before}{heading}{fill(line, 100, subsequent_indent='  ')}\n{after}")


def write_all(root: Path, changes: Mapping[Path, str]) -> None:
    """Writes all new texts into a checkout; if that fails or is stopped, the files are as they were before."""
    before: dict[Path, str] = {}
    try:
        for name, text in changes.items():
            before[name] = _text(root / name)
            _write(root / name, text)
    except BaseException:
        for name, text in before.items():
            if text:
                _write(root / name, text)
            else:
                (root / name).unlink(missing_ok=True)
        raise
