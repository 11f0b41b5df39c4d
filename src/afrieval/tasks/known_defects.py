"""Known defects of a task's data, as `known_defects.yaml` lists them.

An entry holds hashes of the texts that it is about instead of the texts: it applies while the data still has them, and
lapses for a file that its authors have corrected.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from annotated_types import Ge

from afrieval.errors import UserError, nearest
from afrieval.files.schema import AT_LEAST_ONE, CLOSED
from afrieval.files.yaml import read_as
from afrieval.tasks.answers import normalise
from afrieval.tasks.documents import Document
from afrieval.tasks.spec import TaskSpec

LENGTH = 12  # hexadecimal digits of a witness


@dataclass(frozen=True)
class KnownDefect:
    """A defect of some rows, or of a language's whole split.

    Attributes:
        language: the suite's code.
        split: one of the task's splits.
        what: the defect, in a few words that can follow a row number.
        evidence: how it is known, with figures.
        source: where it was found or published.
        witnesses: row number to the hash of its text, as `witness` returns it: all affected rows, or some of them if
            `rows` is `all`.
        rows: `all` if the whole split is affected.
        published: names of published tables that have scores of these rows.
    """

    __pydantic_config__ = CLOSED

    language: str
    split: str
    what: str
    evidence: str
    source: str
    witnesses: Annotated[dict[Annotated[int, Ge(0)], str], AT_LEAST_ONE]
    rows: Literal["all"] | None = None
    published: list[str] = field(default_factory=list)

    @property
    def whole(self) -> bool:
        """Whether the whole split is affected."""
        return self.rows == "all"

    def found_in(self, documents: Sequence[Document]) -> list[int]:
        """Returns the rows that the defect affects in a split as it is now; none if the text is another."""
        found = [d.id for d in documents if d.id in self.witnesses and witness(d) == self.witnesses[d.id]]
        return [d.id for d in documents] if found and self.whole else found


@dataclass(frozen=True)
class KnownDefects:
    """The content of `known_defects.yaml`."""

    __pydantic_config__ = CLOSED

    defects: list[KnownDefect]


def witness(document: Document) -> str:
    """Returns a short hash of a document's texts, choices and right answer."""
    fields = {name: normalise(text) for name, text in document.fields.items()}  # uncleaned texts are not yet
    parts = [fields, [*map(normalise, document.choices)], document.gold_cell]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:LENGTH]


def known_defects(spec: TaskSpec) -> list[KnownDefect]:
    """Returns the known defects of a task's data; none if it has no such file, or is a translated variant.

    Raises:
        UserError: if the file is invalid; file, line and key are named.
    """
    path = spec.folder / spec.data.defects
    found = _read(path) if path.is_file() and not spec.direct else []  # other texts, which no witness knows
    for defect in found:
        for kind, value, known in (
            ("language", defect.language, spec.languages),
            ("split", defect.split, spec.data.files),
        ):
            if value not in known:
                raise UserError(f"{path}: {spec.name} has no {kind} {value!r}", nearest(value, list(known)))
    return found


@cache
def _read(path: Path) -> list[KnownDefect]:
    return read_as(KnownDefects, path).defects


def marked(spec: TaskSpec, language: str, split: str, documents: list[Document]) -> tuple[list[Document], str]:
    """Returns documents with their known defects, and the defect that the whole split has; empty if it has none."""
    whole, rows = "", dict[int, str]()
    for defect in known_defects(spec):
        if (defect.language, defect.split) == (language, split):
            found = defect.found_in(documents)
            rows |= dict.fromkeys(found, defect.what)
            whole = defect.what if found and defect.whole else whole
    return [d if d.defect or d.id not in rows else replace(d, defect=rows[d.id]) for d in documents], whole
