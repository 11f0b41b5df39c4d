"""Algebra takes no longer than it may, in threads and after a hang, and executes nothing."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from afrieval.metrics.mathematics import same_answer
from afrieval.metrics.solver import Solver, own_solver
from afrieval.metrics.symbolic import _number

SLOW = ["9^{9^{9^{9}}}", "9^{9^{9}}", "((10^8)!)!", r"\sum_{k=1}^{10^{12}} \frac{\sin k}{k!}"]


@pytest.mark.parametrize("answer", SLOW)
def test_what_takes_too_long_is_not_the_same(answer: str) -> None:
    own_solver().same("x", "x", 60)  # loads its libraries
    start = time.monotonic()
    assert not same_answer(answer, "x^2", seconds=0.5)
    assert time.monotonic() - start < 10
    assert same_answer(r"\sqrt{8}", r"2\sqrt2")  # and the next answer is judged


def test_the_limit_holds_in_threads_and_the_process_lasts() -> None:
    assert same_answer(r"\sqrt{8}", r"2\sqrt2")
    solver = own_solver()
    process = solver._process
    with ThreadPoolExecutor(4) as threads:
        pairs = [("x+x", f"{n}x") for n in range(20)]
        assert list(threads.map(lambda pair: same_answer(*pair), pairs)) == [n == 2 for n in range(20)]
    assert own_solver() is solver and solver._process is process


def test_a_process_that_was_killed_is_started_again() -> None:
    assert same_answer(r"\sqrt{8}", r"2\sqrt2")
    process = own_solver()._process
    assert process
    process.kill()
    process.wait()
    assert same_answer(r"\sqrt{8}", r"2\sqrt2")


def test_a_process_that_cannot_start_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not an answer that is wrong."""
    monkeypatch.setattr(sys, "executable", "where" if os.name == "nt" else "false")
    with pytest.raises(RuntimeError, match="did not start"):
        Solver().same("x", "2x", 1)


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


def test_signals_to_the_process_that_asks_do_not_reach_it() -> None:
    assert same_answer(r"\sqrt{8}", r"2\sqrt2")
    process = own_solver()._process
    assert process and os.getsid(process.pid) == process.pid, "Ctrl-C goes to the session of a terminal"
    process.send_signal(signal.SIGTERM)
    assert same_answer(r"\sqrt{18}", r"3\sqrt2") and process.poll() is None


def test_it_ends_with_the_process_that_asks() -> None:
    code = (
        "import os, signal\nfrom afrieval.metrics.solver import own_solver\n"
        "assert own_solver().same('x', 'x', 60)\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)  # until both ended
    assert done.returncode == -signal.SIGKILL and done.stderr == ""
