"""What a plan asks of a model, against what the model can do, before anything is loaded."""

from collections.abc import Iterable

from afrieval.config.settings import ModelConfig
from afrieval.errors import UserError
from afrieval.models.base import Capabilities
from afrieval.tasks.cell import Cell

# The harness' name of a kind of request, to its name in `Capabilities` and for people.
REQUESTS = {
    "loglikelihood": ("loglikelihood", "likelihoods"),
    "loglikelihood_rolling": ("rolling", "likelihoods of whole texts"),
    "generate_until": ("generate", "generated answers"),
}
SCORING = "hf, vllm or local-completions with backend_args.tokenizer"


def check_chat(config: ModelConfig, can: Capabilities, cells: Iterable[Cell]) -> None:
    """Refuses a chat template that the model does not have, and plain prompts for one that takes chats only.

    Args:
        config: the model's settings.
        can: what it can do.
        cells: what is run.

    Raises:
        UserError: with the setting to give.
    """
    complete = [cell.coordinates.task for cell in cells if cell.complete]
    if complete and can.chat == "messages":
        raise UserError(
            f"the prompts of {complete[0]} have the words and tokens of the chat inside already, "
            f"and {config.model_type} adds its own",
            "give a backend that takes plain prompts, such as local-completions",
        )
    if config.chat_template and can.chat is None:
        raise UserError(
            f"model.chat_template is true, but {config.model_type} has no chat template here",
            "give --model.chat_template false, a backend that takes chats such as local-chat-completions, "
            "or for local-completions --model.backend_args.tokenizer",
        )
    if not config.chat_template and can.chat == "messages":
        raise UserError(f"{config.model_type} takes chats only", "give --model.chat_template true")


def check_requests(config: ModelConfig, can: Capabilities, cells: Iterable[Cell]) -> None:
    """Refuses cells that ask for what the model cannot do.

    Raises:
        UserError: naming the first such task, and the answer form that fits the model, if the task has one.
    """
    for cell in cells:
        for kind in sorted(cell.asks):
            ability, words = REQUESTS[kind]
            if not getattr(can, ability):
                raise UserError(
                    f"{cell.coordinates.task} asks for {words}, and {config.model_type} has none", _cure(cell, can)
                )


def _cure(cell: Cell, can: Capabilities) -> str:
    if can.generate and cell.can_generate:
        return "give --task.answer_form generate"
    form = "has no answer form generate" if can.generate else "needs another backend"
    return f"{cell.coordinates.task} {form}; leave it out, or take a backend with likelihoods, such as {SCORING}"


def length_notes(config: ModelConfig, can: Capabilities, cells: Iterable[Cell]) -> list[str]:
    """Returns lines on lengths that are assumed.

    Args:
        config: the model's settings.
        can: what it can do.
        cells: what is run.
    """
    if can.assumed:
        return [
            f"{config.model_type} does not say how long prompts may be: {can.max_length} tokens are assumed; longer "
            "prompts lose their beginning; give the model's own length as --model.backend_args.max_length"
        ]
    if not can.count_tokens and any("generate_until" in cell.asks for cell in cells):
        return [
            f"the tokenizer of {config.model_type} is not known: a token per byte is assumed where the length of "
            "answers is limited, and the length of prompts is not checked; --eval.max_gen_toks sets another limit"
        ]
    return []
