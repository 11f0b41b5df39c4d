"""Run folders of open questions whose answers a judge judged and people rated, made by hand."""

from pathlib import Path
from typing import Any

from tests.report.html.small_runs import write_by_hand

from afrieval.results.samples import Sample
from afrieval.scoring.rubric import worth
from afrieval.scoring.statistics.corrected import FEWEST

LEVELS = {"1": "useless", "2": "weak", "3": "fair", "4": "good", "5": "excellent"}
JUDGE = "judge_tiny"
HASH = "0" * 16
# What the judge said of each answer, what two people said, and flags: output_language, refused, cut.
Given = tuple[str | None, dict[str, str], dict[str, float]]


def line(row: int, language: str, given: Given, corrected: bool, main: str = "empty", **changes: Any) -> Sample:
    """A sample of a task of open questions; its answer has as many words as its number."""
    level, ratings, flags = given
    own = {main: float(main == "answered"), "output_language": 1.0, "refused": 0.0, "cut": 0.0, **flags}
    if level:
        own[JUDGE] = worth(LEVELS, level, None)
    if ratings:
        own["people"] = sum(worth(LEVELS, of, None) for of in ratings.values()) / len(ratings)
    measures = {name: [value] for name, value in own.items()}
    if corrected:
        measures["corrected_tiny"] = [own.get(JUDGE, 0.5), own.get("people", 0.0), float(bool(ratings))]
    answer = f"Ìdáhùn {row}" + " dára" * row
    return {
        "doc_id": row,
        "doc": {"id": row, "question": f"Ìbéèrè {row} <b>ni</b>?", "choices": [], "gold": f"right {row}"},
        "target": f"right {row}",
        "arguments": [[f"Ìbéèrè {row} <b>ni</b>?", {}]],
        "resps": [[answer]], "answer": answer, "doc_hash": f"{row}", "prompt_hash": f"{row}",
        "metrics": list(measures), "measures": measures,
        **{name: of[0] if len(of) == 1 else of for name, of in measures.items()},
        "task": "open", "language": language, "prompt": 1, "prompt_language": "eng",
        "fewshot_ids": [], "defect": "", "n_choices": 0,
        "judged": {JUDGE: {"level": level, "reason": f"It is <i>{LEVELS.get(str(level), 'not parsed')}</i>."}},
        **({"ratings": ratings} if ratings else {}),
        **changes,
    }  # fmt: skip


def judged_run(
    folder: Path, given: dict[str, list[Given]], model: str = "small", main: str = "empty", **changes: Any
) -> Path:
    """Writes a run of a judged task: language to what is said of each answer; `changes` are of every line."""
    lines = {}
    for language, of in given.items():
        corrected = sum(bool(ratings) for _, ratings, _ in of) >= FEWEST
        of_cell = [line(row, language, one, corrected, main, **changes) for row, one in enumerate(of)]
        lines[f"open_{language}_eng_1"] = of_cell
    described = {
        "version": 1, "answer_form": "generate", "prompts": {"eng": {1: HASH}},
        "data": {language: {"test": HASH} for language in given},
    }  # fmt: skip
    declared = {
        "title": "Open questions", "metrics": [main, "output_language", "refused", "cut"],
        "signatures": {JUDGE: "tiny|rubric:1"}, "rubric": {"version": 1, "levels": LEVELS, "hash": HASH},
    }  # fmt: skip
    return write_by_hand(folder, {"model_name": model}, {"open": described}, {"open": declared}, lines)


def said(level: str | None, *ratings: str, **flags: float) -> Given:
    """What a judge said of an answer, what Amina and Bello said, and what may mislead the judge."""
    return level, dict(zip(("Amina", "Bello"), ratings, strict=False)), flags


RATED = [
    said("5", "1", "2"), said(None, "3", "3"), said("3", "3", "3"), said("4", "4", "5", cut=1.0),
    said("2", "2", "2"), said("4", "4", "4"), said("1", "1", "1"), said("5", "5", "5"), said("4", "3", "4"),
    said("2", "1", "2"), said("3", "3", "3"), said("5", "4", "4"),
]  # fmt: skip
# Of the rated answers in Hausa, the judge finds two much better than people do; in Yoruba one is rated.
GIVEN = {
    "hau": [*RATED, *RATED, said("4"), said("3", output_language=0.0)],
    "yor": [said("5"), said("2", "2"), said("1", refused=1.0), said(None)],
}
