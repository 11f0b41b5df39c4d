"""The curves of docs/cost.md."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from matplotlib import pyplot
from matplotlib.ticker import PercentFormatter

from afrieval.report.figures.style import GREY, MARKS, METADATA, SETTINGS, WIDTHS

IMAGES = Path(__file__).parents[1] / "docs/images"
Curves = Mapping[str, Sequence[float]]


@contextmanager
def panel(name: str) -> Iterator[Any]:
    """Gives axes, and writes them to docs/images/cost-NAME.svg; letters stay text, in the reader's font."""
    settings: dict[Any, Any] = {**SETTINGS, "axes.grid.axis": "both", "svg.fonttype": "none", "font.size": 8}
    with pyplot.rc_context(settings):
        figure, axes = pyplot.subplots(figsize=(WIDTHS["two"] * 0.8, 2.8))
        yield axes
        figure.savefig(IMAGES / f"cost-{name}.svg", metadata=METADATA["svg"])
    pyplot.close("all")


def _lines(axes: Any, x: Sequence[float], curves: Curves, **options: Any) -> None:
    for mark, (name, y) in zip(MARKS, curves.items(), strict=False):
        axes.plot(x, y, marker=mark.shape, markersize=mark.size, color=mark.colour, label=name, **options)


def _ticks(axis: Any, places: Sequence[float]) -> None:
    axis.set_ticks(places, labels=[f"{place:,g}" for place in places])
    axis.set_ticks([], minor=True)


def coverage(sizes: Sequence[int], curves: Curves) -> None:
    """Draws how often all intervals so far contain the truth."""
    with panel("coverage") as axes:
        axes.axhline(0.95, color=GREY, linestyle=":")
        _lines(axes, range(len(sizes)), curves)
        axes.set_xticks(range(len(sizes)), labels=[f"{size:,}" for size in sizes])
        axes.set_yticks([0.75, 0.8, 0.85, 0.9, 0.95, 1.0])
        axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        axes.set(
            ylim=(0.7, 1.01),
            xlabel="questions at the look",
            title="evaluations in which all intervals so far are right",
        )
        axes.legend(loc="lower left")


def questions(points: Sequence[float], curves: Curves) -> None:
    """Draws how many questions an interval takes."""
    with panel("questions") as axes:
        axes.loglog()
        _lines(axes, points, curves)
        _ticks(axes.xaxis, [2, 3, 4, 5, 6, 8, 10])
        _ticks(axes.yaxis, [100, 200, 400, 800, 1_600, 3_200, 6_400, 12_000])
        axes.set(xlabel="plus or minus, in points", title="questions, if half of the answers are right")
        axes.legend()


def races(differences: Sequence[float], curves: Curves, recorded: Sequence[tuple[float, float]]) -> None:
    """Draws the share of the cost over the difference between the best two models; recorded races are crosses."""
    with panel("races") as axes:
        axes.semilogx()
        _lines(axes, differences, curves)
        if recorded:
            axes.scatter(
                *zip(*recorded, strict=True), marker="x", color="black", s=22, zorder=3, label="recorded answers"
            )
        _ticks(axes.xaxis, [0.1, 0.2, 0.5, 1, 2, 3, 5, 8, 12, 20])
        axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        axes.set(ylim=(0, 1.03), xlabel="difference between the best two models, in points", title="share of the cost")
        axes.legend(loc="lower left")
