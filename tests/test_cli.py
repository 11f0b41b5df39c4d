"""The table of commands, what is loaded for --help, and how errors look."""

import contextlib
import errno
import io
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated

import pytest

from afrieval._util.terminal import say
from afrieval.cli.declarations.running import RaceCommand
from afrieval.cli.main import main
from afrieval.cli.registry import COMMANDS
from afrieval.config.arguments import read_given, read_options
from afrieval.config.commands import Command
from afrieval.config.files import SECTIONS
from afrieval.config.options import Options, RunOptions, Word
from tests.conftest import ROOT, Cli, Refusal
from tests.report.html.small_runs import small_run

HEAVY = ("torch", "transformers", "datasets", "lm_eval", "numpy", "rich")


def test_help_loads_nothing_heavy_and_fits_a_screen() -> None:
    """Commands of one process; what an earlier one loads is found with it."""
    commands = [[], ["--help"], *([name, "--help"] for name in COMMANDS), ["help", "run"]]
    code = (
        "import sys\nfrom afrieval.cli.main import main\n"
        f"for words in {commands!r}:\n"
        "    assert main(words) == 0\n"
        "    print('\\0', end='')\n"
        f"    print(*words, *(m for m in {HEAVY!r} if m in sys.modules), sep=' ', file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr.splitlines() == list(map(" ".join, commands))
    shown = dict(zip(map(" ".join, commands), done.stdout.split("\0"), strict=False))
    assert shown["help run"] == shown["run --help"] and shown["run --help"].count("\n") <= 52
    for words, out in shown.items():
        usage = words.removesuffix("--help").removeprefix("help ")
        assert f"\n{' '.join(['usage: afrieval', *usage.split()])} " in f"\n{out}"
        assert out.count("Examples:\n  afrieval ") == 1 and "SUPPRESS" not in out
        lines = out.splitlines() if usage else []
        assert all(len(line) <= 80 for line in lines if not line.startswith("  afrieval "))


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert re.fullmatch(r"afrieval [\d.]+ \(lm-eval [\d.]+\)\n", capsys.readouterr().out)


@pytest.fixture(scope="module")
def helps() -> dict[str, str]:
    """Returns the whole help of every command."""
    found = {}
    for command in COMMANDS:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            assert main([command, "--help-all"]) == 0
        found[command] = out.getvalue()
    return found


def test_help_is_complete(helps: dict[str, str]) -> None:
    """Each option has a sentence and a default, or says that it is required; no line is longer than a screen."""
    for shown in helps.values():
        entries = re.split(r"^  (?=\S)", shown.partition("\n\nOptions:\n")[2], flags=re.M)[1:]
        for entry in entries[: -len(("--help", "--debug"))]:
            assert re.search(r"\bDefault: |\bRequired\.", " ".join(entry.split())), entry
            assert all(len(line) <= 80 for line in entry.splitlines()), entry


def test_help_names_every_setting(helps: dict[str, str]) -> None:
    out = helps["run"]
    for section, kind in SECTIONS.items():
        for each in fields(kind):  # a section of its own has no option, but its settings do
            assert re.search(rf"\n  --{section}\.{each.name}[ .]", out), each.name
    assert {"--model-config-yaml", "--task-config-yaml", "--run-dir"} <= {*out.split()}


def test_help_has_no_setting_that_is_refused(helps: dict[str, str], cli: Cli) -> None:
    assert "--eval.limit" in helps["plan"] and not {*RaceCommand.refused} & {*re.findall(r"--(\S+)", helps["race"])}
    short = cli("race", "--help").out
    assert "--sample" in short and "--limit" not in short and "--until" not in short


def test_the_examples_in_help_can_be_parsed(helps: dict[str, str]) -> None:
    """They get past the command line; some then miss a model or a run."""
    for command, shown in helps.items():
        kind = COMMANDS[command].kind
        examples = shown.partition("\n\nExamples:\n")[2].partition("\n\n")[0]
        for line in re.split(r"\n(?=  afrieval)", examples):
            words = shlex.split(line.replace("\\\n", " "))[2:]
            assert (read_given if issubclass(kind, RunOptions) else read_options)(kind, words, command), line


def test_evaluate_py_has_the_help_of_run(capsys: pytest.CaptureFixture[str]) -> None:
    done = subprocess.run([sys.executable, "src/evaluate.py", "--help"], cwd=ROOT, capture_output=True, text=True)
    assert main(["run", "--help"]) == 0 and done.stdout == capsys.readouterr().out


def test_a_package_adds_a_command(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """As one entry, with options in a dataclass of its own."""
    entry = Command("Of mine", "greet", f"{__name__}:Greeting", f"{__name__}:greet")
    monkeypatch.setattr(COMMANDS, "_entries", {**COMMANDS._entries, "greet": entry})
    assert "\n\nOf mine:\n  greet       greet\n\n" in cli("--help").out
    assert "usage: afrieval greet NAME [options]\n\nGreets somebody.\n" in cli("greet", "--help").out
    assert cli("greet", "Ada", "--loud").out == "ADA\n" and "--loud" in cli("greet", "Ada", "--lud").err


@dataclass(frozen=True)
class Greeting(Options):
    """Greets somebody."""

    name: Annotated[str, Word("NAME")]
    """Who."""
    loud: bool = False
    """In capitals."""


def greet(argv: list[str]) -> None:
    options = read_options(Greeting, argv, "greet")
    say(options.name.upper() if options.loud else options.name)


def test_debug_shows_the_traceback() -> None:
    from afrieval._util.errors import UserError

    with pytest.raises(UserError):
        main(["run", "--debug"])


def test_debug_shows_the_path_of_a_run(run_demo: Cli) -> None:
    """One line at each of its ten gates; the same run without it shows none."""
    gates = ["settings", "plan", "data", "prompt", "request", "answer", "extraction", "score", "line", "table"]
    words = ("--task.languages", "yor", "--task.prompts", "1", "--eval.limit", "1")
    shown = [
        line.split(":")[1].strip() for line in run_demo(*words, "--debug").err.splitlines() if line[:6] == "DEBUG:"
    ]
    assert {*shown} == {*gates} and shown[0] == "settings" and shown[-1] == "table"
    assert "DEBUG" not in run_demo(*words).err


def test_ctrl_c_is_no_traceback(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(argv: list[str]) -> None:
        raise KeyboardInterrupt

    for command in ("list", "prefetch"):
        monkeypatch.setattr(f"afrieval.cli.commands.{command}.main", interrupt)
        assert main([command]) == 130
        more = "; the same command continues where this one stopped" if command == "prefetch" else ""
        assert capfd.readouterr().err == f"stopped{more}\n"


def test_no_global_state_is_touched_by_ours() -> None:
    """Only the seeding of libraries draws on global generators."""
    sources = [p for p in Path(ROOT / "src").rglob("*.py") if p.name != "loading.py"]
    for path in sources:
        text = path.read_text()
        assert "random.seed" not in text and "np.random.rand" not in text, path


def test_prompts_are_printed_in_an_ascii_locale() -> None:
    words = ["--task.task_name", "afrimmlu", "--task.languages", "amh", "--data.source", "samples"]
    ascii_only = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    command = [sys.executable, "-m", "afrieval.cli.main", "preview", *words, "--task.prompt_language", "native"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, env=ascii_only)
    assert done.returncode == 0 and "ጥያቄ" in done.stdout.decode("utf-8")


def test_a_closed_pipe_is_no_traceback() -> None:
    command = f"{sys.executable} -m afrieval.cli.main list | head -1 ; test ${{PIPESTATUS[0]}} -ne 1"
    done = subprocess.run(command, shell=True, executable="/bin/bash", cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.startswith("Multiple choice") and done.stderr == "" and done.returncode == 0


def test_a_table_that_nobody_reads_is_no_traceback(tmp_path: Path) -> None:
    """Rich would end the process with another exit code."""
    folder = small_run(tmp_path / "run", "model", prompts=2)
    command = f"{sys.executable} -m afrieval.cli.main compare {folder} | true ; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(command, shell=True, executable="/bin/bash", cwd=ROOT, capture_output=True, text=True)
    assert done.stderr == "" and done.returncode == 141


def test_a_full_disk_where_the_output_goes() -> None:
    command = f"{sys.executable} -m afrieval.cli.main --help > /dev/full"
    done = subprocess.run(command, shell=True, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.startswith("error: a file cannot be written: No space left on device\n")
    assert done.stderr.count("\n") == 2


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EACCES])
def test_files_that_fail(cli: Cli, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def fail(argv: list[str]) -> None:
        raise OSError(number, os.strerror(number), "runs/x")

    for command in ("list", "run", "llama", "prefetch"):
        monkeypatch.setattr(COMMANDS[command].main.replace(":", "."), fail)
        done = cli(command)
        assert done.code == 2 and done.err.startswith("error: runs/x cannot be ") and "hint: " in done.err
        assert ("the same command continues" in done.err) == (command != "list")


def test_a_file_that_ought_to_be_there_is_a_bug(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def miss(argv: list[str]) -> None:
        raise FileNotFoundError(2, "No such file or directory", "x")

    monkeypatch.setattr("afrieval.cli.commands.list.main", miss)
    with pytest.raises(FileNotFoundError):
        cli("list")


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_written_to_as_little_as_dev_null(closed: str, tmp_path: Path) -> None:
    code = (
        "from pathlib import Path; from afrieval._util import terminal; from afrieval.cli import main as cli\n"
        "def work(argv):\n"
        f"    with Path({str(tmp_path / 'file')!r}).open('w'):\n"
        "        terminal.say('to standard output'), terminal.note('to standard error'), os.write(2, b'stopped')\n"
        "        os.write(1, b'from a library')\n"
        "import os; from afrieval.config.commands import Command; Command.__call__ = lambda self, words: work(words)\n"
        "raise SystemExit(cli.main(['list']))"
    )
    script = tmp_path / "script.py"
    script.write_text(code)
    command = f"{shlex.quote(sys.executable)} {shlex.quote(str(script))} {closed}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60, env=environment)
    out = "" if ">&-" in closed.replace("2>&-", "") else "to standard output\nfrom a library"
    err = "" if "2>&-" in closed else "to standard error\nstopped"
    assert (done.returncode, done.stdout, done.stderr) == (0, out, err)
    assert (tmp_path / "file").read_text() == ""


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("can't start new thread")])
def test_memory_that_is_full(cli: Cli, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def fail(argv: list[str]) -> None:
        raise error

    monkeypatch.setattr("afrieval.cli.commands.list.main", fail)
    done = cli("list")
    assert done.code == 2 and re.match("error: there is not enough memory.*\nhint: ", done.err)


def test_a_folder_that_was_removed_is_named(
    cli: Cli, refusal: Refusal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (gone := tmp_path / "gone").mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    for words in (("show", "run"), ("list",), ("run", "--model.model_name", "demo")):
        assert "the folder that this was started in was removed" in refusal(*words)
    assert cli("--version").code == 0
