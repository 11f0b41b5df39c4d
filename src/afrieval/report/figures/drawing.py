"""Draws figures as the bytes of a file: scores by language, English against native prompts, each prompt."""

import io
import textwrap
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure

from afrieval._util.errors import UserError
from afrieval._util.grouping import grouped
from afrieval.analysis.contrasts import Contrast
from afrieval.analysis.inputs import Inputs
from afrieval.analysis.run_contrasts import all_contrasts
from afrieval.analysis.scores import LanguageScore, PromptMean, by_language, over_prompts
from afrieval.analysis.verdicts import by_quality
from afrieval.report.comparable_scores import ComparableScores, comparable_scores
from afrieval.report.contrast_tables import side_name
from afrieval.report.figures.strips import Content, Panel, Series, Strip, draw_panel, height, key_of, name, score_label
from afrieval.report.figures.style import GREY, MARKS, METADATA, SETTINGS, WIDTHS, Mark, families
from afrieval.report.native import by_difference, points_of, side_of, verdict
from afrieval.report.score_tables import WRITTEN, doubts, unreviewed_of, varying
from afrieval.report.values import SHARE, Point

if TYPE_CHECKING:
    from matplotlib.text import Text


CHANCE = "Dotted line: score of a random guess."
WITHOUT_READING = "Upright lines: best score without reading the text."
Side = tuple[str, str]  # its name, the language of its prompts


def languages(inputs: Inputs) -> Content:
    """Returns a panel per task, with languages sorted by their mean score.

    Raises:
        UserError: for more models than there are marks.
    """
    comparable = comparable_scores(by_quality(inputs.cells))
    sides = list(dict.fromkeys((side, part.kind) for part in comparable for side in part.sides))
    if len(sides) > len(MARKS):
        raise UserError(
            f"{len(sides)} models and languages of prompts are too many for one figure",
            f"name fewer runs: a figure has {len(MARKS)} marks",
        )
    several = len({kind for _, kind in sides}) > 1
    names = {side: ", ".join([name(side[0]), *([f"{WRITTEN[side[1]]} prompts"] if several else [])]) for side in sides}
    marks = dict(zip(sides, MARKS, strict=False))
    panels, notes = [], ["Lines: 95% intervals."]
    for (task, _), of_task in grouped(comparable, lambda part: (part.task, part.metric.name)).items():
        scores = {(side, part.kind): by_language(cells) for part in of_task for side, cells in part.sides.items()}
        series = [
            Series(names[side], {s.language: Point(s.score, s.interval) for s in of}, marks[side], side[1] == "native")
            for side, of in scores.items()
        ]
        panel_scores = [score for of in scores.values() for score in of]
        panels.append(_panel_languages(task, of_task, series, panel_scores))
        notes += [CHANCE] if any(not np.isnan(score.chance) for score in panel_scores) else []
        notes += [WITHOUT_READING] if any(score.baselines for score in panel_scores) else []
    key = [Series(of, {}, marks[side], side[1] == "native") for side, of in names.items()]
    return Content(panels, key if len(key) > 1 else [], list(dict.fromkeys(notes)))


def _panel_languages(
    task: str, comparable: Sequence[ComparableScores], series: Sequence[Series], scores: Sequence[LanguageScore]
) -> Panel:
    of_language = grouped(scores, lambda score: score.language)
    metric = comparable[0].metric
    sign = 1 if metric.higher_is_better else -1
    codes = sorted(of_language, key=lambda code: -sign * np.mean([score.score for score in of_language[code]]))
    unread = {score.language: best for score in scores if (best := score.best_baseline) is not None}
    chance = float(np.mean([score.chance for score in scores]))
    strip = Strip(series, metric.bounds, score_label(metric), line=chance, bars=unread)
    return Panel(task, codes, {score.language for score in scores if score.unreviewed}, [strip], len(series))


SEED = 42  # of bootstrap and permutations, as in `afrieval compare`
ENGLISH, NATIVE = Series("English prompts", {}, MARKS[0], True), Series("native prompts", {}, MARKS[1])
HELP, HURT = (Series(f"native prompts {word}", {}, mark) for word, mark in (("help", MARKS[2]), ("hurt", MARKS[4])))
NEITHER = Series("neither", {}, Mark("o", GREY, 3.2), True)
NOTHING_CONCLUDED = NEITHER._replace(name="nothing is concluded")
OF_VERDICT = {1: HELP._replace(mark=Mark("^", MARKS[2].colour, 4.2)), -1: HURT, 0: NEITHER, None: NOTHING_CONCLUDED}
NOTES = [
    "Lines: 95% intervals; those of differences, native minus English, hold for all languages of a panel at once.",
    "Help, hurt: the interval excludes 0, and the better side is above what is possible without reading.",
]


def native(inputs: Inputs) -> Content:
    """Returns a panel per task and model, with languages sorted by their difference.

    Raises:
        UserError: if nothing ran with prompts of both kinds.
    """
    cells = [cell for cell in inputs.cells if cell.n]
    comparisons = [c for c in all_contrasts(cells, inputs.foreign, ["prompt_language"], SEED) if c.rows]
    if not comparisons:
        raise UserError(
            "no language here has both English and native prompts", "give a run with --task.prompt_language both"
        )
    panels = [_panel_native(by_difference(c)) for c in comparisons]
    verdicts = {verdict(row, contrast.metric) for contrast in comparisons for row in contrast.rows}
    seen = [of for which, of in OF_VERDICT.items() if which in verdicts]
    return Content(panels, [ENGLISH, NATIVE, *seen], NOTES, (1.5, 1))


def _panel_native(contrast: Contrast) -> Panel:
    rows, metric, starred = contrast.rows, contrast.metric, {*unreviewed_of(contrast.cells)}
    assert metric  # of a contrast with rows
    points = {row.language: points_of(row) for row in rows}
    both = [
        side._replace(points={code: of[at] for code, of in points.items()}) for at, side in enumerate((ENGLISH, NATIVE))
    ]
    differences = [
        of._replace(points={r.language: Point(r.difference, r.interval) for r in rows if verdict(r, metric) == which})
        for which, of in OF_VERDICT.items()
    ]
    label = f"difference{' (points)' if metric.bounds == SHARE else ''}"
    strips = [
        Strip(both, metric.bounds, score_label(metric), joined=True),
        Strip(differences, metric.bounds, label, level=True, line=0.0),
    ]
    title = ", ".join(filter(None, [contrast.task, name(side_of(contrast))]))
    return Panel(title, [row.language for row in rows], starred, strips, 2)


MEAN = "Grey: 95% interval of the mean over prompts."


def prompts(inputs: Inputs) -> Content:
    """Returns a panel per task, model and language of prompts, with languages sorted by their mean.

    Raises:
        UserError: if no task has two prompts, or there are more prompts than marks.
    """
    prompt_means = over_prompts([cell for cell in inputs.cells if cell.n])
    ids = list(dict.fromkeys(cell.prompt for mean in prompt_means for cell in mean.cells))
    if not prompt_means:
        raise UserError("no task here has scores under several prompts", "give a run with --task.prompts 1,2 or more")
    varied = [d for d in varying([mean.dimensions for mean in prompt_means]) if d != "language"]
    groups = grouped(prompt_means, lambda s: (s.task, *(s.dimensions[d] for d in varied)))
    if len(ids) > len(MARKS):
        raise UserError(
            f"{len(ids)} prompts are too many for one figure", f"name fewer runs: a figure has {len(MARKS)} marks"
        )
    marks = dict(zip(ids, MARKS, strict=False))
    key = [Series(f"prompt {prompt}", {}, mark) for prompt, mark in marks.items()]
    panels = []
    for (_, *values), panel_means in groups.items():
        sides = [side_name(dimension, value) for dimension, value in zip(varied, values, strict=True)]
        panels.append(_panel_prompts(panel_means, sides, marks))
    return Content(panels, key, [MEAN])


def _panel_prompts(panel_means: Sequence[PromptMean], sides: Sequence[str], marks: dict[Any, Mark]) -> Panel:
    metric = panel_means[0].cells[0].metric
    ordered = sorted(panel_means, key=lambda mean: -mean.score if metric.higher_is_better else mean.score)
    by_language = {mean.cells[0].language: mean for mean in ordered}
    scores = {code: {cell.prompt: cell.score for cell in mean.cells} for code, mean in by_language.items()}
    points = {p: {code: Point(own[p]) for code, own in scores.items() if p in own} for p in marks}
    series = [Series(str(prompt), points[prompt], mark) for prompt, mark in marks.items() if points[prompt]]
    means = {code: Point(mean.score, mean.interval) for code, mean in by_language.items()}
    starred = {code for code, mean in by_language.items() if unreviewed_of(mean.cells)}
    strip = Strip(series, metric.bounds, score_label(metric), means=means)
    return Panel(", ".join([panel_means[0].task, *map(name, sides)]), list(by_language), starred, [strip], 3)


KINDS: dict[str, Callable[[Inputs], Content]] = {"languages": languages, "prompts": prompts, "native": native}
MOST = 8  # panels
SMALL = 6  # points, of notes
SIGN = 0.047  # inches, of a sign of a note
ROW = 0.14  # inches, of a line of notes or of the key


def figure(kind: str, inputs: Inputs, width: str, form: str) -> tuple[bytes, dict[str, str]]:
    """Returns a figure, and each character that no installed font has, with a font that has it.

    `kind` is one of `KINDS`, `width` one of `WIDTHS`, and `form` is pdf, svg or png.

    Raises:
        UserError: if nothing given has what the figure shows, or it is too much for one figure.
    """
    content = KINDS[kind](inputs)
    content = content._replace(notes=[*content.notes, *doubts(inputs.cells)])
    if len(content.panels) > MOST:
        raise UserError(
            f"{len(content.panels)} panels, of tasks and models, are too many for one figure",
            f"name fewer runs, or some tasks with --task: a figure has room for {MOST}",
        )
    settings: dict[Any, Any] = {**matplotlib.rcParamsDefault, **SETTINGS}
    settings.pop("backend")  # it is not needed
    with warnings.catch_warnings(), rc_context(settings):
        warnings.filterwarnings("ignore", "Glyph .* missing from font")  # which the caller says in one line
        drawn = _drawn(content, WIDTHS[width])
        fonts, missing = families(text.get_text() for text in _texts(drawn))
        for text in _texts(drawn):
            text.set_fontfamily(fonts)
        file = io.BytesIO()
        drawn.savefig(file, format=form, metadata=METADATA[form])
    return file.getvalue(), missing


def _drawn(content: Content, width: float) -> Figure:
    key = [one.name for one in content.key]
    columns = max(1, int(width / (max(map(len, key), default=1) * SIGN + 0.35)))
    notes = textwrap.wrap(" ".join(content.notes), int(width / SIGN), break_on_hyphens=False)
    heights = [height(panel) for panel in content.panels]
    below = ROW * (len(notes) + -(-len(key) // columns))
    drawn = Figure(figsize=(width, sum(heights) + below))
    axes = drawn.subplots(
        len(heights), len(content.widths), squeeze=False, height_ratios=heights, width_ratios=content.widths
    )
    for panel, row in zip(content.panels, axes, strict=True):
        draw_panel(panel, row)
        row[0].set_title(panel.title if len(content.panels) > 1 else "", x=0)
    if key:
        drawn.legend(handles=key_of(content.key), loc="outside upper left", ncols=columns)
    drawn.supxlabel("\n".join(notes), fontsize=SMALL, x=0.01, ha="left")
    return drawn


def _texts(drawn: Figure) -> "Sequence[Text]":
    from matplotlib.text import Text

    drawn.draw_without_rendering()  # numbers of axes are set when they are drawn
    return drawn.findobj(Text)
