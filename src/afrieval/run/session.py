"""Opens the run of a config: plans its cells, checks that the model supports them, and locks its folder."""

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, cast

from afrieval._util.errors import UserError
from afrieval._util.files import user_path
from afrieval._util.terminal import note
from afrieval.config.settings import CODED_TASKS, ModelConfig, RunConfig
from afrieval.models.base import Capabilities
from afrieval.models.model_identity import identity_of_model
from afrieval.models.processes import ALONE, Processes
from afrieval.models.registry import backend_of, check_backend_args
from afrieval.results.identity import merged
from afrieval.results.run_files import locked
from afrieval.results.run_folder import RunFolder
from afrieval.results.schema import DerivedFrom
from afrieval.run.harness.plan import plan_harness
from afrieval.run.manifest import default_folder, storable
from afrieval.run.suites.reference import check_comparable, open_references
from afrieval.tasks.cells.cell import Cell, Plan, RunPart
from afrieval.tasks.cells.plan import FOR_EXAMPLES, plan_declared
from afrieval.tasks.declaration.selection import check_derived

log = logging.getLogger("afrieval")

# The harness' name of a request type, to its names in `Capabilities` and in messages.
REQUESTS = {
    "loglikelihood": ("loglikelihood", "likelihoods"),
    "loglikelihood_rolling": ("rolling", "likelihoods of whole texts"),
    "generate_until": ("generate", "generated answers"),
}
SCORING = "hf, vllm or local-completions with backend_args.tokenizer"


def check_chat(config: ModelConfig, can: Capabilities, cells: Iterable[Cell]) -> None:
    """Rejects a missing chat template, and plain prompts for a model that accepts only chats.

    Raises:
        UserError: names the setting to change.
    """
    complete, served = [cell.key.task for cell in cells if cell.complete], backend_of(config.model_type).served
    if complete and can.chat == "messages":
        raise UserError(
            f"the prompts of {complete[0]} already include a chat template, and {config.model_type} adds another",
            "use a backend that accepts plain prompts, such as "
            + ("--model.api.endpoint completions" if served else "local-completions"),
        )
    if config.chat_template and can.chat is None:
        if served:
            hint = "give --model.chat_template false, or --model.api.endpoint chat"
            raise UserError("model.chat_template is true, but completions are sent plain prompts", hint)
        raise UserError(
            f"model.chat_template is true, but {config.model_type} has no chat template here",
            "give --model.chat_template false, or use local-chat-completions, "
            "or local-completions with --model.backend_args.tokenizer",
        )
    if config.has_chat_tags and can.chat == "messages":
        raise UserError(
            f"model.chat_tags is given, but {config.model_type} sends chats as messages", "leave model.chat_tags out"
        )
    if not config.chat_template and can.chat == "messages":
        raise UserError(f"{config.model_type} accepts only chats", "give --model.chat_template true")


def check_requests(config: ModelConfig, can: Capabilities, cells: Iterable[Cell]) -> None:
    """Rejects cells with requests that the model does not support.

    Raises:
        UserError: names the first such task, and an answer form that the model supports, if any.
    """
    for cell in cells:
        for kind in sorted(cell.asks):
            if cell.needs and not can.tokens:
                raise UserError(
                    f"{cell.key.task} needs the likelihood of each token, which {config.model_type} does not return",
                    f"give --model.model_type hf, or remove {cell.key.task}",
                )
            if config.backend_args.get("enable_thinking") and kind != "generate_until":
                problem = f"{cell.key.task} needs likelihoods, which models do not return with enable_thinking"
                raise UserError(problem, f"{_cure(cell, can)}, or leave enable_thinking out")
            ability, words = REQUESTS[kind]
            if not getattr(can, ability):
                raise UserError(
                    f"{cell.key.task} needs {words}, which {config.model_type} does not support",
                    _cure(cell, can),
                )
            if kind == "loglikelihood" and can.only_letters and cell.key.answer_form != "letter":
                raise UserError(
                    f"{cell.key.task} needs likelihoods of whole texts, but chats of {config.model_type} "
                    "return only those of a first token",
                    "give --task.answer_form letter or generate, or a server with --model.api.endpoint completions",
                )


def _cure(cell: Cell, can: Capabilities) -> str:
    if can.generate and cell.can_generate:
        return "give --task.answer_form generate"
    why = " (it has no answer form generate)" if can.generate else ""
    return f"remove {cell.key.task}{why}, or use a backend with likelihoods, such as {SCORING}"


def check_recorded(config: ModelConfig, can: Capabilities, cells: Sequence[Cell]) -> None:
    """Rejects several cells, and tasks of the harness, for recorded answers: they are of the documents of one cell.

    Raises:
        UserError: names the settings that choose a cell.
    """
    if not can.recorded:
        return
    if any("harness_tasks" in cell.identity for cell in cells):
        raise UserError(f"{config.model_type} does not support tasks of the harness", "give a task with task.task_name")
    if len(cells) > 1:
        names = ", ".join(cell.name for cell in cells[:3]) + (" ..." if len(cells) > 3 else "")
        raise UserError(
            f"{config.model_type} has the answers of one cell, but there are {len(cells)} ({names})",
            "name one task, language and prompt: --task.task_name, --task.languages, --task.prompts",
        )


def length_notes(config: ModelConfig, can: Capabilities, cells: Iterable[Cell]) -> list[str]:
    """Returns lines about assumed lengths."""
    if can.assumed:
        return [
            f"the context length of the model is unknown: {can.max_length} tokens are assumed, and longer prompts "
            "lose their beginning; give --model.backend_args.max_length"
        ]
    if not (can.count_tokens or can.recorded) and any("generate_until" in cell.asks for cell in cells):
        return [
            f"the tokenizer of {config.model_type} is unknown: limits of answers assume one token per byte, and the "
            "length of prompts is not checked; --eval.max_gen_toks sets another limit"
        ]
    return []


def plan(config: RunConfig) -> Plan:
    """Returns the cells of a config, with all data loaded and all prompts checked.

    Raises:
        UserError: for an unknown task, language or prompt, missing data, too many shots, a prompt
            that cannot be filled in, wrong derived metrics, or requests that the model does not support.
    """
    check_derived(config.task, config.task.names, list(config.reference))
    can = backend_of(config.model.model_type).capabilities(config.model)
    only_texts = (can.chat == "messages" or can.recorded) and not can.loglikelihood
    if config.task.coded:
        planned: Plan = CODED_TASKS[config.task.coded].plan(config, can.tokens)
    else:
        planned = plan_declared(config, not only_texts) + plan_harness(config)
    if not planned.cells:
        why = f" ({'; '.join(planned.left_out)})" if planned.left_out else ""
        lacks_examples = planned.left_out and all(line.endswith(FOR_EXAMPLES) for line in planned.left_out)
        cure = "give --eval.num_fewshot 0, or " if lacks_examples else ""
        raise UserError(f"there is nothing to run{why}", f"{cure}choose other tasks, languages or prompts")
    check_requests(config.model, can, planned.cells)
    check_recorded(config.model, can, planned.cells)
    check_chat(config.model, can, planned.cells)
    return planned + Plan([], notes=length_notes(config.model, can, planned.cells))


@dataclass(frozen=True)
class Session:
    """The work of a process on a config's run folder.

    Attributes:
        processes: share the work; only the first reads and writes the folder.
        check: raises UserError if the folder is gone; called regularly and before writing.
        share: the name of one of several jobs, such as 1 of 2, that run some cells each; empty if all are run.
        of_share: the names of the cells that it runs, in a folder that names all of them.
    """

    config: RunConfig
    plan: Plan
    stored: RunFolder
    processes: Processes = ALONE
    check: Callable[[], None] = lambda: None
    share: str = ""
    of_share: Collection[str] = ()

    @property
    def cells(self) -> list[Cell]:
        """The cells of the plan; of a share, those that it runs."""
        return [cell for cell in self.plan.cells if not self.share or cell.name in self.of_share]

    @property
    def identity(self) -> dict[str, Any]:
        """Everything that affects prompts, data, shots or model, as run.yaml has it.

        A folder may get more cells and a larger limit later; its identity must not change.
        """
        model, variant = storable(identity_of_model(self.config.model)), self.config.task.variant
        of_cells: RunPart = reduce(merged, (cell.identity for cell in self.plan.cells), {})
        return {"model": model, "variant": variant, **of_cells}

    def write(self, write: Callable[[], None]) -> None:
        """Lets the first process write to the folder; all processes call it together, and the others wait.

        It checks before that the folder is still there, so that a folder that was removed is not made again.
        """
        with self.processes.barrier():
            if self.processes.is_first:
                self.check()
                write()


@contextmanager
def open_run(config: RunConfig, processes: Processes = ALONE) -> Iterator[Session]:
    """Plans a config's run, prints what is left out of it, and locks its folder.

    Raises:
        UserError: as for `plan_run`, or if another process uses the folder; at the end, if the folder is gone.
    """
    with ExitStack() as stack:
        with processes.barrier():
            session = replace(plan_run(config), processes=processes)
            if processes.is_first:
                for line in session.plan.lines:
                    note(line)
                # held until the end: what a run has stored is read, added to and written whole again
                session = replace(session, check=stack.enter_context(locked(session.stored.path)))
        try:
            yield session
        except Exception:
            session.check()  # a missing folder is the likely cause of any error
            raise


def plan_run(config: RunConfig, dry: bool = False) -> Session:
    """Returns the planned run of a config; loads no model, and locks and writes nothing.

    Args:
        config: the merged config.
        dry: whether nothing will be sent to a server, so that its key may be missing.

    Raises:
        UserError: for settings that the backend lacks, missing data, or a reference run that is not comparable.
    """
    check_backend_args(config.model)
    if not dry:
        backend_of(config.model.model_type).check_key(config.model)
    planned = plan(config)
    folder = user_path(config.run_dir) if config.run_dir else default_folder(config, planned.cells)
    session = Session(config, planned, RunFolder(folder))
    log.debug("plan: in %s: %s", folder, ", ".join(cell.name for cell in planned.cells))
    if references := open_references(config.reference):
        check_comparable(references, session.identity, cast(dict[str, DerivedFrom], config.task.derived))
    return session
