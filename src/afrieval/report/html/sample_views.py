"""Samples to read: a few documents of each task, language and model, with what was asked and answered."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from afrieval.analysis.selected_samples import GAINED, LOST, MEASURED, RIGHT, WRONG, ShownDocuments
from afrieval.languages import web_code
from afrieval.report.html.frame import fragment, place
from afrieval.report.sample_cards import Card, ShownSample, card
from afrieval.report.score_tables import WRITTEN, named
from afrieval.results.cell_scores import CellScores
from afrieval.results.run_folder import read_rows
from afrieval.scoring.labels import NOT_PARSED, REFUSED

SIGNS = {"right": "✓", "wrong": "✗", NOT_PARSED: "?", REFUSED: "⊘"}  # next to the words, never alone
PARTLY = "≈"
RULE = (
    "A few documents of each task, language and model: in turn one that is right under English prompts only, one that "
    "is right under native prompts only, an unparsed one, a wrong one and a right one, each kind spread evenly over "
    "the test set. Where only one prompt language ran, the first two prompts are compared. Answers that are partly "
    "right count as right from 50% on."
)


def samples_html(chosen: ShownDocuments, several: Sequence[str], room: int) -> Markup:
    """Returns the samples of a task, language and model.

    `several` has the dimensions to name; `room` is how many bytes of text each document may have.
    """
    first = chosen.cells[0]
    places = [d for d in several if d in ("shots", "answer_form")]
    names = [first.model, *(f"{named(first.dimensions, d)}{'-shot' if d == 'shots' else ''}" for d in places)]
    return fragment(
        "samples.html",
        place=place({"task": first.task, "language": first.language, "model": first.model}),
        title=", ".join(names),
        shown=chosen.n,
        total=sum(chosen.counts.values()),
        kinds=list(dict.fromkeys("flipped" if kind in (LOST, GAINED) else kind for kind in chosen.chosen)),
        counts=[f"{n:,} {_in_words(kind, chosen.cells)}" for kind, n in chosen.counts.items()],
        cards=[_card(each) for each in _cards(chosen, room)],
        language=web_code(first.language),
    )


def _in_words(kind: str, cells: Sequence[CellScores]) -> str:
    both = f" under both prompts, {_prompt(cells[0])} and {_prompt(cells[-1])}" if len(cells) > 1 else ""
    words = {
        LOST: f"right under {_prompt(cells[0])} only",
        GAINED: f"right under {_prompt(cells[-1])} only",
        NOT_PARSED: "without an answer that could be parsed, and not right",
        WRONG: f"wrong{both}",
        RIGHT: f"right{both}",
        MEASURED: "texts whose likelihood was computed",
    }
    return words[kind]


def _prompt(cell: CellScores) -> str:
    return f"{WRITTEN[cell.prompt_language]} prompt {cell.prompt}"


def _cards(chosen: ShownDocuments, room: int) -> Iterator[Card]:
    """Yields the cards; no other lines are parsed than those that they show."""
    rows = [row for of_kind in chosen.chosen.values() for row in of_kind]
    read = [(cell, read_rows(Path(str(cell.path)), rows)) for cell in chosen.cells]
    for kind, of_kind in chosen.chosen.items():
        for row in of_kind:
            shown = [(cell, lines[row]) for cell, lines in read]
            yield card(row, shown, len(shown) if kind in (LOST, GAINED) else 1, room)


def _card(each: Card) -> dict[str, Any]:
    return {
        "row": each.row,
        "of": each.of,
        "gold": each.gold,
        "sides": [_side(side) for side in each.sides],
        "others": [f"{_prompt(cell)}: {verdict}" for cell, verdict in each.others],
    }


def _side(side: ShownSample) -> dict[str, Any]:
    return {
        "prompt_name": _prompt(side.cell),
        "language": web_code(side.cell.language) if side.cell.prompt_language == "native" else "",
        "verdict": side.verdict,
        "sign": SIGNS.get(side.verdict, "" if side.choices and side.choices[0].probability is None else PARTLY),
        "has_roles": bool(side.choices) and side.choices[0].probability is None,
        "side": side,
    }
