"""Draws what bench/scale.py printed: seconds and peak memory of each step over the number of samples.

python bench/scale.py 5 6 7 > measured.txt
python bench/scale_figure.py measured.txt scale.svg
"""

import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from afrieval.report.figures.style import MARKS, SETTINGS, WIDTHS

STEPS = {"read": "read", "leaderboard": "leaderboard, 20 models", "compare": "compare, 2 models"}
TICKS = {1: (3, 10, 30, 100, 300, 1_000), 2: (0.2, 0.5, 1, 2, 5)}  # of seconds and GB
Points = dict[str, list[tuple[int, float, float]]]  # step to samples, seconds and MB


def main() -> None:
    *files, output = map(Path, sys.argv[1:])
    draw(measured("\n".join(path.read_text() for path in files)), output)


def measured(text: str) -> Points:
    """Returns what was measured of each step, by number of samples."""
    found: Points = defaultdict(list)
    for words in map(str.split, text.splitlines()):
        if len(words) == 5 and words[1] in STEPS:
            samples, seconds, memory = (float(words[at].replace(",", "")) for at in (0, 2, 3))
            found[words[1]].append((int(samples), seconds, memory / 1000))
    return {step: sorted(points) for step, points in found.items()}


def draw(points: Points, output: Path) -> None:
    """Writes two panels with logarithmic scales."""
    from matplotlib import pyplot

    settings: dict[Any, Any] = {**SETTINGS, "axes.grid.axis": "both", "text.parse_math": True}
    with pyplot.rc_context(settings):
        figure, panels = pyplot.subplots(1, 2, figsize=(WIDTHS["two"], 2.4))
        for at, (panel, title) in enumerate(zip(panels, ("seconds", "peak memory, GB"), strict=True), 1):
            for mark, (step, of_step) in zip(MARKS, points.items(), strict=False):
                x, y = [each[0] for each in of_step], [each[at] for each in of_step]
                panel.loglog(x, y, marker=mark.shape, color=mark.colour, markersize=mark.size, label=STEPS[step])
            panel.set(title=title, xlabel="samples")
            panel.minorticks_off()
            panel.set_yticks(TICKS[at], labels=[f"{tick:g}" for tick in TICKS[at]])
        panels[0].legend()
        figure.savefig(output, metadata={"Date": None} if output.suffix == ".svg" else None)
    pyplot.close("all")


if __name__ == "__main__":
    main()
