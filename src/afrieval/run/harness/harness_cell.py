"""Cells of the harness' own tasks, and their results."""

import contextlib
import os
from collections.abc import Iterator
from functools import partial
from types import SimpleNamespace
from typing import Any

from afrieval._util.errors import UserError
from afrieval.config.settings import EvalConfig, ModelConfig
from afrieval.models.base import LanguageModel
from afrieval.models.credentials import quiet
from afrieval.models.loading import seed_libraries
from afrieval.models.response_cache import PairsLM
from afrieval.results.cell_key import CellKey
from afrieval.results.samples import Sample
from afrieval.run.harness.build import build, config_hash, requests
from afrieval.run.harness.index import HarnessTask, digest, plain
from afrieval.scoring.responses import thinking_and_answer
from afrieval.tasks.cells.cell import NOT_KEPT, Cell, CellResult, Preview, RunPart, turns
from afrieval.tasks.cells.sample_lines import sample_line
from afrieval.tasks.data.sampling import chosen_rows, order_of_numbers

# Resamples for the standard error of metrics that are not means; the harness uses 100 for bleu and chrf.
BOOTSTRAP = 1000
SEEDS = ("fewshot_random_seed", "random_seed", "numpy_random_seed", "torch_random_seed")


class HarnessTaskCell(Cell):
    """A leaf task of the harness, with its data loaded and its first prompt built.

    Args:
        task: the leaf task.
        language: the code that replaced {{language}} in a template; empty without a template.
        evaluation: numbers of documents and examples, and seeds.
        model: how prompts become chats, and where thinking ends.
        source: where data come from, as `build` has it.
        clean_prompts: whether to remove stray whitespace from its prompts.

    Raises:
        UserError: if its data cannot be loaded, or the task cannot be built or is not supported.
    """

    def __init__(
        self,
        task: HarnessTask,
        language: str,
        evaluation: EvalConfig,
        model: ModelConfig,
        source: str,
        clean_prompts: bool,
    ):
        self._leaf, self._language, self._evaluation, self._model = task, language, evaluation, model
        self._source, self._clean_prompts = source, clean_prompts
        built = self._fresh()
        first, docs = requests(task.name, built, 1), list(built.eval_docs)
        limit, sample, seed = evaluation.limit, evaluation.sample, evaluation.random_seed
        self._rows = chosen_rows(len(docs), limit, sample, seed, partial(order_of_numbers, len(docs)))
        self._asks, self._per_document = frozenset(request.request_type for request in first), len(first)
        self._shots = built.config.num_fewshot
        pool = list(built.sampler.df) if self._shots and hasattr(built, "sampler") else []
        # All seeds, because a task's own code may use any random generator.
        identity = {
            "version": str(built.VERSION),
            "num_fewshot": self._shots,
            "config": config_hash(task, built),
            "data": {"documents": digest(docs), **({"examples": digest(pool)} if pool else {})},
            "clean_prompts": clean_prompts,
            **{name: getattr(evaluation, name) for name in SEEDS},
        }
        self._identity = {"harness_tasks": {task.name: identity}, **self._rows.identity}

    def _fresh(self) -> Any:
        """Returns a new Task of the harness that depends only on the seeds."""
        evaluation = self._evaluation
        seed_libraries(evaluation)
        shots, seed = evaluation.num_fewshot, evaluation.fewshot_random_seed
        return build(self._leaf, self._source, shots, seed, self._clean_prompts)

    @property
    def title(self) -> str:
        """Its display name."""
        return f"harness task {self._leaf.name}"

    @property
    def key(self) -> CellKey:
        """What names it; a task of the harness has no prompt number."""
        return CellKey(self._leaf.name, self._language, shots=self._shots)

    @property
    def asks(self) -> frozenset[str]:
        """The types of its requests."""
        return self._asks

    @property
    def n(self) -> int:
        """Number of documents to run."""
        return len(self._rows.indices)

    @property
    def n_requests(self) -> int:
        """Number of requests, if all documents have as many as the first."""
        return self.n * self._per_document

    @property
    def identity(self) -> RunPart:
        """Everything except the model that scores depend on."""
        return self._identity

    def requests(self, model: LanguageModel) -> Iterator[Any]:
        """Yields the harness' requests of its documents, in the order in which a model is asked."""
        task, chat = self._fresh(), self._model.chat_template
        options: dict[str, Any] = {"apply_chat_template": True, "fewshot_as_multiturn": True} if chat else {}
        options |= {"chat_template": model.apply_chat_template} if chat else {}
        subset: dict[str, Any] = {"samples": list(self._rows.indices)} if self._rows.ranks else {"limit": self.n}
        with self._context():
            task.build_all_requests(**subset, **options)
        yield from (request for request in task.instances for _ in range(request.repeats or 1))

    def run(self, model: LanguageModel) -> CellResult:
        """Lets the harness evaluate a loaded model, and returns its results and samples."""
        from lm_eval.evaluator import evaluate

        task, chat = self._fresh(), self._model.chat_template
        _explain_faults(self.name, task)
        _drop_thinking(task, self._model.thinking_end or "")
        with self._context():
            results = evaluate(
                PairsLM(model),
                {"tasks": {self.name: task}, "groups": {}},
                limit=None if self._rows.ranks else self.n,
                samples={self.name: list(self._rows.indices)} if self._rows.ranks else None,
                bootstrap_iters=BOOTSTRAP,
                log_samples=True,
                apply_chat_template=chat,
                fewshot_as_multiturn=chat,
            )
        return CellResult(self._samples(task, results), self._record(task, results))

    def _samples(self, task: Any, results: dict[str, Any]) -> list[Sample]:
        """Returns the samples by document and filter."""
        answered = results["samples"][self.name]
        filters = list(dict.fromkeys(sample["filter"] for sample in answered))
        samples: list[Sample] = []
        for sample in sorted(answered, key=lambda s: (s["doc_id"], filters.index(s["filter"]))):
            choices: Sample = {}
            if task.OUTPUT_TYPE == "multiple_choice":
                choices["n_choices"] = len(task.doc_to_choice(sample["doc"]))
            line = sample_line(self.key, self._rows, sample, log_samples=self._evaluation.log_samples, **choices)
            samples.append(plain(line))
        return samples

    def _record(self, task: Any, results: dict[str, Any]) -> dict[str, Any]:
        """Returns the harness' results of a cell, and its metrics, the main one first."""
        row, better = results["results"][self.name], results["higher_is_better"][self.name]
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
        about = {
            k: results[k].get(self.name) for k in ("versions", "n-shot", "higher_is_better", "n-samples", "configs")
        }
        return {
            "task": self.name,
            "language": self._language,
            "n": len(self._rows.indices),
            "test_set": self._rows.total,
            "shots": self._shots,
            "clean_prompts": self._clean_prompts,
            "metrics": scores,
            "harness": plain({"results": row, **about}),
        }

    @contextlib.contextmanager
    def _context(self) -> Iterator[None]:
        """Runs the task quietly, from the same seeds, in this process.

        Raises:
            UserError: if one of its metrics needs a network connection.
        """
        seed_libraries(self._evaluation)
        before = os.environ.get("DISABLE_MULTIPROC")
        os.environ["DISABLE_MULTIPROC"] = "1"  # the harness' bootstrap forks, and forks of a process with a model hang
        try:
            with quiet():
                yield
        except OSError as e:
            if e.errno is not None:  # a full disk, a closed pipe: not the task's
                raise
            raise UserError(
                f"a metric of {self.name} needs a file or the network: {' '.join(str(e).split())[:200]}",
                "run it again with a network connection; its answers are kept",
            ) from e
        finally:
            if before is None:
                del os.environ["DISABLE_MULTIPROC"]
            else:
                os.environ["DISABLE_MULTIPROC"] = before

    def preview(self, number: int) -> Preview:
        """Returns a document as a model would get it."""
        task, chat = self._fresh(), self._model.chat_template
        if number >= len(task.eval_docs):
            raise UserError(f"{self.name} has no document {number}", f"give 0 to {len(task.eval_docs) - 1}")
        options = {"apply_chat_template": True, "fewshot_as_multiturn": True, "chat_template": turns} if chat else {}
        # all earlier documents too: the harness draws examples in the order of documents
        arguments = [r.args for r in requests(self.name, task, number + 1, **options) if r.doc_id == number]
        lines: dict[str, list[str]] = {}
        for prompt, *rest in arguments:
            lines.setdefault(prompt, []).extend(f"  {text!r}" for text in rest[:1] if isinstance(text, str))
        *_, last = lines.values()
        last.append(f"  gold: {task.doc_to_target(task.eval_docs[number])!r}")
        return Preview(self._heading(number), lines)

    def preview_stored(self, samples: Iterator[Sample]) -> Preview:
        """Returns the first document as the model saw it, with its answers."""
        sample = next(samples)
        heading = self._heading(sample["doc_id"])
        if "arguments" not in sample:
            return Preview(f"{heading}\n{NOT_KEPT}")
        arguments = sample["arguments"]
        lines = []
        for (prompt, *rest), (answer, *_) in zip(arguments, sample["resps"], strict=True):
            other = f"  (after another prompt, ending in {prompt[-20:]!r})" if prompt != arguments[0][0] else ""
            likelihood = isinstance(answer, list)
            lines.append(f"{answer[0]:12.4f}  {rest[0]!r}{other}" if likelihood else f"answer: {answer!r}{other}")
        scores = ", ".join(f"{name} {sample[name]}" for name in sample["metrics"])
        return Preview(heading, {arguments[0][0]: [*lines, f"gold: {sample['target']!r}  {scores}"]})

    def _heading(self, number: int) -> str:
        return f"{self.title}, document {number}, {self._shots} examples"


def _explain_faults(name: str, task: Any) -> None:
    """Converts errors of the task's own code to a message that names the task."""
    score = task.process_results

    def score_or_explain(doc: Any, answers: Any) -> Any:
        try:
            return score(doc, answers)
        except OSError:
            raise
        except Exception as e:
            raise UserError(
                f"the harness cannot score a document of {name}: {type(e).__name__}: {e}",
                "remove the task, whose own code is at fault; --debug shows where",
            ) from e

    task.process_results = score_or_explain


def _drop_thinking(task: Any, thinking_end: str) -> None:
    """Lets the task's filters read answers without thinking; samples keep it."""

    def answer(text: Any) -> Any:
        return thinking_and_answer(text, thinking_end)[1] if isinstance(text, str) else text

    step = SimpleNamespace(apply=lambda answers, docs: [[*map(answer, of_document)] for of_document in answers])
    for pipeline in task._filters:
        pipeline.filters.insert(0, lambda: step)
