"""Chat templates: the system text reaches the model, whether its template takes a system turn or not."""

from functools import cached_property
from typing import Any

from jinja2 import TemplateError

Turns = list[dict[str, str]]
MARK = "system text"


class KeepsSystemText:
    """Mixin for the harness' models, which drop the system text where a template refuses it."""

    tokenizer: Any

    @cached_property
    def _takes_system_turn(self) -> bool:
        """Whether the template shows a system turn; some raise an error, some leave it out without a word."""
        turns = [{"role": "system", "content": MARK}, {"role": "user", "content": "question"}]
        try:
            return MARK in self.tokenizer.apply_chat_template(turns, tokenize=False)
        except TemplateError:
            return False

    def apply_chat_template(self, chat_history: Turns, add_generation_prompt: bool = True) -> str:
        """Returns the chat as one text; without a system turn its text stands at the head of the user's first."""
        turns = chat_history if self._takes_system_turn else without_system_turn(chat_history)
        text: str = super().apply_chat_template(turns, add_generation_prompt)  # type: ignore[misc]
        return text


def without_system_turn(turns: Turns) -> Turns:
    """Returns the turns with the system text at the head of the first other turn."""
    system = [turn["content"] for turn in turns if turn["role"] == "system"]
    others = [dict(turn) for turn in turns if turn["role"] != "system"]
    others[0]["content"] = "\n\n".join([*system, others[0]["content"]])
    return others
