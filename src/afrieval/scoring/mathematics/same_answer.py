r"""Whether two mathematical answers are the same, as for the boxed answers of MATH (Hendrycks et al., 2021)."""

from afrieval.isolated.process import EndedError, isolated
from afrieval.scoring.mathematics.latex import plain_latex
from afrieval.scoring.mathematics.parts import known, same_parts

ALGEBRA = "afrieval.scoring.mathematics.symbolic"
LONGEST = 500  # characters; what is longer is no short answer, and is not read


def same_answer(given: str, gold: str, seconds: float = 5.0) -> bool:
    r"""Returns whether an answer is the same as the right one. Which is which makes no difference.

    Answers that are written the same are the same. Otherwise they are compared in plain form: without units, currency
    and percent signs, and with one way to write fractions, brackets and blanks; then part by part, tuples, intervals
    and matrices in order, lists and sets in any; then by number, exactly, so that 1/3 is not 0.33; and only then by
    algebra. No part of an answer is ever executed as code.

    Args:
        given: what a model gave, in LaTeX.
        gold: the right answer, in LaTeX.
        seconds: for the algebra; what takes longer is not the same. The limit holds in every thread and on every
            platform, for a process of its own does the algebra.
    """
    if given.strip() == gold.strip():
        return True
    if max(len(given), len(gold)) > LONGEST:
        return False
    first, second = plain_latex(given), plain_latex(gold)
    undecided = []

    def certainly(one: str, other: str) -> bool:
        verdict = known(one, other)
        if verdict is None:
            undecided.append(one)
        return bool(verdict)

    return same_parts(first, second, certainly) or (bool(undecided) and _by_algebra(first, second, seconds))


def _by_algebra(first: str, second: str, seconds: float) -> bool:
    try:
        return bool(isolated(ALGEBRA).ask([first, second], seconds))
    except EndedError:  # not known to be the same
        return False
