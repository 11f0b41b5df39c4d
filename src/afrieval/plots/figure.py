"""A figure as the bytes of a file."""

import io
import textwrap
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import matplotlib
from matplotlib import rc_context
from matplotlib.figure import Figure

from afrieval.analysis.inputs import Inputs
from afrieval.errors import UserError
from afrieval.plots.fonts import families
from afrieval.plots.languages import languages
from afrieval.plots.native import native
from afrieval.plots.prompts import prompts
from afrieval.plots.strips import Content, height, key_of
from afrieval.plots.style import METADATA, SETTINGS, WIDTHS

if TYPE_CHECKING:
    from matplotlib.text import Text

KINDS: dict[str, Callable[[Inputs], Content]] = {"languages": languages, "prompts": prompts, "native": native}
MOST = 8  # panels
SMALL = 6  # points, of notes
SIGN = 0.047  # inches, of a sign of a note
ROW = 0.14  # inches, of a line of notes or of the key


def figure(kind: str, given: Inputs, width: str, form: str) -> tuple[bytes, dict[str, str]]:
    """Returns a figure, and each character that no installed font has, with a font that has it.

    Args:
        kind: one of `KINDS`.
        given: what to show.
        width: one of `WIDTHS`.
        form: pdf, svg or png.

    Raises:
        UserError: if nothing given has what the figure shows, or it is too much for one figure.
    """
    content = KINDS[kind](given)
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
        found, missing = families(text.get_text() for text in _texts(drawn))
        for text in _texts(drawn):
            text.set_fontfamily(found)
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
        panel.draw(row)
        row[0].set_title(panel.title if len(content.panels) > 1 else "", x=0)
    if key:
        drawn.legend(handles=key_of(content.key), loc="outside upper left", ncols=columns)
    drawn.supxlabel("\n".join(notes), fontsize=SMALL, x=0.01, ha="left")
    return drawn


def _texts(drawn: Figure) -> "Sequence[Text]":
    from matplotlib.text import Text

    drawn.draw_without_rendering()  # numbers of axes are set when they are drawn
    return drawn.findobj(Text)
