r"""Algebra on answers, in a process of its own: `python -m afrieval.scoring.mathematics.symbolic`.

A question is `[first, second]`, and its answer `true` or `false`.
"""

import re
from typing import Any

import sympy
import sympy.physics.units  # noqa: F401 - `simplify` would load it later, and it reads strings of its own
from latex2sympy2_extended.latex2sympy2 import ConversionConfig, latex2sympy
from math_verify import verify
from sympy.parsing import sympy_parser

from afrieval._util.worker import serve
from afrieval.scoring.mathematics.same_answer import known, same_parts

_CASE = ConversionConfig(lowercase_symbols=False)  # X is not x
_NUMBER = re.compile(r"\s*(Integer|Float)\s*\(\s*'?(\d+|\d*\.\d*(?:[eE][-+]?\d+)?)'?\s*\)\s*")
_IMAGINARY = re.compile(r"(?<![A-Za-z\\])i(?![A-Za-z])")


def same_expression(first: str, second: str) -> bool:
    """Returns whether two single expressions in plain form are the same, by algebra where that is needed."""
    verdict = known(first, second)
    if verdict is not None:
        return verdict
    one, other = _parsed(min(first, second)), _parsed(max(first, second))  # in one order, for `verify` is not symmetric
    if one is None or other is None:
        return False
    if isinstance(one, sympy.Expr) and isinstance(other, sympy.Expr):
        one, other = _exact(one), _exact(other)
        if _clearly_differ(one, other):
            return False
        # Exactly 0; `verify` takes 2^{2005} + 1 for 2^{2005}, to 15 digits.
        return bool(sympy.simplify(one - other) == 0 or (one - other).equals(0))
    if isinstance(one, sympy.Eq) and isinstance(other, sympy.Eq):  # 2x = 6 and x - 3 = 0: a multiple of the other
        ratio = sympy.simplify((_exact(one.lhs) - _exact(one.rhs)) / (_exact(other.lhs) - _exact(other.rhs)))
        return bool(ratio.is_number and ratio.is_finite and not ratio.is_zero)
    return bool(verify(one, other, timeout_seconds=None))


def _clearly_differ(one: sympy.Expr, other: sympy.Expr) -> bool:
    """Returns whether the values differ where the variables have some value; this is fast, and most answers do."""
    names = sorted(one.free_symbols | other.free_symbols, key=str)
    point = {name: sympy.Rational(7 * i + 10, 7) for i, name in enumerate(names)}
    values = [side.subs(point).evalf(30) for side in (one, other)]
    if not all(value.is_number and value.is_finite for value in values):
        return False
    return bool(abs(values[0] - values[1]) > 1e-12 * (abs(values[0]) + abs(values[1])))


def _exact(value: sympy.Expr) -> sympy.Expr:
    """Returns an expression with decimals as the fractions that they are."""
    return value.replace(lambda part: part.is_Float, lambda part: sympy.Rational(str(part))).doit()


def _parsed(text: str) -> Any:
    """Returns the expression that a text is; None if it cannot be read."""
    text = _IMAGINARY.sub("I", text)
    try:
        return latex2sympy(text, is_real=True, normalization_config=None, conversion_config=_CASE)
    except Exception:  # the parser raises a plain Exception, and its grammar many others, for text it does not know
        return None


def _number(code: str, *_: object) -> sympy.Expr:
    """Returns the number that `Integer (5 )` or `Float ('.5' )` means; sympy would execute it as Python."""
    match = _NUMBER.fullmatch(code)
    if not match:
        raise ValueError("text is never executed as code")
    return sympy.Integer(int(match[2])) if match[1] == "Integer" else sympy.Rational(match[2])


def _answer(answers: list[str]) -> bool:
    first, second = answers
    try:
        return same_parts(first, second, same_expression)
    except Exception:  # sympy cannot tell: the answers are not known to be the same, and the next one is to be judged
        return False


if __name__ == "__main__":
    sympy_parser.eval_expr = _number
    serve(_answer)
