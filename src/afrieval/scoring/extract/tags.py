"""The tagged tokens that a generated answer lists, one per line: `Musa PROPN`."""

from afrieval.scoring.base import Asked, Extractor, Question
from afrieval.scoring.extract.listed import listed, named
from afrieval.scoring.tagged import Pair


def tags() -> Extractor:
    """Returns what takes the first lines that follow each other and are tagged tokens, as [token, tag].

    The tag is what follows the line's last blank, in upper or lower case; a token counts as it is. An
    answer without a tagged token is unparsed.
    """

    def extract(text: str, question: Question, asked: Asked) -> list[Pair] | None:
        known = named(question.names)
        return listed(text, lambda line: _tagged(line, known), lambda line: False)

    return extract


def _tagged(line: str, known: dict[str, str]) -> Pair | None:
    token, _, tag = line.rpartition(" ")
    return [token, known[tag.casefold()]] if token and tag.casefold() in known else None
