"""Determines a model's capabilities from its backend and settings, before anything is loaded."""

import ast
import inspect
import textwrap
from collections.abc import Sequence
from functools import cache
from typing import Any

from afrieval._util.errors import UserError, nearest
from afrieval._util.terminal import shortened
from afrieval.config.settings import ModelConfig
from afrieval.models.base import Capabilities

OTHER_NAMES = {"huggingface": "hf", "hf-auto": "hf"}  # the class that hf extends
WITH_LIKELIHOODS = {"openai-completions": ("babbage-002", "davinci-002")}  # the only such models of a backend
INSTALL = "install it; the documentation of lm-eval names the packages of its backends"
DEFAULT_LENGTH = 2048  # the harness' default for API models, whatever their context


def harness_capabilities(config: ModelConfig, registered: Sequence[str] = ()) -> Capabilities:
    """Returns the capabilities of one of the harness' other backends, as its class and its settings tell.

    Args:
        config: a model's settings.
        registered: names of further backends, for a hint.

    Raises:
        UserError: if the backend is unknown, or a package that it needs is missing.
    """
    kind = backend_class(config.model_type, tuple(registered))
    return _of_server(config, kind) if is_server(kind) else _of_class(kind)


@cache
def backend_class(name: str, registered: Sequence[str] = ()) -> Any:
    """Returns the harness' class of a backend, without loading a model.

    Args:
        name: of the backend.
        registered: names of further backends, for a hint.

    Raises:
        UserError: if the backend is unknown, or a package that it needs is missing.
    """
    import lm_eval.models  # noqa: F401  # fills the registry with names
    from lm_eval.api.registry import model_registry

    if name in OTHER_NAMES:
        hint = f"give --model.model_type {OTHER_NAMES[name]}"
        raise UserError(f"model.model_type {name} is not supported: it is another name of {OTHER_NAMES[name]}", hint)
    if name not in model_registry:
        names = sorted({*registered, *model_registry} - {*OTHER_NAMES})
        raise UserError(f"unknown backend {shortened(name)!r}", nearest(name, names))
    try:
        return model_registry.get(name)
    except ImportError as e:
        raise missing(name, e.name or str(e)) from None
    except Exception as e:  # some of its names point to classes that it does not have
        raise UserError(f"the harness cannot import its backend {name}: {e}", "give another --model.model_type") from e


def missing(backend: str, package: str, hint: str = INSTALL) -> UserError:
    """Returns the error for a missing package of a backend."""
    return UserError(f"the {backend} backend needs a package that is not installed: {package}", hint)


def is_server(kind: Any) -> bool:
    """Returns whether a backend sends requests to a server."""
    return any(base.__name__ == "TemplateAPI" for base in kind.__mro__)


def _of_class(kind: Any) -> Capabilities:
    """Returns the capabilities that a class implements; methods that only raise do not count."""
    scores = _does(kind, "loglikelihood")
    return Capabilities(
        loglikelihood=scores,
        rolling=scores and _does(kind, "loglikelihood_rolling"),
        generate=_does(kind, "generate_until"),
        chat="text" if _does(kind, "apply_chat_template") else None,
        count_tokens=_does(kind, "tok_encode"),
    )


def _of_server(config: ModelConfig, kind: Any) -> Capabilities:
    """Returns an API model's capabilities, which depend on its tokenizer.

    An API without likelihoods accepts chats, to which the server applies a template.
    """
    chats = not _does(kind, "loglikelihood")
    tokenizer = tokenizer_backend(config, kind)
    counts = not chats and tokenizer not in (None, "None", "none")
    scores = counts and str(config.model_name) in WITH_LIKELIHOODS.get(config.model_type, (str(config.model_name),))
    template = "text" if counts and tokenizer in ("huggingface", "auto") else None
    stated = config.backend_args.get("max_length")
    length = stated or (DEFAULT_LENGTH if counts else None)
    return Capabilities(
        loglikelihood=scores,
        rolling=scores and _does(kind, "loglikelihood_rolling"),
        chat="messages" if chats else template,  # type: ignore[arg-type]
        count_tokens=counts,
        max_length=length - 1 if isinstance(length, int) else None,  # the server generates at least one token
        assumed=counts and not stated,
    )


def tokenizer_backend(config: ModelConfig, kind: Any) -> str | None:
    """Returns the source of an API model's tokenizer; one that is named comes from the hub."""
    defaults = (
        p["tokenizer_backend"].default for base in kind.__mro__ if "tokenizer_backend" in (p := parameters(base))
    )
    default = "huggingface" if config.backend_args.get("tokenizer") else next(defaults, None)
    return config.backend_args.get("tokenizer_backend", default)


def parameters(kind: Any) -> dict[str, inspect.Parameter]:
    """Returns the arguments that a class names itself, without forwarded ones."""
    init = vars(kind).get("__init__")
    named = inspect.signature(init).parameters.values() if inspect.isfunction(init) else ()
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {p.name: p for p in list(named)[1:] if p.kind in kinds}


@cache
def _does(kind: Any, name: str) -> bool:
    """Returns whether a class has a method that does more than raise an error."""
    method = getattr(kind, name, None)
    if method is None:
        return False
    try:
        function = ast.parse(textwrap.dedent(inspect.getsource(method))).body[0]
    except (OSError, TypeError, SyntaxError):  # compiled
        return True
    assert isinstance(function, ast.FunctionDef)
    steps = [step for step in function.body if not isinstance(step, ast.Expr)]  # without its docstring
    return bool(steps) and not isinstance(steps[0], ast.Raise)
