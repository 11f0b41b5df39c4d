"""Signals end a command with one line and the exit code that shells give them, at whatever moment they come."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from afrieval._util.signals import SIGNALS, Stopped, stoppable
from tests.conftest import ROOT

GOES_ON = "; the same command continues where this one stopped"
LINES = {
    signal.SIGINT: f"stopped{GOES_ON}\n",
    signal.SIGTERM: f"stopped by SIGTERM{GOES_ON}\n",
    signal.SIGHUP: f"stopped by SIGHUP{GOES_ON}\n",
}


def ended(code: str, **environment: str) -> tuple[int, str]:
    """Runs code that may use `send`, with a command `work` of the command line, and returns its end."""
    start = """
        import os, signal, sys, time
        from afrieval.cli import main as cli

        def send(number=signal.SIGINT):
            os.kill(os.getpid(), number)

        def stand_in(work):
            begin = lambda words: work()
            begin.resumes = True
            cli.COMMANDS["run"] = begin
            sys.argv[1:] = ["run"]
            cli.command()
        """
    whole = textwrap.dedent(start) + textwrap.dedent(code)
    given = {**os.environ, "PYTHONPATH": str(ROOT / "src"), **environment}
    done = subprocess.run([sys.executable, "-c", whole], capture_output=True, text=True, timeout=60, env=given)
    return done.returncode, done.stderr


@pytest.mark.parametrize("number", LINES)
def test_each_signal(number: signal.Signals) -> None:
    assert ended(f"stand_in(lambda: send({int(number)}))") == (128 + number, LINES[number])


TWICE = {
    "at once": "stand_in(lambda: (send(), send()))",
    "of another kind, while things are put in order": """
        def work():
            try:
                send()
            finally:
                send(signal.SIGTERM)
        stand_in(work)""",
    "while the line is written": """
        def work():
            sys.stderr = Slow()
            send()
        class Slow:
            def write(self, text):
                send()
            isatty = flush = lambda self: False
        stand_in(work)""",
    "at the end of the process": """
        import atexit
        atexit.register(send)
        stand_in(send)""",
    "in code that catches everything": """
        def work():
            for _ in range(2):
                try:
                    send()
                    time.sleep(5)
                except BaseException:
                    pass
            time.sleep(60)
        stand_in(work)""",
    "while a thread goes on": """
        import threading
        threading.Thread(target=time.sleep, args=[60]).start()
        stand_in(send)""",
}


@pytest.mark.parametrize("code", TWICE.values(), ids=TWICE)
def test_a_second_signal(code: str) -> None:
    assert ended(code) == (130, LINES[signal.SIGINT])


LOST = {
    "where Python cannot raise": """
        class Dying:
            def __del__(self):
                send()
                for _ in range(9): pass
        def work():
            thing = Dying()
            del thing
            time.sleep(60)
        stand_in(work)""",
    "where a compiled module loads": """
        class Finder:
            def find_spec(self, name, path=None, target=None):
                if name == "uuid":  # orjson needs it, and crashes if it does not get it
                    send()
        def work():
            assert "uuid" not in sys.modules
            sys.meta_path.insert(0, Finder())
            import orjson
            time.sleep(60)
        stand_in(work)""",
    "as another error": """
        def work():
            try:
                send()
            except KeyboardInterrupt:
                raise ImportError("cannot import torch")
        stand_in(work)""",
    "as an error of the user": """
        from afrieval._util.errors import UserError
        def work():
            try:
                send()
            except KeyboardInterrupt:
                raise UserError("no model", "give one")
        stand_in(work)""",
}


@pytest.mark.parametrize("code", LOST.values(), ids=LOST)
def test_a_signal_that_is_lost_or_disguised(code: str) -> None:
    assert ended(code) == (130, LINES[signal.SIGINT])


def test_only_the_first_of_several_processes_speaks() -> None:
    code = f"stand_in(lambda: send({int(signal.SIGTERM)}))"
    assert ended(code, WORLD_SIZE="2", RANK="1") == (143, "")
    assert ended(code, WORLD_SIZE="2", RANK="0") == (143, LINES[signal.SIGTERM])


def test_what_is_ignored_stays_ignored() -> None:
    code = """
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
        stand_in(lambda: send(signal.SIGHUP))"""
    assert ended(code) == (0, "")


def test_a_copy_of_the_process_ends_as_any_other() -> None:
    code = """
        def work():
            child = os.fork()
            if not child:
                time.sleep(60)
            time.sleep(0.1)
            os.kill(child, signal.SIGTERM)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGTERM
        stand_in(work)"""
    assert ended(code) == (0, "")


@pytest.mark.parametrize("entry", [["src/evaluate.py"], ["-m", "afrieval.cli.main", "run"]])
def test_while_modules_are_loaded(entry: list[str], tmp_path: Path) -> None:
    words = ["--model.model_name", "demo", "--data.source", "samples", "--task.task_name", "afrimmlu"]
    (tmp_path / "sitecustomize.py").write_text(
        "import os, signal, sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name in ('jinja2', 'torch'):\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Finder())\n"
    )
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT / 'src'}"}
    command = [sys.executable, *entry, *words, "--run_dir", str(tmp_path / "run")]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", LINES[signal.SIGINT])


def test_handlers_are_put_back() -> None:
    before = [signal.getsignal(number) for number in SIGNALS]

    def stop() -> int:
        raise Stopped(signal.SIGTERM)

    assert stoppable(lambda: 7, "") == 7 and stoppable(stop, "") == 143
    assert [signal.getsignal(number) for number in SIGNALS] == before
    codes: list[int] = []
    other = threading.Thread(target=lambda: codes.append(stoppable(lambda: 5, "")))  # only the main one has signals
    other.start()
    other.join()
    assert codes == [5]
    with pytest.raises(ValueError):
        stoppable(lambda: int("x"), "")
