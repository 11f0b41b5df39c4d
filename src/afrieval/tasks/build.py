"""Documents and a prompt to a harness Task object, in memory: no file, no index, no network."""

from collections.abc import Callable, Sequence
from typing import Any

from datasets import Dataset
from lm_eval.api.task import ConfigurableTask

from afrieval.metrics.choice import ACCURACIES, UNREAD, Answer, score, score_choice
from afrieval.metrics.reading import read_choice
from afrieval.tasks.documents import Document
from afrieval.tasks.prompts import Prompt, answers, choice_texts, render

Row = dict[str, Any]
MAX_TOKENS = 32
STOP = ("\n\n",)  # an empty line: what a model without chat template writes next is another example


class InMemoryTask(ConfigurableTask):
    """A harness task over documents that are handed to it, with examples that are handed to it."""

    def __init__(self, config: Row, documents: Sequence[Document], examples: Callable[[int], list[Document]]):
        self._documents = [_row(d) for d in documents]
        self._examples = examples
        super().__init__(config=config)

    def download(self, dataset_kwargs: Row | None = None, **kwargs: Any) -> None:
        """Puts the documents where the harness expects a downloaded data set."""
        self.dataset = {"test": Dataset.from_list(self._documents)}

    def fewshot_context(self, doc: Row, *args: Any, **kwargs: Any) -> Any:
        """Returns the harness' context, with this document's examples."""
        self.sampler.replace_df([_row(e) for e in self._examples(doc["id"])])
        return super().fewshot_context(doc, *args, **kwargs)

    def build_all_requests(
        self, *, apply_chat_template: bool = False, chat_template: Any = None, **kwargs: Any
    ) -> None:
        """Builds the requests as the harness does, without its progress bar and its cache of requests."""
        context = {k: kwargs.get(k) for k in ("system_instruction", "fewshot_as_multiturn")}
        chat = {"apply_chat_template": apply_chat_template, "chat_template": chat_template}
        self._instances = []
        ranks = {"rank": kwargs.get("rank", 0), "world_size": kwargs.get("world_size", 1)}
        for doc_id, doc in self.doc_iterator(**ranks):
            text = self.fewshot_context(doc, num_fewshot=self.config.num_fewshot, **context, **chat)
            metadata = (self.config.task, doc_id, self.config.repeats)
            requests = self.construct_requests(doc=doc, ctx=text, metadata=metadata, **chat)
            self._instances += requests if isinstance(requests, list) else [requests]


def build_task(
    name: str,
    version: int,
    language: str,
    prompt: Prompt,
    answer_form: str,
    documents: Sequence[Document],
    examples: Callable[[Document], list[Document]],
    shots: int,
    max_tokens: int = MAX_TOKENS,
    stop: Sequence[str] = STOP,
) -> InMemoryTask:
    """Returns a multiple-choice task of the harness.

    Args:
        name: what the harness calls it in its results.
        version: the task file's version.
        language: code of the language evaluated.
        prompt: template and words.
        answer_form: `text`, `letter` or `generate`.
        documents: what is asked; each has a gold answer.
        examples: document to the worked examples before it.
        shots: how many these are.
        max_tokens: how long a generated answer may be.
        stop: texts at which it ends.
    """
    by_id = {d.id: d for d in documents}
    generate = answer_form == "generate"
    generation = {"until": list(stop), "max_gen_toks": max_tokens, "do_sample": False}
    # Plain functions, no bound methods: the harness copies its config deeply.
    config: Row = {
        "task": name,
        "output_type": "generate_until" if generate else "multiple_choice",
        "generation_kwargs": generation if generate else None,
        "test_split": "test",
        "doc_to_text": lambda row: render(prompt, _document(row), language),
        "doc_to_choice": lambda row: answers(prompt, _document(row), answer_form),
        "doc_to_target": "gold",
        "process_results": _by_reading(prompt) if generate else _by_likelihood(prompt, answer_form),
        "num_fewshot": shots,
        "fewshot_config": {"sampler": "first_n", "samples": []},
        "metric_list": [
            {"metric": metric, "aggregation": "mean", "higher_is_better": metric != UNREAD}
            for metric in ((ACCURACIES[0], UNREAD) if generate else ACCURACIES)
        ],
        "metadata": {"version": version},
    }
    return InMemoryTask(config, documents, lambda i: examples(by_id[i]))


Score = Callable[[Row, list[Any]], Row]


def _by_likelihood(prompt: Prompt, answer_form: str) -> Score:
    def score_row(row: Row, responses: list[Any]) -> Row:
        asked = _document(row)
        given = [Answer(*r) for r in responses]
        return score(given, answers(prompt, asked, answer_form), choice_texts(prompt, asked), row["gold"])

    return score_row


def _by_reading(prompt: Prompt) -> Score:
    def score_row(row: Row, responses: list[Any]) -> Row:
        asked = _document(row)
        read = read_choice(responses[0], answers(prompt, asked, "generate"))
        return score_choice(read, choice_texts(prompt, asked), row["gold"])

    return score_row


_OWN = ("id", "choices", "gold")


def _row(document: Document) -> Row:
    return {"id": document.id, **document.fields, "choices": list(document.choices), "gold": document.gold}


def _document(row: Row) -> Document:
    return Document(row["id"], {k: row[k] for k in row if k not in _OWN}, tuple(row["choices"]), row["gold"])
