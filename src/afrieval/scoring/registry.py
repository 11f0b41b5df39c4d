"""Makes metrics, derived metrics and extractors by name, and lists those that tasks of a kind have."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, TypeVar

from afrieval._util.errors import UserError, nearest
from afrieval._util.registry import Registry, entries_of, file_of
from afrieval._util.schema import validated

T = TypeVar("T")
Spec = str | Mapping[str, Any]  # a name, or a map with `name` and options


def makers(package: str, path: Iterable[str], kind: Any) -> dict[str, Callable[..., Any]]:
    """Returns the public functions of a package's modules that return `kind`, by name.

    A new file in the package thus adds what it defines; nothing else has to list it.
    """
    modules = [import_module(f"{package}.{module.name}") for module in iter_modules(path)]
    return {name: function for module in modules for name, function in entries_of(module, kind).items()}


def name_of(spec: Spec) -> str:
    """Returns the name in a spec."""
    return spec if isinstance(spec, str) else str(spec.get("name"))


def made(registry: Registry[Callable[..., T]], spec: Spec) -> T:
    """Returns what a name, or a map with a name and options, stands for.

    Raises:
        UserError: if the name or an option is unknown, an option has a wrong value, or its function fails.
    """
    options = {} if isinstance(spec, str) else {key: value for key, value in spec.items() if key != "name"}
    name = name_of(spec)
    title, maker = f"the {registry.noun} {name}", registry[name]
    allowed = list(inspect.signature(maker).parameters)
    for option in options:
        if option not in allowed:
            hint = nearest(option, allowed) if allowed else "it has no options"
            raise UserError(f"{title} has no option {option!r}", hint)
    with registry.calling(name):
        entry = validated(maker, options, title) if allowed else maker()  # type: ignore[arg-type]
    if not (isinstance(entry, registry.kind) if inspect.isclass(registry.kind) else callable(entry)):
        problem = f"{file_of(maker)}: the function of {title} returns {type(entry).__name__}, not {registry.kind_name}"
        raise UserError(problem, "correct what it returns")
    return entry


LIKELIHOODS = ["acc_norm", "acc_bytes", "acc_tokens"]  # apply to likelihoods only, as `unparsed` does to texts only
OF_LABELS: list[Spec] = ["acc_pmi", "acc_matched"]  # in tasks with labels, whose words may differ in length
OF_CONTRASTS = "acc_matched"  # compares prompt languages there: see docs/scoring.md
F1: list[Spec] = [{"name": "f1", "average": average} for average in ("macro", "weighted")]
CHOICES: list[Spec] = ["acc", *LIKELIHOODS, "unparsed"]
CLASSES: list[Spec] = ["acc", *F1, *LIKELIHOODS, "unparsed"]
ANSWERS: list[Spec] = ["exact_match", "unparsed"]
MATHEMATICS: list[Spec] = [{"name": "exact_match", "same": "mathematics"}, "unparsed"]
TRANSLATIONS: list[Spec] = [{"name": "chrf", "word_order": 2}, "bleu", "spbleu", "empty", "copied", "output_language"]
SUMMARIES: list[Spec] = ["rouge_l", "rouge_1", "rouge_2", "chrf", "empty"]
QUESTIONS: list[Spec] = ["token_f1", "exact_match", "rouge_l", "unparsed"]
RESTORATIONS: list[Spec] = ["chrf", "bleu", "word_acc", "tone_acc", "dot_acc", "empty", "copied"]
OPEN: list[Spec] = ["answered", "length", "cut", "copied", "output_language"]  # none says how good answers are
OF_TEXTS: list[Spec] = ["probability", "loss"]
SPANS: list[Spec] = ["span_f1", "unparsed"]  # and `span_f1` of each type
TAGS: list[Spec] = ["tag_acc", "unparsed"]
LABELS: list[Spec] = ["label_f1", {"name": "label_f1", "average": "micro"}, "exact_match", "unparsed"]
LEVELS: list[Spec] = ["pearson", "exact_match", "unparsed"]
INSTRUCTIONS: list[Spec] = [f"{level}_level_{way}_acc" for level in ("prompt", "inst") for way in ("strict", "loose")]
# Over the two strict accuracies, as Meta's recipe for the harness and Open LLM Leaderboard v2 report
# it; and over all four, which Meta's model cards report for Llama 3.
OF_INSTRUCTIONS = {
    "ifeval_recipe_mean": ["inst_level_strict_acc", "prompt_level_strict_acc"],
    "ifeval_meta_mean": list(map(str, INSTRUCTIONS)),
}
