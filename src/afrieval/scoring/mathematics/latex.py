r"""The plain form of a short answer in LaTeX: one way to write what can be written in many.

The rules are those of Hendrycks et al. (2021, MATH) and of Lewkowycz et al. (2022, Minerva, appendix D), where they
do not make different answers the same: only words after a number are a unit, and only the end of an answer has one.
"""

import re

from afrieval.scoring.extract.boxed import closing_brace

_UNITS = (
    "inch(?:es)?|feet|foot|ft|yards?|miles?|mi|mm|cm|km|centimeters?|millimeters?|kilometers?|meters?|units?|mph|"
    "seconds?|minutes?|hours?|days?|weeks?|months?|years?|dollars?|cents?|degrees?|radians?|percent|pounds?|lbs?|"
    "ounces?|grams?|gm|kg|points?|ways?|people|students?|integers?|digits?"
)
_RULES = [
    (r"\\\\\s*\[[\d.]*(?:pt|em|ex|mm|cm)\]", r"\\\\\\\\"),  # the distance to the next row
    (r"(?<!\\)\\[()\[\]]", ""),  # around a formula
    (r"\\[dtc]frac(?![A-Za-z])", r"\\frac"),
    (r"\\(?:left|right|[bB]igg?[lr]?)(?![A-Za-z])\.?", ""),
    (r",\\!|\{,\}|(?<=\d)\\,(?=\d{3}(?!\d))", ","),  # a thousands mark
    (r"(?<!\\)\\[!,;: ]|\\q?quad(?![A-Za-z])|\\displaystyle(?![A-Za-z])|~|\s+", " "),
    (r"\\\$|\$|€|£", ""),
    (r"[−–]", "-"),
    ("×", r"\\times "),
    ("π", r"\\pi "),
    ("∞", r"\\infty "),
    ("∪", r"\\cup "),
    (r"≤|\\leq(?:slant)?(?![A-Za-z])", r"\\le "),
    (r"≥|\\geq(?:slant)?(?![A-Za-z])", r"\\ge "),
    (r"\\lt(?![A-Za-z])", "<"),
    (r"\\gt(?![A-Za-z])", ">"),
    (r"\\(?:text|mbox|hbox|textbf|textit|textrm|textnormal|mathrm|mathbf|mathit)\s*(?=\{)", r"\\text"),
    (r"\\?%", ""),  # what is asked for in percent is given in percent
    (r"(?i)(?<![a-z\\])([ap])\.\s?m\.", r" \1m"),  # 5:00 p.m.
    (r"\\text\{\s*,?\s*(?:and|or)\s*\}|\s(?:and|or)\s", " , "),
    (r",(?:\s*,)+", ","),
    (r"(^|[(\[,{=])\s*\+", r"\1"),  # (-\infty, +\infty)
]
_DEGREES = r"\s*(?:\^\s*\{?\s*\\circ\s*\}?|\\degree(?![A-Za-z])|°)"
_ANGLE = re.compile(rf"(\d+(?:\.\d+)?){_DEGREES}")
_TRIGONOMETRIC = re.compile(r"\\(?:sin|cos|tan|cot|sec|csc)(?![A-Za-z])")
_POWER = r"(?:\s*\^\s*(?:\d|\{\d\}))?"
_TEXT_UNIT = re.compile(
    rf"^(?!\s*\\text)(.*?[\w}})\]])\s*(?:\\text\{{(?!\s*[apAP][mM]\s*\}})[^{{}}]*\}}{_POWER}[.\s]*)+$"
)
_BARE_UNIT = re.compile(
    rf"^(.*(?:[\d}})]|\\pi))\s*(?:(?:square|cubic|sq\.?)\s+)?(?:{_UNITS})(?![A-Za-z]){_POWER}[.\s]*$"
)
_THOUSANDS = re.compile(r"^[-+]?\d{1,3}(?:,\d{3})+(?=\s*[\\A-Za-z])")  # 1,000\pi; numbers alone are read as they are
_LETTERS = re.compile(r"\\text\{((?:[^{}A-Za-z]|(?<![A-Za-z])[A-Za-z](?![A-Za-z]))*)\}")  # and no word
_FIRST = re.compile(r"(\\frac|\\sqrt(?:\s*\[[^\]]*\])?)\s*(\\[A-Za-z]+|[^\\\s{\[])")
_SECOND = re.compile(r"\s*(\\[A-Za-z]+|[^\\\s{])")


def plain_latex(text: str) -> str:
    r"""Returns the plain form of an answer, without signs for its looks and without its unit.

    Blanks are kept, for `1 1/2` is not `11/2`; so is `\text` around words, for words are no product of letters.
    """
    for pattern, replacement in _RULES:
        text = re.sub(pattern, replacement, text)
    if _TRIGONOMETRIC.search(text):
        text = _ANGLE.sub(r"(\\frac{\1\\pi}{180})", text)
    text = re.sub(_DEGREES, "", text)
    text = _BARE_UNIT.sub(r"\1", _TEXT_UNIT.sub(r"\1", text.strip()))
    text = _THOUSANDS.sub(lambda match: match[0].replace(",", ""), text)
    return _braced(_LETTERS.sub(r"\1", text)).strip().rstrip(".,;: ")


def _braced(text: str) -> str:
    r"""Returns a text with the braces that TeX lets one leave out: `\frac12` is `\frac{1}{2}`."""
    text = _FIRST.sub(r"\1{\2}", text)
    for fraction in reversed(list(re.finditer(r"\\frac\s*(?=\{)", text))):
        close = closing_brace(text, fraction.end())
        if close is not None and (second := _SECOND.match(text, close + 1)):
            text = f"{text[: close + 1]}{{{second[1]}}}{text[second.end() :]}"
        elif close is not None:
            text = text[: close + 1] + text[close + 1 :].lstrip()
    return text
