"""Why nothing is concluded where scores differ, and what a model gets that does not read."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from afrieval.analysis.contrasts import Contrast
from afrieval.analysis.differences import Difference
from afrieval.analysis.verdicts import LOWEST, Floor, LanguageBaselines, one_answer
from afrieval.report.columns import Column
from afrieval.report.score_tables import AS_WRONG, WRITTEN
from afrieval.report.table import Table
from afrieval.report.values import Bounds, language_name, listed, shown_score
from afrieval.results.cell_scores import ACCURACY, BALANCED, CellScores
from afrieval.tasks.data.baselines import LENGTH

UNREAD = {
    "chance": "chance",
    "majority": "what the same answer to all questions gives",
    "length": "what the length of the text alone gives",
    "position": "what the same position in all questions gives",
    "longest": "what the longest answer gives",
    "shortest": "what the shortest answer gives",
}
OPEN = "unparsed answers could decide it, so nothing is concluded"
FEWEST = 10  # rows with a right answer, for the interval of a score that gives it as much weight as others
SEVERAL = "what is possible without reading"


def unread_words(floor: Floor, bounds: Bounds) -> str:
    """Returns what takes no reading, with its score, such as `chance (33.3)`."""
    score = shown_score(floor.score, bounds)
    reads = f", except by {floor.reads}" if floor.reads and not floor.open else ""
    return f"{score if floor.name == LOWEST else f'{_named(floor)} ({score})'}{reads}{AS_WRONG * floor.open}"


def not_above_in(floors: Mapping[str, Floor | None], bounds: Bounds) -> list[str]:
    """Returns what scores are not above by language, such as `is not above chance (33.3) in hau and yor`."""
    by_name: dict[str, dict[str, str]] = {}
    for code, floor in floors.items():
        if floor:
            by_name.setdefault(f"{_named(floor)}{AS_WRONG * floor.open}", {})[code] = shown_score(floor.score, bounds)
    sentences = []
    for name, scores in by_name.items():
        shown = [f"{code} ({score})" for code, score in scores.items()]
        same = len({*scores.values()}) == 1  # then it is named once
        where = f" ({next(iter(scores.values()))}) in {listed([*scores], 8)}" if same else f" in {listed(shown, 8)}"
        sentences.append(f"is not above {name}{where}")
    return sentences


def _named(floor: Floor) -> str:
    return "the lowest score" if floor.name == LOWEST else UNREAD.get(floor.name, SEVERAL)


def floors(contrast: Contrast) -> dict[str, Floor]:
    """Returns what the better side is not above, by language, where sides differ and that is why nothing follows."""
    return {row.language: row.floor for row in contrast.rows if row.floor and row.concludes}


def withheld(row: Difference, bounds: Bounds) -> str:
    """Returns why nothing follows from a row, though something could from such rows; empty if sides do not differ."""
    return OPEN if row.open else f"not above {unread_words(row.floor, bounds)}" if row.floor and row.concludes else ""


def one_answer_notes(cells: Iterable[CellScores]) -> list[str]:
    """Returns in a sentence in which cells nearly all answers are the same; empty if in none."""
    cell_list = list(cells)
    uniform = [(cell, *usual) for cell in cell_list if (usual := one_answer(cell))]
    if not uniform:
        return []
    cell, answer, share = max(uniform, key=lambda each: each[2])
    labels = cell.declared.get("labels") or []
    name = labels[answer] if answer < len(labels) else f"answer {answer + 1}"
    where = f"{language_name(cell.language)}, {WRITTEN[cell.prompt_language]} prompt {cell.prompt}"
    such = f"{where}: {name} ({100 * share:.0f}%)"
    if len(cell_list) == 1:
        return [f"Nearly all answers are the same: {such}."]
    return [f"Nearly all answers are the same with {len(uniform)} of {len(cell_list)} prompts, such as {such}."]


def rare_notes(cells: Iterable[CellScores]) -> list[str]:
    """Returns a sentence on the languages where an interval is too narrow, since a label is too rare; empty if in none.

    Only scores such as macro F1 are checked, to which a rare class adds as much as others.
    """
    rare = []
    for cell in cells:
        if cell.metric.interval == "bootstrap" and cell.n and (cell.n_choices > 0).all() and (cell.golds >= 0).all():
            fewest = int(np.unique(cell.golds, return_counts=True)[1].min())
            rare += [language_name(cell.language)] if fewest < FEWEST else []
    where = listed(list(dict.fromkeys(rare)), 8)
    return [f"Intervals too narrow: some label is right in fewer than {FEWEST} rows in {where}."] if rare else []


TOLD_BY_LENGTH = (LENGTH, BALANCED)
ABOVE = "*"
NOTE = "What a model gets that does not read the text; docs/baselines.md explains it."
LEGEND = f"{ABOVE}: above chance, beyond what chance explains (binomial test, Holm over the table)."


def baseline_table(task: str, baselines: Sequence[LanguageBaselines]) -> Table:
    """Returns a row per language: each baseline's accuracy, and where labels are fixed balanced accuracy by lengths."""
    pairs = [(name, metric) for of in baselines for name, scores in of.baselines.scores.items() for metric in scores]
    shown = [pair for pair in dict.fromkeys(pairs) if pair[1] == ACCURACY or pair == TOLD_BY_LENGTH]
    columns = [Column("language", "language"), Column("n", "count"), Column("chance", "score")]
    for name, metric in shown:
        key = name if metric == ACCURACY else f"{name}_{metric}"
        columns += [Column(key.replace("_", ", "), "text", "-"), Column("", "hidden", key)]
    rows: list[list[object]] = []
    for each in baselines:
        rows.append([each.language, each.baselines.n, each.baselines.chance])
        for name, metric in shown:
            score = each.baselines.scores.get(name, {}).get(metric)
            tested = metric == (BALANCED if (name, BALANCED) in shown else ACCURACY)
            rows[-1] += ["" if score is None else shown_score(score) + ABOVE * (tested and name in each.above), score]
    notes = [NOTE, *([LEGEND] if any(of.above for of in baselines) else [])]
    return Table("baselines", f"{task}: without reading", columns, rows, notes, about={"task": task})
