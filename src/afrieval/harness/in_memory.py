"""Documents and a prompt to a harness Task object, in memory: no file, no index, no network."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from datasets import Dataset
from lm_eval.api.task import ConfigurableTask

from afrieval.scoring.base import Metric, Score
from afrieval.scoring.scorers import Generation, shown
from afrieval.tasks.documents import Document
from afrieval.tasks.presets import by_likelihood
from afrieval.tasks.prompts import Prompt, answers, example_answer, render
from afrieval.tasks.questions import scorer
from afrieval.tasks.spec import TaskSpec

MAX_TOKENS = 32
Row = dict[str, Any]
Examples = Callable[[Document, int], list[Document]]
_OWN = ("id", "choices", "gold", "worked", "prompt")


class InMemoryTask(ConfigurableTask):
    """A harness task over documents that are handed to it, with examples that are handed to it.

    Args:
        config: as `task_config` gives it.
        documents: what is asked; each has a gold answer.
        examples: document and their number to the worked examples before it.

    Attributes:
        scores: id to score of each document that was scored.
    """

    def __init__(self, config: Row, documents: Sequence[Document], examples: Examples):
        self._documents = [_row(d) for d in documents]
        self._by_id, self._examples = {d.id: d for d in documents}, examples
        self.scores: dict[int, Score] = {}
        super().__init__(config=config)

    def download(self, dataset_kwargs: Row | None = None, **kwargs: Any) -> None:
        """Puts the documents where the harness expects a downloaded data set."""
        self.dataset = {"test": Dataset.from_list(self._documents)}

    def process_results(self, doc: Row, results: Any) -> Row:
        """Scores a document; returns what the harness has under each metric's name."""
        score, found = self.config.process_results(self._by_id[doc["id"]], results)
        self.scores[doc["id"]] = score
        return dict(found)

    def fewshot_context(self, doc: Row, num_fewshot: int | None = 0, **kwargs: Any) -> Any:
        """Returns the harness' context, with this document's examples."""
        shots = num_fewshot or 0
        self.sampler.replace_df([_row(e) for e in self._examples(self._by_id[doc["id"]], shots)])
        return super().fewshot_context(doc, num_fewshot=shots, **kwargs)

    def build_all_requests(
        self, *, apply_chat_template: bool = False, chat_template: Any = None, **kwargs: Any
    ) -> None:
        """Builds the requests as the harness does, without its progress bar and its cache of requests."""
        context = {k: kwargs.get(k) for k in ("system_instruction", "fewshot_as_multiturn")}
        chat = {"apply_chat_template": apply_chat_template, "chat_template": chat_template}
        self._instances = []
        asked = {k: kwargs[k] for k in ("rank", "world_size", "limit", "samples") if kwargs.get(k) is not None}
        for doc_id, doc in self.doc_iterator(**asked):
            text = self.fewshot_context(doc, num_fewshot=self.config.num_fewshot, **context, **chat)
            metadata = (self.config.task, doc_id, self.config.repeats)
            requests = self.construct_requests(doc=doc, ctx=text, metadata=metadata, **chat)
            self._instances += requests if isinstance(requests, list) else [requests]


def task_config(
    name: str,
    spec: TaskSpec,
    language: str,
    prompt: Prompt,
    answer_form: str,
    shots: int | None,
    generation: Generation | None = None,
) -> Row:
    """Returns the harness' config of a task.

    Args:
        name: what the harness calls it in its results.
        spec: the task it belongs to.
        language: code of the language that its texts are in.
        prompt: template and words.
        answer_form: `text`, `letter` or `generate`.
        shots: worked examples before each document; None where the harness is to say how many.
        generation: how a generated answer ends; not needed for likelihoods.
    """
    metrics = spec.scoring.metrics_of(answer_form)
    score = scorer(spec, prompt, language, answer_form, generation or Generation(MAX_TOKENS))

    def score_document(document: Document, given: Any) -> tuple[Score, Row]:
        found = score(document, given if by_likelihood(answer_form) else given[:1])
        return found, shown(found, metrics)

    # Plain functions, no bound methods: the harness copies its config deeply.
    config: Row = {
        "task": name,
        "test_split": "test",
        "doc_to_text": lambda row: render(prompt, _document(row), language),
        "doc_to_target": lambda row: example_answer(spec, prompt, _document(row, spec), answer_form),
        "num_fewshot": shots,
        "fewshot_config": {"sampler": "first_n", "samples": []},
        "metric_list": [
            {"metric": m.name, "aggregation": _aggregation(m), "higher_is_better": m.higher_is_better} for m in metrics
        ],
        "metadata": {"version": spec.version},
        "process_results": score_document,
    }
    if by_likelihood(answer_form):
        return config | _of_choices(prompt, answer_form)
    return config | _of_texts(generation or Generation(MAX_TOKENS))


def _of_choices(prompt: Prompt, answer_form: str) -> Row:
    return {
        "output_type": "multiple_choice",
        "doc_to_choice": lambda row: answers(prompt, _document(row), answer_form),
        "doc_to_target": "gold",
    }


def _of_texts(generation: Generation) -> Row:
    options = {"until": list(generation.stop), "max_gen_toks": generation.max_tokens, "do_sample": False}
    return {"output_type": "generate_until", "generation_kwargs": options}


def _aggregation(metric: Metric) -> Any:
    """Returns what makes a score of what documents have under the metric's name."""
    if metric.is_mean:
        return "mean"

    def aggregate(found: list[Any]) -> float:
        measures = np.array([metric.restored(each) for each in found])
        return float(metric.score(measures, np.ones((1, len(found))))[0])

    return aggregate


def _row(document: Document) -> Row:
    own = {"choices": list(document.choices), "gold": document.gold_cell, "worked": document.worked}
    own |= {"prompt": document.prompt} if document.prompt else {}
    return {"id": document.id, **document.fields, **own}


def _document(row: Row, spec: TaskSpec | None = None) -> Document:
    """Returns the document of a row; its right answer in the form of the task's answer type, if that is given."""
    gold = row["gold"]
    if spec and isinstance(spec.scoring.answer.example, list | dict):
        gold = json.loads(gold)
    fields = {k: row[k] for k in row if k not in _OWN}
    own = {"worked": row["worked"], "prompt": row.get("prompt", "")}
    return Document(row["id"], fields, tuple(row["choices"]), gold, **own)
