"""Documents and a prompt to a harness Task object, in memory: no file, no index, no network."""

from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any

from datasets import Dataset
from lm_eval.api.task import ConfigurableTask

from afrieval.scoring.choice import UNREAD, Answer, score
from afrieval.scoring.ifeval.instructions import FOLLOWED
from afrieval.scoring.scorers import Generation, metric_names, scorer
from afrieval.tasks.documents import Document
from afrieval.tasks.prompts import Prompt, answers, choice_texts, example_answer, render
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
    """

    def __init__(self, config: Row, documents: Sequence[Document], examples: Examples):
        self._documents = [_row(d) for d in documents]
        self._by_id, self._examples = {d.id: d for d in documents}, examples
        super().__init__(config=config)

    def download(self, dataset_kwargs: Row | None = None, **kwargs: Any) -> None:
        """Puts the documents where the harness expects a downloaded data set."""
        self.dataset = {"test": Dataset.from_list(self._documents)}

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
    metrics = metric_names(spec, answer_form)
    # Plain functions, no bound methods: the harness copies its config deeply.
    config: Row = {
        "task": name,
        "test_split": "test",
        "doc_to_text": lambda row: render(prompt, _document(row), language),
        "doc_to_target": lambda row: example_answer(spec, prompt, _document(row), answer_form),
        "num_fewshot": shots,
        "fewshot_config": {"sampler": "first_n", "samples": []},
        "metric_list": [
            {
                "metric": metric,
                "aggregation": _mean if metric in FOLLOWED else "mean",
                "higher_is_better": metric != UNREAD,
            }
            for metric in metrics
        ],
        "metadata": {"version": spec.version},
    }
    if answer_form == "generate":
        return config | _generated(spec, prompt, language, generation or Generation(MAX_TOKENS))
    return config | _scored(prompt, answer_form)


def _scored(prompt: Prompt, answer_form: str) -> Row:
    def score_row(row: Row, responses: list[Any]) -> Row:
        asked = _document(row)
        given = [Answer(*r) for r in responses]
        return score(given, answers(prompt, asked, answer_form), choice_texts(prompt, asked), row["gold"])

    return {
        "output_type": "multiple_choice",
        "doc_to_choice": lambda row: answers(prompt, _document(row), answer_form),
        "doc_to_target": "gold",
        "process_results": score_row,
    }


def _generated(spec: TaskSpec, prompt: Prompt, language: str, generation: Generation) -> Row:
    score = scorer(spec, prompt, language, generation)
    return {
        "output_type": "generate_until",
        "generation_kwargs": {
            "until": list(generation.stop),
            "max_gen_toks": generation.max_tokens,
            "do_sample": False,
        },
        "process_results": lambda row, responses: score(_document(row), responses[0]),
    }


def _mean(scores: list[Any]) -> float:
    """Returns the mean; of lists, that of all their members: each instruction counts the same, whatever its prompt."""
    return fmean(value for score in scores for value in (score if isinstance(score, list) else [score]))


def _row(document: Document) -> Row:
    own = {"choices": list(document.choices), "gold": document.gold, "worked": document.worked}
    own |= {"prompt": document.prompt} if document.prompt else {}
    return {"id": document.id, **document.fields, **own}


def _document(row: Row) -> Document:
    fields = {k: row[k] for k in row if k not in _OWN}
    own = {"worked": row["worked"], "prompt": row.get("prompt", "")}
    return Document(row["id"], fields, tuple(row["choices"]), row["gold"], **own)
