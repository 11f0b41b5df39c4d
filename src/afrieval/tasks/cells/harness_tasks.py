"""Builds a harness Task from documents and a prompt, in memory."""

import json
import logging
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from lm_eval.api.instance import Instance
from lm_eval.api.task import ConfigurableTask
from lm_eval.utils import handle_non_serializable, hash_string

from afrieval._util.grouping import grouped
from afrieval.models.base import LanguageModel
from afrieval.results.samples import Sample
from afrieval.scoring.base import Metric
from afrieval.scoring.responses import Generation, shown
from afrieval.tasks.cells.limits import Fitting, Shown
from afrieval.tasks.cells.questions import UNENDED, Questions
from afrieval.tasks.cells.sample_lines import DocumentRow
from afrieval.tasks.data.document import Document
from afrieval.tasks.declaration.task_scoring import by_likelihood
from afrieval.tasks.prompts.prompts import answers, example_answer

log = logging.getLogger("afrieval")

Config = dict[str, Any]
NO_DOCUMENT = -1
PARAGRAPH = "\n\n"
CHAT = ("system_instruction", "fewshot_as_multiturn", "apply_chat_template", "chat_template")


class InMemoryRows(list[Any]):
    """Replaces the data set that the harness expects; no setting of these tasks names a column."""

    features: ClassVar[dict[str, Any]] = {}


class InMemoryTask(ConfigurableTask):
    """A harness task that asks what a cell asks.

    Args:
        cell: the cell's questions.
        documents: documents to evaluate; each has a gold answer.
        limits: of generated answers.
        fit: shortens prompts that are too long for the model; None to show all of them.
        config: replaces what `task_config` returns.
    """

    def __init__(
        self,
        cell: Questions,
        documents: Sequence[Document],
        limits: Generation | None = None,
        fit: Fitting | None = None,
        config: Config | None = None,
    ):
        self._rows, self._cell, self._fit = InMemoryRows(map(DocumentRow, documents)), cell, fit
        self._neutral, self._request_options = cell.neutral, cell.options
        super().__init__(config=config or task_config(cell, limits))

    def examples(self, document: Document, shots: int) -> list[Document]:
        """Returns the few-shot examples of a document."""
        return self._cell.examples(document)

    def download(self, dataset_kwargs: Config | None = None, **kwargs: Any) -> None:
        """Provides the documents as the data set, instead of downloading one."""
        self.dataset = {"test": self._rows}

    def process_results(self, doc: DocumentRow, results: Any) -> dict[str, Any]:
        """Scores a document; returns metric to value, for the harness."""
        return dict(self.config.process_results(doc.document, results, neutral_likelihoods(doc)))

    def fewshot_context(self, doc: DocumentRow, num_fewshot: int | None = 0, **kwargs: Any) -> Any:
        """Returns the harness' context, with this document's examples."""
        text = partial(self._text, kwargs)
        shown: Shown = [doc.document, *self.examples(doc.document, num_fewshot or 0)]
        doc.shown = self._fit(shown, text) if self._fit else shown
        doc.shortened = doc.shown is not shown
        prompt = text(doc.shown)
        log.debug("prompt: of row %s: %r", doc.document.id, prompt)
        return prompt

    def _text(self, chat_options: Config, shown: Shown) -> Any:
        question, *examples = map(DocumentRow, shown)
        if not examples and not self.doc_to_text(question):
            return ""  # whole texts have no prompt, not even a system text or what a chat template adds
        self.sampler.replace_df(examples)
        if header := self._cell.header(question.document):
            above = PARAGRAPH.join(filter(None, (chat_options.get("system_instruction"), header)))
            above = above.rstrip() if chat_options.get("apply_chat_template") else above + PARAGRAPH
            chat_options = {**chat_options, "system_instruction": above}
        return super().fewshot_context(question, num_fewshot=len(examples), **chat_options)

    def build_all_requests(self, **kwargs: Any) -> None:
        """Builds the requests as the harness does, without its progress bar and request cache."""
        subset = {k: kwargs[k] for k in ("rank", "world_size", "limit", "samples") if kwargs.get(k) is not None}
        self._instances = list(self.requests(self.doc_iterator(**subset), {k: kwargs.get(k) for k in CHAT}))

    def requests(self, rows: Iterable[tuple[int, DocumentRow]], chat: Config) -> Iterator[Instance]:
        """Yields the requests of numbered rows, and those with neutral prompts where examples are new.

        The latter belong to no document, and therefore leave the harness' samples as they are.

        Args:
            rows: of the documents.
            chat: the harness' options of chats and system texts, named as in `CHAT`.
        """
        after_neutral: dict[Hashable, list[list[Instance]]] = {}
        shots, to_model = self.config.num_fewshot, {k: chat[k] for k in ("apply_chat_template", "chat_template")}
        for number, doc in rows:
            text = self.fewshot_context(doc, num_fewshot=shots, **chat)
            metadata = (self.config.task, number, self.config.repeats)
            built = self.construct_requests(doc=doc, ctx=text, metadata=metadata, **to_model)
            requests = built if isinstance(built, list) else [built]
            for index, request in enumerate(requests if self._cell.fills else ()):
                filled = DocumentRow(replace(doc.document, gold=index))
                prompt = self.fewshot_context(filled, num_fewshot=shots, **chat)
                request.arguments = (prompt, *request.arguments[1:])
                if filled.shortened:
                    doc.shown, doc.shortened = filled.shown, True
            yield from requests
            if not self._neutral:
                continue
            key = tuple((example.id, *example.fields.values()) for example in doc.shown[1:])
            doc.first = key not in after_neutral
            for neutral in self._neutral if doc.first else ():
                empty = replace(doc.document, fields=dict.fromkeys(doc.document.fields, neutral))
                prompt = self._text(chat, [empty, *doc.shown[1:]])
                metadata = (self.config.task, NO_DOCUMENT, self.config.repeats)
                requests = self.construct_requests(doc=DocumentRow(empty), ctx=prompt, metadata=metadata, **to_model)
                after_neutral.setdefault(key, []).append(requests)
                yield from requests
            doc.neutral = after_neutral[key]

    def construct_requests(self, doc: DocumentRow, ctx: Any, **kwargs: Any) -> Any:
        """Returns a request for each text: after the prompt as the harness has it, or without one."""
        options = (dict(self._request_options),) if self._request_options else ()
        if self.OUTPUT_TYPE == "loglikelihood_rolling":
            texts, metadata = doc.document.choices, kwargs["metadata"]
            return [Instance(self.OUTPUT_TYPE, doc, (t, *options), i, metadata=metadata) for i, t in enumerate(texts)]
        requests = super().construct_requests(doc, ctx, **kwargs)
        for request in requests if options else ():
            request.arguments = (*request.arguments, *options)
        return requests


def neutral_likelihoods(row: DocumentRow) -> list[list[float]]:
    """Returns the likelihoods after each neutral prompt of a document, in the order of its choices."""
    return [[request.resps[0][0] for request in requests] for requests in row.neutral]


def ask(model: LanguageModel, requests: Sequence[Instance]) -> None:
    """Asks a model, and adds each answer to its request."""
    for method, of_method in grouped(requests, lambda request: request.request_type).items():
        for request, answer in zip(of_method, getattr(model, method)(of_method), strict=True):
            request.resps.append(answer)


def answered(number: int, requests: Sequence[Instance], target: Any, values: Mapping[str, Any]) -> Sample:
    """Returns what the harness stores of a document, whose requests are answered, and of its scores."""
    row, answers = requests[0].doc, [request.resps for request in requests]
    return {
        "doc_id": number,
        "doc": row,
        "target": target,
        "arguments": [request.args for request in requests],
        "resps": answers,
        "filtered_resps": [each[0] for each in answers],
        "filter": "none",
        "metrics": [*values],
        "doc_hash": hash_string(json.dumps(row, indent=2, default=handle_non_serializable, ensure_ascii=False)),
        "prompt_hash": hash_string(requests[0].arguments[0]),
        "target_hash": hash_string(str(target)),
        **values,
    }


def task_config(questions: Questions, generation: Generation | None = None, unknown: str = "") -> Config:
    """Returns the harness' config of a cell, without a metric that is unknown there."""
    spec, prompt, form = questions.task, questions.prompt, questions.answer_form
    metrics = [metric for metric in questions.metrics if metric.name != unknown]
    ends = generation or UNENDED
    score = questions.scorer(ends)

    def values(document: Document, outputs: Any, neutral: Any) -> dict[str, Any]:
        return shown(score(document, outputs, neutral), metrics)

    # Plain functions, not bound methods: the harness deep-copies its config.
    config: Config = {
        "task": questions.name,
        "test_split": "test",
        "doc_to_text": lambda row: questions.text(row.document),
        "doc_to_target": lambda row: example_answer(spec, prompt, row.document, form),
        "target_delimiter": prompt.delimiter,
        "num_fewshot": questions.shots,
        "fewshot_config": {"sampler": "first_n", "samples": []},
        "metric_list": [
            {"metric": m.name, "aggregation": _aggregation(m), "higher_is_better": m.higher_is_better} for m in metrics
        ],
        "metadata": {"version": spec.version},
        "process_results": values,
    }
    if not by_likelihood(form):
        options = {"until": list(ends.stop), "max_gen_toks": ends.max_tokens, "do_sample": False}
        return config | {"output_type": "generate_until", "generation_kwargs": options}
    return config | {
        "output_type": questions.request if questions.whole else "multiple_choice",
        "doc_to_choice": lambda row: answers(prompt, row.document, form),
        "doc_to_target": lambda row: row.document.gold,
    }


def _aggregation(metric: Metric) -> Any:
    """Returns the harness' aggregation of a metric: a name, or a function of the documents' values."""
    if metric.is_stored:
        return "mean"

    def aggregate(values: list[Any]) -> float:
        measures = metric.apply_cell_normalisation(np.array([metric.from_sample(each) for each in values]))
        return float(metric.score(measures, np.ones((1, len(values))))[0])

    return aggregate
