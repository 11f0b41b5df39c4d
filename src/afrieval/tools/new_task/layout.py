"""What a data set has that no task declares: its splits, and in which languages, by its card or its files' names."""

import re
from collections import Counter
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

from afrieval._util.errors import UserError, choices
from afrieval.languages import language_of, named
from afrieval.tasks.data.files import HUB, TABLES, SplitFiles, by_split, card_of, configs_of
from afrieval.tasks.data.hub import CONVERTED, listing
from afrieval.tasks.data.lock import check_repository
from afrieval.tasks.data.schema import CONFIG, USUAL, Files
from afrieval.tasks.data.splits import UNLOCKED, check_folder

MAIN, CODE = "main", "{code}"
TEST, VALIDATION, TRAIN = range(3)  # the order in which a split is evaluated
SPLITS = {"test": TEST, **dict.fromkeys(("validation", "valid", "val", "dev"), VALIDATION), "train": TRAIN}
_WORD = re.compile(r"[A-Za-z]+(?:[_-][A-Z][a-z]{3}(?![A-Za-z]))?")  # of a name; a code may have a script, as yor_Latn
_SHARD = re.compile(r"([^/]+)/([^/]+)/\d{4}\.parquet")  # of the hub's conversion


class Part(NamedTuple):
    """A split of a configuration of a data set, or a file.

    Attributes:
        name: `config:NAME` if the card lists it, CONFIG/SPLIT of the hub's conversion, or the file's name.
        config: the configuration; the file's name.
        split: its split; `train` if a file's name does not say.
        converted: whether the hub's conversion has it.
    """

    name: str
    config: str
    split: str
    converted: bool = False


class Whereabouts(NamedTuple):
    """Where a split is.

    Attributes:
        languages: the suite's code to the data set's; empty if no name says which language it is.
        files: as in `data.files` of a task file.
        converted: as in `data.converted`; None for the usual place.
    """

    languages: dict[str, str]
    files: Files
    converted: str | None


def parts_of(repository: str, source: str) -> list[Part]:
    """Returns what a data set has: what its card lists, or else the hub's conversion to Parquet, or its tables.

    Args:
        repository: ORG/NAME.
        source: `hub`, or a folder with the hub's layout.

    Raises:
        UserError: if the source cannot be read, lacks the data set, or has no table in it.
    """
    check_repository(repository, "the data set")
    if source != HUB and not (check_folder(source) / repository).is_dir():
        hint = f"put it into {source}/{repository}, or give --data hub"
        raise UserError(f"the folder {source} does not contain {repository}", hint)
    card = card_of(SplitFiles(repository, MAIN, CONFIG, ""), source, UNLOCKED)
    configs = configs_of(card) if card and card.is_file() else {}
    listed = [Part(f"{CONFIG}{c}", c, split) for c, files in configs.items() for split in by_split(files)]
    if listed:
        return listed
    shards = [of for of in map(_SHARD.fullmatch, _names(repository, source, CONVERTED)) if of and of[2] in SPLITS]
    if parts := list(dict.fromkeys(Part(f"{of[1]}/{of[2]}", of[1], of[2], converted=True) for of in shards)):
        return parts
    if parts := tables(_names(repository, source, MAIN)):
        return parts
    hint = "use files that end in .parquet, .jsonl, .json, .csv or .tsv"
    raise UserError(f"{repository} has no tables", hint)


def tables(names: Sequence[str]) -> list[Part]:
    """Returns those of a data set's files that are tables, each with the split that its name says."""
    table_names = [name for name in names if any(fnmatch(Path(name).name, table) for table in TABLES)]
    words = {name: [w.lower() for w in re.findall("[A-Za-z]+", name) if w.lower() in SPLITS] for name in table_names}
    return [Part(name, name, words[name][-1] if words[name] else "train") for name in table_names]


def chosen(parts: Sequence[Part], config: str | None) -> list[Part]:
    """Returns the parts of a configuration, or the files that have it as a part of their names; all for None."""
    if config is None:
        return list(parts)
    within = re.compile(rf"(?<![^\W_]){re.escape(config)}(?![^\W_])")
    matching = [p for p in parts if p.config == config or (p.config == p.name and within.search(p.name))]
    if not matching:
        configurations = list(dict.fromkeys(part.config for part in parts))
        raise UserError(f"there is no configuration or file {config!r}", choices(configurations))
    return matching


def layout(parts: Sequence[Part], split: str) -> Whereabouts:
    """Returns where a split is in each language.

    Raises:
        UserError: if several configurations or files have it in the same language.
    """
    coded = [(*_coded(part), part) for part in parts if part.split == split]
    spoken = [one for one in coded if one[1]]
    if spoken and spoken[0][-1].config != spoken[0][-1].name:  # a task file has one pattern of configurations
        pattern = Counter(pattern for pattern, *_ in spoken).most_common(1)[0][0]
        spoken = [one for one in spoken if one[0] == pattern]
    coded = spoken or coded
    languages: dict[str, tuple[str, Part]] = {}
    for _, language, code, part in coded:
        other = languages.setdefault(language, (code, part))[1]
        if other != part:
            where = f"{split} split in {named(language)}" if language else f"{split} split"
            problem = f"both {other.config} and {part.config} have the {where}"
            raise UserError(problem, "choose one with --config NAME, or a part of the file's name")
    patterns = list(dict.fromkeys(pattern for pattern, *_ in coded))
    codes = {language: code for language, (code, _) in languages.items() if language}
    if not coded[0][-1].converted:
        return Whereabouts(codes, patterns[0] if len(patterns) == 1 else list(patterns), None)
    usual = patterns[0] == USUAL.replace("{split}", split)
    return Whereabouts(codes, [], None if usual else patterns[0])


def _coded(part: Part) -> tuple[str, str, str]:
    """Returns a part's name with {code} in it, and the language with its code; the name alone if it has none."""
    whole = [part.config] if part.config != part.name else []
    for word in [*whole, *_WORD.findall(part.config)]:
        if language := language_of(word):
            if word in whole:
                return part.name.replace(word, CODE, 1), language, word
            coded = [CODE if text == word else text for text in re.split(f"({_WORD.pattern})", part.name)]
            return "".join(coded), language, word
    return part.name, "", ""


def _names(repository: str, source: str, branch: str) -> list[str]:
    """Returns the names of the files of a branch; a folder has those of all branches."""
    if source == HUB:
        return sorted(listing(repository, branch))
    folder = check_folder(source) / repository
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
