"""Parses CoNLL files: lines with a token and its tag, and an empty line after each sentence."""

import re
from dataclasses import dataclass, field

DOCUMENT = "-DOCSTART-"  # a line that begins with it separates documents
_LINE_END = re.compile(r"\r\n|\r|\n")  # other separators, such as U+2028, may be tokens
_BLANKS = " \t"  # not all of Unicode's: a no-break space may be a token


@dataclass
class Sentence:
    """A sentence.

    Attributes:
        tokens: its tokens.
        tags: a tag for each.
        defect: why one of its lines cannot be parsed; empty for most sentences.
    """

    tokens: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    defect: str = ""

    def add(self, line: str, number: int) -> None:
        """Adds the token and the tag in a line; columns are separated by a tab, or else by blanks."""
        cells = [cell.strip(_BLANKS) for cell in line.split("\t")] if "\t" in line else line.split(" ")
        columns = [cell for cell in cells if cell]
        if len(columns) == 2:
            self.tokens.append(columns[0])
            self.tags.append(columns[1])
        elif not self.defect:
            found = "1 column" if len(columns) == 1 else f"{len(columns)} columns"
            self.defect = f"line {number}: {found} instead of a token and a tag"


def parse_conll(text: str) -> list[Sentence]:
    """Returns the sentences of a text, in order."""
    found: list[Sentence] = []
    inside = False
    for number, line in enumerate(_LINE_END.split(text), 1):
        content = line.strip(_BLANKS)
        if not content or content.startswith(DOCUMENT):
            inside = False
            continue
        if not inside:
            found.append(Sentence())
            inside = True
        found[-1].add(line, number)
    return found
