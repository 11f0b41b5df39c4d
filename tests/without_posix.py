"""Imports all modules and runs a script without what Windows lacks: `python tests/without_posix.py SCRIPT`.

It is hidden from the suite's own modules; libraries know the system that they run on.
"""

import builtins
import importlib
import os
import pkgutil
import runpy
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from types import ModuleType

import afrieval

MODULES = {"crypt", "curses", "fcntl", "grp", "posix", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty"}
OF_OS = (
    *("O_DIRECTORY", "O_NONBLOCK", "fork", "forkpty", "register_at_fork", "getuid", "geteuid", "getgid", "getpgid"),
    *(
        "getpgrp",
        "killpg",
        "setsid",
        "uname",
        "sched_getaffinity",
        "sysconf",
        "statvfs",
        "mkfifo",
        "nice",
        "getloadavg",
    ),
    *("chown", "fchmod", "fchown", "pread", "pwrite", "posix_fadvise", "sendfile", "ttyname", "wait3", "wait4"),
)
OF_SIGNAL = (
    *("SIGHUP", "SIGKILL", "SIGALRM", "SIGPIPE", "SIGBUS", "SIGSYS", "SIGUSR1", "SIGUSR2", "SIGCHLD", "SIGQUIT"),
    *("SIGTSTP", "SIGCONT", "SIGWINCH", "alarm", "setitimer", "ITIMER_REAL", "pthread_kill", "pthread_sigmask"),
    *("sigwait", "siginterrupt"),
)


def lacking(module: ModuleType, names: Sequence[str]) -> ModuleType:
    """Returns a copy of a module without some names."""
    copy = ModuleType(module.__name__)
    vars(copy).update({name: value for name, value in vars(module).items() if name not in names})
    return copy


def hide() -> None:
    """Lets the suite's modules import what Windows has, and nothing else."""
    known = {"os": lacking(os, OF_OS), "signal": lacking(signal, OF_SIGNAL), "time": lacking(time, ["tzset"])}
    usual = builtins.__import__

    def imported(
        name: str,
        globals: Mapping[str, object] | None = None,
        locals: Mapping[str, object] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        found = usual(name, globals, locals, fromlist, level)
        if not str((globals or {}).get("__name__")).startswith("afrieval"):
            return found
        if name in MODULES:
            raise ImportError(f"Windows has no module {name}", name=name)
        return known.get(name, found)

    builtins.__import__ = imported


if __name__ == "__main__":
    hide()
    for module in pkgutil.walk_packages(afrieval.__path__, "afrieval."):
        importlib.import_module(module.name)
    sys.argv = sys.argv[1:]
    runpy.run_path(sys.argv[0], run_name="__main__")
