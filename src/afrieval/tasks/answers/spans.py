"""Answers that are spans of a sentence with types, or all its tokens with tags."""

import re
from collections.abc import Sequence
from typing import Any, ClassVar

from afrieval._util.errors import UserError
from afrieval.scoring.base import SPANS
from afrieval.scoring.tagging import Pair, spans, spans_shown, tags_shown, types
from afrieval.tasks.answers.base import AnswerType, Row
from afrieval.tasks.answers.cell_values import label_text, normalise, parse_list
from afrieval.tasks.declaration.task_file import TaskFile

TOKENS = "tokens"  # the column of tokens
BETWEEN_SPANS = " $$ "  # in the text of spans that XTREME-UP and mT5 write, as in `TIME: noon $$ DATE: today`


class Tags(AnswerType):
    """Each token of a sentence with its tag."""

    form = SPANS
    missing = "no known tag for each token"
    keys = frozenset({"tags"})
    further_columns: ClassVar[tuple[str, ...]] = (TOKENS,)
    lists = True

    def prepare(self, spec: TaskFile, rows: list[Row], language: str) -> list[Row]:
        """Returns rows whose tokens are lists."""
        return [{**row, TOKENS: parse_list(row[TOKENS])} for row in rows]

    def gold(self, spec: TaskFile, row: Row) -> list[Pair] | None:
        """Returns each token with the name of its tag; None if they do not match, or a token is empty."""
        tokens, tags = parse_list(row[TOKENS]), parse_list(self.cell(spec, row))
        if not tokens or tags is None or len(tokens) != len(tags):
            return None
        texts = [" ".join((label_text(token) or normalise(token)).split()) for token in tokens]
        names = {**{str(n): name for n, name in enumerate(spec.tags)}, **{name: name for name in spec.tags}}
        tag_names = [names.get(normalise(tag).removesuffix(".0"), "") for tag in tags]
        return [[*pair] for pair in zip(texts, tag_names, strict=True)] if all(texts) and all(tag_names) else None

    def shown(self, gold: Any) -> str:
        """Returns each token with its tag."""
        return tags_shown(gold)


class Spans(Tags):
    """The spans that tags such as B-PER and I-PER mark."""

    def names(self, spec: TaskFile) -> Sequence[str]:
        """Returns the types of spans; refuses tags of another form."""
        if odd := [tag for tag in spec.tags if not re.fullmatch("O|[BI]-.+", tag)]:
            raise UserError(f"tags has {odd[0]!r}, but must have O, B-TYPE and I-TYPE", "correct it")
        return types(spec.tags)

    def gold(self, spec: TaskFile, row: Row) -> list[Pair] | None:
        """Returns the spans of a sentence."""
        pairs = super().gold(spec, row)
        return None if pairs is None else spans(*zip(*pairs, strict=True))

    def shown(self, gold: Any) -> str:
        """Returns the spans with their types."""
        return spans_shown(gold)


class ListedSpans(Tags):
    """The spans that a text lists, such as `TIME: noon $$ DATE: today`."""

    missing = "no spans of known types"
    further_columns = ()
    lists = False

    def prepare(self, spec: TaskFile, rows: list[Row], language: str) -> list[Row]:
        """Returns rows as they are, since there are no tokens."""
        return rows

    def gold(self, spec: TaskFile, row: Row) -> list[Pair] | None:
        """Returns the spans of a text; an empty text has none."""
        if not isinstance(cell := self.cell(spec, row), str):
            return None
        entries = [entry.partition(":") for entry in label_text(cell).split(BETWEEN_SPANS) if entry]
        pairs = [[kind.strip(), " ".join(text.split())] for kind, _, text in entries]
        return pairs if all(kind in spec.tags and text for kind, text in pairs) else None

    def shown(self, gold: Any) -> str:
        """Returns the spans with their types."""
        return spans_shown(gold)
