"""Builds a harness Task from documents and a prompt, in memory."""

import logging
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from lm_eval.api.instance import Instance
from lm_eval.api.task import ConfigurableTask

from afrieval.scoring.base import Metric, Response
from afrieval.scoring.responses import Details, Generation, amounts, shown
from afrieval.tasks.cells.examples import Fitting, Shown
from afrieval.tasks.cells.questions import UNENDED, Questions
from afrieval.tasks.cells.sample_lines import DocumentRow
from afrieval.tasks.data.document import Document
from afrieval.tasks.declaration.task_scoring import by_likelihood
from afrieval.tasks.prompts.prompts import answers, example_answer

log = logging.getLogger("afrieval")

Config = dict[str, Any]
NO_DOCUMENT = -1
Examples = Callable[[Document, int], list[Document]]
PARAGRAPH = "\n\n"


class InMemoryRows(list[Any]):
    """Replaces the data set that the harness expects; no setting of these tasks names a column."""

    features: ClassVar[dict[str, Any]] = {}


class InMemoryTask(ConfigurableTask):
    """A harness task with given documents and examples.

    Args:
        config: returned by `task_config`.
        documents: documents to evaluate; each has a gold answer.
        examples: returns a number of few-shot examples of a document.
        neutral: texts that replace all fields in neutral prompts; empty to ask for none.
        fit: shortens prompts that are too long for the model; None to show all of them.
        header: returns the text before the examples of a document; with a chat template it is a system text.
        options: one more argument of each request; empty for none.
        fills: whether each choice has a prompt of its own: that of the document with this choice as the gold one.

    Attributes:
        scores: id to score of each scored document.
        neutral_usage: id of the first document with some examples to the usage of neutral prompts after these.
        shortened: id to document and examples as shown, where `fit` shortened them.
    """

    def __init__(
        self,
        config: Config,
        documents: Sequence[Document],
        examples: Examples,
        neutral: Sequence[str] = (),
        fit: Fitting | None = None,
        header: Callable[[Document], str] = lambda document: "",
        options: Config | None = None,
        fills: bool = False,
    ):
        self._rows, self._examples = InMemoryRows(map(DocumentRow, documents)), examples
        self._neutral, self._fit, self._header, self._options = neutral, fit, header, options or {}
        self._fills = fills
        self.shortened: dict[int, Shown] = {}
        self._after_neutral: dict[Hashable, list[list[Instance]]] = {}
        self._first: dict[Hashable, int] = {}
        self.scores: dict[int, Response] = {}
        self.neutral_usage: dict[int, Details] = {}
        super().__init__(config=config)

    def download(self, dataset_kwargs: Config | None = None, **kwargs: Any) -> None:
        """Provides the documents as the data set, instead of downloading one."""
        self.dataset = {"test": self._rows}

    def process_results(self, doc: DocumentRow, results: Any) -> dict[str, Any]:
        """Scores a document; returns metric to value, for the harness."""
        key = self._examples_of(doc)
        neutral_requests = self._after_neutral.get(key, [])
        if self._first.get(key) == doc.document.id:
            self.neutral_usage[doc.document.id] = amounts(
                request.resps[0] for requests in neutral_requests for request in requests
            )
        neutral = [[request.resps[0][0] for request in requests] for requests in neutral_requests]
        score, values = self.config.process_results(doc.document, results, neutral)
        self.scores[doc.document.id] = score
        return dict(values)

    def fewshot_context(self, doc: DocumentRow, num_fewshot: int | None = 0, **kwargs: Any) -> Any:
        """Returns the harness' context, with this document's examples."""
        text = partial(self._text, kwargs)
        shown: Shown = [doc.document, *self._examples(doc.document, num_fewshot or 0)]
        if self._fit and (fitted := self._fit(shown, text)) is not shown:
            self.shortened[doc.document.id] = shown = fitted
        prompt = text(shown)
        log.debug("prompt: of row %s: %r", doc.document.id, prompt)
        return prompt

    def _text(self, chat_options: Config, shown: Shown) -> Any:
        question, *examples = map(DocumentRow, shown)
        if not examples and not self.doc_to_text(question):
            return ""  # whole texts have no prompt, not even a system text or what a chat template adds
        self.sampler.replace_df(examples)
        if header := self._header(question.document):
            above = PARAGRAPH.join(filter(None, (chat_options.get("system_instruction"), header)))
            above = above.rstrip() if chat_options.get("apply_chat_template") else above + PARAGRAPH
            chat_options = {**chat_options, "system_instruction": above}
        return super().fewshot_context(question, num_fewshot=len(examples), **chat_options)

    def build_all_requests(
        self, *, apply_chat_template: bool = False, chat_template: Any = None, **kwargs: Any
    ) -> None:
        """Builds the requests as the harness does, without its progress bar and request cache."""
        context = {k: kwargs.get(k) for k in ("system_instruction", "fewshot_as_multiturn")}
        chat = {"apply_chat_template": apply_chat_template, "chat_template": chat_template}
        self._instances, self._after_neutral, self._first = [], {}, {}
        subset = {k: kwargs[k] for k in ("rank", "world_size", "limit", "samples") if kwargs.get(k) is not None}
        for doc_id, doc in self.doc_iterator(**subset):
            text = self.fewshot_context(doc, num_fewshot=self.config.num_fewshot, **context, **chat)
            metadata = (self.config.task, doc_id, self.config.repeats)
            requests = self.construct_requests(doc=doc, ctx=text, metadata=metadata, **chat)
            self._instances += requests if isinstance(requests, list) else [requests]
            for index, request in enumerate(requests if self._fills else ()):
                filled = DocumentRow(replace(doc.document, gold=index))
                prompt = self.fewshot_context(filled, num_fewshot=self.config.num_fewshot, **context, **chat)
                request.arguments = (prompt, *request.arguments[1:])
            self._ask_neutral(doc, context, chat)

    def construct_requests(self, doc: DocumentRow, ctx: Any, **kwargs: Any) -> Any:
        """Returns a request for each text: after the prompt as the harness has it, or without one."""
        options = (dict(self._options),) if self._options else ()
        if self.OUTPUT_TYPE == "loglikelihood_rolling":
            texts, metadata = doc.document.choices, kwargs["metadata"]
            return [Instance(self.OUTPUT_TYPE, doc, (t, *options), i, metadata=metadata) for i, t in enumerate(texts)]
        requests = super().construct_requests(doc, ctx, **kwargs)
        for request in requests if options else ():
            request.arguments = (*request.arguments, *options)
        return requests

    def _ask_neutral(self, doc: DocumentRow, context: Config, chat: Config) -> None:
        """Adds the requests with neutral prompts after a document's examples, once for equal examples.

        They belong to no document, and therefore leave the harness' samples as they are.
        """
        key = self._examples_of(doc)
        if not self._neutral or key in self._after_neutral:
            return
        requests, examples = [], self._shown(doc)[1:]
        for text in self._neutral:
            empty = replace(doc.document, fields=dict.fromkeys(doc.document.fields, text))
            shown = self._text({**context, **chat}, [empty, *examples])
            metadata = (self.config.task, NO_DOCUMENT, self.config.repeats)
            requests.append(self.construct_requests(doc=DocumentRow(empty), ctx=shown, metadata=metadata, **chat))
            self._instances += requests[-1]
        self._after_neutral[key] = requests
        self._first[key] = doc.document.id

    def _examples_of(self, doc: DocumentRow) -> Hashable:
        return tuple((example.id, *example.fields.values()) for example in self._shown(doc)[1:])

    def _shown(self, doc: DocumentRow) -> Shown:
        """Returns a document and its examples, as they are shown."""
        whole = doc.document
        return self.shortened.get(whole.id) or [whole, *self._examples(whole, self.config.num_fewshot or 0)]


def task_config(questions: Questions, generation: Generation | None = None, unknown: str = "") -> Config:
    """Returns the harness' config of a cell, without a metric that is unknown there."""
    spec, prompt, form = questions.task, questions.prompt, questions.answer_form
    metrics = [metric for metric in questions.metrics if metric.name != unknown]
    ends = generation or UNENDED
    score = questions.scorer(ends)

    def score_document(document: Document, outputs: Any, neutral: Any) -> tuple[Response, dict[str, Any]]:
        response = score(document, outputs, neutral)
        return response, shown(response, metrics)

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
        "process_results": score_document,
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
