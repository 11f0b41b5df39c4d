"""Renders chat templates within limits of time and memory, and keeps the system text."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from afrieval.errors import UserError
from afrieval.templates.bounded import SECONDS, ask
from afrieval.templates.fault import TemplateFault, checked, fault

WORKER = "afrieval.models.chat_template_worker"
MARK = "system text"
Turns = list[dict[str, str]]


class KeepsSystemText:
    """Mixin for the harness' models, which otherwise drop a system text that a template rejects."""

    tokenizer: Any

    @property
    def template_arguments(self) -> dict[str, Any]:
        """Arguments of the chat template, apart from the chat."""
        return dict(getattr(self, "chat_template_args", {}))

    @cached_property
    def _takes_system_turn(self) -> bool:
        """Whether the template renders a system turn; some raise an error, some silently omit it."""
        turns = [{"role": "system", "content": MARK}, {"role": "user", "content": "question"}]
        try:
            return MARK in chat_text(self.tokenizer, turns, self.template_arguments)
        except TemplateFault as e:
            if e.ended:
                raise self._refused(e) from None
            return False

    def apply_chat_template(self, chat_history: Turns, add_generation_prompt: bool = True) -> str:
        """Returns the chat as one text; an unsupported system turn is prepended to the user's first.

        Args:
            chat_history: the turns.
            add_generation_prompt: whether to begin a new turn; if False, the model continues the
                last one.

        Raises:
            UserError: if the template cannot be filled in, or needs too much time or memory.
        """
        turns = chat_history if self._takes_system_turn else without_system_turn(chat_history)
        ends = {"add_generation_prompt": add_generation_prompt, "continue_final_message": not add_generation_prompt}
        try:
            return chat_text(self.tokenizer, turns, {**ends, **self.template_arguments})
        except TemplateFault as e:
            raise self._refused(e) from None

    def _refused(self, e: TemplateFault) -> UserError:
        name = getattr(self.tokenizer, "name_or_path", "") or "the model"
        return UserError(
            f"the chat template of {name} cannot be filled in: {e.reason}",
            "give --model.chat_template false, or correct the model's chat_template.jinja or tokenizer_config.json",
        )


def chat_text(tokenizer: Any, turns: Turns, arguments: Mapping[str, Any], seconds: float = SECONDS) -> str:
    """Returns the result of the tokenizer's `apply_chat_template`, rendered in a separate process.

    Tokenizers that override `apply_chat_template` render the chat themselves.

    Args:
        tokenizer: the model's tokenizer.
        turns: the chat.
        arguments: of `apply_chat_template`; unknown ones are passed to the template.
        seconds: time limit.

    Raises:
        TemplateFault: if the template cannot be filled in, or needs too much time or memory.
    """
    from transformers import PreTrainedTokenizerBase

    try:
        if type(tokenizer).apply_chat_template is not PreTrainedTokenizerBase.apply_chat_template:
            return checked(str(tokenizer.apply_chat_template(turns, tokenize=False, **arguments)))
        template = tokenizer.get_chat_template(arguments.get("chat_template"), arguments.get("tools"))
    except Exception as e:  # any is a fault of the tokenizer's
        raise fault(e) from None
    said = [{k: v for k, v in turn.items() if v is not None} for turn in turns]
    question = {**tokenizer.special_tokens_map, **arguments, "conversations": [said], "chat_template": template}
    return str(ask(WORKER, question, seconds))


def without_system_turn(turns: Turns) -> Turns:
    """Returns the turns with the system text prepended to the first other turn."""
    system = [turn["content"] for turn in turns if turn["role"] == "system"]
    others = [dict(turn) for turn in turns if turn["role"] != "system"]
    others[0]["content"] = "\n\n".join([*system, others[0]["content"]])
    return others
