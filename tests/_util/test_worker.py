"""A process of its own answers in time or is ended, in threads too, and the next question is answered."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from afrieval._util.worker import EndedError, Isolated, isolated

ECHO = "echo"  # of this folder


@pytest.fixture(autouse=True)
def found(monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [str(Path(__file__).parent), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path for path in paths if path))


@pytest.fixture(scope="module")
def echo() -> Isolated:
    return Isolated(ECHO)


@pytest.mark.parametrize("question", [None, "ɓ\n\ud800\u2028", [1, {"a": "b"}], "print", "x" * 10**6])
def test_answers_are_what_json_says(echo: Isolated, question: object) -> None:
    assert echo.ask(question, 10) == question


@pytest.mark.parametrize("module", [ECHO, "echo_elsewhere"])
@pytest.mark.parametrize(("question", "late"), [(60.0, True), ("end", False)])
def test_what_ends_it_is_said_and_the_next_question_is_answered(question: object, late: bool, module: str) -> None:
    echo = isolated(module)
    with pytest.raises(EndedError) as caught:
        echo.ask(question, 0.3)
    assert caught.value.late is late
    assert echo.ask("next", 10) == "next"


@pytest.mark.skipif(sys.platform != "linux", reason="the system has no limit")
def test_memory_has_a_limit(echo: Isolated) -> None:
    assert echo.ask("many", 10) == "too many"


def test_threads_share_one_process_and_it_lasts() -> None:
    one = isolated(ECHO)
    one.ask(0, 10)
    process = one._process
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(lambda n: isolated(ECHO).ask(n, 10), range(50))) == list(range(50))
    assert isolated(ECHO) is one and one._process is process


def test_a_process_that_was_killed_is_started_again(echo: Isolated) -> None:
    echo.ask(1, 10)
    assert echo._process
    echo._process.kill()
    echo._process.wait()
    assert echo.ask(2, 10) == 2


def test_an_interrupted_question_leaves_no_answer_behind(echo: Isolated, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> str:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("afrieval._util.worker._line", interrupt)
        with pytest.raises(KeyboardInterrupt):
            echo.ask("first", 10)
    assert echo.ask("second", 10) == "second"


@pytest.mark.skipif(os.name == "nt", reason="signals are other ones there")
def test_ctrl_c_is_left_to_the_process_that_asks(echo: Isolated) -> None:
    echo.ask(1, 10)
    process = echo._process
    assert process
    process.send_signal(signal.SIGINT)
    assert echo.ask(2, 10) == 2 and echo._process is process


def test_a_process_that_cannot_start_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not an answer that is wrong."""
    monkeypatch.setattr(sys, "executable", "where" if os.name == "nt" else "false")
    with pytest.raises(RuntimeError, match="did not start"):
        Isolated(ECHO).ask("x", 1)


def test_a_forked_process_has_one_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    parents = isolated(ECHO)
    monkeypatch.setattr(os, "getpid", lambda: -1)
    assert isolated(ECHO) is not parents and isolated(ECHO) is isolated(ECHO)


@pytest.mark.skipif(os.name == "nt", reason="signals are other ones there")
def test_it_ends_without_a_word_when_nobody_waits_for_the_answer() -> None:
    script = (
        "import os, signal, threading, time\n"
        "from afrieval._util.worker import isolated\n"
        "one = isolated('echo')\n"
        "one.ask(0, 10)\n"
        "threading.Thread(target=lambda: one.ask(0.4, 10), daemon=True).start()\n"
        "time.sleep(0.1)\n"
        "print(one._process.pid, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)  # its streams, to their ends
    assert done.stdout.strip().isdigit() and done.stderr == ""


@pytest.mark.skipif(not hasattr(os, "getsid"), reason="the system has no sessions")
def test_signals_to_the_process_that_asks_do_not_reach_it(echo: Isolated) -> None:
    echo.ask(1, 10)
    process = echo._process
    assert process and os.getsid(process.pid) == process.pid, "Ctrl-C goes to the session of a terminal"
    process.send_signal(signal.SIGTERM)
    assert echo.ask("next", 10) == "next" and process.poll() is None
