"""The smallest thing that is run, stored and resumed, and the harness' task of it."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from afrieval.languages import LANGUAGES
from afrieval.tasks.documents import Document
from afrieval.tasks.fewshot import examples, ranking
from afrieval.tasks.prompts import Prompt
from afrieval.tasks.spec import TaskSpec
from afrieval.tasks.splits import Split


@dataclass(frozen=True)
class Cell:
    """Task x language x prompt x prompt language.

    Attributes:
        prompt_language: `eng` or `native`; English itself is always `eng`.
        data: the evaluated split, whole.
        pool: the few-shot split; None if nothing asks for it.
        limit: documents to run, from the first; None for all.
        seed: of the choice of few-shot examples.
    """

    task: TaskSpec
    language: str
    prompt: Prompt
    prompt_language: str
    answer_form: str
    data: Split
    pool: Split | None
    shots: int
    fewshot_selection: str
    seed: int
    limit: int | None

    @property
    def name(self) -> str:
        """Stable name of the cell, used for its sample file."""
        return f"{self.task.name}_{self.language}_{self.prompt_language}_{self.prompt.number}"

    @property
    def title(self) -> str:
        """The cell's name for people."""
        written = "native" if self.prompt_language == "native" else "English"
        return f"{self.task.name} {LANGUAGES[self.language].name}, {written} prompt {self.prompt.number}"

    @property
    def task_name(self) -> str:
        """Name of the task, for messages."""
        return self.task.name

    @property
    def asks(self) -> frozenset[str]:
        """The kinds of requests it makes, in the harness' words."""
        return frozenset({"generate_until" if self.answer_form == "generate" else "loglikelihood"})

    @property
    def can_generate(self) -> bool:
        """Whether the task has generated answers as one of its answer forms."""
        return "generate" in self.task.answer_forms

    @property
    def documents(self) -> list[Document]:
        """The documents to run, defective ones included."""
        return self.data.documents[: self.limit]

    @cached_property
    def _fixed(self) -> list[Document]:
        return self._ranking(None)

    def _ranking(self, document_id: int | None) -> list[Document]:
        split = self.task.data.fewshot
        if self.pool is None or split is None:
            return []
        pool = self.pool.documents
        if self.task.chain_of_thought:
            pool = [d for d in pool if d.worked]
        return ranking(pool, self.seed, self.task.fewshot_source, split, document_id)

    def examples(self, document: Document) -> list[Document]:
        """Returns the worked examples that stand before a document."""
        ranked = self._fixed if self.fewshot_selection == "fixed" else self._ranking(document.id)
        return examples(ranked, self.shots, document, self.task.apart)


def cell_task(cell: Cell, documents: list[Document], generation: Any = None) -> Any:
    """Returns a cell's harness task over some of its documents.

    Args:
        cell: the cell.
        documents: those to ask; each has a gold answer.
        generation: how a generated answer ends.
    """
    from afrieval.harness.in_memory import InMemoryTask, task_config

    language = cell.task.text_language or cell.language
    config = task_config(cell.name, cell.task, language, cell.prompt, cell.answer_form, cell.shots, generation)
    return InMemoryTask(config, documents, lambda document, shots: cell.examples(document))
