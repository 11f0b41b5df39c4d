"""Plans the cells of a config, and checks that the model supports them, before and after it is loaded."""

from collections.abc import Callable, Iterable, Sequence

from afrieval._util.errors import UserError
from afrieval._util.registry import Registry
from afrieval.config.settings import ModelConfig, RunConfig
from afrieval.models.base import Capabilities, LanguageModel
from afrieval.models.registry import backend_of
from afrieval.run.harness.plan import plan_harness
from afrieval.tasks.cells.cell import Cell, Plan
from afrieval.tasks.cells.plan import FOR_EXAMPLES, plan_declared
from afrieval.tasks.declaration.selection import check_derived

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


# Makes the cells of a config, given whether the model returns the likelihoods of single tokens.
CellMaker = Callable[[RunConfig, bool], Plan]
# Tasks that no task.yaml declares: code makes their cells.
CODED_TASKS: Registry[CellMaker] = Registry("task", "afrieval.tasks", {}, needs=["__call__"], where="afrieval list")


def plan(config: RunConfig) -> Plan:
    """Returns the cells of a config, with all data loaded and all prompts checked.

    Raises:
        UserError: for an unknown task, language or prompt, missing data, too many shots, a prompt
            that cannot be filled in, wrong derived metrics, or requests that the model does not support.
    """
    check_derived(config.task, config.task.names, list(config.reference))
    can = backend_of(config.model.model_type).capabilities(config.model)
    only_texts = (can.chat == "messages" or can.recorded) and not can.loglikelihood
    if by_itself := [name for name in config.task.names if name in CODED_TASKS]:
        planned = CODED_TASKS[by_itself[0]](config, can.tokens)
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


SHOWN = 8


def first_tokens(cells: Sequence[Cell], lm: LanguageModel) -> dict[str, list[int]]:
    """Returns task to the ids of the first tokens of one of its prompts, if the tokenizer is known.

    Raises:
        UserError: if complete prompts would not begin with exactly one beginning-of-sequence token:
            scores of Llama 3 would drop by some points without any other sign.
    """
    begun: dict[str, list[int]] = {}
    for cell in cells if lm.can.count_tokens else ():
        task = cell.key.task
        if task in begun or (prompt := cell.first_prompt(lm)) is None:
            continue
        tokens = begun[task] = list(lm.tok_encode(prompt))
        bos = getattr(lm.tokenizer, "bos_token_id", None)
        if not cell.complete or bos is None:  # a model without such a token needs none
            continue
        if tokens[:1] != [bos]:
            problem = f"prompts of {task} would not begin with the beginning-of-sequence token"
            raise UserError(problem, "give --model.add_bos_token true")
        if tokens[1:2] == [bos]:
            problem = f"prompts of {task} would begin with two beginning-of-sequence tokens"
            raise UserError(problem, "give --model.add_bos_token false; the prompts already include one")
    return {task: tokens[:SHOWN] for task, tokens in begun.items()}
