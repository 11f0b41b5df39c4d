"""A model that Python code has loaded already, as a model of the harness; and how its owner gets it back."""

import copy
import hashlib
import logging
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from afrieval._util.errors import UserError
from afrieval._util.files import user_path
from afrieval.config.settings import EvalConfig, ModelConfig
from afrieval.models.base import LanguageModel
from afrieval.models.load_errors import loading
from afrieval.models.loading import batch_size, ready, seed_libraries, slots
from afrieval.models.model_identity import is_path

SHOWN = 12  # digits of the fingerprint in the name


class Loaded:
    """A loaded model with its tokenizer, as the harness takes it.

    The tokenizer is copied, since evaluation changes it.

    Raises:
        UserError: if they are not what transformers loads.
    """

    def __init__(self, model: Any, tokenizer: Any, evaluation: EvalConfig):
        if missing := [name for name in ("config", "device", "named_parameters") if not hasattr(model, name)]:
            hint = "give (model, tokenizer) as transformers loads them; of a wrapped model, the one inside"
            raise UserError(f"the model has the type {type(model).__name__}, which has no {missing[0]}", hint)
        if not hasattr(tokenizer, "get_vocab"):
            hint = "give (model, tokenizer) as transformers loads them"
            raise UserError(f"the tokenizer has the type {type(tokenizer).__name__}, which has no vocabulary", hint)
        name = str(getattr(model, "name_or_path", "") or "loaded")
        if is_path(name) or user_path(name).is_dir():  # whose files need not be these weights
            name = Path(name).name or "loaded"

        def wrapped() -> Any:
            from afrieval.models.backends.hf import HF

            size, most = batch_size(evaluation, str(model.device)), evaluation.max_batch_size
            log = logging.getLogger("lm_eval.models.huggingface")
            level = log.level
            log.setLevel(logging.ERROR)  # it warns of options that a loaded model does not take, and none is given
            try:
                arguments = {"tokenizer": copy.deepcopy(tokenizer), "softmax_dtype": "float32"}
                return HF(pretrained=model, **arguments, batch_size=size, max_batch_size=most)
            finally:
                log.setLevel(level)

        self._lm = loading(ModelConfig(model_name=name), wrapped)
        self._lm.slots = slots(evaluation)
        self._lm.pretrained = name  # for messages; else it is the model
        digest = hashlib.sha256(f"{self._lm.fingerprint()}{weights_digest(model)}".encode())
        self.name = f"{name}@{digest.hexdigest()[:SHOWN]}"

    def ready(self, config: ModelConfig, evaluation: EvalConfig) -> LanguageModel:
        """Returns the model, ready to score, as `load_model` does."""
        seed_libraries(evaluation)
        return ready(config, self._lm)


def weights_digest(model: Any) -> str:
    """Returns a hash of sums over all weights, in which any changed value shows.

    Bits are added as whole numbers, which is fast and the same on each device.
    """
    import torch

    whole = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    digest = hashlib.sha256()
    for name, weight in model.named_parameters():
        if not weight.is_meta:
            bits = weight.detach().contiguous().view(whole[weight.element_size()])
            digest.update(f"{name}{int(bits.sum(dtype=torch.int64))}".encode())
    return digest.hexdigest()


@contextmanager
def left_as_it_was(model: Any) -> Iterator[None]:
    """Gives a model back its modes and its settings for writing at the end."""
    modes = {module: module.training for module in model.modules()} if hasattr(model, "modules") else {}
    writing = getattr(model, "generation_config", None)
    if writing is not None:
        model.generation_config = copy.deepcopy(writing)
    try:
        yield
    finally:
        for module, mode in modes.items():
            module.training = mode
        if writing is not None:
            model.generation_config = writing


@contextmanager
def same_random_numbers() -> Iterator[None]:
    """Gives Python, NumPy and torch back the states of their random numbers, which loading a model seeds."""
    import numpy as np
    import torch

    state, of_numpy = random.getstate(), np.random.get_state()
    devices = range(torch.cuda.device_count()) if torch.cuda.is_initialized() else ()
    try:
        with torch.random.fork_rng(devices):
            yield
    finally:
        random.setstate(state)
        np.random.set_state(of_numpy)
