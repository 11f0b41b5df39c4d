"""The classes of the harness' backends and their arguments, against which `model.backend_args` are validated.

The arguments of hf and vllm are parsed from the source of the installed packages: importing them takes seconds, or
needs a GPU.
"""

import ast
import inspect
from collections.abc import Sequence
from difflib import get_close_matches
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from afrieval._util.errors import UserError, nearest
from afrieval._util.terminal import shortened
from afrieval.config.checks import is_batch_size
from afrieval.config.settings import ModelConfig

Annotations = dict[str, ast.expr | None]
# Arguments that the hf backend passes to transformers' from_pretrained, except those that would
# initialise weights at random (ignore_mismatched_sizes), unpickle code (weights_only) or are
# overwritten by the harness (max_memory).
FORWARDED: Annotations = {
    name: ast.parse(kinds, mode="eval").body
    for kinds, names in {
        "str": "attn_implementation cache_dir code_revision experts_implementation variant",
        "str | int | dict": "device_map",
        "bool": "disable_mmap force_download local_files_only low_cpu_mem_usage offload_buffers tie_word_embeddings "
        "use_kernels use_safetensors",
        "dict": "key_mapping proxies",
        "str | bool": "token",
    }.items()
    for name in names.split()
}
RENAMED = {"pretrained": "model.model_name", "model": "model.model_name"}  # they would load another model
DTYPES = ("float64", "float32", "bfloat16", "float16")
# All other whole numbers must be at least 1.
FROM_ZERO = ("prefix_token_id", "custom_prefix_token_id", "seed", "think_end_token")
OTHER_NAMES = {"huggingface": "hf", "hf-auto": "hf"}  # the class that hf extends
INSTALL = "install it; the documentation of lm-eval names the packages of its backends"
KINDS = {"str": "a text", "int": "a whole number", "float": "a number", "bool": "true or false", "dict": "a map"}


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


def check_arguments(config: ModelConfig, named: Annotations, handed_on: Annotations | None) -> None:
    """Checks a model's `backend_args`.

    Args:
        config: the model's settings.
        named: the arguments that the backend names itself.
        handed_on: those that it passes on; None if they are not known.

    Raises:
        UserError: for the first that the backend does not have, or whose value has another type.
    """
    for name, value in config.backend_args.items():
        if name in RENAMED:
            raise UserError(f"backend_args.{name} is {value!r}, which is not supported", f"give it as {RENAMED[name]}")
        if name in named:
            _check_value(name, value, named[name])
        elif handed_on is not None and name not in handed_on:
            near = get_close_matches(str(name), [n for n in (*named, *handed_on) if n not in RENAMED], n=1)
            hint = (
                f"did you mean {near[0]}?" if near else "remove it; 'Models' in the documentation lists all arguments"
            )
            raise UserError(f"backend_args.{name} is not an argument of the {config.model_type} backend", hint)
        elif handed_on is not None:
            _check_value(name, value, handed_on[name])


def _check_value(name: str, value: Any, annotation: ast.expr | None) -> None:
    if annotation is None:
        return
    members = _members(annotation)
    if not any(_fits(name, value, member) for member in members):
        valid = ", or ".join(dict.fromkeys(word for member in members if (word := _word(name, member))))
        raise UserError(f"backend_args.{name} is {value!r}, which is invalid", f"give {valid}")


def _members(annotation: ast.expr) -> list[ast.expr]:
    if isinstance(annotation, ast.BinOp):
        return [*_members(annotation.left), *_members(annotation.right)]
    if isinstance(annotation, ast.Subscript) and _plain(annotation) == "Optional":
        return [*_members(annotation.slice), ast.Constant(None)]
    return [annotation]


def _fits(name: str, value: Any, member: ast.expr) -> bool:
    match _plain(member):
        case "str":
            return isinstance(value, str) and _is_text(name, value)
        case "int":
            return type(value) is int and value >= (name not in FROM_ZERO)
        case "float":
            return type(value) in (int, float)
        case "bool":
            return type(value) is bool
        case "dict":
            return isinstance(value, dict)
        case "None":
            return value is None
        case "Literal":
            return value in _choices(member)
    return False


def _is_text(name: str, text: str) -> bool:
    if name == "batch_size":
        return is_batch_size(text)
    if name.endswith("dtype"):
        return text in DTYPES or (name, text) == ("dtype", "auto")
    return bool(text.strip())


def _word(name: str, member: ast.expr) -> str:
    """Returns the description of a union's member for messages; empty if a config cannot contain it."""
    type_name = _plain(member)
    if type_name == "Literal":
        return " or ".join(map(str, _choices(member)))
    if type_name == "int" and name not in FROM_ZERO:
        return "a whole number of 1 or more"
    if type_name == "str" and name == "batch_size":
        return "auto or auto:N"
    if type_name == "str" and name.endswith("dtype"):
        return ", ".join(DTYPES) + (" or auto" if name == "dtype" else "")
    return "null" if type_name == "None" else KINDS.get(type_name, "")


def _plain(member: ast.expr) -> str:
    """Returns the name of a type without its parameters: `dict` for `dict[str, Any]`."""
    return ast.unparse(member.value if isinstance(member, ast.Subscript) else member)


def _choices(member: ast.expr) -> tuple[Any, ...]:
    chosen = ast.literal_eval(member.slice) if isinstance(member, ast.Subscript) else ()
    return chosen if isinstance(chosen, tuple) else (chosen,)


@cache
def signature(file: str, name: str) -> Annotations:
    """Returns the arguments of one of the harness' classes and their annotations."""
    init = next(n for n in _class("lm_eval", file, name) if isinstance(n, ast.FunctionDef) and n.name == "__init__")
    return {a.arg: a.annotation for a in [*init.args.args[1:], *init.args.kwonlyargs]}


def parameters(kind: Any) -> dict[str, inspect.Parameter]:
    """Returns the arguments that a class names itself, without forwarded ones."""
    init = vars(kind).get("__init__")
    named = inspect.signature(init).parameters.values() if inspect.isfunction(init) else ()
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {p.name: p for p in list(named)[1:] if p.kind in kinds}


def arguments_of_class(kind: Any) -> Annotations:
    """Returns the arguments of a class and its base classes, with their annotations if known."""
    kinds: dict[str, str] = {}
    defaults: dict[str, list[Any]] = {}
    for base in kind.__mro__:
        for name, parameter in parameters(base).items():
            defaults.setdefault(name, []).append(parameter.default)
            if parameter.annotation is not parameter.empty:
                kinds.setdefault(name, inspect.formatannotation(parameter.annotation))
    texts = {name: {value for value in values if isinstance(value, str)} for name, values in defaults.items()}
    annotations = {name: "".join([kinds[name], *(f" | Literal[{text!r}]" for text in texts[name])]) for name in kinds}
    return {name: ast.parse(annotations[name], mode="eval").body if name in annotations else None for name in defaults}


def arguments_of_vllm() -> Annotations | None:
    """Returns the arguments of vLLM; None if it is not installed."""
    if find_spec("vllm") is None:
        return None
    fields = _class("vllm", "engine/arg_utils.py", "EngineArgs")
    return {f.target.id: None for f in fields if isinstance(f, ast.AnnAssign) and isinstance(f.target, ast.Name)}


def _class(package: str, file: str, name: str) -> list[ast.stmt]:
    spec = find_spec(package)
    assert spec is not None and spec.origin is not None
    tree = ast.parse((Path(spec.origin).parent / file).read_text(encoding="utf-8"))
    return next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name).body
