"""Converts errors of models and servers to a message and a hint."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from traceback import extract_tb
from typing import TypeVar

from afrieval._util.errors import UserError
from afrieval._util.files import user_path
from afrieval.config.settings import ModelConfig
from afrieval.models.credentials import bare_address, redacted
from afrieval.models.engine.requests import EngineError
from afrieval.models.folder import local_path

T = TypeVar("T")
Cases = dict[tuple[str, ...], tuple[str, str]]
PACKAGE = re.compile(r"pip install (?:-\S+ )*[\"'`]?([\w-]+)|(?:metadata was found for|requires) `?([\w-]+)")
LONGEST = 300  # characters of a message of a library or server
# The functions, of the harness and here, that load files, and which these are.
STEPS = {
    "_get_config": "config.json",
    "_create_tokenizer": "tokenizer",
    "_create_model": "config.json or weights",
    "convert_gguf": "GGUF file",
    "try_model": "config.json, tokenizer or weights",
}


def loading(config: ModelConfig, load: Callable[[], T]) -> T:
    """Returns what `load` returns; any error of it is about files or settings, and becomes a UserError."""
    try:
        return load()
    except (UserError, KeyboardInterrupt, SystemExit):
        raise
    except EngineError as e:
        raise UserError(e.message, e.hint) from e
    except BaseException as e:  # tokenizers, in Rust, raises errors that are not an Exception
        raise explain(config, e) from e


def explain(config: ModelConfig, error: BaseException) -> UserError:
    """Returns the error to show for an exception while a model, its adapter or its tokenizer is fetched or loaded."""
    arguments, frames = config.backend_args, extract_tb(error.__traceback__)
    if arguments.get("peft") and any("peft" in Path(frame.filename).parts for frame in frames):
        name = str(arguments["peft"])
    else:
        named = (arguments.get(key) for key in ("peft", "delta", "tokenizer"))
        name = next((part for part in named if isinstance(part, str) and part in str(error)), str(config.model_name))
    cause: BaseException | None = error
    text = ""  # with the causes, which libraries hide
    while cause is not None:
        text += f"{type(cause).__name__}: {cause} | ".lower()
        cause = cause.__cause__ or cause.__context__
    cases = _cases(name) | ({} if local_path(name) else _cases_of_the_hub(name, config.revision))
    for signs, (message, hint) in cases.items():
        if any(sign.lower() in text for sign in signs):
            return UserError(message, hint)
    return _other(config, name, error)


def _cases(name: str) -> Cases:
    return {
        ("trust_remote_code",): (
            f"{name} contains its own Python code",
            "review that code, and give --model.trust_remote_code true if you trust it",
        ),
        ("out of memory", "OutOfMemory", "MemoryError", "can't allocate memory", "not enough memory"): (
            f"{name} does not fit into the device's memory",
            "give a smaller --eval.batch_size, --model.dtype bfloat16 or --model.parallelize true",
        ),
        ("SafetensorError", "UnpicklingError", "PytorchStreamReader failed"): (
            f"the weights of {name} are damaged",
            "fetch the model again; the download may have been interrupted",
        ),
        ("Unrecognized configuration class",): (
            f"the model_type in config.json of {name} is not a supported language model",
            "give a model that generates text, such as Llama, Gemma or T5",
        ),
        ("Unrecognized model in",): (
            f"the config.json of {name} has no known model_type",
            "fetch the model again, or give its original folder or hub id",
        ),
    }


def _cases_of_the_hub(name: str, revision: str) -> Cases:
    offline = "couldn't connect", "Couldn't reach", "offline mode", "ConnectError", "ConnectionError"
    unknown = "not a valid model identifier", "RepositoryNotFound", "does not appear to have", "RevisionNotFound"
    return {
        (*offline, "LocalEntryNotFound", "OfflineModeIsEnabled"): (
            f"{name} is not in the hub's cache, and the hub cannot be reached",
            "run `hf download` with a network connection, or give a folder that contains the model",
        ),
        (*unknown, "is not a valid git identifier"): (
            f"the hub has no model {name} (revision {revision}), or it is private",
            "give a hub id such as google/gemma-2-9b-it (`hf auth login` if it is private), or a folder",
        ),
        ("GatedRepoError", "401 Client Error", "403 Client Error"): (
            f"access to {name} is denied",
            "accept its terms on the hub, then run `hf auth login`",
        ),
    }


def _other(config: ModelConfig, name: str, error: BaseException) -> UserError:
    message = " ".join(str(error).split())[:LONGEST] or "no message"
    if isinstance(error, ImportError):
        advice = PACKAGE.search(message)
        if package := advice[1] or advice[2] if advice else error.name:
            return UserError(f"{name} needs the package {package}", f"run `pip install {package}`")
    if any(f"'{argument}'" in message for argument in config.backend_args):
        return UserError(f"{name} cannot be loaded with these backend_args: {message}", "check model.backend_args")
    kind = "" if isinstance(error, OSError | ValueError | UserWarning) and str(error) else f"{type(error).__name__}: "
    frames = extract_tb(error.__traceback__)
    if name == config.backend_args.get("peft"):
        hint = "check that the adapter is complete and made for this base model; --debug shows where it fails"
        return UserError(f"the adapter {name} cannot be loaded on {config.model_name}: {kind}{message}", hint)
    steps = [STEPS[frame.name] for frame in frames if frame.name in STEPS]
    hint = f"check its {steps[-1]}, or fetch the model again" if steps else "check model.model_name and backend_args"
    if steps[-1:] == ["tokenizer"] and user_path(name).is_dir() and not [*user_path(name).glob("*token*")]:
        hint = "its folder has no tokenizer: give that of its base model as --model.backend_args.tokenizer"
    return UserError(
        f"{name} cannot be loaded: {(kind + message).rstrip(': ')}", f"{hint}; --debug shows where it fails"
    )


@contextmanager
def device_errors() -> Iterator[None]:
    """Converts errors of the engine, and of a device whose memory is full, to UserErrors."""
    try:
        yield
    except EngineError as e:
        raise UserError(e.message, e.hint) from e
    except RuntimeError as e:
        from accelerate.utils.memory import should_reduce_batch_size

        if not should_reduce_batch_size(e):
            raise
        hint = "end other programs on it, or give a smaller --eval.batch_size or --model.dtype bfloat16"
        raise UserError("the device's memory is full", hint) from e


GOES_ON = "then run the same command again to continue"
TOO_LONG_CURE = "give a smaller --eval.max_gen_toks or --eval.num_fewshot, or the server a longer context"
# What servers say of prompts, or prompts and answers, that are longer than the model's context.
TOO_LONG = re.compile(
    r"context[ _-]?(length|window|size|limit)|max\w*[ _](model|prompt|input|seq\w*)[ _]?(len|size|tokens)|"
    r"\b(prompt|inputs?|messages?|text|string|query|conversation)\b[^.:]{0,40}"
    r"(too[ _](long|large|big)|exceed|longer than)|\brequest[ _](is )?too[ _]large|token limit|"
    r"tokens?\b[^.:]{0,40}(exceed|<=)|too many [\w ]*tokens|"
    r"(less than|fewer than|at most|exceeds?|up to) [\d,]+ [\w ]*tokens|range of input length|"
    r"reduce (the|your) (length|message|prompt|input)|max\w*[ _]?length",
    re.I,
)


def is_too_long(message: str) -> bool:
    """Returns whether a server says that a prompt, or prompt and answer, do not fit into the model's context."""
    return bool(TOO_LONG.search(message))


CURES: dict[int, str] = {
    HTTPStatus.UNAUTHORIZED: "set the key in the environment, such as OPENAI_API_KEY",
    HTTPStatus.FORBIDDEN: "set the key in the environment, such as OPENAI_API_KEY",
    HTTPStatus.NOT_FOUND: "check model.backend_args.base_url and model.model_name",
    HTTPStatus.TOO_MANY_REQUESTS: "wait, or give a smaller --model.backend_args.num_concurrent",
}


def server_fault(error: Exception, backend: str, url: str) -> UserError | None:
    """Returns the error to show for a failed request; None for an error of this machine."""
    import aiohttp
    import requests

    if isinstance(error, UserError):
        return error
    server, message = bare_address(url) or backend, redacted(" ".join(str(error).split()), url)[:LONGEST]
    response = getattr(error, "response", None)
    status = getattr(response, "status_code", None) or getattr(error, "status", None)
    if isinstance(error, aiohttp.ContentTypeError | json.JSONDecodeError | requests.JSONDecodeError):
        hint = "check model.backend_args.base_url, which ends in /v1/completions or /v1/chat/completions"
        return UserError(f"the response of {server} is not JSON: {message}", f"{hint}; {GOES_ON}")
    if isinstance(status, int):
        text = redacted(" ".join(response.text.split()), url)[:LONGEST] if response is not None else message
        cure = TOO_LONG_CURE if is_too_long(text) else CURES.get(status, "check the server's log")
        return UserError(f"{server} returned status {status}: {text}", f"{cure}; {GOES_ON}")
    if isinstance(error, requests.Timeout | TimeoutError):
        return UserError(f"{server} does not respond in time", f"give a larger --model.backend_args.timeout; {GOES_ON}")
    if isinstance(error, requests.RequestException | aiohttp.ClientError):
        hint = f"start the server, or correct model.backend_args.base_url; {GOES_ON}"
        return UserError(f"{server} cannot be reached: {message}", hint)
    if isinstance(error, OSError | MemoryError):
        return None
    hint = f"check that the server implements the API of {backend} (--debug shows where it fails); {GOES_ON}"
    return UserError(f"the response of {server} cannot be parsed by {backend}: {type(error).__name__}: {message}", hint)
