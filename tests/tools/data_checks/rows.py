"""Rows of an invented task in five invented languages, which share names and numbers."""

import random
from collections.abc import Sequence

from afrieval.tasks.data.document import Document
from afrieval.tools.data_checks.groups import Group

LANGUAGES = ("eng", "fra", "hau", "swa", "yor")
LETTERS = "abdegiklmnoprstuvwz"


def word(rng: random.Random, letters: int) -> str:
    return "".join(rng.choice(LETTERS) for _ in range(letters))


def documents(n: int = 60, seed: int = 0) -> dict[str, list[Document]]:
    """Returns rows whose two texts share a name; each language has words of its own."""
    names = random.Random(seed)
    shared = [(word(names, 8).title(), names.randint(10, 9999), word(names, 9).title()) for _ in range(n)]
    found = {}
    for code in LANGUAGES:
        rng = random.Random(f"{seed} {code}")
        own = [word(rng, rng.randint(2, 7)) for _ in range(40)]
        found[code] = [
            Document(
                number,
                {
                    "premise": f"{_text(rng, own)} {name} {_text(rng, own)} {year}",
                    "hypothesis": f"{name} {_text(rng, own)} {place}",
                },
                ("yes", "no", "maybe"),
                number % 3,
            )
            for number, (name, year, place) in enumerate(shared)
        ]
    return found


def _text(rng: random.Random, words: Sequence[str]) -> str:
    return " ".join(rng.choices(words, k=6))


def group(found: dict[str, list[Document]]) -> Group:
    return Group("test", found, {}, ("yes", "no", "maybe"))
