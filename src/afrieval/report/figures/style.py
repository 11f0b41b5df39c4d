"""How figures look: sizes of papers, colours that colour-blind people can tell apart, fonts for any script."""

import unicodedata
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from matplotlib.font_manager import FontProperties, findfont, get_font

WIDTHS = {"one": 3.3, "two": 6.9}  # inches, of one column of a paper and of two
LINE, ROOM = 0.17, 0.62  # inches: height of a row, and of all that is above and below the rows of a panel
THICK, THIN = 0.8, 0.5  # points, of lines
BROAD = 5  # points, of an interval behind marks
GREY, PALE, GROUND = "#555555", "#cfcfcf", "#f4f4f4"


class Mark(NamedTuple):
    """A mark: its shape differs from all others, so that colour is never needed."""

    shape: str
    colour: str
    size: float = 3.6


# The colours of Okabe and Ito, without yellow, which is too faint on white.
MARKS = (
    Mark("o", "#0072b2"),
    Mark("D", "#d55e00", 3.1),
    Mark("s", "#009e73", 3.3),
    Mark("^", "#cc79a7", 3.8),
    Mark("v", "#000000", 3.8),
    Mark("P", "#56b4e9", 4.0),
    Mark("X", "#e69f00", 4.0),
    Mark("*", "#7f5539", 5.0),
)

# Set as they are here, whatever the user's matplotlibrc says.
SETTINGS = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.grid.axis": "x",
    "axes.linewidth": THIN,
    "axes.spines.left": False,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 8,
    "axes.unicode_minus": True,
    "figure.constrained_layout.use": True,
    "figure.constrained_layout.h_pad": 0.03,
    "figure.constrained_layout.w_pad": 0.03,
    "font.size": 7,
    "grid.color": "#e5e5e5",
    "grid.linewidth": THIN,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "legend.handletextpad": 0.3,
    "legend.columnspacing": 1.2,
    "pdf.fonttype": 42,  # TrueType, which publishers ask for, not Type 3
    "savefig.dpi": 300,
    "svg.fonttype": "path",  # shows the same where a font is missing
    "svg.hashsalt": "afrieval",  # the same file each time
    "text.parse_math": False,  # a model's name may have a $
    "xtick.labelsize": 7,
    "xtick.major.size": 2,
    "xtick.major.width": THIN,
    "ytick.labelsize": 7,
    "ytick.major.size": 0,
}
# What matplotlib writes about a file: without a date, the same figure is the same file.
METADATA: dict[str, dict[str, str | None]] = {
    "pdf": {"CreationDate": None, "Creator": "afrieval", "Producer": None},
    "svg": {"Date": None, "Creator": "afrieval"},
    "png": {"Software": "afrieval"},
}


FIRST = "DejaVu Sans"  # comes with matplotlib: Latin with all tone marks, Arabic, N'Ko, Tifinagh
SCRIPTS = {"NKO": "NKo", "CJK": "CJK JP", "HIRAGANA": "CJK JP", "KATAKANA": "CJK JP", "HANGUL": "CJK KR"}
OTHERS = ("Noto Sans", "Abyssinica SIL", "Ebrima", "Kefa", "Nyala", "Arial Unicode MS")  # of many scripts, or Ethiopic


def families(texts: Iterable[str]) -> tuple[list[str], dict[str, str]]:
    """Returns the fonts that together have all characters of texts, and each other character with a font to install."""
    fonts, missing = [FIRST], dict[str, str]()
    for sign in sorted({sign for text in texts for sign in text if not sign.isspace()}):
        if any(_has(name, sign) for name in fonts):
            continue
        script = unicodedata.name(sign, "").partition(" ")[0].partition("-")[0]  # which the name begins with
        noto = SCRIPTS.get(script, script.capitalize()) if unicodedata.category(sign)[0] == "L" else "Symbols2"
        script_font = f"Noto Sans {noto or 'Symbols2'}"
        name = next((name for name in (script_font, *OTHERS) if _has(name, sign)), None)
        if name:
            fonts.append(name)
        else:
            missing[sign] = script_font
    return fonts, missing


def notes(missing: dict[str, str]) -> Iterator[str]:
    """Yields a line for each font that should be installed."""
    for name in dict.fromkeys(missing.values()):
        signs = [sign for sign, wanted in missing.items() if wanted == name]
        which = " ".join(signs[:5]) + (f" and {len(signs) - 5} more" if len(signs) > 5 else "")
        yield f"no installed font has {which}; install {name} and write the figure again"


def _has(name: str, sign: str) -> bool:
    try:
        path = findfont(FontProperties(family=name), fallback_to_default=False)
    except ValueError:  # is not installed
        return False
    return ord(sign) in get_font(path).get_charmap()
