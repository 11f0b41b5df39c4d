"""Cells whose tasks measure how likely given texts are: after a prompt, or as whole texts."""

from collections.abc import Sequence
from typing import Any

from afrieval.scoring.scorers import Generation
from afrieval.tasks.documents import Document
from afrieval.tasks.fitting import Fitting
from afrieval.tasks.sources.templated import TemplatedQuestions


class TextQuestions(TemplatedQuestions):
    """The questions of a cell whose task has texts instead of answers."""

    @property
    def whole(self) -> bool:
        """Whether the texts have no prompts."""
        return not self.task.prompted

    @property
    def asks(self) -> str:
        """The type of its requests, as the harness names it."""
        return "loglikelihood_rolling" if self.whole else "loglikelihood"

    @property
    def options(self) -> dict[str, Any]:
        """The options of its requests: what is needed of each token; empty if only the sum is needed."""
        if not (needs := self.task.scoring.needs):
            return {}
        options: dict[str, Any] = {need: True for need in ("tokens", "vocabulary", "gradient") if need in needs}
        options |= {"tokens": True} | ({"end": True} if self.task.end else {})
        return options | ({"first": self.task.tokens} if self.task.tokens else {})

    def prompt_text(self, document: Document, chat_template: Any) -> str:
        """Returns a document's whole prompt, with its examples; without prompts, the first text."""
        return document.choices[0] if self.whole else super().prompt_text(document, chat_template)

    def lines(self, document: Document) -> list[str]:
        """Returns a line for each text, with its role."""
        first = f", of which the first {self.task.tokens} tokens count" if self.task.tokens else ""
        if not self.whole:
            return super().lines(document)
        pairs = zip(document.choices, document.roles, strict=True)
        return [f"  {role}: {f'the whole text{first}' if not i else repr(t)}" for i, (t, role) in enumerate(pairs)]

    def _task(
        self, documents: Sequence[Document], generation: Generation | None = None, fit: Fitting | None = None
    ) -> Any:
        from afrieval.tasks.sources.measured import MeasuredTask, measured_config

        return MeasuredTask(measured_config(self), documents, self.chosen, fit, self.header, self.options)
