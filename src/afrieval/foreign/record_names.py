"""What names in records of other programs are called here: benchmarks, languages, prompts, metrics and scales."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from afrieval.harness.folder_names import Named, named
from afrieval.results.derived import USUAL
from afrieval.results.prompts import PAPER, SUITE, prompt_number, prompt_set
from afrieval.scoring.metrics import METRICS
from afrieval.tasks.spec import load_task, task_names

SYNONYMS = {"accuracy": "acc", "exact-match": "exact_match", "exact match": "exact_match", "em": "exact_match"}
SCALES = {"proportion": 100.0, "percent": 1.0}  # unit to what makes percent of a score
MAXIMA = {1.0: 100.0, 100.0: 1.0}  # the same by highest score
UNKNOWN = "unknown"


class Place(NamedTuple):
    """What a score is of.

    Attributes:
        language: ISO 639-3; empty if the suite does not have it.
        prompt: as in a `PublishedRow`: the number of the paper's prompt; or a name.
    """

    task: str
    language: str
    prompt_language: str
    prompt: str


def place_of(name: str, data: Mapping[str, Any]) -> Place | None:
    """Returns what an evaluation is of; None if the suite does not have the benchmark.

    Args:
        name: of the evaluation, as the suite or the harness names its tasks; or of a part of a data set.
        data: what the record says of the data set.
    """
    short = name.partition("/")[0]  # the rest is a filter of the harness
    whole = f"{data.get('dataset_name') or ''}_{short}"
    for parsed in (named(short), named(_plain(short)), named(_plain(whole))):
        if parsed.language and (task := _task(parsed.task)):
            return Place(task, parsed.language, parsed.prompt_language, _prompt(parsed))
    if task := _task(_plain(short)):
        return Place(task, _only_language(task), "eng", UNKNOWN)
    task = _task(_plain(str(data.get("dataset_name") or ""))) or _begins(_plain(short))
    return Place(task, "", "eng", UNKNOWN) if task else None


def _only_language(task: str) -> str:
    """Returns the language of a task that has one; empty for others."""
    languages = list(load_task(task.removesuffix("_translate")).languages)
    return languages[0] if len(languages) == 1 else ""


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


def _task(name: str) -> str:
    """Returns the suite's task of a name; empty if it has none."""
    base = name.removesuffix("_translate")
    known = {**{task.replace("_", ""): task for task in task_names()}, **{task: task for task in task_names()}}
    found = known.get(base) or known.get(base.removesuffix("_direct")) or known.get(base.replace("_", ""))
    return f"{found}{name[len(base) :]}" if found else ""


def _begins(name: str) -> str:
    """Returns the suite's task that a name begins with, where the rest is no language that it has."""
    return next((task for task in sorted(task_names(), key=len, reverse=True) if name.startswith(f"{task}_")), "")


def _prompt(parsed: Named) -> str:
    """Returns what a published row has as its prompt: the suite's prompts are not those of papers."""
    if not parsed.prompt:
        return UNKNOWN
    if parsed.prompt_language == "native":
        return f"native {parsed.prompt}"
    if not parsed.ours or prompt_set(parsed.prompt) == PAPER:
        return str(prompt_number(parsed.prompt))
    return f"suite {parsed.prompt}" if prompt_set(parsed.prompt) == SUITE else str(parsed.prompt)


@cache
def metric_of(task: str) -> str:
    """Returns the metric of a task's published scores."""
    spec = load_task(task.removesuffix("_translate"))
    return (spec.paper and spec.paper.metric) or spec.scoring.metrics[0].name


def named_metric(config: Mapping[str, Any]) -> str | None:
    """Returns the suite's name of a metric; None if it does not have it.

    Args:
        config: what the record says of it; the converter of lm_eval's results has the name in the description.
    """
    given = [config.get(key) for key in ("metric_name", "metric_id", "evaluation_description", "metric_kind")]
    texts = [text.partition(" on ")[0] for text in given if isinstance(text, str)]  # "Accuracy on IFEval"
    names = [SYNONYMS.get(text.lower(), text) for text in texts]
    return next((name for name in names if name in _metrics()), None)


@cache
def _metrics() -> set[str]:
    specs = map(load_task, task_names())
    return {
        *METRICS,
        *USUAL,
        *(name for spec in specs for name in (*(m.name for m in spec.scoring.metrics), *spec.derived)),
    }


def percent(score: float, config: Mapping[str, Any]) -> float | None:
    """Returns a score in percent; None if the record does not say what its scale is, or unit and maximum disagree."""
    highest = config.get("max_score")
    stated = [
        SCALES.get(str(config.get("metric_unit")).lower()),
        MAXIMA.get(highest) if isinstance(highest, int | float) else None,
    ]
    factors = {factor for factor in stated if factor}
    return score * factors.pop() if len(factors) == 1 else None
