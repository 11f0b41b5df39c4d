"""Calls commands, prints help, and says in two lines what went wrong."""

import os
import sys

try:
    from collections.abc import Callable, Iterator
    from contextlib import contextmanager
    from typing import NoReturn, TextIO

    from afrieval._util import garbage
    from afrieval._util.errors import CURES, FULL, UserError, nearest
    from afrieval._util.grouping import grouped
    from afrieval._util.signals import check, leave, listen, stoppable
    from afrieval._util.terminal import complain, note, prepare, say
    from afrieval.cli.registry import COMMANDS
except KeyboardInterrupt:  # signals are not answered yet
    os.write(2, b"stopped\n")
    os._exit(130)

EXAMPLES = """Examples:
  afrieval list
  afrieval preview afrixnli --languages yoruba --data samples
  afrieval run demo afrixnli --languages hausa,yoruba --data samples
  afrieval compare runs/FIRST runs/SECOND"""
MORE = """afrieval COMMAND --help describes a command. afrieval --version prints the version.
afrieval COMMAND --debug shows tracebacks, and the path of a run."""
HELP = ("-h", "--help", "--help-all")


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
    continues = "; the same command continues where this one stopped" if _resumes(*arguments[:1]) else ""
    return stoppable(lambda: _run(arguments), continues)


def _resumes(name: str = "") -> bool:
    return name in COMMANDS and COMMANDS[name].resumes


def _run(arguments: list[str]) -> int:
    prepare()
    debug = "--debug" in arguments
    arguments = [a for a in arguments if a != "--debug"]
    name = arguments[0] if arguments else ""
    try:
        with _path_shown(debug):
            code = _obey(arguments)
        sys.stdout.flush()
    except RuntimeError as e:
        check()
        if debug or "can't start new thread" not in str(e):
            raise
        cure = "close other programs, or raise the limit (ulimit -v for memory, -u for threads)"
        _safely(complain, "there is not enough memory for another thread", cure)
        return 2
    except (UserError, MemoryError, OSError, ModuleNotFoundError) as e:
        check()
        if isinstance(e, OSError):
            _safely(sys.stdout.flush, stream=sys.stdout)  # or Python would try again at its end
        if isinstance(e, BrokenPipeError):  # the reader, head for one, has seen enough
            if _resumes(name):
                _safely(note, "stopped: the output pipe was closed; the same command continues from here")
            return 141
        if debug or (isinstance(e, OSError) and e.errno not in CURES):
            raise
        _safely(complain, *_described(e, name, arguments[1:]))
        return 2
    return code


@contextmanager
def _path_shown(debug: bool) -> Iterator[None]:
    """Writes what the gates of a run log, such as plan and prompt, to standard error, if it is asked for."""
    if not debug:
        yield
        return
    import logging

    log, handler = logging.getLogger("afrieval"), logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(levelname)s: %(message)s"))
    log.addHandler(handler)
    log.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(logging.NOTSET)


def _obey(arguments: list[str]) -> int:
    """Prints help or the version, or runs a command and returns its exit code."""
    if arguments[:1] == ["help"]:
        arguments = [*arguments[1:], "--help"]
    name, *words = arguments or ["--help"]
    if name in HELP:
        groups = [
            "\n".join([f"{title}:", *(f"  {name:<12}{command.summary}" for name, command in commands)])
            for title, commands in grouped(COMMANDS.items(), lambda item: item[1].group).items()
        ]
        say("\n\n".join(["usage: afrieval COMMAND [options]", *groups, EXAMPLES, MORE]))
    elif name == "--version":
        say(_version())
    elif name not in COMMANDS:
        raise UserError(f"there is no command {name!r}", nearest(name, list(COMMANDS)))
    elif {*HELP} & {*words}:
        say(_help_of(name, "--help-all" in words))
    else:
        try:
            os.getcwd()  # noqa: PTH109
        except OSError:
            raise UserError("the folder that this was started in was removed", "go to another folder (cd)") from None
        return COMMANDS[name](words) or 0
    return 0


def _described(
    error: UserError | MemoryError | OSError | ModuleNotFoundError, command: str, words: list[str]
) -> tuple[str, str]:
    """Returns an error that the user can correct, and a hint."""
    if isinstance(error, UserError):
        from afrieval.config.arguments import as_typed

        try:
            kind = COMMANDS[command].kind
        except UserError:  # there is no such command, or a package that adds to its options is broken
            return error.message, error.hint
        return as_typed(error.message, words, kind), as_typed(error.hint, words, kind)
    if isinstance(error, MemoryError):
        return "there is not enough memory", "close other programs, or raise the limit (ulimit -v)"
    if isinstance(error, ModuleNotFoundError):  # afrieval was installed without its dependencies
        return f"afrieval {command} needs the package {error.name}", "run `pip install afrieval`, which installs it"
    more = "; the same command continues from here" if _resumes(command) else ""
    done = "written" if error.errno in FULL else "read or written"
    cure = CURES[error.errno or 0]
    return f"{error.filename or 'a file'} cannot be {done}: {error.strerror}", f"{cure}{more}"


def _safely(write: Callable[..., None], *lines: str, stream: TextIO | None = None) -> None:
    """Writes to a stream, by default standard error; what nobody reads, or there is no room for, goes nowhere."""
    try:
        write(*lines)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), (stream or sys.stderr).fileno())


def _help_of(name: str, whole: bool) -> str:
    from afrieval.config.arguments import daily_of, sections_of
    from afrieval.config.help import daily_help, help_text

    kind = COMMANDS[name].kind
    sections = sections_of(kind, refused=False)
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


if __name__ == "__main__":
    command()
