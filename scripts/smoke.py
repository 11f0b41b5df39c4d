"""Tries what users do first, on any system, in half a minute: `python scripts/smoke.py`.

It needs the installed package alone: no network, no make, no tests' tools.
"""

import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from afrieval.cli.main import main

YORUBA = ("afrixnli", "--languages", "yoruba", "--prompts", "1", "--data", "samples")
RUN = ("run", "demo", *YORUBA, "--prompt-language", "both", "--limit", "2")


def commands(folder: Path) -> Iterator[tuple[Sequence[str], int]]:
    """Yields commands that write to a folder, and the exit code of each."""
    run = str(folder / "run")
    yield ["list"], 0
    yield ["preview", *YORUBA], 0
    yield ["preview", "no_such_task"], 2
    yield [*RUN, "--out", run], 0
    yield [*RUN, "--out", run], 0  # all is there already
    yield ["compare", run], 0
    yield ["report", run, "-o", str(folder / "report.html")], 0
    yield ["export", "--to", "csv", str(folder / "tables"), "--run", run], 0
    yield ["pack", run], 0
    yield ["show", run], 0


def try_all(folder: Path) -> None:
    """Runs all commands; exits at the first with another exit code than it should have."""
    for words, expected in commands(folder):
        print("$ afrieval", *words, flush=True)
        if (code := main([*words])) != expected:
            sys.exit(f"error: exit code {code} instead of {expected}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        try_all(Path(temporary))
    print("smoke: passed")
