"""Checks whether a model supports a plan, before anything is loaded."""

from collections.abc import Iterable, Sequence

from afrieval.config.settings import ModelConfig
from afrieval.errors import UserError
from afrieval.models.base import Capabilities
from afrieval.tasks.cell import Cell

# The harness' name of a request type, to its names in `Capabilities` and in messages.
REQUESTS = {
    "loglikelihood": ("loglikelihood", "likelihoods"),
    "loglikelihood_rolling": ("rolling", "likelihoods of whole texts"),
    "generate_until": ("generate", "generated answers"),
}
SCORING = "hf, vllm or local-completions with backend_args.tokenizer"


def check_chat(config: ModelConfig, can: Capabilities, cells: Iterable[Cell]) -> None:
    """Rejects a missing chat template, and plain prompts for a model that accepts only chats.

    Args:
        config: the model's settings.
        can: its capabilities.
        cells: the cells to run.

    Raises:
        UserError: names the setting to change.
    """
    complete = [cell.coordinates.task for cell in cells if cell.complete]
    if complete and can.chat == "messages":
        raise UserError(
            f"the prompts of {complete[0]} already include a chat template, and {config.model_type} adds another",
            "use a backend that accepts plain prompts, such as "
            + ("--model.api.endpoint completions" if config.is_api else "local-completions"),
        )
    if config.chat_template and can.chat is None:
        if config.is_api:
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
                    f"{cell.coordinates.task} needs the likelihood of each token, which {config.model_type} does not "
                    "return",
                    f"give --model.model_type hf, or remove {cell.coordinates.task}",
                )
            ability, words = REQUESTS[kind]
            if not getattr(can, ability):
                raise UserError(
                    f"{cell.coordinates.task} needs {words}, which {config.model_type} does not support",
                    _cure(cell, can),
                )
            if kind == "loglikelihood" and can.only_letters and cell.coordinates.answer_form != "letter":
                raise UserError(
                    f"{cell.coordinates.task} needs likelihoods of whole texts, but chats of {config.model_type} "
                    "return only those of a first token",
                    "give --task.answer_form letter or generate, or a server with --model.api.endpoint completions",
                )


def _cure(cell: Cell, can: Capabilities) -> str:
    if can.generate and cell.can_generate:
        return "give --task.answer_form generate"
    why = " (it has no answer form generate)" if can.generate else ""
    return f"remove {cell.coordinates.task}{why}, or use a backend with likelihoods, such as {SCORING}"


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
    """Returns lines about assumed lengths.

    Args:
        config: the model's settings.
        can: its capabilities.
        cells: the cells to run.
    """
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
