"""Cells of declared tasks whose prompts are templates."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

from afrieval._util.errors import UserError
from afrieval._util.terminal import one_line
from afrieval.config.settings import ModelConfig, RunConfig
from afrieval.languages import LANGUAGES
from afrieval.models.base import LanguageModel, ModelFacts
from afrieval.models.recorded import Replayed
from afrieval.models.registry import backend_of
from afrieval.results.samples import Sample
from afrieval.scoring.base import Metric, Score
from afrieval.scoring.metrics.flags import refused, unparsed
from afrieval.scoring.responses import Generation
from afrieval.tasks.cells.cell import Block, Cell, Coordinates, HarnessCall, Outcome, Probe, Shown, turns
from afrieval.tasks.cells.examples import Fitting, examples, fit_of, kind, ranking, usable
from afrieval.tasks.cells.examples import Shown as Fitted
from afrieval.tasks.cells.facts import facts, identity
from afrieval.tasks.cells.questions import Scorer, generation, scorer
from afrieval.tasks.cells.sample_lines import recalled, sample_line
from afrieval.tasks.data.baselines import Scores
from afrieval.tasks.data.documents import Document
from afrieval.tasks.data.sampling import ChosenRows, chosen_rows, order_of_documents
from afrieval.tasks.data.splits import Split
from afrieval.tasks.declaration.presets import by_likelihood
from afrieval.tasks.declaration.spec import TaskSpec
from afrieval.tasks.prompts.prompts import Prompt, PromptFiles, answers, closing_lead_in, render, render_header


def metrics_of_api(found: Sequence[Metric], model: ModelConfig, answer_form: str) -> list[Metric]:
    """Returns the metrics of a model behind a server.

    Args:
        found: those of the task that apply to the answer form.
        model: the model's settings.
        answer_form: `text`, `letter` or `generate`.
    """
    if not by_likelihood(answer_form):
        return [*found, refused()]
    if model.api.endpoint != "chat":
        return list(found)
    # Letters that are not among the first tokens have no likelihoods to compare with those after neutral prompts.
    return [*(metric for metric in found if not metric.calibrated), unparsed(likelihoods=True)]


CONTENT_FREE = ("", "N/A")  # as in contextual calibration (Zhao et al. 2021)


@dataclass(frozen=True)
class TemplateCell:
    """The questions of a cell: documents, a prompt and worked examples.

    Attributes:
        prompt_language: `eng` or `native`; always `eng` for English.
        data: the whole evaluated split.
        pool: the few-shot split; None if not needed.
        config: the merged config.
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
    config: RunConfig
    files: PromptFiles = field(compare=False, repr=False)
    baselines: Scores = field(default_factory=dict, compare=False, repr=False)
    complete = False

    @property
    def name(self) -> str:
        """Stable name of the cell."""
        return f"{self.task.name}_{self.language}_{self.prompt_language}_{self.prompt.id}"

    def cell(self) -> Cell:
        """Returns the cell of these questions."""
        written = "native" if self.prompt_language == "native" else "English"
        place = (self.task.name, self.language, self.prompt.id, self.prompt_language)
        title = f"{self.task.name} {LANGUAGES[self.language].name}, {written} prompt {self.prompt.id}"
        return Cell(
            self.name,
            title,
            Coordinates(*place, self.shots, self.answer_form),
            [metric.name for metric in self.metrics],
            asks=frozenset({self.asks}),
            n=len(self.documents),
            n_requests=sum(1 if self.generates else len(d.choices) for d in self.scorable) + self.n_neutral,
            identity=identity(self),
            build=self.build,
            preview=partial(self.preview, title),
            recall=partial(recalled, title, self.metrics[0]),
            probe=self.probe,
            facts=facts(self),
            commits=self.data.commits,
            can_generate="generate" in self.task.answer_forms,
            complete=self.complete,
            needs=self.task.scoring.needs,
            rescore=self.rescored,
            shares=self.shares,
        )

    @property
    def shares(self) -> str:
        """What all languages have in common whose cells ask the same neutral prompts; empty if none do."""
        same = self.prompt_language == "eng" and not self.shots and self.n_neutral
        return f"{self.task.name}_{self.prompt.id}" if same else ""

    @property
    def metrics(self) -> list[Metric]:
        """The metrics of its answers, the main one first."""
        language = self.task.answers_in(self.language)
        found = self.task.scoring.metrics_of(self.answer_form, language=language)
        served = backend_of(self.config.model.model_type).served
        return metrics_of_api(found, self.config.model, self.answer_form) if served else found

    @property
    def generates(self) -> bool:
        """Whether answers are generated rather than chosen by likelihood."""
        return self.answer_form == "generate"

    @property
    def asks(self) -> str:
        """The type of its requests, as the harness names it."""
        return "generate_until" if self.generates else "loglikelihood"

    @property
    def shots(self) -> int:
        """Number of worked examples per document."""
        every = self.task.examples.all and self.pool
        return sum(not d.defect for d in every.documents) if every else self.config.eval.shots

    @property
    def neutral(self) -> Sequence[str]:
        """Texts without content, each of which makes a neutral prompt; empty if no metric needs any."""
        return CONTENT_FREE if self.task.labels and any(m.needs_neutral for m in self.metrics) else ()

    @property
    def n_neutral(self) -> int:
        """Number of requests with neutral prompts, which differ only where examples do."""
        if not self.neutral:
            return 0
        fixed = not self.shots or self.config.eval.fewshot_selection == "fixed"
        asked = self.of_each_kind if fixed else self.scorable
        distinct = {tuple(example.id for example in self.examples(document)) for document in asked}
        return len(distinct) * len(self.neutral) * len(self.task.labels)

    @property
    def documents(self) -> list[Document]:
        """The documents to run, including defective ones."""
        return [self.data.documents[place] for place in self.rows.places]

    @cached_property
    def rows(self) -> ChosenRows:
        """The rows to run."""
        every, evaluation = self.data.documents, self.config.eval
        return chosen_rows(evaluation, len(every), lambda: order_of_documents(self.task, every, evaluation.random_seed))

    @property
    def scorable(self) -> list[Document]:
        """The documents to run that have a gold answer."""
        return [d for d in self.documents if d.gold is not None]

    @property
    def of_each_kind(self) -> list[Document]:
        """The first document to run of each kind; each kind has examples of its own."""
        asked = self.scorable or self.documents
        return list({kind(d, self.task.examples.same): d for d in reversed(asked)}.values())[::-1]

    @property
    def text_language(self) -> str:
        """The language of its texts."""
        return self.task.text_language or self.language

    @property
    def announced(self) -> Sequence[str]:
        """The words that may announce an answer: of the prompt files, and of the data set's own worked solutions."""
        closing = closing_lead_in(self.pool.documents) if self.pool else ""
        return [*self.files.announced(self.prompt, self.text_language), *([closing] if closing else [])]

    def text(self, document: Document) -> str:
        """Returns the rendered prompt of a document; the answer follows after a space."""
        return render(self.prompt, document, self.text_language)

    def header(self, document: Document) -> str:
        """Returns what stands before the examples of a document; usually empty."""
        return render_header(self.prompt, document, self.text_language)

    def probe(self, model: LanguageModel) -> Probe | None:
        """Returns the first prompt; None if no document can be scored."""
        asked = self.scorable
        return Probe(self.prompt_text(asked[0], model.apply_chat_template)) if asked else None

    def examples(self, document: Document) -> list[Document]:
        """Returns the worked examples of a document; a run may leave out the last of them."""
        same = self.task.examples.same
        ranked = self._pools.get(kind(document, same), [])
        if self.task.examples.all:
            return usable(ranked, document, self.task.apart)
        if self.config.eval.fewshot_selection == "per_document":
            ranked = self._ranked(ranked, document.id)
        return examples(ranked, self.shots, document, self.task.apart, same)

    def chosen(self, document: Document, shots: int) -> list[Document]:
        """Returns the examples of a document, for the harness, which passes their number."""
        return self.examples(document)

    @cached_property
    def _pools(self) -> dict[tuple[str, ...], list[Document]]:
        """The rows that may be examples of each kind of document, in order."""
        found: dict[tuple[str, ...], list[Document]] = {}
        pool = [d for d in self.pool.documents if not d.defect] if self.pool else []
        for row in pool if self.task.examples.order == "file" else self._ranked(pool):
            if row.worked or not self.task.chain_of_thought:
                found.setdefault(kind(row, self.task.examples.same), []).append(row)
        return found

    def _ranked(self, rows: Sequence[Document], document_id: int | None = None) -> list[Document]:
        split, seed = str(self.task.data.fewshot), self.config.eval.fewshot_random_seed
        return ranking(rows, seed, self.task.fewshot_source, split, document_id)

    def generation(self, model: ModelFacts) -> Generation | None:
        """Returns the limits of generated answers; None for likelihoods."""
        return generation(self, model) if self.generates else None

    def scorer(self, ends: Generation) -> Scorer:
        """Returns what scores its answers.

        Args:
            ends: limits of generated answers.
        """
        language = self.task.answers_in(self.language)
        return scorer(self.task, self.prompt, self.announced, self.answer_form, ends, language, self.metrics)

    def build(self, model: LanguageModel) -> HarnessCall:
        """Returns the harness call that evaluates a loaded model."""
        task = None
        if self.scorable:
            generation = self.generation(model)
            task = self._task(self.scorable, generation, fit_of(self, model, generation))
        chat = self.config.model.chat_template
        collect = partial(self._collect, task.scores if task else {}, task.shortened if task else {})
        return HarnessCall(task, model, collect, chat, system=self.prompt.system if chat else None)

    def rescored(self, model: Replayed, samples: Iterator[Sample]) -> Iterator[Sample]:
        """Yields stored samples with the scores that their answers get now; errors are those of `rescored`."""
        from afrieval.tasks.cells.rescored import rescored

        return rescored(self, model, samples)

    def _task(
        self, documents: Sequence[Document], generation: Generation | None = None, fit: Fitting | None = None
    ) -> Any:
        from afrieval.tasks.cells.harness_tasks import InMemoryTask, task_config

        return InMemoryTask(task_config(self, generation), documents, self.chosen, self.neutral, fit, self.header)

    def _collect(
        self, scores: Mapping[int, Score], shortened: Mapping[int, Fitted], results: dict[str, Any]
    ) -> Outcome:
        """Returns the samples of all documents; those that cannot be scored have no answers."""
        answered = {s["doc"]["id"]: s for s in results["samples"][self.name]} if results else {}
        return Outcome(
            [
                sample_line(self, d, answered.get(d.id), scores.get(d.id), shortened.get(d.id, ()))
                for d in self.documents
            ]
        )

    def prompt_text(self, document: Document, chat_template: Any) -> str:
        """Returns a document's whole prompt, with its examples.

        Args:
            document: a document with a gold answer.
            chat_template: converts turns to text; used if the config enables chat templates.
        """
        chat = self.config.model.chat_template
        task = self._task([document])
        text: str = task.fewshot_context(
            task.eval_docs[0],
            num_fewshot=self.shots,
            system_instruction=self.prompt.system if chat else None,
            apply_chat_template=chat,
            fewshot_as_multiturn=chat,
            chat_template=chat_template,
        )
        return text

    def preview(self, title: str, number: int) -> Shown:
        """Returns a document as a model would get it."""
        documents = self.data.documents
        if number >= len(documents):
            raise UserError(
                f"{self.task.name} {self.language} has no document {number}", f"give 0 to {len(documents) - 1}"
            )
        document = documents[number]
        if document.gold is None:
            return Shown(f"{title}, document {number}: left out, {one_line(document.defect)}\n")
        rows = [e.id for e in self.examples(document)] or "none"
        lines = self.lines(document)
        if self.task.fit:
            lines.append(
                f"  {self.task.fit}: whole here; a run shortens it if the prompt does not fit the model's context"
            )
        if self.task.examples.drop and self.shots:
            lines.append("  all examples here; a run leaves out the last ones if they do not fit the model's context")
        text = self.prompt_text(document, turns)
        return Shown(f"{title}, document {number}, few-shot rows {rows}", [Block(text, lines)])

    def lines(self, document: Document) -> list[str]:
        """Returns lines about the right answer and the continuations that are scored."""
        answer, delimiter = self.task.scoring.answer, "" if self.config.model.chat_template else self.prompt.delimiter
        lines = [] if document.choices else [f"  gold: {one_line(answer.shown(document.gold))}"]
        marks = document.roles or ["gold" if i == document.gold else "" for i in range(len(document.choices))]
        scored = answers(self.prompt, document, self.answer_form)
        return lines + [f"  {delimiter + text!r}  {mark}".rstrip() for text, mark in zip(scored, marks, strict=True)]


class TextQuestions(TemplateCell):
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
        from afrieval.tasks.cells.harness_tasks import MeasuredTask, measured_config

        return MeasuredTask(measured_config(self), documents, self.chosen, fit, self.header, self.options)
