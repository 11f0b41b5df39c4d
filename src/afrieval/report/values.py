"""Values as people read them: scores, differences, intervals, ranges of numbers, names in sentences."""

import math
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from afrieval._util.terminal import one_line
from afrieval.languages import LANGUAGES
from afrieval.scoring.base import Metric
from afrieval.scoring.learned import is_of_rubric
from afrieval.scoring.statistics.intervals import Interval

Bounds = tuple[float, float]
SHARE: Bounds = (0.0, 1.0)  # shown in percent; all other scores on their own scale
ANY: Bounds = (-math.inf, math.inf)
NARROW = 10  # scales of fewer units than this need more than one decimal


class Point(NamedTuple):
    """A score and its interval, as charts of pages and figures draw them."""

    value: float
    interval: Interval | None = None


def bounds_of(metric: Metric | None) -> Bounds:
    """Returns the lowest and the highest score of a metric, by default of a share."""
    return metric.bounds if metric else SHARE


def titled(task: str, metric: Metric | None) -> str:
    """Returns a task's name for a title, with its metric where scores are not in percent, or not the usual ones."""
    usual = metric is None or (metric.bounds == SHARE and metric.ranked and not is_of_rubric(metric.name))
    return f"{task}, {metric.name}" if metric and not usual else task


def shown_score(value: float, bounds: Bounds = SHARE) -> str:
    """Returns a score: a share in percent with one decimal, any other on its own scale."""
    if _has_one_decimal(bounds):
        return f"{round(_factor(bounds) * value, 6):.1f}"  # 0.6515 is 65.2, whatever its binary form
    return number(value)


def shown_change(difference: float, bounds: Bounds = SHARE) -> str:
    """Returns a difference of two scores with its sign, of shares in points; nothing is +0.0, never -0.0."""
    if _has_one_decimal(bounds):
        return f"{round(_factor(bounds) * difference, 1) + 0.0:+.1f}"
    return ("-" if difference < 0 else "+") + number(abs(difference))


def shown_interval(interval: Sequence[float], bounds: Bounds = SHARE) -> str:
    """Returns an interval of scores, shorter than two scores."""
    low, high = interval
    between = "-" if low >= 0 else " to "
    if _has_one_decimal(bounds):
        return f"{shown_score(low, bounds)}{between}{shown_score(high, bounds)}"
    form = ".3f" if abs(high) < 10 else ".1f" if abs(high) < 1e4 else ".3g"
    return f"{low:{form}}{between}{high:{form}}"


def shown_rank(rank: Sequence[int] | None) -> str:
    """Returns the best and the worst rank as people read them: 1, 1-3, or nothing."""
    if rank is None:
        return ""
    first, last = rank
    return str(first) if first == last else f"{first}-{last}"


def shown_time(hours: float) -> str:
    """Returns a time that is given in hours, in the unit that suits it."""
    seconds = 3600 * hours
    for most, unit, factor in ((60, "s", 1), (3600, "min", 60), (48 * 3600, "h", 3600)):
        if seconds < most:
            return f"{seconds / factor:.1f} {unit}"
    return f"{hours / 24:.1f} days"


def _has_one_decimal(bounds: Bounds) -> bool:
    return bounds == SHARE or NARROW <= bounds[1] - bounds[0] < math.inf


def _factor(bounds: Bounds) -> int:
    return 100 if bounds == SHARE else 1


def number(value: float) -> str:
    """Returns a value in at most eight characters, with four decimals where it is small."""
    size = abs(value)
    form = ".4f" if size < 10 else ".2f" if size < 1e4 else ".0f" if size < 1e7 else ".2e"
    return f"{value:{form}}"


def shown_exact(value: float) -> str:
    """Returns a value on its own scale, such as a p-value, which shows how small it is."""
    return number(value) if abs(value) >= 1e-3 or not value else f"{value:.2e}"


def broken(name: str, width: int) -> str:
    """Returns a name in lines of at most `width`, broken at blanks, and long words after underscores and hyphens too.

    A part without any of these stays whole. All lines are indented as the first is, with the blanks of a table.
    """
    text = one_line(name)
    indent = text[: len(text) - len(text.lstrip("\xa0"))]
    lines = [indent]
    for word in re.findall(r"\S+\s*|\s+", text[len(indent) :]):
        parts = re.findall(r"[^_-]*[_-]|[^_-]+", word) if len(indent + word.rstrip()) > width else [word]
        for part in parts:
            if lines[-1] != indent and len(lines[-1]) + len(part.rstrip()) > width:
                lines.append(indent)
            lines[-1] += part
    return "\n".join(line.rstrip() for line in lines)


def language_name(code: str) -> str:
    """Returns a language's name; the code itself if it is not one of the suite's."""
    return LANGUAGES[code].name if code in LANGUAGES else code


def about_language(code: str) -> str:
    """Returns a language's family, place and script; empty if it is not one of the suite's."""
    language = LANGUAGES.get(code)
    return f"{language.family}, {language.place}, {language.script_name} script" if language else ""


def language_names(codes: Iterable[str], most: int | None = 8) -> str:
    """Returns languages in alphabetical order for a sentence; those beyond a number of them, if any, are counted."""
    return listed(sorted(map(language_name, codes)), most)


def listed(names: Sequence[str], most: int | None = None) -> str:
    """Returns names for a sentence; those beyond a number of them are counted."""
    if most is not None and len(names) > most + 1:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)
