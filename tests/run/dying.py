"""A run that kills itself: python -m tests.run.dying NOTES PASS WORDS..., PASS 0 for one that lives.

It writes into NOTES which requests the engine was asked and which of them were complete before the pass that did it.
"""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import torch

from afrieval.cli.main import main
from afrieval.models.answer_file import request_key
from afrieval.models.backends.hf import HF
from afrieval.models.engine import packs
from afrieval.models.engine.forward import Forward
from afrieval.models.engine.tree import Ints, plant

PACK = 256


class Dying:
    """Counts the tokens of forward passes, and ends the process at one of them.

    Args:
        notes: where to write what was asked, and what was complete.
        at: number of the pass that is the last, from 1; 0 for none.
    """

    def __init__(self, notes: Path, at: int):
        self._notes, self._at = notes, at
        self._score, self._pass = HF._tree, Forward.__call__
        self._keys: list[str] = []  # of the requests at hand; none while the engine is checked
        self._last: Ints
        self._passes = self._tokens = 0

    def score(self, lm: Any, requests: list[Any]) -> Any:
        """Stands in for HF._tree."""
        self._keys = [request_key("loglikelihood", texts) for texts, _, _ in requests]
        tree = plant([(c + a)[:-1] for _, c, a in requests], [a for _, _, a in requests])
        self._last = tree.scored[tree.starts[1:] - 1]
        self._note([])
        return self._score(lm, requests)

    def run_pass(self, forward: Forward, tokens: torch.Tensor, *args: Any) -> torch.Tensor:
        """Stands in for Forward.__call__."""
        if self._keys:
            self._passes += 1
            if self._passes == self._at:
                self._note([k for k, last in zip(self._keys, self._last, strict=True) if last < self._tokens])
                os.kill(os.getpid(), signal.SIGKILL)
            self._tokens += len(tokens)
        return self._pass(forward, tokens, *args)

    def _note(self, complete: list[str]) -> None:
        self._notes.write_text(json.dumps({"asked": self._keys, "complete": complete}))


if __name__ == "__main__":
    dying = Dying(Path(sys.argv[1]), int(sys.argv[2]))
    packs.PACK["cpu"] = PACK
    HF._tree = lambda lm, requests: dying.score(lm, requests)  # type: ignore[method-assign, assignment]
    Forward.__call__ = lambda *args: dying.run_pass(*args)  # type: ignore[method-assign]
    sys.exit(main(["run", *sys.argv[3:]]))
