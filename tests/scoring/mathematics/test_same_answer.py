"""Answers that a mathematician would call the same are the same, and others are not."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from afrieval.scoring.extract.phrase import last_boxed
from afrieval.scoring.mathematics.same_answer import LONGEST, plain_latex, same_answer

REAL_DATA = os.environ.get("AFRIEVAL_DATA", "")

SAME = [
    # by string
    ("5", " 5 "), ("5", "$5$"), ("5", r"\(5\)"), ("5", "5."), ("5", "$5.$ ."),
    (r"\left(3, \frac{\pi}{2}\right)", r"(3,\dfrac{\pi}{2})"),
    (r"\text{even}", "even"), (r"\text{Even}", r"\text{even}"), (r"\text{(E)}", "E"),
    (r"(\text{E})", r"\textbf{(E)}"), (r"\text{A,D}", r"\text{A, D}"),
    (r"\text{B, E, G}", r"\text{E}, \text{B}, \text{G}"), (r"\text{4:30 p.m.}", "4:30 PM"), (r"25_{6}", "25_6"),
    (r"152A_{11}", "152A_{11}"), (r"152A_{11}", r"152\text{A}_{11}"),
    # by number
    (r"\frac12", r"\dfrac{1}{2}"), (r"\frac12", "0.5"), (r"\frac12", ".5"), (r"\frac12", "1/2"),
    (r"\frac12", r"\frac{2}{4}"), (r"\frac{270}7", r"\frac{270}{7}"), (r"-\frac{2}{3}", r"\frac{-2}{3}"),
    (r"1\frac{9}{10}", r"\frac{19}{10}"), (r"8\frac47", "60/7"), (r"1\frac12", "1.5"), (r"1\frac12", "1 1/2"),
    (r"-1\frac12", "-1.5"), ("5", "5.0"), ("17,280", "17280"), (r"3,\!110,\!400", "3110400"), ("8{,}880", "8880"),
    (r"8\,880", "8880"),
    # units
    (r"81\text{ teachers}", "81"), (r"1920\text{ ways.}", "1920"), (r"\frac{68}{3}\text{ pounds}", r"\frac{68}{3}"),
    ("90\\text{ square\nunits}", "90"), (r"8\sqrt{3} \text { square inches}", r"8\sqrt3"),
    (r"440\text{ cm}^2", r"440\,\mathrm{cm}^{2}"), (r"\frac{3}{4}\pi\text{ inches}", r"\frac{3\pi}{4}"),
    ("12 cm", "12"), (r"135^\circ", "135"), (r"135^{\circ}", r"135\text{ degrees}"), (r"-5^\circ", "-5"),
    (r"\$18.90", "18.9"), (r"-\$0.50", "-0.5"), (r"25\%", "25"), (r"33\frac13\%", r"\frac{100}{3}\%"),
    # parts
    ("[0,1)", r"\left[0, 1\right)"),
    (r"(-\infty,-14)\cup(-3,\infty)", r"(-3,\infty) \cup (-\infty,-14)"),
    (r"\left(1,\frac{9}{2}\right)", "(1, 4.5)"), ("1,-2", "-2, 1"), ("1,-2", r"\{1, -2\}"),
    (r"12\text{ and }13", "12, 13"), (r"7, -2, \text{ and } -5", "-5,-2,7"),
    (r"\sqrt{5}, -\sqrt{5}", r"\pm\sqrt{5}"), (r"1 \pm \sqrt{2}", r"1+\sqrt{2}, 1-\sqrt{2}"),
    (
        r"\begin{pmatrix} 1/5 & 4/5 \\ 0 & 1 \end{pmatrix}",
        r"\begin{bmatrix} \frac15 & 0.8 \\ 0 & 1 \\ \end{bmatrix}",
    ),
    ("k = 15", "15"), ("x=5", "5"), ("(x,y) = (1,2)", "(1,2)"), (r"x \in [-2,7]", "[-2,7]"),
    ("x = 3, x = 5", "3, 5"), ("x = 3, x = 5", "x = 5, x = 3"), ("x = 3, y = 5", "y = 5, x = 3"),
    (r"x = \{1,2\}", r"x = \{2,1\}"), ("y = x^2 + 2", "x^2+2"), ("f(x) = 2x", "2x"), ("f(-2) = 7", "7"),
    ("AB = 7", "7"), (r"\angle ABC = 60^\circ", "60"),
    # by algebra
    (r"\sqrt2", r"\sqrt{2}"), (r"\frac{\sqrt{2}}{2}", r"\frac{1}{\sqrt2}"), (r"2\sqrt{10}", r"\sqrt{40}"),
    (r"6x^2 + 30x + 36", "6(x+2)(x+3)"), ("b - 1", "-1+b"), (r"7(x+3) (x-3)", "7x^2-63"), ("9 + 11i", "11i+9"),
    (r"\frac{1}{5} + \frac{3}{5}i", r"\frac{1+3i}{5}"), ("2^{10}", "1024"),
    (r"\frac{176}{3}\pi", r"\frac{176\pi}{3}"), (r"\cos 58^\circ", r"\sin 32^\circ"), ("x - 3z = 0", "3z - x = 0"),
    ("y = 2x + 3", "2x - y + 3 = 0"), (r"1,000\pi", r"1000\pi"), ("2.5x", r"\frac{5}{2}x"),
    (r"\sqrt{3+2\sqrt{2}}", r"1+\sqrt{2}"), ("x > 3", "3 < x"), (r"(-\infty, +\infty)", r"(-\infty,\infty)"),
]  # fmt: skip

DIFFERENT = [
    ("5", "-5"), ("5", "6"), ("5", ""), (r"\frac12", r"-\frac12"), (r"\frac13", "0.33"),
    (r"\frac13", "0.333333"),  # no number of digits is a third
    (r"1\frac12", r"\frac{11}{2}"), ("1 1/2", "11/2"), ("3", "3x"), ("3", "30"), ("[0,1)", "(0,1]"),
    ("[0,1)", "[0,1]"), ("[0,1)", "(0,1)"), ("(1,2)", "(2,1)"), ("(1,2)", "1,2"), ("(1,2)", "(1,2,3)"),
    ("1,2", "1,2,3"), ("1,2", "1,1"), ("1,1", "1"), ("5,1", "51"), (r"(-\infty,2)\cup(3,\infty)", r"(-\infty,2)"),
    (r"(-\infty,2)\cup(3,\infty)", r"(-\infty,2]\cup(3,\infty)"),
    (r"\begin{pmatrix} 1 \\ 2 \end{pmatrix}", r"\begin{pmatrix} 1 & 2 \end{pmatrix}"),
    (r"\begin{pmatrix} 1 \\ 2 \end{pmatrix}", r"\begin{pmatrix} 2 \\ 1 \end{pmatrix}"),
    (r"\pm 3", "3"), (r"\pm 3", "-3"), ("25_6", "25_7"), ("25_6", "25"), ("11_2", "3"),
    (r"\text{even}", r"\text{neve}"),  # no product of letters
    (r"\text{even}", r"\text{odd}"), (r"\text{(E)}", r"\text{(D)}"), ("A", "a"), ("2A", "2a"), ("x+1", "X+1"),
    (r"\text{4:30 p.m.}", r"\text{4:30 a.m.}"), (r"9\text{ a.m.}", r"9\text{ p.m.}"), ("1:2", "2:1"), ("1:2", "2:4"),
    ("x > 3", "x < 3"), ("x > 3", "3"), (r"x \ge 3", "x > 3"), ("2x = 6", "x = 4"), ("x^2 = 9", "x = 3"),
    ("y = 2x", "y = 3x"), ("x = 5", "x = 6"), ("x = 5", "y = 5"), ("f(2) = 5", "f(3) = 5"), (r"88\,80", "8880"),
    ("x = 3, y = 5", "x = 5, y = 3"), (r"\sqrt{2}", "1.41421356"), (r"\pi", "3.14159265"),
    (r"2\sqrt{3}", r"3\sqrt{2}"), ("2+3i", "2-3i"), ("x^2", "x^3"), (r"\frac{1}{0}", "5"),
    (r"\frac{1}{0}", r"\frac{2}{0}"),
    ("2^{2005}", "2^{2005}+1"),  # these six are the same to 15 digits, or to a library
    (r"\frac{1}{2^{99}}", r"\frac{1}{2^{98}}"), (r"\frac{1}{2004!}", r"\frac{1}{2006!}"),
    (r"1 - \frac{1}{e}", r"1 + \frac{1}{e}"), ("12:00", "1:00"), (r"19, 46, \text{ and } 82", "21, 36, and 82"),
    ("0.33x", r"\frac{x}{3}"),
    (r"\sqrt{x^2}", "x"),  # not below zero
    ("{5", "5"), (r"\frac", "5"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same(one: str, other: str) -> None:
    assert same_answer(one, other) and same_answer(other, one)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different(one: str, other: str) -> None:
    assert not same_answer(one, other) and not same_answer(other, one)


ANSWERS = st.recursive(
    st.integers(-20, 20).map(str) | st.sampled_from(["x", r"\pi", "0.5", r"\sqrt2", r"\text{even}", "3i", "25_6", ""]),
    lambda inner: (
        st.tuples(inner, inner).map(lambda p: rf"\frac{{{p[0]}}}{{{p[1]}}}")
        | st.tuples(st.sampled_from("(["), inner, inner, st.sampled_from(")]")).map(
            lambda p: f"{p[0]}{p[1]},{p[2]}{p[3]}"
        )
        | st.tuples(inner, st.sampled_from([",", "+", "=", r"\cup"]), inner).map(" ".join)
    ),
    max_leaves=4,
)


@given(st.text() | ANSWERS)
def test_every_answer_is_itself(answer: str) -> None:
    assert same_answer(answer, answer) and same_answer(answer, f" {answer} ")


@settings(max_examples=50)
@given(ANSWERS | st.text(max_size=10), ANSWERS)
def test_which_is_which_makes_no_difference(one: str, other: str) -> None:
    assert same_answer(one, other, seconds=2) == same_answer(other, one, seconds=2)


@given(st.text(st.sampled_from(r"\{}()[],;.$^_=1x ") | st.characters(exclude_categories=["Cs"])))
def test_any_text_has_a_plain_form(text: str) -> None:
    plain_latex(text)


@settings(max_examples=40)
@given(st.fractions(max_denominator=99).filter(lambda f: f.denominator > 1), st.sampled_from("dt"))
def test_fractions_however_written(value: object, kind: str) -> None:
    above, below = str(value).lstrip("-").split("/")
    sign = "-" if str(value).startswith("-") else ""
    assert same_answer(rf"{sign}\{kind}frac{{{above}}}{{{below}}}", str(value))
    assert not same_answer(str(value), str(value).lstrip("-") if sign else f"-{value}")


def test_a_long_text_is_no_answer() -> None:
    assert not same_answer("1" + " " * LONGEST + "+ 1", "2")
    assert not same_answer("(" * 10**6, "2")


@pytest.mark.data
def test_golds_of_math() -> None:
    """Each is found, and is itself, also in another form."""
    path = Path(REAL_DATA) / "DigitalLearningGmbH" / "MATH-lighteval" / "test.jsonl"
    solutions = [json.loads(line)["solution"] for line in path.read_text(encoding="utf-8").splitlines()]
    golds = [last_boxed(solution) for solution in solutions]
    assert len(golds) == 5000 and None not in golds
    for gold in golds:
        assert gold and same_answer(gold, gold)
        rewritten = gold.replace(r"\frac{", r"\dfrac{ ").replace("+", " + ").replace(r"\right", r"\, \right")
        assert same_answer(f"$ {rewritten} $.", gold), gold
