"""The table of commands. Each is imported when it is called, so that `--help` answers at once."""

import errno
import importlib
import io
import os
import sys

from afrieval.errors import UserError

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
    _speak_utf8()
    arguments = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in arguments
    arguments = [a for a in arguments if a != "--debug"]
    if not arguments or arguments[0] in ("-h", "--help"):
        print(_help())
        return 0
    try:
        _command(arguments[0])(arguments[1:])
    except UserError as e:
        if debug:
            raise
        print(f"error: {e.message}\nhint: {e.hint}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader, head for one, has seen enough
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        try:
            if arguments[0] in RUNS:
                print("stopped: nobody reads the output; the same command goes on from here", file=sys.stderr)
        except BrokenPipeError:  # it read both
            os.dup2(nowhere, sys.stderr.fileno())
        return 141
    except OSError as e:
        if e.errno not in UNWRITABLE:
            raise
        print(f"error: {e.filename or 'a file'} cannot be written: {e.strerror}", file=sys.stderr)
        print("hint: free some room or name another place; the same command goes on from here", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        more = "; the same command goes on where this one stopped" if arguments[0] in (*RUNS, "prefetch") else ""
        print(f"\nstopped{more}", file=sys.stderr)
        return 130
    return 0


def _speak_utf8() -> None:
    """Lets prompts be printed where the locale knows ASCII only, as on many clusters."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.encoding.lower() not in ("utf-8", "utf8"):
            stream.reconfigure(encoding="utf-8")


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
