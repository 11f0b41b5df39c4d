"""Algebra takes no longer than it may, and executes nothing."""

import time
from pathlib import Path

import pytest

from afrieval._util.worker import isolated
from afrieval.scoring.mathematics.same_answer import ALGEBRA, same_answer
from afrieval.scoring.mathematics.symbolic import _number

# Inside one operation of C, which nothing in the process can stop, and in a loop of Python.
SLOW = ["9^{9^{9^{9}}}", r"\sum_{k=1}^{10^{12}} \frac{\sin k}{k!}"]


@pytest.mark.parametrize("answer", SLOW)
def test_what_takes_too_long_is_not_the_same(answer: str) -> None:
    isolated(ALGEBRA).ask(["x", "x"], 60)  # loads its libraries
    start = time.monotonic()
    assert not same_answer(answer, "x^2", seconds=0.5)
    assert time.monotonic() - start < 10
    assert same_answer(r"\sqrt{8}", r"2\sqrt2")  # and the next answer is judged


@pytest.mark.parametrize(
    "code",
    [
        "__import__('os').system('touch {file}')",
        r"\text{{__import__('os').system('touch {file}')}}",
        r"\operatorname{{__import__('os').system('touch {file}')}}",
        "lambda: open('{file}', 'w')",
        r"\gcd(__import__('os').system('touch {file}'), 2)",
    ],
)
def test_nothing_in_an_answer_is_executed(code: str, tmp_path: Path) -> None:
    file = tmp_path / "file"
    assert not same_answer(code.format(file=file), "x^2")
    assert not file.exists()


def test_sympy_reads_numbers_and_executes_nothing() -> None:
    assert _number("Integer (5 )") == 5 and 2 * _number("Float ('.5' )") == 1
    for code in ("__import__('os')", "Integer (5 ).__class__", "Integer (f(5))", "Symbol ('x' )"):
        with pytest.raises(ValueError, match="never executed"):
            _number(code)
