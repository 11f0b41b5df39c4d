"""Renders chat templates within limits of time and memory, and keeps the system text."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from functools import cached_property
from typing import Any

from afrieval._util.bounded_templates import SECONDS, ask
from afrieval._util.errors import UserError
from afrieval._util.templates import TemplateFault, checked, fault
from afrieval.config.sections import ChatTags

WORKER = "afrieval.models.chat_template_worker"
MARK = "system text"
DATE = "26 Jul 2024"  # which Llama's own templates take where they cannot ask for the date
Turns = list[dict[str, str]]


class KeepsSystemText:
    """Mixin for the harness' models, which otherwise drop a system text that a template rejects.

    Attributes:
        chat_system: the system text of chats without one; None for none.
        chat_date: the date that templates write; None for `DATE`.
        own_template: a template in place of the tokenizer's; None for that one.
    """

    tokenizer: Any
    chat_system: str | None = None
    chat_date: str | None = None
    own_template: str | None = None

    @property
    def template_arguments(self) -> dict[str, Any]:
        """Arguments of the chat template, apart from the chat."""
        return dict(getattr(self, "chat_template_args", {}))

    @cached_property
    def _takes_system_turn(self) -> bool:
        """Whether the template renders a system turn; some raise an error, some silently omit it."""
        turns = [{"role": "system", "content": MARK}, {"role": "user", "content": "question"}]
        try:
            return MARK in self._text(turns)
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
        has_own = self.chat_system is None or any(turn["role"] == "system" for turn in chat_history)
        said = chat_history if has_own else [{"role": "system", "content": str(self.chat_system)}, *chat_history]
        turns = said if self._takes_system_turn else without_system_turn(said)
        ends = {"add_generation_prompt": add_generation_prompt, "continue_final_message": not add_generation_prompt}
        try:
            return self._text(turns, **ends)
        except TemplateFault as e:
            raise self._refused(e) from None

    def _text(self, turns: Turns, **arguments: Any) -> str:
        named = {"date_string": self.chat_date} if self.chat_date else {}  # Llama's templates ask for it first
        own = {"chat_template": self.own_template} if self.own_template else {}
        given = {**named, **arguments, **self.template_arguments, **own}
        return chat_text(self.tokenizer, turns, given, self.chat_date)

    def _refused(self, e: TemplateFault) -> UserError:
        name = getattr(self.tokenizer, "name_or_path", "") or "the model"
        hint = "give --model.chat_template false, or correct the model's chat_template.jinja or tokenizer_config.json"
        return UserError(f"the chat template of {name} cannot be filled in: {e.reason}", hint)


def chat_text(
    tokenizer: Any, turns: Turns, arguments: Mapping[str, Any], date: str | None = None, seconds: float = SECONDS
) -> str:
    """Returns the result of the tokenizer's `apply_chat_template`, rendered in a separate process.

    Tokenizers that override `apply_chat_template` render the chat themselves.

    Args:
        tokenizer: the model's.
        turns: the chat.
        arguments: of `apply_chat_template`; unknown ones are passed to the template.
        date: what a template gets that asks for today's; `DATE` if not given.
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
    return str(ask(WORKER, [date or DATE, question], seconds))


def without_system_turn(turns: Turns) -> Turns:
    """Returns the turns with the system text prepended to the first other turn."""
    system = [turn["content"] for turn in turns if turn["role"] == "system"]
    others = [dict(turn) for turn in turns if turn["role"] != "system"]
    others[0]["content"] = "\n\n".join([*system, others[0]["content"]])
    return others


def template_of(tags: ChatTags) -> str:
    """Returns a chat template that writes the tags; it renders system turns only if there are tags for them."""
    of = {name: json.dumps(text, ensure_ascii=False) for name, text in asdict(tags).items()}
    roles = ["user", "assistant", *(["system"] if tags.system_start or tags.system_end else [])]
    turns = "".join(
        f"{{%- if turn.role == '{role}' %}}{{{{- {of[f'{role}_start']} + turn.content + {of[f'{role}_end']} -}}}}"
        "{%- endif %}"
        for role in roles
    )
    ending = f"{{%- if add_generation_prompt %}}{{{{- {of['assistant_start']} -}}}}{{%- endif %}}"
    return f"{{%- for turn in messages %}}{turns}{{%- endfor %}}{ending}"
