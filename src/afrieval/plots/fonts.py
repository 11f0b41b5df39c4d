"""Fonts for texts in any script: those on this machine, and the one that is missing."""

import unicodedata
from collections.abc import Iterable, Iterator

from matplotlib.font_manager import FontProperties, findfont, get_font

FIRST = "DejaVu Sans"  # comes with matplotlib: Latin with all tone marks, Arabic, N'Ko, Tifinagh
SCRIPTS = {"NKO": "NKo", "CJK": "CJK JP", "HIRAGANA": "CJK JP", "KATAKANA": "CJK JP", "HANGUL": "CJK KR"}
OTHERS = ("Noto Sans", "Abyssinica SIL", "Ebrima", "Kefa", "Nyala", "Arial Unicode MS")  # of many scripts, or Ethiopic


def families(texts: Iterable[str]) -> tuple[list[str], dict[str, str]]:
    """Returns the fonts that together have all characters of texts, and each other character with a font to install.

    Args:
        texts: all that a figure shows.
    """
    found, missing = [FIRST], dict[str, str]()
    for sign in sorted({sign for text in texts for sign in text if not sign.isspace()}):
        if any(_has(name, sign) for name in found):
            continue
        wanted = _wanted(sign)
        name = next((name for name in (wanted, *OTHERS) if _has(name, sign)), None)
        if name:
            found.append(name)
        else:
            missing[sign] = wanted
    return found, missing


def notes(missing: dict[str, str]) -> Iterator[str]:
    """Yields a line for each font that should be installed."""
    for name in dict.fromkeys(missing.values()):
        signs = [sign for sign, wanted in missing.items() if wanted == name]
        which = " ".join(signs[:5]) + (f" and {len(signs) - 5} more" if len(signs) > 5 else "")
        yield f"no installed font has {which}; install {name} and write the figure again"


def _wanted(sign: str) -> str:
    """Returns the font of the Noto family for a character's script, which its name begins with."""
    script = unicodedata.name(sign, "").partition(" ")[0].partition("-")[0]
    known = SCRIPTS.get(script, script.capitalize())
    return f"Noto Sans {known}" if known and unicodedata.category(sign)[0] == "L" else "Noto Sans Symbols2"


def _has(name: str, sign: str) -> bool:
    try:
        path = findfont(FontProperties(family=name), fallback_to_default=False)
    except ValueError:  # is not installed
        return False
    return ord(sign) in get_font(path).get_charmap()
