"""Loads the model of a job once, for all its runs."""

import gc
import json
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

from afrieval.config.settings import EvalConfig, ModelConfig
from afrieval.errors import UserError
from afrieval.models.capabilities import RECORDED
from afrieval.models.load import load_model, seed_libraries
from afrieval.models.processes import Processes

OF_LOADING = ("batch_size", "max_batch_size", "torch_random_seed")  # settings of the evaluation


class Models:
    """Keeps the model that was loaded last; a model that could not be loaded is not tried again.

    Args:
        log: the file that the server of a model writes to, if it has one.
    """

    def __init__(self, log: Path):
        self._log, self._stack = log, ExitStack()
        self._key = ""
        self._kept: Any = None
        self._served: Any = None

    def load(self, config: ModelConfig, evaluation: EvalConfig, processes: Processes) -> Any:
        """Returns the loaded model; arguments and errors are those of `load_model`."""
        if config.api.server:
            config = self._reachable(config)
        if config.is_api or config.model_type == RECORDED:  # they count the answers of one run
            return load_model(config, evaluation, processes)
        of_evaluation = [getattr(evaluation, name) for name in OF_LOADING]
        key = json.dumps([asdict(config), of_evaluation], sort_keys=True)
        if key != self._key:
            self._key, self._kept = key, None
            gc.collect()  # weights of the model before may be in circles
            self._kept = self._tried(lambda: load_model(config, evaluation, processes))
        if isinstance(self._kept, UserError):
            raise self._kept
        seed_libraries(evaluation)
        return self._kept

    def forget(self) -> None:
        """Lets go of the model, after an error that may have left it broken."""
        self._key, self._kept = "", None

    def close(self) -> None:
        """Ends the server, if one was started."""
        self.forget()
        self._stack.close()

    def _tried(self, load: Callable[[], Any]) -> Any:
        """Returns what is loaded, or why it cannot be."""
        try:
            return load()
        except UserError as e:
            return e

    def _reachable(self, config: ModelConfig) -> ModelConfig:
        """Returns the settings of a model with the address of its server, which is started when it is first needed."""
        from afrieval.sweeps.server import answers, reachable

        if isinstance(self._served, ModelConfig) and not answers(self._served):
            self._stack.close()
            self._served = None
        if not self._served:
            self._served = self._tried(lambda: self._stack.enter_context(reachable(config, self._log)))
        if isinstance(self._served, UserError):
            raise self._served
        return cast(ModelConfig, self._served)
