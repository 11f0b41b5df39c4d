"""Documents and a prompt to a harness Task object, in memory: no file, no index, no network."""

from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any, ClassVar

from lm_eval.api.task import ConfigurableTask

from afrieval.scoring.choice import UNREAD, Answer, score
from afrieval.scoring.ifeval.instructions import FOLLOWED
from afrieval.scoring.scorers import Generation, metric_names, scorer
from afrieval.tasks.documents import Document
from afrieval.tasks.prompts import answers, choice_texts, example_answer
from afrieval.tasks.sources.templated import TemplatedCell

MAX_TOKENS = 32
Config = dict[str, Any]
Examples = Callable[[Document, int], list[Document]]


class Row(dict[str, Any]):
    """A document as the harness has it: a map, which is hashed and logged, with the document itself at hand."""

    def __init__(self, document: Document):
        own = {"choices": list(document.choices), "gold": document.gold, "worked": document.worked}
        own |= {"prompt": document.prompt} if document.prompt else {}
        super().__init__({"id": document.id, **document.fields, **own})
        self.document = document


class _Rows(list[Row]):
    """Where the harness expects a data set; no setting of these tasks goes by the name of a column."""

    features: ClassVar[dict[str, Any]] = {}


class InMemoryTask(ConfigurableTask):
    """A harness task over documents that are handed to it, with examples that are handed to it.

    Args:
        config: as `task_config` gives it.
        documents: what is asked; each has a gold answer.
        examples: document and their number to the worked examples before it.
    """

    def __init__(self, config: Config, documents: Sequence[Document], examples: Examples):
        self._rows, self._examples = _Rows(map(Row, documents)), examples
        super().__init__(config=config)

    def download(self, dataset_kwargs: Config | None = None, **kwargs: Any) -> None:
        """Puts the documents where the harness expects a downloaded data set."""
        self.dataset = {"test": self._rows}

    def fewshot_context(self, doc: Row, num_fewshot: int | None = 0, **kwargs: Any) -> Any:
        """Returns the harness' context, with this document's examples."""
        shots = num_fewshot or 0
        self.sampler.replace_df([Row(e) for e in self._examples(doc.document, shots)])
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


def task_config(cell: TemplatedCell, generation: Generation | None = None) -> Config:
    """Returns the harness' config of a cell.

    Args:
        cell: its task, prompt and answer form.
        generation: how a generated answer ends; not needed for likelihoods.
    """
    metrics = metric_names(cell.task, cell.answer_form)
    # Plain functions, no bound methods: the harness copies its config deeply.
    config: Config = {
        "task": cell.name,
        "test_split": "test",
        "doc_to_text": lambda row: cell.text(row.document),
        "doc_to_target": lambda row: example_answer(cell.task, cell.prompt, row.document, cell.answer_form),
        "num_fewshot": cell.shots,
        "fewshot_config": {"sampler": "first_n", "samples": []},
        "metric_list": [
            {
                "metric": metric,
                "aggregation": _mean if metric in FOLLOWED else "mean",
                "higher_is_better": metric != UNREAD,
            }
            for metric in metrics
        ],
        "metadata": {"version": cell.task.version},
    }
    if cell.generates:
        return config | _generated(cell, generation or Generation(MAX_TOKENS))
    return config | _scored(cell)


def _scored(cell: TemplatedCell) -> Config:
    prompt, answer_form = cell.prompt, cell.answer_form

    def score_row(row: Row, responses: list[Any]) -> dict[str, Any]:
        asked = row.document
        given = [Answer(*r) for r in responses]
        return score(given, answers(prompt, asked, answer_form), choice_texts(prompt, asked), row["gold"])

    return {
        "output_type": "multiple_choice",
        "doc_to_choice": lambda row: answers(prompt, row.document, answer_form),
        "doc_to_target": lambda row: row["gold"],
        "process_results": score_row,
    }


def _generated(cell: TemplatedCell, generation: Generation) -> Config:
    score = scorer(cell.task, cell.prompt, cell.announced, generation)
    return {
        "output_type": "generate_until",
        "generation_kwargs": {
            "until": list(generation.stop),
            "max_gen_toks": generation.max_tokens,
            "do_sample": False,
        },
        "process_results": lambda row, responses: score(row.document, responses[0]),
    }


def _mean(scores: list[Any]) -> float:
    """Returns the mean; of lists, that of all their members: each instruction counts the same, whatever its prompt."""
    return fmean(value for score in scores for value in (score if isinstance(score, list) else [score]))
