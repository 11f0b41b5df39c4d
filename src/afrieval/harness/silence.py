"""The harness without its chatter."""

import contextlib
import io
import logging
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keeps the harness' bars, notes and printed lines out of the way; errors are raised as ever."""
    import datasets
    from tqdm import tqdm

    loggers = [logging.getLogger(name) for name in ("lm_eval", "datasets")]
    levels = [logger.level for logger in loggers]
    begin, bars = tqdm.__init__, not datasets.are_progress_bars_disabled()

    def begin_unseen(self: Any, *args: Any, **options: Any) -> None:
        begin(self, *args, **{**options, "disable": True})

    tqdm.__init__ = begin_unseen
    datasets.disable_progress_bars()
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        tqdm.__init__ = begin
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
        if bars:
            datasets.enable_progress_bars()
