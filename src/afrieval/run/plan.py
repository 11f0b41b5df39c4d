"""A config to cells: what will be run, with its documents, before any model is loaded."""

from dataclasses import dataclass, field

from afrieval.config.settings import RunConfig
from afrieval.data.lock import DataLock, read_lock
from afrieval.errors import UserError
from afrieval.harness.plan import HarnessCell, HarnessPlan, plan_harness
from afrieval.languages import ENGLISH
from afrieval.models.capabilities import capabilities
from afrieval.run.abilities import check_chat, check_requests, length_notes
from afrieval.run.notes import complete_notes, excerpt_notes, keyless, unparsed_notes
from afrieval.run.select import chosen_tasks
from afrieval.tasks.cell import Cell
from afrieval.tasks.prompts import Prompt, load_prompts, prompt_languages, render
from afrieval.tasks.spec import TaskSpec
from afrieval.tasks.splits import Split, check_source, load_split


@dataclass(frozen=True)
class Plan:
    """Cells in the order in which they run, one line for each thing left out, and cells of harness tasks.

    Attributes:
        notes: what else people should know, in lines.
    """

    cells: list[Cell]
    left_out: list[str]
    harness: HarnessPlan = field(default_factory=lambda: HarnessPlan([], {}, []))
    notes: list[str] = field(default_factory=list)

    @property
    def everything(self) -> list[Cell | HarnessCell]:
        """All cells in the order in which they run."""
        return [*self.cells, *self.harness.cells]

    @property
    def told(self) -> list[str]:
        """What people should know before a model is loaded, in lines."""
        return [*(f"left out: {line}" for line in self.left_out), *self.notes, *self.harness.notes]


def plan(config: RunConfig) -> Plan:
    """Returns the cells that a config asks for, all data read and all prompts checked.

    Raises:
        UserError: for an unknown task, language or prompt, data that is not there, too many shots, or a prompt that
            cannot be filled in with one of the rows, or that the model cannot be asked.
    """
    cells: list[Cell] = []
    left_out: list[str] = []
    can, lock = capabilities(config.model), read_lock()
    for spec in chosen_tasks(config):
        task_plan = _plan_task(spec, config, lock)
        cells += task_plan.cells
        left_out += task_plan.left_out
    harness = plan_harness(config)
    left_out += harness.left_out
    if not cells and not harness.cells:
        raise UserError("nothing is left to run", "; ".join(left_out) or "name tasks, languages and prompts")
    notes = [*unparsed_notes(cells), *excerpt_notes(cells), *keyless(cells), *complete_notes(cells, config)]
    planned = Plan(cells, left_out, harness, notes)
    check_requests(config.model, can, planned.everything)
    check_chat(config.model, can, cells)
    notes += length_notes(config.model, can, planned.everything)
    return planned


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
    _check_prompts(cells)
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
        if spec.prompt:
            raise UserError(
                f"{config.data.source} lacks the {lacking} rows of {spec.name}",
                f"fetch the files that the README.md of {spec.data.hub} names for them",
            )
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


def _check_prompts(cells: list[Cell]) -> None:
    """Fills all prompts in: one that fails with a row must not be found out when the model has run for hours."""
    for cell in cells:
        asked = [d for d in cell.documents if d.gold is not None]
        for document in [*asked, *(cell.examples(asked[0]) if asked else [])]:
            render(cell.prompt, document, cell.task.text_language or cell.language)
