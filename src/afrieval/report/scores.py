"""Numbers to terminal tables that fit in 80 columns."""

import math
import re
from collections.abc import Iterable
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table

from afrieval.analysis.means import Mean
from afrieval.analysis.scores import LanguageScore
from afrieval.languages import LANGUAGES
from afrieval.statistics.intervals import Interval
from afrieval.terminal import one_line

STYLE: Any = {
    "title_justify": "left",
    "caption_justify": "left",
    "box": SIMPLE_HEAD,
    "pad_edge": False,
    "show_edge": False,
    "padding": (0, 1, 0, 0),
}

SCORES = {"exact_match": "exact"}  # other metrics stand under their own names
BESIDE = ("eng", "fra")  # shown beside a mean over African languages, never in it
WRITTEN = {"eng": "English", "native": "native"}
OTHERS = {"acc_norm": "/char", "acc_bytes": "/byte", "acc_tokens": "/tok", "unparsed": "unparsed"}


def score_table(
    title: str, scores: Iterable[LanguageScore], notes: list[str], unreviewed: set[str], supported: set[str]
) -> Table:
    """Returns a task's table: one row per language and prompt language.

    Args:
        title: what it is about.
        scores: the task's scores.
        notes: what else a reader has to know.
        unreviewed: languages whose native prompts nobody has reviewed; marked with a star.
        supported: languages that the model's authors name; others are marked. Empty if they name none.
    """
    rows = list(scores)
    table = Table(title=title, **STYLE)
    for name in ("language", "prompts"):
        table.add_column(name, no_wrap=True)
    measured = [m for m in OTHERS if any(m in row.others for row in rows)]
    for name in (SCORES.get(rows[0].metric, rows[0].metric), "95 % int.", *(OTHERS[m] for m in measured), "n", "bad"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        name = LANGUAGES[row.language].name
        table.add_row(
            name if not supported or row.language in supported else f"{name}°",
            _prompts(row, unreviewed),
            percent(row.score),
            _interval(row.interval),
            *(percent(row.others[m]) if m in row.others else "" for m in measured),
            str(row.n),
            str(row.n_defect),
        )
    notes = [*notes]
    unparsed = "unparsed: answers that cannot be parsed, in percent; they count as wrong."
    notes += [unparsed] if "unparsed" in measured else []
    notes += [] if math.isnan(rows[0].chance) else [f"A guess gives {percent(rows[0].chance)} %."]
    notes += ["bad: rows with a defect."]
    if any(r.prompt_language == "native" and r.language in unreviewed for r in rows):
        notes.append("*\u00a0machine-written prompts that no speaker has reviewed.")
    if supported and any(r.language not in supported for r in rows):
        notes.append("° not among the languages that the model's authors name.")
    table.caption = " ".join(notes)
    return table


def mean_lines(means: Iterable[Mean]) -> list[str]:
    """Returns a line for each mean of two languages or more, with its interval and members."""
    return [
        f"Mean over {len(mean.members)} African languages, {WRITTEN[mean.dimensions['prompt_language']]} prompts: "
        f"{percent(mean.score)}, 95 % int. {_interval(mean.interval)} ({' '.join(mean.members)})"
        for mean in means
        if mean.interval
    ]


def overview_table(means: Iterable[Mean], scores: Iterable[LanguageScore]) -> Table:
    """Returns one row per task and prompt language: the mean over African languages, English and French beside it.

    Args:
        means: those of all tasks; of two languages or more are shown.
        scores: where English and French are.
    """
    table = Table(title="Mean over African languages", **STYLE)
    for name in ("task", "prompts"):
        table.add_column(name, no_wrap=True)
    for name in ("mean", "95 % int.", "languages", *(LANGUAGES[code].name for code in BESIDE)):
        table.add_column(name, justify="right", no_wrap=True)
    same = {(s.task, s.prompt_language, s.language): percent(s.score) for s in scores}
    for mean in means:
        kind = mean.dimensions["prompt_language"]
        if mean.interval:
            beside = [same.get((mean.task, kind, code), "") for code in BESIDE]
            shown = [percent(mean.score), _interval(mean.interval), str(len(mean.members))]
            table.add_row(mean.task, WRITTEN[kind], *shown, *beside)
    return table


def _prompts(row: LanguageScore, unreviewed: set[str]) -> str:
    if row.prompt_language == "native":
        return f"native {ranges(row.prompts)}" + ("*" if row.language in unreviewed else "")
    return f"English {ranges(row.prompts)}"


def ranges(numbers: list[int]) -> str:
    """Returns sorted numbers in short: 1-3,5."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ",".join(str(r[0]) if len(r) == 1 else f"{r[0]}-{r[-1]}" for r in runs)


def broken(name: str, width: int) -> str:
    """Returns a name in lines of at most `width` where it can be broken, after blanks, underscores and the like."""
    lines = [""]
    for part in re.findall(r"[^\s_-]*[\s_-]|[^\s_-]+", one_line(name)):
        if lines[-1] and len(lines[-1]) + len(part.rstrip()) > width:
            lines.append("")
        lines[-1] += part
    return "\n".join(line.rstrip() for line in lines)


def percent(share: float) -> str:
    """Returns a share of 0 to 1 in percent with one decimal."""
    return f"{100 * share:.1f}"


def points(difference: float) -> str:
    """Returns a difference of shares in points with its sign; nothing is +0.0, never -0.0."""
    return f"{round(100 * difference, 1) + 0.0:+.1f}"


def _interval(interval: Interval | None) -> str:
    return "none" if interval is None else f"{percent(interval.low)}-{percent(interval.high)}"
