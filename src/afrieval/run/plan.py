"""A config to cells: what will be run, with its documents, before any model is loaded."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from afrieval.config import RunConfig
from afrieval.errors import UserError
from afrieval.languages import ENGLISH, LANGUAGES
from afrieval.run.harness import HarnessCell, HarnessPlan, plan_harness
from afrieval.tasks.data import Split, check_source, load_split
from afrieval.tasks.documents import Document
from afrieval.tasks.fewshot import examples, ranking
from afrieval.tasks.lock import DataLock, read_lock
from afrieval.tasks.prompts import Prompt, load_prompts, prompt_languages
from afrieval.tasks.spec import TaskSpec, load_task, translated


@dataclass(frozen=True)
class Cell:
    """Task x language x prompt x prompt language: the smallest thing that is run, stored and resumed.

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


@dataclass(frozen=True)
class Plan:
    """Cells in the order in which they run, one line for each thing left out, and cells of harness tasks."""

    cells: list[Cell]
    left_out: list[str]
    harness: HarnessPlan = field(default_factory=lambda: HarnessPlan([], {}, []))

    @property
    def everything(self) -> list[Cell | HarnessCell]:
        """All cells in the order in which they run."""
        return [*self.cells, *self.harness.cells]


def plan(config: RunConfig) -> Plan:
    """Returns the cells that a config asks for, all data read and all prompts checked.

    Raises:
        UserError: for an unknown task, language or prompt, data that is not there, too many shots.
    """
    cells: list[Cell] = []
    left_out: list[str] = []
    lock = read_lock()
    for name in config.task_names:
        task_plan = _plan_task(task_variant(load_task(name), config), config, lock)
        cells += task_plan.cells
        left_out += task_plan.left_out
    harness = plan_harness(config)
    left_out += harness.left_out
    if not cells and not harness.cells:
        raise UserError("nothing is left to run", "; ".join(left_out) or "name tasks, languages and prompts")
    return Plan(cells, left_out, harness)


def task_variant(spec: TaskSpec, config: RunConfig) -> TaskSpec:
    """Returns the variant of a task that a config asks for.

    Raises:
        UserError: if there is none, or it does not go with the prompts asked for.
    """
    if config.task.variant == "direct":
        return spec
    if config.task.prompt_language != "eng":
        raise UserError(
            f"task.prompt_language is {config.task.prompt_language}, but translated test sets are in English",
            "give --task.prompt_language eng",
        )
    return translated(spec)


def _plan_task(spec: TaskSpec, config: RunConfig, lock: DataLock) -> Plan:
    answer_form = config.task.answer_form or spec.answer_forms[0]
    if answer_form not in spec.answer_forms:
        raise UserError(f"{spec.name} has no answer form {answer_form!r}", f"it has: {', '.join(spec.answer_forms)}")
    check_source(spec, config.data.source)
    languages, missing = _languages(spec, config, lock)
    cells: list[Cell] = []
    unprompted: list[str] = []
    for language, (data, pool) in languages.items():
        prompts = chosen_prompts(spec, config, language)
        if (
            not any(kind == "native" for kind, _ in prompts)
            and config.task.prompt_language != "eng"
            and language != ENGLISH
        ):
            unprompted.append(language)
        for prompt_language, prompt in prompts:
            cells.append(
                Cell(
                    task=spec,
                    language=language,
                    prompt=prompt,
                    prompt_language=prompt_language,
                    answer_form=answer_form,
                    data=data,
                    pool=pool,
                    shots=config.eval.shots,
                    fewshot_selection=config.eval.fewshot_selection,
                    seed=config.eval.fewshot_random_seed,
                    limit=config.eval.limit,
                )
            )
    _check_shots(cells)
    left_out = [f"{spec.name}: no {split} rows for {', '.join(codes)}" for split, codes in missing.items()]
    left_out += [f"{spec.name}: no native prompts for {', '.join(unprompted)}"] if unprompted else []
    return Plan(cells, left_out)


def _languages(
    spec: TaskSpec, config: RunConfig, lock: DataLock
) -> tuple[dict[str, tuple[Split, Split | None]], dict[str, list[str]]]:
    """Returns the splits of each language that has data; and the others, by the split that they lack."""
    named = config.task.languages
    found: dict[str, tuple[Split, Split | None]] = {}
    missing: dict[str, list[str]] = {}
    for language in named_languages(spec, named):
        data = load_split(spec, language, spec.data.evaluate, config.data.source, lock)
        pool = _pool(spec, language, config, lock)
        if data is not None and (pool is not None or not config.eval.shots):
            found[language] = (data, pool)
            continue
        lacking = spec.data.evaluate if data is None else str(spec.data.fewshot)
        if named:
            cure = "name another --data.source" if data is None else "give --eval.num_fewshot 0"
            raise UserError(
                f"{config.data.source} has no {lacking} rows of {spec.name} for {language}",
                f"leave {language} out of task.languages, or {cure}",
            )
        missing.setdefault(lacking, []).append(language)
    return found, missing


def named_languages(spec: TaskSpec, named: list[str] | None) -> list[str]:
    """Returns the languages asked for, or all of the task's.

    Raises:
        UserError: for one that the task does not have.
    """
    for language in named or []:
        if language not in spec.languages:
            raise UserError(f"{spec.name} has no language {language!r}", f"it has: {', '.join(spec.languages)}")
    return list(dict.fromkeys(named or spec.languages))


def _pool(spec: TaskSpec, language: str, config: RunConfig, lock: DataLock) -> Split | None:
    """Returns the few-shot split; without shots only where worked solutions tell how long an answer may be."""
    shots, split = config.eval.shots, spec.data.fewshot
    if shots and split is None:
        raise UserError(f"{spec.name} has no rows for few-shot examples", "give --eval.num_fewshot 0")
    if split is None or not (shots or spec.worked):
        return None
    pool = load_split(spec.direct or spec, spec.text_language or language, split, config.data.source, lock)
    if shots and pool and spec.chain_of_thought and not any(d.worked for d in pool.documents):
        raise UserError(
            f"{spec.name} has no worked solutions in {language} for chain-of-thought examples",
            f"give --eval.num_fewshot 0, or leave {language} out of task.languages",
        )
    return pool


def chosen_prompts(spec: TaskSpec, config: RunConfig, language: str) -> list[tuple[str, Prompt]]:
    """Returns (prompt language, prompt) pairs; for English, native is English and runs once."""
    wanted = config.task.prompt_language
    chosen: list[tuple[str, Prompt]] = []
    if wanted in ("eng", "both") or language == ENGLISH:
        chosen += [("eng", p) for p in _numbered(spec, config, ENGLISH)]
    if wanted in ("native", "both") and language != ENGLISH:
        if config.task.languages is None and not _has_native(spec, config, language):
            return chosen
        chosen += [("native", p) for p in _numbered(spec, config, language)]
    return chosen


def _has_native(spec: TaskSpec, config: RunConfig, language: str) -> bool:
    if language not in prompt_languages(spec):
        return False
    return set(config.task.prompts or ()) <= set(load_prompts(spec, language))


def _numbered(spec: TaskSpec, config: RunConfig, language: str) -> list[Prompt]:
    prompts = load_prompts(spec, language)
    for number in config.task.prompts or []:
        if number not in prompts:
            raise UserError(
                f"{spec.name} has no prompt {number} in {language}",
                f"there are: {', '.join(map(str, prompts))}",
            )
    return [prompts[number] for number in dict.fromkeys(config.task.prompts or prompts)]


def _check_shots(cells: list[Cell]) -> None:
    for cell in cells:
        if cell.documents:
            cell.examples(cell.documents[0])


def cell_task(cell: Cell, documents: list[Document], generation: Any = None) -> Any:
    """Returns a cell's harness task over some of its documents.

    Args:
        cell: the cell.
        documents: those to ask; each has a gold answer.
        generation: how a generated answer ends.
    """
    from afrieval.tasks.build import InMemoryTask, task_config

    language = cell.task.text_language or cell.language
    config = task_config(cell.name, cell.task, language, cell.prompt, cell.answer_form, cell.shots, generation)
    return InMemoryTask(config, documents, lambda document, shots: cell.examples(document))
