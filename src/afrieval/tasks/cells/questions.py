"""What a cell of a declared task asks: documents, a prompt and few-shot examples; and what scores the responses."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

from afrieval._util.errors import UserError
from afrieval.results.cell_key import CellKey
from afrieval.scoring.base import ExtractionContext, Metric, Question, Response
from afrieval.scoring.metrics.flags import refused, unparsed
from afrieval.scoring.responses import Generation, of_text, scored
from afrieval.tasks.cells.cell import CellSettings
from afrieval.tasks.data.baselines import Scores
from afrieval.tasks.data.document import Document
from afrieval.tasks.data.sampling import ChosenRows, chosen_rows, examples, kind, order_of_documents, ranking, usable
from afrieval.tasks.data.splits import Split
from afrieval.tasks.declaration.kinds import TextKeys
from afrieval.tasks.declaration.spec import TaskSpec
from afrieval.tasks.declaration.task_scoring import by_likelihood
from afrieval.tasks.prompts.prompts import (
    Prompt,
    PromptFiles,
    answers,
    choice_texts,
    example_answer,
    render,
    render_header,
    render_to_blank,
)
from afrieval.tasks.prompts.vocabulary import CLOSINGS, closing_lead_in

log = logging.getLogger("afrieval")

CONTENT_FREE = ("", "N/A")  # as in contextual calibration (Zhao et al. 2021)
UNENDED = Generation(32)  # if no limits are given
Scorer = Callable[..., Response]


@dataclass(frozen=True, eq=False)
class Questions:
    """The questions of a cell: documents, a prompt and few-shot examples.

    Attributes:
        prompt_language: `eng` or `native`; always `eng` for English.
        data: the whole evaluated split.
        pool: the few-shot split; None if not needed.
        settings: of the run.
        files: the task's prompt files.
        baselines: what a model gets that does not read, as in `tasks/data/baselines.py`; empty if unknown.
    """

    task: TaskSpec
    language: str
    prompt: Prompt
    prompt_language: str
    answer_form: str
    data: Split
    pool: Split | None
    settings: CellSettings
    files: PromptFiles = field(repr=False)
    baselines: Scores = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        """Stable name of the cell."""
        return self.key.text()

    @property
    def system(self) -> str:
        """The system text for chat models."""
        return CLOSINGS.sub(self.prompt.closings.get(self.text_language, ""), self.prompt.system)

    @property
    def key(self) -> CellKey:
        """What names the cell."""
        return CellKey(
            self.task.name, self.language, self.prompt.id, self.prompt_language, self.shots, self.answer_form
        )

    @property
    def metrics(self) -> list[Metric]:
        """The metrics of its answers, the main one first."""
        language = self.task.answers_in(self.language)
        metrics = self.task.scoring.metrics_of(self.answer_form, language=language)
        if self.settings.served and self.generates:
            return [*metrics, refused()]
        if not self.settings.first_tokens:
            return metrics
        # Letters that are not among the first tokens have no likelihoods to compare with those after neutral prompts.
        return [*(metric for metric in metrics if not metric.calibrated), unparsed(likelihoods=True)]

    @property
    def generates(self) -> bool:
        """Whether answers are generated rather than chosen by likelihood."""
        return self.answer_form == "generate"

    @property
    def whole(self) -> bool:
        """Whether likelihoods of whole texts are measured, without prompts; of choices, after an empty prompt."""
        return self.task.request == "rolling" and bool(self.task.texts)

    @property
    def request(self) -> str:
        """The type of its requests, as the harness names it."""
        return "generate_until" if self.generates else "loglikelihood_rolling" if self.whole else "loglikelihood"

    @property
    def options(self) -> dict[str, Any]:
        """The options of its requests: what is needed of each token; empty if only the sum is needed."""
        if not (needs := self.task.scoring.needs):
            return {}
        options: dict[str, Any] = {need: True for need in ("tokens", "vocabulary", "gradient") if need in needs}
        keys = self.task.keys_of(TextKeys)
        options |= {"tokens": True} | ({"end": True} if keys.end else {})
        return options | ({"first": keys.tokens} if keys.tokens else {})

    @property
    def shots(self) -> int:
        """Number of few-shot examples per document."""
        whole_pool = self.task.examples.all and self.pool
        return sum(not d.defect for d in whole_pool.documents) if whole_pool else self.settings.shots

    @property
    def neutral(self) -> Sequence[str]:
        """Texts without content, each of which makes a neutral prompt; empty if no metric needs any."""
        return CONTENT_FREE if self.task.labels and any(m.needs_neutral for m in self.metrics) else ()

    @property
    def n_neutral(self) -> int:
        """Number of requests with neutral prompts, which differ only where examples do."""
        if not self.neutral:
            return 0
        fixed = not self.shots or self.settings.fewshot_selection == "fixed"
        documents = self.of_each_kind if fixed else self.scorable
        distinct = {tuple(example.id for example in self.examples(document)) for document in documents}
        return len(distinct) * len(self.neutral) * len(self.task.labels)

    @property
    def documents(self) -> list[Document]:
        """The documents to run, including defective ones."""
        return [self.data.documents[place] for place in self.rows.indices]

    @cached_property
    def rows(self) -> ChosenRows:
        """The rows to run."""
        test_set, s = self.data.documents, self.settings
        order = partial(order_of_documents, self.task, test_set)
        return chosen_rows(len(test_set), s.limit, s.sample, s.sample_seed, order)

    @property
    def scorable(self) -> list[Document]:
        """The documents to run that have a gold answer."""
        return [d for d in self.documents if d.gold is not None]

    @property
    def of_each_kind(self) -> list[Document]:
        """The first document to run of each kind; each kind has its own examples."""
        documents = self.scorable or self.documents
        return list({kind(d, self.task.examples.same): d for d in reversed(documents)}.values())[::-1]

    @property
    def text_language(self) -> str:
        """The language of its texts."""
        return self.task.text_language or self.language

    @property
    def announced(self) -> Sequence[str]:
        """The words that may announce an answer: of the prompt files, and of the data set's own worked solutions."""
        closing = closing_lead_in(self.pool.documents) if self.pool else ""
        return [*self.files.announced(self.prompt, self.text_language), *([closing] if closing else [])]

    @property
    def fills(self) -> bool:
        """Whether the choices fill a blank in the prompt, and the text after it is scored."""
        return self.task.blank is not None and self.answer_form == "text"

    def text(self, document: Document) -> str:
        """Returns the prompt of a document, complete or up to a filled blank; the answer follows after a space."""
        if self.prompt.complete:
            return document.prompt
        if self.task.blank and self.fills:
            return render_to_blank(self.prompt, document, self.task.blank, self.text_language)
        return render(self.prompt, document, self.text_language)

    def header(self, document: Document) -> str:
        """Returns the text before the examples of a document; usually empty."""
        return render_header(self.prompt, document, self.text_language)

    def examples(self, document: Document) -> list[Document]:
        """Returns the few-shot examples of a document; a run may leave out the last of them."""
        same = self.task.examples.same
        ranked = self._pools.get(kind(document, same), [])
        if self.task.examples.all:
            return usable(ranked, document, self.task.apart)
        if self.settings.fewshot_selection == "per_document":
            ranked = self._ranked(ranked, document.id)
        return examples(ranked, self.shots, document, self.task.apart, same)

    @cached_property
    def _pools(self) -> dict[tuple[str, ...], list[Document]]:
        """The rows that may be examples of each kind of document, in order."""
        by_kind: dict[tuple[str, ...], list[Document]] = {}
        pool = [d for d in self.pool.documents if not d.defect] if self.pool else []
        for row in pool if self.task.examples.order == "file" else self._ranked(pool):
            if row.worked or not self.task.chain_of_thought:
                by_kind.setdefault(kind(row, self.task.examples.same), []).append(row)
        return by_kind

    def _ranked(self, rows: Sequence[Document], document_id: int | None = None) -> list[Document]:
        split, seed = str(self.task.data.fewshot), self.settings.fewshot_seed
        return ranking(rows, seed, self.task.fewshot_source, split, document_id)

    def scorer(self, ends: Generation) -> Scorer:
        """Returns what scores its answers."""
        language = self.task.answers_in(self.language)
        return scorer(self.task, self.prompt, self.announced, self.answer_form, ends, language, self.metrics)

    def try_user_code(self) -> None:
        """Scores invented answers by the user's code: what fails must fail before a model is asked."""
        if not self.task.scoring.code or self.task.scoring.roles:
            return
        user_metrics = [m.name for m in self.task.scoring.of_own]
        metrics = [m for n, m in enumerate(self.metrics) if not n or m.name in user_metrics]
        language = self.task.answers_in(self.language)
        score = scorer(self.task, self.prompt, self.announced, self.answer_form, UNENDED, language, metrics)
        for document in self.scorable:
            n = len(document.choices)
            invented: list[list[Any]] = [[(-1.0 - abs(i - best), False, 1) for i in range(n)] for best in range(n)]
            if self.generates:
                right = example_answer(self.task, self.prompt, document, self.answer_form)
                invented = [[right], [""], [self.text(document)]]
            for outputs in invented:
                score(document, outputs, [[-1.0] * n for _ in self.neutral])


def scorer(
    spec: TaskSpec,
    prompt: Prompt,
    announced: Sequence[str],
    answer_form: str,
    ends: Generation = UNENDED,
    answer_language: str = "",
    metrics: Sequence[Metric] | None = None,
) -> Scorer:
    """Returns a function that scores a response: a likelihood per choice, or a list with a text."""
    scoring = spec.scoring
    measured = scoring.metrics_of(answer_form, language=answer_language) if metrics is None else metrics
    words = announced if scoring.answer.announced else ()
    published = prompt.origin == "paper"
    context = ExtractionContext(words, ends.runs_on, spec.chain_of_thought, published)

    def score(document: Document, outputs: Sequence[Any], neutral: Sequence[Sequence[float]] = ()) -> Response:
        names, texts = scoring.names or answers(prompt, document, answer_form), choice_texts(prompt, document)
        row = f"row {document.id} of {spec.name}"
        question = Question(document.gold, texts, names, document.fields, answer_language, document.roles, row)
        if by_likelihood(answer_form):
            response = scoring.answer.of_likelihoods(outputs, neutral)
        else:
            response = of_text(outputs[0], question, scoring.extract, context, ends.thinking_end)
            if response.answer is None and prompt.lettered and prompt.labels:
                worded = replace(question, names=texts)  # chat models may write the word that a letter stands for
                response = of_text(outputs[0], worded, scoring.extract, context, ends.thinking_end)
            response = scoring.answer.of_text(response)
        log.debug("extraction: %s: %r", row, response.answer)
        response = scored(response, question, measured)
        log.debug("score: %s: %s", row, response.measures)
        if scoring.of_own and not response.measures.keys() >= {m.name for m in measured[:1]}:
            hint = f"return a number for all rows in {scoring.user_code.metrics.file}, since it is the main metric"
            raise UserError(f"the metric {measured[0].name} returns None for {question.row}", hint)
        return response

    return score
