"""The table of commands. Each is imported when it is called, so that `--help` answers at once."""

import os
import sys

try:
    import importlib
    from collections.abc import Callable
    from itertools import islice
    from typing import NoReturn

    from afrieval._util import garbage
    from afrieval._util.errors import CURES, FULL, UserError, nearest
    from afrieval._util.signals import check, leave, listen, stoppable
    from afrieval._util.terminal import complain, note, prepare, say
except KeyboardInterrupt:  # signals are not answered yet
    os.write(2, b"stopped\n")
    os._exit(130)

COMMANDS = {
    "run": "evaluate a model on tasks",
    "list": "show tasks, suites, languages and models",
    "preview": "print prompts as a model would see them; no model is loaded",
    "show": "print the tables of stored runs again",
    "compare": "compare stored runs: differences, intervals, p-values, means",
    "samples": "show documents of a stored run, with prompts and answers",
    "report": "write stored runs as one page for a browser",
    "leaderboard": "write all results below a folder as pages for a browser",
    "plan": "say what a run takes: tokens, time, memory, cost; no weights are loaded",
    "race": "find the best of several models with as few questions as that takes",
    "sweep": "run several models on several suites, here, on SLURM or on Ray",
    "doctor": "check this machine: versions, GPUs, disks, access to models and data",
    "prefetch": "download data and model, so that a run needs no network",
    "export": "write stored runs as tables or for other programs, or tasks for lm_eval",
    "plot": "write a figure for a paper",
    "score": "score stored answers again, after a metric or extractor was corrected",
    "pack": "move the sample files of finished runs into one file each, or back",
    "check-runs": "say what keeps runs from a public board; write copies without texts of data sets",
    "check-data": "look for defects in the data of tasks",
    "review": "write or read sheets in which speakers review native prompts or rate answers",
    "llama": "run Meta's evaluations of Llama 3, or print them as an lm_eval command",
}
GROUPS = {"Evaluate and look at results": 8, "Plan, run at scale, pass on": 7, "Keep in order": 6}
EXAMPLES = """Examples:
  afrieval list
  afrieval preview afrixnli --languages yoruba --data samples
  afrieval run demo afrixnli --languages hausa,yoruba --data samples
  afrieval compare runs/FIRST runs/SECOND"""
MORE = """afrieval COMMAND --help describes a command. afrieval --version prints the version.
afrieval COMMAND --debug shows the traceback of an error."""
HELP = ("-h", "--help", "--help-all")
RUNS = ("run", "llama")
RESUMED = (*RUNS, "race", "sweep", "prefetch", "score")


def command(*words: str) -> NoReturn:
    """Runs the command that some words and this process' arguments form, and ends the process."""
    listen()
    garbage.start()
    leave(main([*words, *sys.argv[1:]]))


def main(argv: list[str] | None = None) -> int:
    """Runs a command and returns the exit code.

    It is 0; 1 if `check-data` found a defect that is not known; 2 after an error that the user can correct; 141 if the
    output pipe was closed; and 128 plus its number after a signal: 130 for Ctrl-C.
    """
    if argv is None:
        listen()
    arguments = list(sys.argv[1:] if argv is None else argv)
    continues = "; the same command continues where this one stopped" if {*arguments[:1]} & {*RESUMED} else ""
    return stoppable(lambda: _run(arguments), continues)


def _run(arguments: list[str]) -> int:
    prepare()
    debug = "--debug" in arguments
    arguments = [a for a in arguments if a != "--debug"]
    name = arguments[0] if arguments else ""
    try:
        code = _obey(arguments)
        sys.stdout.flush()
    except (UserError, MemoryError, OSError, ModuleNotFoundError) as e:
        check()
        if isinstance(e, OSError):
            _drop_output()
        if isinstance(e, BrokenPipeError):  # the reader, head for one, has seen enough
            if name in RUNS:
                _safely(note, "stopped: the output pipe was closed; the same command continues from here")
            return 141
        if debug or (isinstance(e, OSError) and e.errno not in CURES):
            raise
        _safely(complain, *_described(e, name, arguments[1:]))
        return 2
    return code


def _obey(arguments: list[str]) -> int:
    """Prints help or the version, or runs a command and returns its exit code."""
    if arguments[:1] == ["help"]:
        arguments = [*arguments[1:], "--help"]
    name, *words = arguments or ["--help"]
    if name in HELP:
        say(_help())
    elif name == "--version":
        say(_version())
    elif name not in COMMANDS:
        raise UserError(f"there is no command {name!r}", nearest(name, list(COMMANDS)))
    elif {*HELP} & {*words}:
        say(_help_of(name, "--help-all" in words))
    else:
        _check_place()
        return _command(name)(words) or 0
    return 0


def _check_place() -> None:
    try:
        os.getcwd()  # noqa: PTH109
    except OSError:
        raise UserError("the folder that this was started in was removed", "go to another folder (cd)") from None


def _described(
    error: UserError | MemoryError | OSError | ModuleNotFoundError, command: str, words: list[str]
) -> tuple[str, str]:
    """Returns an error that the user can correct, and a hint."""
    if isinstance(error, UserError):
        return _as_typed(error.message, command, words), _as_typed(error.hint, command, words)
    if isinstance(error, MemoryError):
        return "there is not enough memory", "close other programs, or raise the limit (ulimit -v)"
    if isinstance(error, ModuleNotFoundError):  # afrieval was installed without its dependencies
        return f"afrieval {command} needs the package {error.name}", "run `pip install afrieval`, which installs it"
    more = "; the same command continues from here" if command in RESUMED else ""
    done = "written" if error.errno in FULL else "read or written"
    cure = CURES[error.errno or 0]
    return f"{error.filename or 'a file'} cannot be {done}: {error.strerror}", f"{cure}{more}"


def _as_typed(text: str, command: str, words: list[str]) -> str:
    if command not in COMMANDS:
        return text
    from afrieval.cli.commands.options import OPTIONS
    from afrieval.config.arguments import as_typed

    return as_typed(text, words, OPTIONS[command])


def _safely(print_lines: Callable[..., None], *lines: str) -> None:
    try:
        print_lines(*lines)
    except OSError:  # nobody reads, or there is no room to write
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def _drop_output() -> None:
    """Lets output that cannot be written go nowhere; at its end, Python would try again."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _help_of(name: str, whole: bool) -> str:
    from afrieval.cli.commands.options import OPTIONS
    from afrieval.config.arguments import daily_of, sections_of
    from afrieval.config.help import daily_help, help_text

    kind, sections = OPTIONS[name], sections_of(OPTIONS[name], refused=False)
    if whole or len(sections) == 1:
        return help_text(name, kind, sections)
    options = [option for option in sections["Options"] if "." not in option.name]
    return daily_help(name, kind, options, daily_of(kind))


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    from afrieval._util.version import __version__

    try:
        return f"afrieval {__version__} (lm-eval {version('lm_eval')})"
    except PackageNotFoundError:
        return f"afrieval {__version__} (without lm-eval: it reads runs, and cannot make them)"


def _command(name: str):  # type: ignore[no-untyped-def]
    """Returns the function of a command, which raises UserError for all that a user can correct."""
    return importlib.import_module(f"afrieval.cli.commands.{name.replace('-', '_')}").main


def _help() -> str:
    commands, groups = iter(COMMANDS.items()), []
    for title, n in GROUPS.items():
        groups += ["\n".join([f"{title}:", *(f"  {name:<12}{text}" for name, text in islice(commands, n))])]
    return "\n\n".join(["usage: afrieval COMMAND [options]", *groups, EXAMPLES, MORE])


if __name__ == "__main__":
    command()
