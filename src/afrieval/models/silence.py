"""Silences the harness."""

import contextlib
import io
import logging
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Suppresses the harness' progress bars, logs and output, but not errors."""
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
