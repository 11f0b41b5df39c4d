"""The cells of declared tasks, whose prompts are templates, complete in a column of the data, or not needed."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from functools import cached_property
from typing import Any

from afrieval._util.errors import UserError
from afrieval._util.grouping import grouped
from afrieval._util.terminal import one_line
from afrieval.languages import LANGUAGES
from afrieval.models.base import LanguageModel
from afrieval.results.samples import Sample
from afrieval.scoring.extract import switches
from afrieval.scoring.responses import Generation, amounts, shown
from afrieval.scoring.tokens import Need
from afrieval.tasks.cells.cell import Cell, CellResult, Preview, RunPart, turns
from afrieval.tasks.cells.limits import Fitting, fit_of, generation
from afrieval.tasks.cells.questions import UNENDED, Questions
from afrieval.tasks.cells.sample_lines import document_line, preview_stored, with_choices
from afrieval.tasks.data.document import Document
from afrieval.tasks.data.files import SAMPLES
from afrieval.tasks.declaration.kinds import TextKeys
from afrieval.tasks.declaration.spec import TaskSpec
from afrieval.tasks.declaration.task_scoring import extract_of
from afrieval.tasks.prompts.prompts import answers, example_answer

LOOKED_AT = 100  # prompts whose tokens are counted


def declared_of(task: TaskSpec, form: str) -> RunPart:
    """Returns what readers of samples have to know of a task, whatever its data."""
    split = task.data.evaluate
    always = {
        "title": task.title,
        "data": task.data.hub,
        "labels": task.labels if task.scoring.answer.has_choices else [],
        "breakdowns": task.breakdowns,
        "parallel": task.parallel.get(split, []),
        "metrics": list(task.scoring.specs_of(form)),
    }
    if_any = {
        "extract": {**task.switched},
        "options": {**task.chosen},
        "contrast": task.scoring.contrast,
        "derived": {name: asdict(of) for name, of in task.scoring.derived.items()},
        "groups": task.groups,
        "grouped_fields": {name: asdict(of) for name, of in task.grouped_fields.items()},
        "macro": task.macro,
        "probabilities": task.probabilities,
    }
    published = task.publisher.published(task) if task.publisher else []
    of_evals = {"evals": task.data.hub, "published": published, "rows": task.data.rows_of(split)}
    return always | {key: value for key, value in if_any.items() if value} | (of_evals if task.evals else {})


class TaskCell(Questions, Cell):
    """A cell of a declared task."""

    @property
    def title(self) -> str:
        """Its display name."""
        written = "native" if self.prompt_language == "native" else "English"
        return f"{self.task.name} {LANGUAGES[self.language].name}, {written} prompt {self.prompt.id}"

    @property
    def asks(self) -> frozenset[str]:
        """The type of its requests, as the harness names it."""
        return frozenset({self.request})

    @property
    def n(self) -> int:
        """Number of documents, including those that cannot be scored."""
        return len(self.rows.indices)

    @cached_property
    def n_requests(self) -> int:
        """Number of requests."""
        return sum(1 if self.generates else len(d.choices) for d in self.scorable) + self.n_neutral

    @cached_property
    def identity(self) -> RunPart:
        """Everything except the model that scores depend on; fixed in a run folder."""
        settings, task, split = self.settings, self.task, self.task.data.evaluate
        hashes = {split: self.data.sha256}
        if self.pool is not None:
            hashes[str(task.data.fewshot)] = self.pool.sha256
        pool = self.pool.documents if self.pool and self.shots else []
        # Prompts of the paper differ between the languages that they are used for.
        language = self.language if self.prompt.paper else self.prompt.language
        options = switches(extract_of(task, task.scoring.kind), task.scoring.user_code.extractors)
        of_task = {
            "version": task.version,
            **({"extract": options | task.switched} if options else {}),
            "declaration": task.declaration,
            **({"code": task.scoring.code} if task.scoring.code else {}),
            **({"options": {**task.chosen}} if task.chosen else {}),
            "answer_form": self.answer_form,
            **({"evaluate": split, "fewshot": str(task.data.fewshot)} if self.shots else {}),
            **({"no_examples": {self.language: [d.id for d in pool if d.defect]}} if pool else {}),
            **({"shots": self.shots} if task.examples.all else {}),
            **({"evals": task.data.hub} if task.evals else {}),
            "prompts": {language: {self.prompt.id: self.prompt.hash}},
            "data": {self.language: hashes},
        }
        shots, selection, seed = settings.shots, settings.fewshot_selection, settings.fewshot_seed
        return {
            "fewshot": {"num_fewshot": shots, "selection": selection, "seed": seed},
            "tasks": {task.name: of_task},
            **self.rows.identity,
            **({"max_gen_toks": settings.max_gen_toks} if self.generates else {}),
        }

    @cached_property
    def facts(self) -> RunPart:
        """The task's declaration and the few-shot rows, for readers of its samples."""
        language, unreviewed = self.language, self.prompt_language == "native" and not self.prompt.reviewed_by
        always = {
            "unreviewed": {language: self.prompt.origin} if unreviewed else {},
            "sample_rows": {language: self.settings.source == SAMPLES},
            "test_set": {language: self.rows.total},
        }
        if_any = {
            "defective": {language: self.data.defect} if self.data.defect else {},
            "english_system": {language: True} if self.prompt.english_system and self.settings.chat_template else {},
            "signatures": self.task.scoring.signatures_of(self.answer_form),
            "baselines": {language: self.baselines} if self.baselines else {},
        }
        declared = declared_of(self.task, self.answer_form) | always | {key: of for key, of in if_any.items() if of}
        if not self.shots:
            return {"declared": {self.task.name: declared}}
        ids: list[int] | str  # the few-shot rows, or where to find them if they differ between documents
        if self.settings.fewshot_selection == "per_document" or self.task.apart:
            ids = "per document, in the sample file"
        elif same := self.task.examples.same:
            ids = f"per {', '.join(same)}, in the sample file"
        else:
            ids = [example.id for example in self.examples(self.documents[0])]
        return {"declared": {self.task.name: declared}, "fewshot_ids": {self.name: ids}}

    @property
    def commits(self) -> dict[str, str]:
        """Data set to commit, for rows from the hub."""
        return self.data.commits

    @property
    def can_generate(self) -> bool:
        """Whether generated answers are among the task's answer forms."""
        return "generate" in self.task.answer_forms

    @property
    def needs(self) -> frozenset[Need]:
        """What its metrics need besides the likelihoods of whole texts."""
        return self.task.scoring.needs

    @property
    def shares(self) -> str:
        """Name of the cells that ask its neutral prompts, too, in other languages; empty if none do."""
        same = self.prompt_language == "eng" and not self.shots and self.n_neutral
        return f"{self.task.name}_{self.prompt.id}" if same else ""

    def requests(self, model: LanguageModel) -> Iterator[Any]:
        """Yields the harness' requests of its documents, in the order in which a model is asked."""
        yield from self._requests(model, self._limits(model))

    def run(self, model: LanguageModel) -> CellResult:
        """Asks a loaded model, scores its answers, and returns the line of each document."""
        from afrieval.tasks.cells.harness_tasks import NO_DOCUMENT, answered, ask, neutral_likelihoods

        limits = self._limits(model)
        requests = list(self._requests(model, limits))
        ask(model, requests)
        by_document = grouped((r for r in requests if r.doc_id != NO_DOCUMENT), lambda request: request.doc.document.id)
        scorer, lines = self.scorer(limits or UNENDED), []
        for document in self.documents:
            if document.gold is None:  # it cannot be scored, and was not asked
                lines.append(document_line(self, document, None, None))
                continue
            of_document = by_document[document.id]
            row = of_document[0].doc
            score = scorer(document, [request.resps[0] for request in of_document], neutral_likelihoods(row))
            target = example_answer(self.task, self.prompt, document, "generate") if self.generates else document.gold
            sample = answered(document.id, of_document, target, shown(score, self.metrics))
            usage = amounts(r.resps[0] for after in row.neutral for r in after) if row.first else None
            fitted = row.shown if row.shortened else None
            lines.append(document_line(self, document, sample, score, fitted, usage))
        return CellResult(lines)

    def _limits(self, model: LanguageModel) -> Generation | None:
        return generation(self, model) if self.generates and self.scorable else None

    def _requests(self, model: LanguageModel, limits: Generation | None) -> Iterator[Any]:
        if self.scorable:
            task = self._task(self.scorable, limits, fit_of(self, model, limits))
            yield from task.requests(enumerate(task.eval_docs), self._chat(model.apply_chat_template))

    def _chat(self, chat_template: Any) -> dict[str, Any]:
        """Returns the harness' options of chats and system texts."""
        chat = self.settings.chat_template
        options = {"apply_chat_template": chat, "fewshot_as_multiturn": chat, "chat_template": chat_template}
        return options | {"system_instruction": self.system if chat else None}

    def _task(self, documents: Sequence[Document], limits: Generation | None = None, fit: Fitting | None = None) -> Any:
        from afrieval.tasks.cells.harness_tasks import InMemoryTask

        return InMemoryTask(self, documents, limits, fit)

    @property
    def complete(self) -> bool:
        """Whether its prompts already include all parts of a chat, so that nothing may be added."""
        return self.prompt.complete

    def first_prompt(self, model: LanguageModel) -> str | None:
        """Returns the first prompt; None if no document can be scored."""
        return self.prompt_text(self.scorable[0], model.apply_chat_template) if self.scorable else None

    def check_fit(self, model: LanguageModel) -> None:
        """Rejects complete prompts that backends would truncate, some of them silently.

        Only the longest prompts in bytes are checked; one of them is about the longest in tokens.

        Raises:
            UserError: names the task and the context length that it needs.
        """
        if not self.complete or not self.scorable:
            return
        prompts = sorted((document.prompt for document in self.scorable), key=lambda prompt: len(prompt.encode()))
        longest = max(model.count_tokens(prompt) for prompt in prompts[-LOOKED_AT:])
        answer = generation(self, model).max_tokens if self.generates else 1
        if longest + answer > model.max_length:
            raise UserError(
                f"a prompt and answer of {self.task.name} may have {longest} and {answer} tokens, "
                f"but the model's context has {model.max_length}",
                f"give a context of {longest + answer} (backend_args: max_model_len for vllm, else max_length), "
                "or a smaller --eval.max_gen_toks, which may lower scores",
            )

    def prompt_text(self, document: Document, chat_template: Any) -> str:
        """Returns a document's whole prompt, with its examples; without prompts, its first text.

        Args:
            document: a document with a gold answer.
            chat_template: converts turns to text; used if the config enables chat templates.
        """
        if self.whole:
            return document.choices[0]
        task = self._task([document])
        text: str = task.fewshot_context(task.eval_docs[0], num_fewshot=self.shots, **self._chat(chat_template))
        return text

    def preview(self, number: int) -> Preview:
        """Returns a document as a model would get it."""
        documents = self.data.documents
        if number >= len(documents):
            raise UserError(
                f"{self.task.name} {self.language} has no document {number}", f"give 0 to {len(documents) - 1}"
            )
        document = documents[number]
        if document.gold is None:
            return Preview(f"{self.title}, document {number}: left out, {one_line(document.defect)}\n")
        rows = [e.id for e in self.examples(document)] or "none"
        lines = self._lines(document)
        if self.task.fit:
            lines.append(
                f"  {self.task.fit}: whole here; a run shortens it if the prompt does not fit the model's context"
            )
        if self.task.examples.drop and self.shots:
            lines.append("  all examples here; a run leaves out the last ones if they do not fit the model's context")
        filled = [replace(document, gold=i) for i in range(len(document.choices))] if self.fills else [document]
        text = with_choices([self.prompt_text(each, turns) for each in filled])
        return Preview(f"{self.title}, document {number}, few-shot rows {rows}", {text: lines})

    def _lines(self, document: Document) -> list[str]:
        """Returns lines about the right answer, and the continuations or texts that are scored."""
        if self.whole:
            n_tokens = self.task.keys_of(TextKeys).tokens
            first = f", of which the first {n_tokens} tokens count" if n_tokens else ""
            pairs = zip(document.choices, document.roles, strict=True)
            return [f"  {role}: {f'the whole text{first}' if not i else repr(t)}" for i, (t, role) in enumerate(pairs)]
        answer, delimiter = self.task.scoring.answer, "" if self.settings.chat_template else self.prompt.delimiter
        if not (answer.has_choices or document.roles):
            shown = example_answer(self.task, self.prompt, document, self.answer_form)
            return [f"  gold: {one_line(shown)}"]
        marks = document.roles or ["gold" if i == document.gold else "" for i in range(len(document.choices))]
        scored = [repr(delimiter + text) for text in answers(self.prompt, document, self.answer_form)]
        if self.fills:
            scored = [f"{choice!r}, then {text}" for choice, text in zip(document.choices, scored, strict=True)]
        return [f"  {text}  {mark}".rstrip() for text, mark in zip(scored, marks, strict=True)]

    def preview_stored(self, samples: Iterator[Sample]) -> Preview:
        """Returns the first scored document of the cell's samples, with the model's answer."""
        return preview_stored(self.title, self.metrics[0], samples)
