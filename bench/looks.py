"""How far can samples be trusted that grow until a decision is possible, and what do they save?

    python bench/looks.py                                # simulations
    python bench/looks.py --answers FOLDER --write       # with races of real models; about eleven minutes

FOLDER has a file for each model, such as those in eval_results of github.com/TIGER-AI-Lab/MMLU-Pro, unpacked: a JSON
list of questions with question_id, category, answer and pred. Run folders of the suite serve as well. `--write` puts
the tables into docs/cost.md and draws its curves.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path

import looks_figures as figures
import looks_races as races
import looks_simulated as simulated
from page import renewed

from afrieval.scoring.statistics.looks import looks

PAGE = Path(__file__).parents[1] / "docs/cost.md"
ROWS, SMALL = (600, 2_000, 12_000), 600
POINTS = (2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
DIFFERENCES = (1.0, 2.0, 3.0, 5.0, 8.0, 12.0)
LANGUAGES = (
    ("60-90", [0.6, 0.68, 0.75, 0.82, 0.9]),
    ("60-90", [0.6 + 0.3 * at / 16 for at in range(17)]),
    ("90", [0.9] * 17),
    ("95", [0.95] * 17),
)
SHUFFLES, RACES, OF_POWER = 200, 2_000, 300


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def whole(share: float) -> str:
    return f"{100 * share:.0f} %"


def table(head: Sequence[str], rows: Sequence[Sequence[object]], left: int = 1) -> str:
    """Returns a Markdown table; columns from the second on, or from `left` on, are numbers."""
    lines = [head, ["---"] * left + ["---:"] * (len(head) - left), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def of_scores() -> str:
    head = ("rows", "way", "one look", "all looks", "stop at +/- 2, 3 or 5", "stop at 50 % excluded", "highest score")
    rows = [
        (f"{of:,}", name, *map(percent, found))
        for of in (SMALL, ROWS[-1])
        for name, found in simulated.lowest(of).items()
    ]
    return table(head, [*rows, ("204", "equal shares, macro F1", *map(percent, simulated.f1_rate()))], 2)


def of_means() -> str:
    rules = {
        "each at +/- 5": simulated.within(5),
        "each when half its interval is 5": simulated.narrow(5),
        "all when the mean is at +/- 2": None,
        "each at its highest score": simulated.highest,
    }
    rows = []
    for scores, chances in LANGUAGES:
        for alike, of in ((0.0, "own"), (simulated.ALIKE, "same")):
            found = [simulated.mean_rate(chances, alike, rule) for rule in rules.values()]
            rows.append((len(chances), scores, of, *map(percent, found)))
    return table(("languages", "scores", "questions", *rules), rows, 3)


def of_races() -> str:
    unlike = [60, 57, 55, 50, 45]
    errors = {
        "2 equal models: one is said to be better": races.equal_rate(2, SMALL, RACES),
        "5 equal models: one is said to be better": races.equal_rate(5, SMALL, RACES),
        "5 models, 45 to 60 %: the best one leaves": races.lost_rate(unlike, SMALL, RACES),
        "2 models 10 points apart: said to be within 10": races.within_rate(10, SMALL, RACES),
    }
    return table(("made-up models, 600 rows", "at most 5 %"), [(name, percent(rate)) for name, rate in errors.items()])


def of_power() -> tuple[str, dict[str, list[float]]]:
    """Returns the table, and the curves of the share of the cost."""
    found = {rows: [races.power(of, rows, OF_POWER) for of in DIFFERENCES] for rows in ROWS}
    head = ["true difference"] + [f"{rows:,} rows, {of}" for rows in ROWS for of in ("race", "all at once")]
    lines = [
        (f"{of:g}", *(whole(share) for rows in ROWS for share in found[rows][at][:2]))
        for at, of in enumerate(DIFFERENCES)
    ]
    return table(head, lines), {f"simulated, {rows:,} rows": [each.share for each in of] for rows, of in found.items()}


def of_answers(found: races.Recorded, orders: list[list[int]]) -> tuple[str, list[tuple[float, float]]]:
    """Returns the table of races, and the difference between the best two and the share of the cost of each."""
    every = len(found.groups)
    rows, points = [], []
    for name, of in races.fives(len(found.models)).items():
        scores = [100 * float(found.right[at].mean()) for at in of]
        small, large = (races.recorded(found, of, orders, size) for size in (SMALL, every))
        best = [f"{found.models[at]} ({score:.1f})" for at, score in zip(of[:2], scores, strict=False)]
        costs = [small[0.0].share, *(large[margin].share for margin in races.MARGINS)]
        right = [min(each.right for each in outcome.values()) for outcome in (small, large)]
        rows.append((name, ", ".join(best), *map(percent, right), *map(whole, costs)))
        points.append((scores[0] - scores[1], large[0.0].share))
    sizes = [f"{what}, {rows:,}" for what in ("right", "cost") for rows in (SMALL, every)]
    return table(
        ("models", "best and second", *sizes, *(f"margin {of:g}" for of in races.MARGINS[1:])), rows, 2
    ), points


def of_until(found: races.Recorded, orders: list[list[int]]) -> str:
    rows = []
    for points in (2, 3, 5):
        each = races.until(found, orders, points)
        share = whole(each.questions / len(found.groups))
        rows.append((f"+/- {points}", f"{each.questions:,.0f}", share, percent(each.right)))
    return table(("until", "questions per model", "share", "has the score of all rows"), rows)


def of_borrowing(found: races.Recorded) -> str:
    rows = [(name, *map(whole, of)) for name, of in races.saved(found).items()]
    return table(("answers of", "least", "median", "most"), rows)


def blocks(found: races.Recorded | None, drawn: bool) -> Iterator[tuple[str, str]]:
    """Yields the name and the text of each part of the page; the curves are drawn on the way."""
    yield "looks", of_scores()
    yield "means", of_means()
    yield "races", of_races()
    power, curves = of_power()
    yield "power", power
    points: list[tuple[float, float]] = []
    if found:
        orders = races.orders(found, SHUFFLES)
        text, points = of_answers(found, orders)
        yield "answers", text
        yield "until", of_until(found, orders)
        yield "borrowing", of_borrowing(found)
    if drawn:
        figures.coverage(looks(2_000), simulated.all_so_far(2_000))
        figures.questions(POINTS, simulated.questions(POINTS))
        figures.races(DIFFERENCES, curves, points)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=Path, metavar="FOLDER", help="recorded answers of five models or more")
    parser.add_argument("--write", action="store_true", help="into docs/cost.md; needs --answers")
    given = parser.parse_args()
    if given.answers and not given.answers.is_dir():
        parser.error(f"there is no folder {given.answers}")
    if given.write and not given.answers:
        parser.error("--write needs --answers: the curves have points of recorded races")
    found = races.read(given.answers) if given.answers else None
    if found and len(found.models) < races.FIVE:
        sys.exit(f"error: {given.answers} has answers of {len(found.models)} models; a race needs {races.FIVE}")
    for name, text in blocks(found, given.write):
        print(f"{name}\n\n{text}\n", flush=True)
        if given.write:
            page = PAGE.read_text(encoding="utf-8")
            PAGE.write_text(renewed(page, name, f"{text}\n\n{date.today()}, `bench/looks.py`."), encoding="utf-8")


if __name__ == "__main__":
    main()
