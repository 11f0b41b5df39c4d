"""Model folders with one thing wrong."""

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Damage = Callable[[Path], None]
WRONG: list[Any] = [None, [], {}, "text", "", -1, 0, 1, 10**12, 1.5, float("nan"), True, ["a", None], {"a": {"b": []}}]
JSON_FILES = ("config.json", "tokenizer.json", "tokenizer_config.json", "generation_config.json")


def changed(file: str, **values: Any) -> Damage:
    """Returns what sets keys of a JSON file."""

    def damage(folder: Path) -> None:
        content = json.loads((folder / file).read_text())
        (folder / file).write_text(json.dumps(content | values))

    return damage


def written(file: str, content: str | bytes) -> Damage:
    """Returns what writes a whole file."""

    def damage(folder: Path) -> None:
        (folder / file).write_bytes(content if isinstance(content, bytes) else content.encode())

    return damage


def cast(dtype: str) -> Damage:
    """Returns what stores all weights in another type."""

    def damage(folder: Path) -> None:
        from safetensors.numpy import load_file, save_file

        weights = load_file(folder / "model.safetensors")
        metadata = {"format": "pt"}
        save_file({name: w.astype(dtype) for name, w in weights.items()}, folder / "model.safetensors", metadata)

    return damage


def mutated(file: str, draw: random.Random) -> Damage:
    """Returns what puts a value of a wrong kind or size somewhere into a JSON file, or takes something out."""

    def damage(folder: Path) -> None:
        content = json.loads((folder / file).read_text())
        places = list(_places(content))
        # near the top, where the settings are; a vocabulary has hundreds of entries
        depth = draw.randint(1, max(len(path) for path in places))
        path = draw.choice([p for p in places if len(p) == depth] or places)
        inside = content
        for step in path[:-1]:
            inside = inside[step]
        if draw.random() < 0.1:
            del inside[path[-1]]
        else:
            inside[path[-1]] = draw.choice(WRONG)
        (folder / file).write_text(json.dumps(content))

    return damage


def _places(content: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, value in items:
        yield (*path, key)
        yield from _places(value, (*path, key))
