"""Finds data files: on the hub, or in a folder laid out as on the hub."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import count, takewhile
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import yaml

from afrieval._util.errors import UserError
from afrieval._util.files import read_bytes, user_path
from afrieval.tasks.data.hub import CONVERTED, fetch, snapshot
from afrieval.tasks.data.lock import DataLock, check_inside, check_repository
from afrieval.tasks.data.schema import CONFIG, SHARD, Files, Source, alternatives, of_other

HUB, SAMPLES = "hub", "samples"
CARD = "README.md"
TABLES = ("*.parquet", "*.parquet.gzip", "*.jsonl", "*.json", "*.csv", "*.tsv")


class DataFile(NamedTuple):
    """A file of a dataset repository.

    Attributes:
        repository: ORG/NAME, and `@` with the branch if that is the hub's conversion.
        name: its path below the repository.
        path: where it is on this machine.
        column: the column that its lines are; empty if it is a table.
        part: column to text, of a file that has the rows with this text.
    """

    repository: str
    name: str
    path: Path
    column: str = ""
    part: Mapping[str, str] = MappingProxyType({})


class SplitFiles(NamedTuple):
    """The files of a split.

    Attributes:
        repository: ORG/NAME.
        revision: its branch, tag or commit.
        files: their patterns, without placeholders.
        split: its name.
        columns: the columns of a csv or tsv file that has no header.
        parts: placeholder in the patterns to the texts for it.
        folders: further folders of a local source that may have the files.
        converted: CONFIG/SPLIT in the hub's conversion to Parquet, or ORG/NAME@CONFIG/SPLIT if a copy has it; None if
            there is none.
    """

    repository: str
    revision: str
    files: Files
    split: str
    columns: Sequence[str] = ()
    parts: Mapping[str, Sequence[str]] = MappingProxyType({})
    folders: Sequence[str] = ()
    converted: str | None = None


def data_files(split_files: SplitFiles, source: str, lock: DataLock) -> list[DataFile]:
    """Returns the files of a split, in order; an empty list if the source lacks them.

    Raises:
        UserError: if the hub cannot be reached, the repository's card does not list the configuration, or some parts
            are missing.
    """
    check_repository(split_files.repository, "data.hub")
    split_files = split_files._replace(revision=lock.commits.get(split_files.repository, split_files.revision))
    folders = [split_files.repository] if source == HUB else [split_files.repository, *split_files.folders]
    for of_folder in (split_files._replace(repository=folder) for folder in folders):
        for named in alternatives(split_files.files):
            if isinstance(named, dict):
                texts = [file._replace(column=c) for c, p in named.items() for file in _one(of_folder, p, source)]
                files = texts if len(texts) == len(named) else []
            elif named.startswith(CONFIG):
                files = _of_card(of_folder, named.removeprefix(CONFIG), source, lock)
            else:
                files = _one(of_folder, named, source)
            if files:
                return files
    return _converted(split_files, source, lock)


def expected(split_files: SplitFiles) -> str:
    """Returns the names of the files that a folder may have a split in, with `or` between alternatives."""
    names = [_expected(split_files, named) for named in alternatives(split_files.files)]
    if split_files.converted is not None:
        hub, part = of_other(split_files.converted, split_files.repository)
        names.append(_expected(split_files._replace(repository=hub), SHARD.format(part=part, number=0)))
    return " or ".join(names)


def _expected(split_files: SplitFiles, named: Source) -> str:
    root = split_files.repository
    if isinstance(named, dict):
        return " and ".join(f"{root}/{file}" for file in named.values())
    if named.startswith(CONFIG):
        config = named.removeprefix(CONFIG)
        return f"{root}/{CARD} with the files that it lists for {config}, split {split_files.split},"
    part = next((name for name in split_files.parts if f"{{{name}}}" in named), "")
    texts = split_files.parts.get(part, [""])
    more = f" with the other {len(texts) - 1} such files" if texts[1:] else ""
    return f"{root}/{named.replace(f'{{{part}}}', texts[0])}{more}"


def card_of(split_files: SplitFiles, source: str, lock: DataLock) -> Path | None:
    """Returns the card that lists the files of a split; None if their names are in the task file."""
    if not any(isinstance(one, str) and one.startswith(CONFIG) for one in alternatives(split_files.files)):
        return None
    revision = lock.commits.get(split_files.repository, split_files.revision)
    return (
        fetch(split_files.repository, CARD, revision)
        if source == HUB
        else user_path(source) / split_files.repository / CARD
    )


def repositories(split_files: SplitFiles) -> list[str]:
    """Returns the folders of a local source that a split may be in; `.` is the source itself."""
    copy = [] if split_files.converted is None else [of_other(split_files.converted, split_files.repository)[0]]
    return list(dict.fromkeys([split_files.repository, *split_files.folders, *copy]))


def _one(split_files: SplitFiles, file: str, source: str) -> list[DataFile]:
    part = next((name for name in split_files.parts if f"{{{name}}}" in file), None)
    if part is None:
        return _file(split_files, file, source)
    names = {text: file.replace(f"{{{part}}}", text) for text in split_files.parts[part]}
    by_text = {text: _file(split_files, name, source) for text, name in names.items()}
    if not any(by_text.values()):
        return []
    if missing := [names[text] for text, there in by_text.items() if not there]:
        where = split_files.repository if source == HUB else user_path(source) / split_files.repository
        raise UserError(
            f"{where} lacks {missing[0]}" + (f" and {len(missing) - 1} more files" if missing[1:] else ""),
            "fetch the data again",
        )
    return [one._replace(part={part: text}) for text, there in by_text.items() for one in there]


def _file(split_files: SplitFiles, file: str, source: str) -> list[DataFile]:
    repository = split_files.repository
    check_inside(file, f"the file of {repository}")
    path = fetch(repository, file, split_files.revision) if source == HUB else user_path(source) / repository / file
    return [DataFile(repository, file, path)] if path is not None and path.is_file() else []


def _converted(split_files: SplitFiles, source: str, lock: DataLock) -> list[DataFile]:
    """Returns the files of a split in the hub's conversion, which has its own commits; a folder may have a copy."""
    if split_files.converted is None:
        return []
    hub, part = of_other(split_files.converted, split_files.repository)
    repository = f"{hub}@{CONVERTED}"
    conversion = split_files._replace(repository=hub, revision=lock.commits.get(repository, CONVERTED))
    shards = takewhile(bool, (_one(conversion, SHARD.format(part=part, number=number), source) for number in count()))
    return [file._replace(repository=repository) for shard in shards for file in shard]


def _of_card(split_files: SplitFiles, config: str, source: str, lock: DataLock) -> list[DataFile]:
    card = card_of(split_files, source, lock)
    if source != HUB and not (card and card.is_file()) and _converted(split_files, source, lock):
        return []
    named, folder = patterns(split_files, config, card), user_path(source) / split_files.repository
    if source == HUB:
        folder = snapshot(split_files.repository, named, split_files.revision)
    paths: list[Path] = []
    for pattern in named:
        try:
            paths += sorted(path for path in folder.glob(pattern) if path.is_file())
        except ValueError as e:
            problem = f"the card in {folder} has the pattern {pattern!r}, which is invalid: {e}"
            raise UserError(problem, "correct the card") from None
    return [
        DataFile(split_files.repository, path.relative_to(folder).as_posix(), path) for path in dict.fromkeys(paths)
    ]


def patterns(split_files: SplitFiles, config: str, card: Path | None) -> list[str]:
    """Returns the patterns of the files that a dataset card lists for a split of a configuration.

    If the card lists no configurations, all tables are the split `train`, as in `datasets`.

    Raises:
        UserError: if it lists configurations but not this one, or not this split, or files outside the repository.
    """
    split, where = split_files.split, f"the card of {split_files.repository}"
    configs = configs_of(card) if card is not None and card.is_file() else {}
    if not configs and (config, split) == ("default", "train"):
        return [p for table in TABLES for p in (table, f"data/{table}")]
    if config not in configs:
        configurations = f"it has {', '.join(configs) or 'none'}"
        hint = configurations if card and card.is_file() else "there is no README.md; download it"
        raise UserError(f"{where} has no configuration {config!r}", hint)
    splits = by_split(configs[config])
    paths = splits.get(split)
    if paths is None:
        raise UserError(f"{where} has no split {split!r} of {config!r}", f"it has {', '.join(splits) or 'none'}")
    names = paths if isinstance(paths, list) else [paths]
    for path in names:
        check_inside(path, f"{where}, {config}: the path of {split}")
    return names


def by_split(files: Any) -> dict[str, Any]:
    """Returns split to path or paths, from the `data_files` of a configuration; without splits, they are `train`."""
    if isinstance(files, dict):
        return {str(split): path for split, path in files.items()}
    if not isinstance(files, list) or not all(isinstance(entry, dict) for entry in files):
        return {"train": files} if files else {}
    paths: dict[str, Any] = {}
    for entry in files:
        paths.setdefault(str(entry.get("split")), entry.get("path"))
    return paths


def configs_of(card: Path) -> dict[str, Any]:
    """Returns configuration to `data_files`, from the YAML header of a card."""
    text = read_bytes(card, "download it again").decode("utf-8-sig", errors="replace")
    head = re.match(r"\s*---\r?\n(.*?)\r?\n---", text, re.DOTALL)
    try:
        content = _header(head[1]) if head else {}
    except (yaml.YAMLError, ValueError, RecursionError) as e:  # a date such as 2026-02-31 is a ValueError
        raise UserError(f"{card} cannot be parsed: {' '.join(str(e).split())}", "download it again") from None
    listed = content.get("configs") if isinstance(content, dict) else None
    entries = [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
    return {str(entry.get("config_name")): entry.get("data_files") for entry in entries}


_header = lru_cache(8)(yaml.safe_load)  # it is read for each language, and may be long
