"""Speakers' reviews of the strings of a language: `reviews/<language>.yaml`."""

import unicodedata
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, get_args

import yaml

from afrieval._util.resources import shipped
from afrieval._util.schema import CLOSED
from afrieval.tasks.prompts.vocabulary import String, prompt_strings, read_once, vocabulary_of, vocabulary_strings

Verdict = Literal["ok", "change", "unsure"]
Status = Literal["unreviewed", "one reviewer", "reviewed", "changed since", "disputed"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
REVIEWS = shipped("reviews")
ENOUGH = 2  # reviewers
HEAD = "# Written by `afrieval review read`: what speakers said of each string, with the hash of its text.\n"


@dataclass(frozen=True)
class Review:
    """A speaker's review of a text.

    Attributes:
        hash: hash of the text; if the verdict is `change`, of the new text, which its author approves.
        verdict: `ok`, `change` or `unsure`.
        reviewer: the speaker's name.
        date: the day, 2026-01-31.
        dialect: the speaker's dialect or region.
        comment: the speaker's comment.
    """

    __pydantic_config__ = CLOSED
    hash: str
    verdict: Verdict
    reviewer: str
    date: str
    dialect: str = ""
    comment: str = ""

    @property
    def person(self) -> str:
        """The name without differences of case, blanks and coding."""
        return " ".join(unicodedata.normalize("NFC", self.reviewer).casefold().split())


Reviews = dict[str, list[Review]]  # by id of the string, oldest first


def read_reviews(path: Path) -> Reviews:
    """Returns the reviews in a file; none if it does not exist."""
    return read_once(Reviews, path) if path.is_file() else {}


def as_yaml(reviews: Reviews) -> str:
    """Returns the text of a file with reviews."""
    content = {id: [{k: v for k, v in asdict(each).items() if v} for each in of] for id, of in reviews.items()}
    return HEAD + yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=10**6)


def with_review(reviews: Reviews, id: str, review: Review) -> Reviews:
    """Returns reviews with one more, which replaces an earlier one of the same text by the same person."""
    others = [each for each in reviews.get(id, []) if (each.person, each.hash) != (review.person, review.hash)]
    return {**reviews, id: [*others, review]}


def status(string: String, reviews: Reviews) -> Status:
    """Returns how far the review of a string has come.

    Only reviews of its present text count; if speakers judged an earlier text only, it is `changed since`.
    """
    entries = reviews.get(string.id, [])
    current = [each for each in entries if each.hash == string.hash]
    if any(each.verdict == "unsure" for each in current):
        return "disputed"
    if len({each.person for each in current}) >= ENOUGH:
        return "reviewed"
    return "one reviewer" if current else "changed since" if entries else "unreviewed"


def is_rewritten(string: String, reviews: Reviews) -> bool:
    """Returns whether a reviewer wrote the present text, so that notes on an earlier one do not apply."""
    return any(each.verdict == "change" and each.hash == string.hash for each in reviews.get(string.id, []))


def stored(prompts: Path) -> Reviews:
    """Returns the reviews of a language.

    As for the vocabulary, a folder `reviews` next to the tasks' folder replaces the suite's.

    Args:
        prompts: a prompt file, `<tasks>/<task>/prompts/<language>.yaml`.
    """
    folder = _tasks(prompts).parent / "reviews"
    return read_reviews((folder if folder.is_dir() else REVIEWS) / prompts.name)


def _tasks(prompts: Path) -> Path:
    """Returns the folder of all tasks, of which tasks may be in subfolders."""
    above = prompts.absolute().parents
    inner, outer = above[2], above[min(3, len(above) - 1)]  # a task file with prompts may be close to the root
    return outer if (outer.parent / "vocabulary").is_dir() else inner


def used(prompts: Path, number: int | None = None) -> list[String]:
    """Returns the strings of a prompt: its own, its file's shared strings, and the words that they refer to."""
    strings = [
        s for s in prompt_strings(prompts.parents[1].name, prompts) if number is None or s.number in (None, number)
    ]
    words = {s.id: s for s in vocabulary_strings(vocabulary_of(prompts, _tasks(prompts)))}
    references = dict.fromkeys(id for string in strings for id in string.references)
    return [s for s in strings if not s.is_reference] + [words[id] for id in references if id in words]


def reviewers(prompts: Path, number: int) -> str:
    """Returns the names of those who reviewed a prompt; empty unless all of its strings are reviewed."""
    names: dict[str, str] = {}
    reviews = stored(prompts)
    for string in used(prompts, number) if reviews else ():
        if status(string, reviews) != "reviewed":
            return ""
        names |= {each.person: each.reviewer for each in reviews[string.id] if each.hash == string.hash}
    return ", ".join(sorted(names.values()))


def share(prompts: Path) -> float:
    """Returns the share of the strings of a prompt file that are reviewed."""
    reviews, strings = stored(prompts), used(prompts)
    return sum(status(string, reviews) == "reviewed" for string in strings) / len(strings)
