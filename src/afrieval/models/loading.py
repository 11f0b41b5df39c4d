"""Loads models into this process: the hf backend, and what others need too: seeds, checks and settings for chats."""

import random
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from afrieval._util.errors import UserError
from afrieval._util.files import user_path
from afrieval.config.settings import DEMO, EvalConfig, ModelConfig
from afrieval.models.backend import Backend
from afrieval.models.backend_args import FORWARDED, check_arguments, signature
from afrieval.models.base import Capabilities, LanguageModel
from afrieval.models.chat_template import KeepsSystemText, template_of
from afrieval.models.checks import try_model
from afrieval.models.demo import demo_folder
from afrieval.models.folder import Shapes, check_adapter, check_files, model_folder
from afrieval.models.gguf import converted
from afrieval.models.load_errors import loading
from afrieval.models.processes import Processes

CPU_BATCH = 8


class HFBackend(Backend):
    """Models of transformers, which the engine runs."""

    local = has_engine = True
    library = "transformers"

    def load(self, config: ModelConfig, evaluation: EvalConfig, processes: Processes) -> LanguageModel:
        """Returns the model; its files are validated first, and it is tried once loaded."""
        begin(evaluation)
        shapes = check_parts(config, processes)
        device = device_of(config, processes)
        from afrieval.models.backends.hf import HF

        sizes = {"batch_size": batch_size(evaluation, device), "max_batch_size": evaluation.max_batch_size}
        arguments = {"device": device, **sizes, **self.arguments(config, evaluation)}
        check_device(str(arguments["device"]))
        lm = loading(config, lambda: HF(**arguments, shapes=shapes))
        lm.slots = slots(evaluation, config.backend_args)
        return ready(config, lm)

    def capabilities(self, config: ModelConfig) -> Capabilities:
        """Returns the capabilities of a model: all there are."""
        return Capabilities(max_length=stated_length(config), tokens=True)

    def check(self, config: ModelConfig) -> None:
        """Checks arguments of the backend, and by name those that it forwards to transformers."""
        if config.backend_args:
            check_arguments(config, signature("models/huggingface.py", "HFLM"), FORWARDED)

    def arguments(self, config: ModelConfig, evaluation: EvalConfig) -> dict[str, Any]:
        """Returns the arguments of the harness' class, except device and batch size; `backend_args` override them."""
        return {
            "pretrained": loadable(config),
            "revision": config.revision,
            "dtype": config.dtype,
            "trust_remote_code": config.trust_remote_code,
            "parallelize": config.parallelize,
            "add_bos_token": config.add_bos_token,
            "softmax_dtype": "float32",  # in 16 bits, sums of log-probabilities are rounded until choices tie
            **config.backend_args,
        }


def loadable(config: ModelConfig) -> str:
    """Returns the folder of a model that is on this machine, where a GGUF file is converted, or else its hub id."""
    name = str(config.model_name)
    if name == DEMO:
        return str(demo_folder())
    path = model_folder(name)
    return str(loading(config, lambda: converted(path)) if path and path.is_file() else path or name)


def stated_length(config: ModelConfig) -> int | None:
    """Returns the context length that `backend_args` state; None for the model's."""
    return config.backend_args.get("max_length") or config.backend_args.get("max_model_len")


def finished(config: ModelConfig, lm: LanguageModel) -> LanguageModel:
    """Returns a model with its settings for chats."""
    if config.chat_template:
        _prepare_chats(config, lm)
    if isinstance(lm, KeepsSystemText):
        lm.turn_ends = lm.ends_of_turn() if config.chat_template and lm.can.chat == "text" else ()
    return lm


def ready(config: ModelConfig, lm: Any) -> LanguageModel:
    """Returns a model of the hf backend that works, with its chat template and its engine."""
    sound = tried(config, lm)
    sound.choose_engine(config.engine)
    return sound


def tried(config: ModelConfig, lm: Any) -> LanguageModel:
    """Returns a model that works, with its chat template."""
    loading(config, lambda: try_model(str(config.model_name), lm))
    lm.thinking_end = config.thinking_end or ""
    return finished(config, lm)


def begin(evaluation: EvalConfig) -> None:
    """Prepares the libraries that load a model."""
    import transformers

    if not sys.stderr.isatty():
        transformers.logging.disable_progress_bar()
    seed_libraries(evaluation)


def check_parts(config: ModelConfig, processes: Processes) -> Shapes:
    """Rejects what cannot be loaded; returns the shapes of the weights of a local model."""
    arguments = config.backend_args
    spreads = {"parallelize": config.parallelize, "backend_args.tp_plan": "tp_plan" in arguments}
    for name, is_set in spreads.items():
        if is_set and processes.count > 1:
            message = f"model.{name} spreads a model over all GPUs, which {processes.count} processes cannot share"
            raise UserError(message, f"start one process, or remove model.{name}")
    if peft := arguments.get("peft"):
        check_adapter(peft)
    if (delta := arguments.get("delta")) and (folder := model_folder(delta)):
        check_files(folder)
    folder, gguf = user_path(loadable(config)), arguments.get("gguf_file")
    if not folder.is_dir():
        return {}  # on the hub
    if gguf and not (folder / gguf).is_file():
        raise UserError(f"the file {folder / gguf} does not exist", "name a GGUF file in the model's folder")
    return {} if gguf else check_files(folder / arguments.get("subfolder", ""))


def _prepare_chats(config: ModelConfig, lm: LanguageModel) -> None:
    """Gives a model its settings for chats; rejects a missing template, and one that fails on a short chat."""
    settings = {"chat_tags": config.has_chat_tags, "chat_system": config.chat_system, "chat_date": config.chat_date}
    if isinstance(lm, KeepsSystemText) and lm.can.chat != "messages":
        lm.chat_system, lm.chat_date = config.chat_system, config.chat_date
        if config.has_chat_tags:
            lm.own_template = lm.tokenizer.chat_template = template_of(config.chat_tags)
    elif wrong := next((name for name, there in settings.items() if there), None):
        hint = f"leave model.{wrong} out, or use model.model_type hf, vllm or local-completions"
        raise UserError(f"model.{wrong} is not supported with model.model_type {config.model_type}", hint)
    if lm.can.chat == "messages":
        return  # the server has the template
    if not loading(config, lambda: getattr(lm.tokenizer, "chat_template", None)):
        raise UserError(f"{config.model_name} has no chat template", "give --model.chat_template false")
    lm.apply_chat_template([{"role": "user", "content": "question"}])


def unused_template(config: ModelConfig, lm: LanguageModel, generates: bool) -> str:
    """Returns a line that says that a chat template is not used; empty if there is none, or it is used.

    Args:
        config: the model's settings.
        lm: the model.
        generates: whether any answers are generated, not only scored by likelihood.
    """
    has_one = lm.can.count_tokens and getattr(lm.tokenizer, "chat_template", None)
    if config.chat_template or not has_one or config.model_name == DEMO:  # whose scores are random either way
        return ""
    why = ": without it, chat models usually answer worse, or go on writing after the answer" * generates
    return f"the model's chat template is not used{why}; --chat uses it, in a run of its own"


def check_device(device: str) -> None:
    """Rejects a device that does not exist; the harness would silently use another."""
    import torch

    kind, colon, number = device.partition(":")
    present = {"cuda": torch.cuda.device_count(), "mps": int(torch.backends.mps.is_available()), "cpu": 1}.get(kind, 0)
    if not present:
        hint = "remove it, or check the installation of torch"
        raise UserError(f"model.device is {device!r}, but torch finds no such device", hint)
    if colon and not (number.isdecimal() and int(number) < present):
        message = f"model.device is {device!r}, but torch finds only {present} of that type"
        raise UserError(message, f"give {kind}:0 or {kind}")


def seed_libraries(evaluation: EvalConfig) -> None:
    """Seeds the random generators of model libraries; our code does not use them."""
    import numpy as np
    import torch

    random.seed(evaluation.random_seed)
    np.random.seed(evaluation.numpy_random_seed)
    torch.manual_seed(evaluation.torch_random_seed)


def device_of(config: ModelConfig, processes: Processes) -> str:
    """Returns the device of this process: the named one, or its share of the machine's GPUs."""
    import torch

    best = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    device = config.device or best
    if device == "cuda" and processes.count > 1 and torch.cuda.is_available():
        device = f"cuda:{processes.local_rank % torch.cuda.device_count()}"
        torch.cuda.set_device(device)  # some kernels run on the current device, wherever the tensors are
    return device


def slots(evaluation: EvalConfig, arguments: Mapping[str, Any] = MappingProxyType({})) -> int | None:
    """Returns how many answers the engine generates side by side, None for as many as pay."""
    size = arguments.get("batch_size", evaluation.batch_size)
    return size if isinstance(size, int) else None


def batch_size(evaluation: EvalConfig, device: str) -> int | str:
    """Returns how many requests are answered at a time, `auto` to find out."""
    if str(evaluation.batch_size).startswith("auto") and not device.startswith("cuda"):
        return CPU_BATCH  # the harness' search takes minutes to hours on a CPU
    return evaluation.batch_size
