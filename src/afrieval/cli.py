"""The table of commands. Each is imported when it is called, so that `--help` answers at once."""

import errno
import importlib
import os
import sys

from afrieval.errors import UserError
from afrieval.terminal import complain, note, prepare, say

UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES)
COMMANDS = {
    "run": "evaluate a model on tasks",
    "preview": "print the prompts that a model would get; loads no model",
    "list": "tasks, their languages and prompts",
    "compare": "compare stored runs: differences, how sure they are, and what they mean",
    "samples": "read documents of a stored run under two prompts",
    "llama": "Meta's evaluations of Llama 3, from a file with the keys of Meta's recipe",
    "llama-command": "the same as a command of lm_eval, with task files",
    "export": "task files for lm_eval --include_path",
    "prefetch": "download what a config needs, so that a run needs no network",
}
RUNS = ("run", "llama")


def main(argv: list[str] | None = None) -> int:
    """Runs a command and returns the exit code.

    It is 0, 2 for what the user can mend, 130 after Ctrl-C, and 141 where nobody reads the output any more.
    """
    prepare()
    arguments = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in arguments
    arguments = [a for a in arguments if a != "--debug"]
    if not arguments or arguments[0] in ("-h", "--help"):
        say(_help())
        return 0
    try:
        _command(arguments[0])(arguments[1:])
    except UserError as e:
        if debug:
            raise
        complain(e.message, e.hint)
        return 2
    except BrokenPipeError:  # the reader, head for one, has seen enough
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        try:
            if arguments[0] in RUNS:
                note("stopped: nobody reads the output; the same command goes on from here")
        except BrokenPipeError:  # it read both
            os.dup2(nowhere, sys.stderr.fileno())
        return 141
    except OSError as e:
        if e.errno not in UNWRITABLE:
            raise
        complain(
            f"{e.filename or 'a file'} cannot be written: {e.strerror}",
            "free some room or name another place; the same command goes on from here",
        )
        return 2
    except KeyboardInterrupt:
        more = "; the same command goes on where this one stopped" if arguments[0] in (*RUNS, "prefetch") else ""
        note()  # ends the line with ^C
        note(f"stopped{more}")
        return 130
    return 0


def _command(name: str):  # type: ignore[no-untyped-def]
    if name not in COMMANDS:
        from afrieval.files.yaml import nearest

        raise UserError(f"there is no command {name!r}", nearest(name, list(COMMANDS)))
    return importlib.import_module(f"afrieval.commands.{name.replace('-', '_')}").main


def _help() -> str:
    lines = [f"  {name:<15}{text}" for name, text in COMMANDS.items()]
    return "\n".join(
        [
            "usage: afrieval COMMAND [options]",
            "",
            *lines,
            "",
            "afrieval COMMAND --help tells a command's options.",
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
