"""Which of IFEval's instructions a response follows."""

from collections.abc import Mapping

from afrieval.scoring.base import Asked, Extractor, Question


def instructions() -> Extractor:
    """Returns what lists, for each instruction, whether it is followed: `strict`, as written, and `loose`."""
    return _extract


def _extract(text: str, question: Question, asked: Asked) -> Mapping[str, list[bool]]:
    from afrieval.scoring.ifeval.instructions import followed  # here, since it loads a language detector

    return {way: list(kept) for way, kept in followed(question.gold, text)._asdict().items()}
