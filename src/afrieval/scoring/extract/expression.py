"""Numbers of a text and the arithmetic that they stand in: tokens, runs of tokens, and what each run comes to."""

import ast
import re
import unicodedata
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import groupby
from operator import add, mul, sub, truediv

_MARKS = " \u00a0\u2009\u202f.,'_،٬"  # between groups of three digits
NUMBER = re.compile(
    rf"""(?:(?P<base>\d+(?:[.,٫]\d+)?)(?:e|\s?[×x*·]\s?10\s?\^\s?[({{]?)(?P<exponent>[-−+]?\d{{1,2}})(?!\d)[)}}]?
      |(?P<ones>\d{{1,4}})?\s?(?P<vulgar>[¼-¾⅐-⅞])          # 2½
      |(?P<wholes>\d{{1,4}})\s(?P<top>[1-9]\d?)/(?P<bottom>[1-9]\d?)(?![\d/])  # 2 1/2
      |(?P<ethiopic>[፩-፼]{{1,40}})
      |(?:(?P<whole>(?!0\.)\d{{1,3}}(?P<mark>[{_MARKS}])\d{{3}}(?:(?P=mark)\d{{3}}){{0,40}}(?!\d)  # 2,125 and 2 125
        |\d+(?:,\d{{3}}){{1,40}}(?!\d)
        |\d{{1,2}}(?:,\d\d){{1,40}},\d{{3}}(?!\d) |\d+  # 1234,567 and 12,34,567
        |(?<![\w.])(?=\.\d))                                                        # .75
      (?:[.,٫](?P<decimals>\d+))?))""",
    re.VERBOSE,
)
# Each token is one letter of a run: N number, S scale, A plus, D dash, M asterisk, F slash, O other operators, E equals
# sign, P power, Q percent, L and R brackets, C currency, B blank, T "to", X what is not computed, W word, Z the rest.
_TOKENS = {
    "P": r"(?<=[^\W\d_])(?:[⁻⁰¹²³⁴-⁹]+|\^\s?[({]?-?\d+[)}]?)|(?<=[\d\ ]m|[ckdm]m|ft)[23](?!\w)",
    "N": NUMBER.pattern,
    "S": r"(?<=\d\ )(?:hundred|thousand|million|billion)(?!\w)",
    "X": r"√|π|±|\\(?:sqrt|pi)(?!\w)|\\?(?<!\w)(?:log|ln|sin|cos|tan|mod)(?!\w)|[≤≥≠]|!=|(?<![\w<])<(?=\s?\d)"
    r"|(?<![\w/\"'=<>-])>(?=[=\s\d])|(?<!\w)(?:(?:more|less|fewer|greater)\ than|up\ to|not|isn't|over|under|above"
    r"|below|at\ (?:least|most))(?=\W{0,3}\d)|(?<=\d)\s?\?(?!\w)|(?<![\d.,]\d)(?<=\d)!(?!\w|\s?=)"
    r"|(?<=[\d\ ])(?:አይደለም|dozens?|squared|cubed|bn|mn|lakhs?|crores?)(?!\w)|(?<=\d)[:.,](?=\d)"
    r"|(?<=[\d)])[kxyz](?!\w|\s?[\d$(])",
    "T": r"(?<!\w)(?:(?:to|of)(?=\ [\d$])|or(?:\ \w+)?(?=\ [\d$]))|(?<=\d)(?:\.\.+|…|~)(?=\d)",
    "O": r"[×÷·⋅^]|x(?=\s?[-$(\d])(?<![^\W\d_]x)",
    "B": r"/[=-](?!\d)|[^\S\n]+",
    "A": r"\+", "D": "[-‐‑‒–—−－]", "M": r"\*", "F": "/", "E": "[=≈]", r"L": r"[({]", "R": r"[)}]", "Q": "[%٪]",
    "C": r"[$€£₦¢₵]", "W": r"[^\W\d_፩-፼¼-¾⅐-⅞²³¹⁰⁴-⁹]+", "Z": r"[\s\S]",
}  # fmt: skip
_TOKEN = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _TOKENS.items()), re.VERBOSE)
_SIGN = r"(?:(?<![WNRQS])[DA](?=C?N)|(?<=[AOMFE])B?DB?|(?<=[AOMFE]B)DB?)?"
_OPERAND = rf"(?:(?<![WNRQS])D(?=L))?(?:LB?){{0,9}}{_SIGN}(?:CB?D?)?N(?:B?S)?(?:B?Q)?(?:B?R){{0,9}}"
_UNITS = "(?:B?W){0,2}"  # words between a number and what follows it
_JOIN = f"(?:{_UNITS}B?C?(?:[AOM]|F(?=B?C?[LN])|E)B?(?:(?<=E)WB?|(?<=EB)WB?)?|(?:B?W){{1,2}}BDB|B?[DX]B?|{_UNITS}B?TB?)"
# What shows that a run is a part of something else.
_BEFORE = "XB?|(?<=[WRPX])B?[OF]B?|(?<=[WPX])BAB?|(?<=[NRQ])(?=L)|(?<=[NSQ])B?[AOMFD]B?|(?<=S)B|(?<=N)B(?=NFN)"
_AFTER = "B?X|[LN]|B?[AO]B?[WLX]|(?<=S)BN|BNFN"
_RUN = re.compile(
    f"(?P<before>{_BEFORE})?(?P<run>(?:EB?)?{_OPERAND}(?:{_JOIN}{_OPERAND}){{0,40}})(?:(?={_AFTER})(?P<after>))?"
)
_SIGNS = {"×": "*", "·": "*", "⋅": "*", "x": "*", "÷": "/", "^": "**"}
_OTHERS = {"L": "(", "R": ")", "A": "+", "D": "-", "M": "*", "F": "/", "Q": ""}
_SCALES = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9}
_OPERATORS = {ast.Add: add, ast.Sub: sub, ast.Mult: mul, ast.Div: truediv}
_DATE = re.compile(r"(?:^|\D)0\d+[-/‐‑–]|[-/‐‑–]0\d")  # also a telephone number
MOST = 60  # digits of a number in an expression, and tokens of it


def values(text: str) -> Iterator[tuple[int, int, Decimal | None]]:
    """Yields where each run of numbers and operators begins and ends, and what it comes to; None if that is not sure.

    An equation comes to what stands after its last equals sign. Ranges, dates, times, parts of larger expressions and
    what has no end in decimals come to nothing.
    """
    tokens = list(_TOKEN.finditer(text))
    for match in _RUN.finditer("".join(str(token.lastgroup) for token in tokens)):
        run = tokens[match.start("run") : match.end("run")]
        sides = [[*side] for is_side, side in groupby(run, lambda token: token.lastgroup != "E") if is_side]
        sides = [side for side in sides if any(token.lastgroup == "N" for token in side)]
        is_whole = match["after"] is None and (match["before"] is None or len(sides) > 1)
        yield run[0].start(), run[-1].end(), _value(sides[-1], len(sides) > 1) if is_whole else None


def _value(side: Sequence[re.Match[str]], equals: bool) -> Decimal | None:
    """Returns what a side of an equation comes to."""
    is_dated = "NDNDN" in "".join(str(token.lastgroup) for token in side)
    side = [token for token in side if token.lastgroup not in ("B", "C")]
    kinds, text = "".join(str(token.lastgroup) for token in side), "".join(token[0] for token in side)
    numbers = [token for token in side if token.lastgroup == "N"]
    if re.fullmatch("L*[DA]*NQ?R*", kinds):
        value = number_value(numbers[0])
        return -value if value and "D" in kinds else value
    if len(side) > MOST or is_dated or re.search("[XTW]|NFNF|Q.*N|Q[^R]", kinds) or _DATE.search(text):
        return None
    fraction = _evaluated(side, [*map(number_value, numbers)])
    is_range = kinds == "NDN" and not equals and fraction is not None and fraction <= 0
    return None if fraction is None or is_range else _decimal(fraction)


def number_value(match: re.Match[str]) -> Decimal | None:
    """Returns the value of a number that `NUMBER` matches; None for a mixed number of an improper fraction."""
    if match["ethiopic"]:
        return Decimal(_ethiopic(match["ethiopic"]))
    if match["base"]:
        return Decimal(f"{re.sub('[,٫]', '.', match['base'])}e{match['exponent'].replace('−', '-')}")
    if match["vulgar"]:
        fraction = Fraction(unicodedata.numeric(match["vulgar"])).limit_denominator(10)
        return _decimal(int(match["ones"] or 0) + fraction)
    if match["top"]:
        top, bottom = int(match["top"]), int(match["bottom"])
        return _decimal(int(match["wholes"]) + Fraction(top, bottom)) if top < bottom else None
    whole = re.sub(r"\D", "", match["whole"] or "0")
    return Decimal(f"{whole}.{match['decimals'] or 0}")


def _decimal(value: Fraction) -> Decimal | None:
    """Returns an exact decimal; None if it has no end."""
    for decimals in range(MOST):
        if (shifted := value * 10**decimals).denominator == 1:
            return Decimal(f"{shifted.numerator}e-{decimals}") if decimals else Decimal(shifted.numerator)
    return None


def _evaluated(side: Sequence[re.Match[str]], numbers: Sequence[Decimal | None]) -> Fraction | None:
    """Returns the value of an expression; None if it is none, or has a number too large to compute with."""
    if any(n is None or len(n.as_tuple().digits) > MOST or abs(n.adjusted()) > MOST for n in numbers):
        return None
    names = iter(range(len(numbers)))
    written = ""
    for token in side:
        kind, text = str(token.lastgroup), token[0]
        if kind == "N":
            written += f"n{next(names)}"
        else:
            written += f"*10**{_SCALES[text]}" if kind == "S" else _SIGNS[text] if kind == "O" else _OTHERS[kind]
    try:
        return _computed(ast.parse(written, mode="eval").body, [Fraction(n) for n in numbers if n is not None])
    except (SyntaxError, ZeroDivisionError, OverflowError, ValueError):
        return None


def _computed(node: ast.AST, numbers: Sequence[Fraction]) -> Fraction:
    match node:
        case ast.Name():
            return numbers[int(node.id[1:])]
        case ast.Constant():
            return Fraction(str(node.value))
        case ast.UnaryOp():
            operand = _computed(node.operand, numbers)
            return -operand if isinstance(node.op, ast.USub) else operand
        case ast.BinOp():
            left, right = _computed(node.left, numbers), _computed(node.right, numbers)
            if not isinstance(node.op, ast.Pow):
                return Fraction(_OPERATORS[type(node.op)](left, right))
            if right.denominator == 1 and abs(right) <= MOST and left.numerator.bit_length() * abs(right) < 1000:
                return Fraction(left ** int(right))
    raise ValueError("no arithmetic, or too large")


def _ethiopic(numerals: str) -> int:
    """Returns the value of Ethiopic numerals: tens and ones, times hundred (፻) and ten thousand (፼)."""
    total = hundreds = ones = 0
    for numeral in numerals:
        value = int(unicodedata.numeric(numeral))
        if value == 100:
            hundreds, ones = hundreds + (ones or 1) * 100, 0
        elif value == 10_000:
            total, hundreds, ones = (total + (hundreds + ones or 1)) * 10_000, 0, 0
        else:
            ones += value
    return total + hundreds + ones
