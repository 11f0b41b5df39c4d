"""IFEval: which of its prompt's instructions a response follows, by prompt and by instruction."""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from afrieval._util.errors import UserError
from afrieval.languages import ENGLISH
from afrieval.scoring.base import INSTRUCTED, Array, Metric, Response, ratio
from afrieval.scoring.ifeval.checkers import build_checker
from afrieval.scoring.ifeval.other_languages import Checker
from afrieval.scoring.registry import INSTRUCTIONS

# The four accuracies under the harness' names: all instructions of a prompt, or each of them; as written, or loosely.
FOLLOWED = tuple(map(str, INSTRUCTIONS))


def followed(row: Mapping[str, Any], response: str) -> dict[str, list[bool]]:
    """Returns which instructions of a row a response follows, in their order; one of blanks only follows none.

    They are followed `strict`, as it was written, or `loose`, in at least one of its variants.

    The rules follow `evaluation_lib.py` of IFEval's authors (google-research/instruction_following_eval): what a
    checker raises goes on to the caller, and an unidentified language counts as followed.
    Brackets in one another by the thousand, which some models write without end, are not followed: Python's JSON
    reader cannot tell, and would end the run.

    Args:
        row: `key`, `instruction_id_list` and `kwargs` of a row of google/IFEval, and the suite's code of its `language`
            if that is not English; no checker reads its prompt.
        response: all that the model wrote.
    """
    if _language(row) != ENGLISH:  # English is scored as the authors do it, to the character
        response = unicodedata.normalize("NFC", response)
    checkers, loosened = build_checkers(row), variants(response)
    return {
        "strict": [_any_follows(check, [response]) for check in checkers],
        "loose": [_any_follows(check, loosened) for check in checkers],
    }


def build_checkers(row: Mapping[str, Any]) -> list[Checker]:
    """Returns a checker for each instruction of a row; a way to check rows before a model answers them.

    Raises:
        UserError: if the row has no instructions, an unknown one, or not one dictionary of fitting kwargs for each.
    """
    ids, kwargs, name = row["instruction_id_list"], row["kwargs"], f"row {row['key']}"
    if not ids or len(ids) != len(kwargs):
        raise UserError(f"{name} has {len(ids)} instructions, {len(kwargs)} kwargs", "take the rows of google/IFEval")
    return [build_checker(one, of_one, name, _language(row)) for one, of_one in zip(ids, kwargs, strict=True)]


def _language(row: Mapping[str, Any]) -> str:
    """Returns the suite's code of the language that a row is to be answered in."""
    in_english = any((of or {}).get("language") == "en" for of in row["kwargs"])
    return ENGLISH if in_english else str(row.get("language", ENGLISH))


def variants(response: str) -> list[str]:
    """Returns the forms of a response that count for loose accuracy, each once.

    It may be without its first line, its last line or both (an introduction, a question at the end), and each of these
    four without asterisks (bold type): "IFEval Metrics" in arXiv 2311.07911.
    """
    lines = response.split("\n")
    cut = [response, *("\n".join(part).strip() for part in (lines[1:], lines[:-1], lines[1:-1]))]
    return list(dict.fromkeys([*cut, *(text.replace("*", "") for text in cut)]))


def _any_follows(check: Checker, responses: Iterable[str]) -> bool:
    try:
        return any(bool(text.strip()) and check(text) for text in responses)
    except RecursionError:
        return False


def prompt_level(name: str, way: str) -> Metric:
    """Returns the share of responses that follow all instructions of their prompt."""
    return Metric(
        name,
        lambda response, _: [float(all(verdicts))] if (verdicts := _followed(response, way)) else None,
        applies_to=frozenset({INSTRUCTED}),
    )


def inst_level(name: str, way: str) -> Metric:
    """Returns the share of all instructions that are followed; arguments as in `prompt_level`."""
    return Metric(
        name,
        lambda response, _: _counts(follows) if (follows := _followed(response, way)) else None,
        ratio,
        per_document_values=linear,
        to_sample=lambda answer, _: list(map(float, answer[way])),
        from_sample=_counts,
        applies_to=frozenset({INSTRUCTED}),
    )


def kept(sample: Mapping[str, Any]) -> list[float]:
    """Returns which instructions a sample line says were followed as written; none for other tasks' samples."""
    follows: list[float] = sample.get("inst_level_strict_acc", [])
    return follows


def _followed(response: Response, way: str) -> list[bool]:
    return response.answer.get(way, []) if isinstance(response.answer, dict) else []


def _counts(follows: Sequence[float]) -> list[float]:
    return [float(sum(follows)), float(len(follows))]


def linear(measures: Array) -> Array:
    """Returns a value per prompt whose mean is the share of all instructions that are followed.

    The share is a ratio of two sums over prompts, followed and all instructions, R = sum y / sum x.
    The value of a prompt is R + (y - R x) / mean x; the standard error of their mean is the one of a
    proportion whose prompts are clusters (Cochran 1977, "Sampling Techniques", section 3.12).
    Single values may be below 0 or above 1.

    Args:
        measures: followed and all instructions of each prompt, shape (n, 2).
    """
    followed, instructions = measures[:, 0], measures[:, 1]
    share = followed.sum() / instructions.sum()
    return np.asarray(share + (followed - share * instructions) / instructions.mean())
