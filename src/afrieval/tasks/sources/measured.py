"""A harness Task that asks for the likelihood of each text of a document."""

from collections.abc import Callable, Sequence
from typing import Any

from lm_eval.api.instance import Instance

from afrieval.tasks.documents import Document
from afrieval.tasks.fitting import Fitting
from afrieval.tasks.sources.in_memory import Config, Examples, InMemoryTask, task_config
from afrieval.tasks.sources.likelihoods import TextQuestions
from afrieval.tasks.sources.rows import Row


class MeasuredTask(InMemoryTask):
    """A harness task whose requests may have options, as one more argument.

    Arguments are those of `InMemoryTask`.
    """

    def __init__(
        self,
        config: Config,
        documents: Sequence[Document],
        examples: Examples,
        fit: Fitting | None = None,
        header: Callable[[Document], str] = lambda document: "",
        options: Config | None = None,
    ):
        self._options = options or {}
        super().__init__(config, documents, examples, fit=fit, header=header)

    def construct_requests(self, doc: Row, ctx: Any, **kwargs: Any) -> list[Instance]:
        """Returns a request for each text: after the prompt as the harness has it, or without one."""
        options = (dict(self._options),) if self._options else ()
        if self.OUTPUT_TYPE != "loglikelihood_rolling":
            requests = super().construct_requests(doc, ctx, **kwargs)
            for request in requests:
                request.arguments = (*request.arguments, *options)
            return list(requests)
        metadata = kwargs["metadata"]
        return [
            Instance(self.OUTPUT_TYPE, doc, (text, *options), i, metadata=metadata)
            for i, text in enumerate(doc.document.choices)
        ]


def measured_config(questions: TextQuestions) -> Config:
    """Returns the harness' config of a cell."""
    config = task_config(questions)
    return {**config, "output_type": questions.asks} if questions.whole else config
