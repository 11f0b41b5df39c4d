"""Ctrl-C, and the signals of batch systems and closed terminals: a command stops cleanly, with one line."""

import atexit
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from importlib.machinery import ExtensionFileLoader
from types import SimpleNamespace
from typing import Any, NoReturn

SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
SPEAKS = os.environ.get("WORLD_SIZE", "1") == "1" or os.environ.get("RANK", "0") == "0"  # one of several processes
STDERR = 2
REPEATS = hasattr(signal, "pthread_kill")  # not on Windows
AGAIN = 0.05  # seconds until a signal that cannot be handled yet is repeated


class Stopped(KeyboardInterrupt):
    """A signal asks the process to end; code that handles Ctrl-C handles all of them.

    Attributes:
        number: the signal's.
    """

    def __init__(self, number: int):
        super().__init__(number)
        self.number = number


_state = SimpleNamespace(
    received=list[int](),  # the signals so far; the first one sets the exit code
    works=False,  # whether a command runs, which must clean up first
    stays=False,  # whether signals are handled until the process ends
    line="stopped{signal}\n",  # the message
    turns=iter([STDERR]),  # yields the stream for the message, once
)


def listen() -> None:
    """Handles signals from now on until the process ends."""
    _state.stays = True
    _install()


def stoppable(work: Callable[[], int], goes_on: str) -> int:
    """Returns the exit code of a command, or 128 plus the number of the signal that stopped it.

    A signal raises an exception. Any other exception after a signal is its consequence: a library that is interrupted
    during its import, for example, raises a different one.

    Args:
        work: the command.
        goes_on: the message after `stopped`.
    """
    before, hooks = _install(), (sys.unraisablehook, threading.excepthook)
    sys.unraisablehook = _unraisable
    threading.excepthook = lambda what: None if _state.received else threading.__excepthook__(what)  # while it ends
    _state.line, _state.turns, _state.works = f"stopped{{signal}}{goes_on}\n", iter([STDERR]), True
    try:
        return work()
    except SystemExit:
        raise
    except BaseException as e:
        if not (_state.received or isinstance(e, KeyboardInterrupt)):
            raise
        code = exit_code(e)
        _say_once(code - 128)
        return code
    finally:
        _state.works = False
        if not _state.stays:
            _state.received.clear()
            sys.unraisablehook, threading.excepthook = hooks
            for number, old in before.items():
                signal.signal(number, old)


def check() -> None:
    """Raises a signal's exception again, if one was received and lost in code that catches everything.

    Raises:
        Stopped: for the first signal.
    """
    if _state.received:
        raise Stopped(_state.received[0])


def exit_code(error: BaseException) -> int:
    """Returns the exit code of a process that a signal stopped: 130 for Ctrl-C, 143 for SIGTERM, 129 for SIGHUP."""
    return 128 + (_state.received[0] if _state.received else getattr(error, "number", signal.SIGINT))


def leave(code: int) -> NoReturn:
    """Ends the process; after a signal, without waiting for threads of libraries."""
    if not _state.received:
        sys.exit(code)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    atexit._run_exitfuncs()
    os._exit(code)


def _install() -> dict[int, Any]:
    """Handles all signals but ignored ones, as after nohup; returns the previous handlers."""
    if threading.current_thread() is not threading.main_thread():
        return {}
    handlers = {number: signal.getsignal(number) for number in SIGNALS}
    before = {number: old for number, old in handlers.items() if old not in (signal.SIG_IGN, None, _answer)}
    for number in before:
        signal.signal(number, _answer)
    return before


def _answer(number: int, frame: Any) -> None:
    """Stops the command cleanly; ends the process at once at the second signal, or if no command runs."""
    if REPEATS and _state.works and not _state.received:
        while frame and not isinstance(frame.f_locals.get("self"), ExtensionFileLoader):
            frame = frame.f_back
        if frame:  # a compiled module is being imported: some crash if Python code that they call raises
            return _repeat(number)
    _state.received.append(number)
    if _state.works and len(_state.received) == 1:
        raise Stopped(number)
    _say_once(_state.received[0])
    os._exit(128 + _state.received[0])


def _say_once(number: int) -> None:
    """Prints, the first time, that a signal stopped the command; in a terminal, below its ^C."""
    name = "" if number == signal.SIGINT else f" by {signal.Signals(number).name}"
    below = "\n" if os.isatty(STDERR) else ""
    line = (below + _state.line.format(signal=name)) if SPEAKS else ""
    with suppress(OSError):  # the terminal may be gone
        # taking the turn and writing is one step for signals; print may be what was interrupted
        next(map(os.write, _state.turns, [line.encode()]), None)


def _repeat(number: int) -> None:
    """Repeats a signal that was received where an exception would not help."""
    threading.Timer(AGAIN, signal.pthread_kill, [threading.main_thread().ident, number]).start()


def _unraisable(what: Any) -> None:
    """Repeats a signal received where Python cannot raise; hides errors while the process ends."""
    if isinstance(what.exc_value, Stopped) and REPEATS:
        _state.received.clear()
        _repeat(what.exc_value.number)
    elif not _state.received:
        sys.__unraisablehook__(what)


def _forget() -> None:
    """Restores default signals in a fork of this process."""
    for number in SIGNALS:
        if signal.getsignal(number) is _answer:
            signal.signal(number, signal.SIG_DFL)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
