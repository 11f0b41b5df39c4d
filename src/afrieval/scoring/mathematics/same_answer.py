"""Compares mathematical answers, as the boxed answers of MATH: part by part, in a plain form of LaTeX."""

import re
from collections.abc import Callable, Sequence
from fractions import Fraction

from afrieval._util.worker import EndedError, isolated
from afrieval.scoring.extract.phrase import closing_brace

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


Same = Callable[[str, str], bool]
Parts = tuple[str, Sequence[str]]  # the shape of an answer, and what stands in it

_SIGN = re.compile(r"\\[A-Za-z]+|\\.|[()\[\]{}]|[,;]")
_OPEN, _CLOSE = ("(", "[", "{", r"\{"), (")", "]", "}", r"\}")
_MATRIX = re.compile(r"\\begin\{([pbB]?matrix|array)\}(?:\{[lcr|]*\})?(.*)\\end\{\1\}", re.DOTALL)
_UNORDERED = ("set", "union")
_VARIABLE = r"[A-Za-z](?:_\w|_\{\w+\})?"
_GIVES = re.compile(
    rf"\s*(?:{_VARIABLE}(?:\s*\(\s*(?:{_VARIABLE}|-?\d+)\s*\))?|\(\s*{_VARIABLE}(?:\s*,\s*{_VARIABLE})+\s*\)|[A-Z]{{2,4}}"
    r"|m?\\angle\s*[A-Z]{1,3}|\\[a-z]+)"
    r"\s*(?:=|\\in(?![a-z]))"  # x = 5 and f(x) = 5 and f(2) = 5 and (x,y) = (1,2) and AB = 5 and x \in [0,1)
)
_RELATION = re.compile(r"[<>=]|\\(?:le|ge|ne|neq|in|equiv|approx)(?![A-Za-z])")
_NUMBER = re.compile(
    r"""(?P<sign>[-+]?)\s*(?:
        (?:(?P<whole>\d{1,300})(?:\s+|(?=\\)))?                                    # 1 1/2
        (?:(?P<above>\d{1,300})\s*/\s*(?P<below>\d{1,300})
          |\\frac\{\s*(?P<minus>-?)\s*(?P<over>\d{1,300})\s*\}\{\s*(?P<under>\d{1,300})\s*\})
        |(?P<decimal>(?:\d{1,3}(?:,\d{3}){1,99}|\d{0,300})(?:\.\d{0,300})?)(?<=[\d.]))""",
    re.VERBOSE,
)
_BASE = re.compile(r"-?[0-9A-Z.]+_\d+")
_LOOKS = [
    (r"\\text\{([^{}]*)\}", r"\1"),
    (r"_\{(\w+)\}", r"_\1"),
    (r"\^\{(\w)\}", r"^\1"),
    (r"(?<!\d)\s+|\s+(?!\d)", ""),  # 1 1/2 is not 11/2
    (r"^\(([A-Z])\)$", r"\1"),  # a choice
]
_CASELESS = re.compile(r"[A-Za-z]{3,}|[\d:]+[AaPp][Mm]")  # words and times
_WORD = re.compile(r"\\text\{|(?<![A-Za-z\\])[A-Za-z]{4,}")


def same_parts(first: str, second: str, same: Same) -> bool:
    """Returns whether two answers in plain form have the same parts; in the same order, but for sets and unions."""
    if key(first) == key(second) != "":
        return True
    first, second = _without_name(first, second), _without_name(second, first)
    (shape, items), (other_shape, other_items) = split(first), split(second)
    if shape != other_shape or len(items) != len(other_items):
        return False
    if not shape:
        return same(first, second)
    rest = list(other_items)
    for item in items:
        candidates = rest if shape in _UNORDERED else rest[:1]
        index = next((i for i, candidate in enumerate(candidates) if same_parts(item, candidate, same)), None)
        if index is None:
            return False
        del rest[index]
    return True


def known(first: str, second: str) -> bool | None:
    """Returns whether two single expressions are the same, as far as that takes no algebra; None if it does.

    Words, times, ratios and numbers with a base are the same if they are written the same; numbers, if they are exactly
    equal. A statement (`x > 3`) is never the same as an expression.
    """
    keys = key(first), key(second)
    if keys[0] == keys[1] or not all(keys):
        return keys[0] == keys[1] != ""
    numbers = number(first), number(second)
    if None not in numbers:
        return numbers[0] == numbers[1]
    if any(_BASE.fullmatch(k) or ":" in k or (len(k) == 1 and k.isalpha()) for k in keys):
        return False
    if _WORD.search(first) or _WORD.search(second):
        return False
    return None if bool(_RELATION.search(first)) == bool(_RELATION.search(second)) else False


def number(text: str) -> Fraction | None:
    """Returns the exact value of an integer, decimal, fraction or mixed number in plain form; None of all else."""
    match = _NUMBER.fullmatch(text.strip())
    if not match or match["decimal"] == ".":
        return None
    if match["decimal"]:
        value = Fraction("0" + match["decimal"].replace(",", ""))
    else:
        below = int(match["below"] or match["under"])
        if not below or (match["whole"] and match["minus"]):
            return None
        value = int(match["whole"] or 0) + Fraction(int(match["above"] or match["over"]), below)
    return -value if (match["sign"] == "-") != bool(match["minus"]) else value


def key(text: str) -> str:
    """Returns what an answer in plain form is compared by as a string."""
    for pattern, replacement in _LOOKS:
        text = re.sub(pattern, replacement, text)
    return text.casefold() if _CASELESS.fullmatch(text) else text


def split(text: str) -> Parts:
    """Returns the shape of an answer in plain form, and its parts; the answer itself where it is a single expression.

    The shape is "set" for sets and lists, "union", a matrix with its size, or the brackets of a tuple or interval;
    empty for a single expression.
    """
    text = text.strip()
    if number(text) is not None:  # a comma may be a thousands mark
        return "", [text]
    if matrix := _MATRIX.fullmatch(text):
        rows = [row.split("&") for row in re.split(r"\\\\", matrix[2].strip().removesuffix(r"\\"))]
        return f"matrix {[len(row) for row in rows]}", [cell for row in rows for cell in row]
    if len(sets := _split_at(text, (r"\cup",))) > 1:
        return "union", sets
    if len(items := _signed(_split_at(text, (",", ";")))) > 1:
        return "set", items
    braces = re.fullmatch(r"\\\{(.*)\\\}", text, re.DOTALL)
    if braces and braces[1].strip():
        return "set", _signed(_split_at(braces[1], (",", ";")))
    brackets = re.fullmatch(r"([(\[])(.*)([)\]])", text, re.DOTALL)
    items = _split_at(brackets[2], (",", ";")) if brackets else []  # of one item, brackets only group
    return (brackets[1] + brackets[3], items) if brackets and len(items) > 1 else ("", [text])


def _split_at(text: str, marks: Sequence[str]) -> list[str]:
    """Returns the pieces of a text between marks that stand in no bracket; all of it if brackets do not match."""
    depth, start, pieces = 0, 0, []
    for sign in _SIGN.finditer(text):
        depth += (sign[0] in _OPEN) - (sign[0] in _CLOSE)
        if depth < 0:
            return [text]
        if depth == 0 and sign[0] in marks:
            pieces.append(text[start : sign.start()])
            start = sign.end()
    return [*pieces, text[start:]]


def _signed(items: Sequence[str]) -> list[str]:
    r"""Returns the items of a list, two in place of each one with `\pm`."""
    signs = [("+", "-") if re.search(r"\\pm(?![a-z])", item) else ("",) for item in items]
    return [re.sub(r"\\pm(?![a-z])", s, item) for item, each in zip(items, signs, strict=True) for s in each]


def _without_name(text: str, other: str) -> str:
    """Returns an answer without the `x =` or `f(x) =` before it, if the other has the same name or no relation."""
    named, others = _GIVES.match(text), _GIVES.match(other)
    if not named:
        return text
    alike = others and key(named[0]) == key(others[0]) and len(_split_at(text, (",",))) == 1
    if _RELATION.search(other) and not alike:
        return text
    return text[named.end() :] if "," in text or "=" not in text else text.rpartition("=")[2]


ALGEBRA = "afrieval.scoring.mathematics.symbolic"
LONGEST = 500  # characters; longer texts are not compared


def same_answer(answer: str, gold: str, seconds: float = 5.0) -> bool:
    r"""Returns whether an answer is the same as the right one. Which is which makes no difference.

    Answers that are written the same are the same. Otherwise they are compared in plain form: without units, currency
    and percent signs, and with one way to write fractions, brackets and blanks; then part by part, tuples, intervals
    and matrices in order, lists and sets in any; then by number, exactly, so that 1/3 is not 0.33; and only then by
    algebra. No part of an answer is ever executed as code.

    Args:
        answer: what a model gave, in LaTeX.
        gold: the right answer, in LaTeX.
        seconds: for the algebra; what takes longer is not the same. The limit holds in every thread and on every
            platform, for a process of its own does the algebra.
    """
    if answer.strip() == gold.strip():
        return True
    if max(len(answer), len(gold)) > LONGEST:
        return False
    first, second = plain_latex(answer), plain_latex(gold)
    undecided = []

    def certainly(one: str, other: str) -> bool:
        verdict = known(one, other)
        if verdict is None:
            undecided.append(one)
        return bool(verdict)

    same = same_parts(first, second, certainly)
    if same or not undecided:
        return same
    try:
        return bool(isolated(ALGEBRA).ask([first, second], seconds))
    except EndedError:  # not known to be the same
        return False
