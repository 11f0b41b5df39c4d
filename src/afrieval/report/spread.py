"""In a sentence what the choice of the prompt does to scores."""

from collections.abc import Sequence

import numpy as np

from afrieval.analysis.spread import Spread
from afrieval.report.contrasts import NOTHING, side_name
from afrieval.report.dimensions import varying
from afrieval.report.values import shown_score
from afrieval.report.words import language_name
from afrieval.scoring.base import Metric


def findings(task: str, found: Sequence[Spread], metric: Metric) -> list[str]:
    """Returns how far the best and the worst prompt are apart, on average and at most.

    Args:
        task: what it is called.
        found: its spreads.
        metric: of the scores.
    """
    if not all(cell.selection.concludes for spread in found for cell in spread.cells):
        return [f"{task}: {NOTHING}."]
    widest = max(found, key=lambda spread: spread.spread)
    others = [d for d in varying([spread.dimensions for spread in found]) if d != "language"]
    where = "".join(f", {side_name(d, widest.dimensions[d])}" for d in others)
    middle = shown_score(float(np.median([spread.spread for spread in found])), metric.bounds)
    most = shown_score(widest.spread, metric.bounds)
    language = language_name(widest.dimensions["language"])
    return [f"{task}: the best and the worst prompt differ by {middle} (median), at most by {most}: {language}{where}."]
