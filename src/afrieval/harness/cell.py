"""Runs one task of the harness and stores what the harness says of it."""

import contextlib
import os
from collections.abc import Iterator
from typing import Any

from lm_eval.evaluator import evaluate as harness_evaluate

from afrieval.config.settings import RunConfig
from afrieval.errors import UserError
from afrieval.harness.as_json import plain
from afrieval.harness.plan import HarnessCell
from afrieval.harness.silence import quiet
from afrieval.models.load import seed_libraries
from afrieval.results.samples import Sample

# Resamples for the standard error of metrics that are no mean; the harness takes 100 for bleu and chrf.
BOOTSTRAP = 1000


def run_harness_cell(cell: HarnessCell, lm: Any, config: RunConfig) -> tuple[dict[str, Any], list[Sample]]:
    """Returns the harness' results of a cell, and its samples.

    Raises:
        UserError: if one of its metrics needs a network and there is none.
    """
    chat = config.model.chat_template
    task = cell.build()
    _explain_faults(cell.name, task)
    seed_libraries(config.eval)
    with quiet(), _one_process():
        try:
            results = harness_evaluate(
                lm,
                {"tasks": {cell.name: task}, "groups": {}},
                limit=cell.n,
                bootstrap_iters=BOOTSTRAP,
                log_samples=True,
                apply_chat_template=chat,
                fewshot_as_multiturn=chat,
            )
        except OSError as e:
            if e.errno is not None:  # a full disk, a closed pipe: not the task's
                raise
            raise UserError(
                f"a metric of {cell.name} needs a file or the network: {' '.join(str(e).split())[:200]}",
                "its answers are kept; run it again where there is a network",
            ) from e
    filters = list(dict.fromkeys(s["filter"] for s in results["samples"][cell.name]))
    samples = sorted(results["samples"][cell.name], key=lambda s: (s["doc_id"], filters.index(s["filter"])))
    return _record(cell, task, results, config.task.clean_prompts), [
        _sample(cell, task, s, config.eval.log_samples) for s in samples
    ]


def _explain_faults(name: str, task: Any) -> None:
    """Makes a fault of the task's own code one line that names the task."""
    score = task.process_results

    def score_or_explain(doc: Any, answers: Any) -> Any:
        try:
            return score(doc, answers)
        except OSError:
            raise
        except Exception as e:
            raise UserError(
                f"the harness cannot score a document of {name}: {type(e).__name__}: {e}",
                "this is a fault of the task, --debug shows where; leave it out",
            ) from e

    task.process_results = score_or_explain


@contextlib.contextmanager
def _one_process() -> Iterator[None]:
    """Keeps the harness' bootstrap in this process: copies of one that holds a model may hang."""
    before = os.environ.get("DISABLE_MULTIPROC")
    os.environ["DISABLE_MULTIPROC"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["DISABLE_MULTIPROC"]
        else:
            os.environ["DISABLE_MULTIPROC"] = before


def _record(cell: HarnessCell, task: Any, results: dict[str, Any], clean: bool) -> dict[str, Any]:
    """Returns the harness' results of a cell in its own words, and its metrics in order: the first is the main one."""
    row, better = results["results"][cell.name], results["higher_is_better"][cell.name]
    order = list(task.aggregation())
    scores = []
    for key, value in row.items():
        metric, comma, name = key.rpartition(",")
        if not comma or metric.endswith("_stderr") or not isinstance(value, int | float):
            continue
        error = row.get(f"{metric}_stderr,{name}")
        scores.append(
            {
                "metric": metric,
                "filter": name,
                "value": float(value),
                "standard_error": float(error) if isinstance(error, int | float) else None,
                "higher_is_better": better.get(metric),
            }
        )
    scores.sort(key=lambda s: order.index(s["metric"]) if s["metric"] in order else len(order))
    own = {k: results[k].get(cell.name) for k in ("versions", "n-shot", "higher_is_better", "n-samples", "configs")}
    return {
        "task": cell.name,
        "language": cell.language,
        "n": cell.n,
        "shots": cell.shots,
        "clean_prompts": clean,
        "metrics": scores,
        "harness": plain({"results": row, **own}),
    }


def _sample(cell: HarnessCell, task: Any, answered: Sample, keep_texts: bool) -> Sample:
    """Returns a line of the sample file: the harness' fields, then ours."""
    sample = {k: v for k, v in answered.items() if keep_texts or k not in ("doc", "arguments")}
    ours: Sample = {
        "task": cell.name,
        "language": cell.language,
        "prompt": "",
        "prompt_language": "",
        "fewshot_ids": [],  # the harness does not tell
        "defect": "",
    }
    if task.OUTPUT_TYPE == "multiple_choice":
        ours["n_choices"] = len(task.doc_to_choice(answered["doc"]))
    return {**plain(sample), **ours}
