"""Renders chat templates within limits of time and memory, and checks that nothing of a chat is lost.

Templates are rendered in a separate process, which runs this module.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime
from functools import cached_property
from types import SimpleNamespace
from typing import Any

from afrieval._util.errors import UserError
from afrieval._util.templates import SECONDS, TemplateFault, ask, checked, fault, serve_texts
from afrieval._util.terminal import one_line, shortened
from afrieval.config.settings import DATE_FORM, ChatTags
from afrieval.scoring.thinking import opens

WORKER = "afrieval.models.chat_template"
CORRECT = "give --model.chat_template false, or correct the model's chat_template.jinja or tokenizer_config.json"
DATE = "26 Jul 2024"  # which Llama's own templates take where they cannot ask for the date
ANSWER = "my answer"
UNTHINKING = {"enable_thinking": False, "thinking": False}  # in the words of several families of models
PART = "[{'type':'text','text':"
Turns = list[dict[str, str]]
Form = Callable[[Turns], Sequence[Mapping[str, Any]]]


class KeepsSystemText:
    """Mixin for the harness' models, which otherwise drop a system text that a template rejects.

    Attributes:
        chat_system: the system text of chats without one; None for none.
        chat_date: the date that templates write; None for `DATE`.
        own_template: a template in place of the tokenizer's; None for that one.
        thinks: whether answers may begin with thinking; if not, a template that begins it is asked to close it.
        turn_ends: ids of tokens that end an answer in a chat, whatever the tokenizer's EOS is.
    """

    tokenizer: Any
    chat_system: str | None = None
    chat_date: str | None = None
    own_template: str | None = None
    thinks = True
    turn_ends: Sequence[int] = ()

    @property
    def template_arguments(self) -> dict[str, Any]:
        """Arguments of the chat template, apart from the chat."""
        return dict(getattr(self, "chat_template_args", {}))

    @cached_property
    def _forms(self) -> dict[tuple[str, ...], Form]:
        """For chats of each sequence of roles, the form that the template renders without loss."""
        return {}

    def apply_chat_template(self, chat_history: Turns, add_generation_prompt: bool = True) -> str:
        """Returns the chat as one text, in the first of `FORMS` that the template renders whole.

        Args:
            chat_history: the turns.
            add_generation_prompt: whether to begin a new turn; if False, the model continues the last one.

        Raises:
            UserError: if the template cannot be filled in, loses some of the chat, or needs too much time or memory.
        """
        has_own = self.chat_system is None or any(turn["role"] == "system" for turn in chat_history)
        turns = chat_history if has_own else [{"role": "system", "content": str(self.chat_system)}, *chat_history]
        ends = {"add_generation_prompt": add_generation_prompt, "continue_final_message": not add_generation_prompt}
        roles, losses, faults = tuple(turn["role"] for turn in turns), list[UserError](), list[UserError]()
        for form in [self._forms[roles]] if roles in self._forms else FORMS:
            try:
                text = self._text(form(turns), **ends)
                if not self.thinks and opens(text):
                    text = self._text(form(turns), **ends, **UNTHINKING)
            except TemplateFault as e:
                faults.append(self._refused(f"cannot be filled in: {e.reason}", CORRECT))
                if e.ended:
                    break
                continue
            if (missing := lost(turns, text)) is None:
                self._forms[roles] = form
                return text
            losses.append(self._loses(turns, missing))
        raise (losses or faults)[0]

    def ends_of_turn(self) -> list[int]:
        """Returns the id of the special token that follows an answer in a chat; none if no such token does."""
        turns = [{"role": "user", "content": "question"}, {"role": "assistant", "content": ANSWER}]
        for form in FORMS[::2]:
            with suppress(TemplateFault):
                text = self._text(form(turns), add_generation_prompt=False, continue_final_message=False)
                rest = text.rpartition(ANSWER)[2].lstrip()
                added = getattr(self.tokenizer, "added_tokens_decoder", {}).items() if ANSWER in text else ()
                ends = {token.content: number for number, token in added if token.special}
                if first := max(filter(rest.startswith, ends), key=len, default=""):
                    return [ends[first]]
        return []

    def _text(self, turns: Sequence[Mapping[str, Any]], **arguments: Any) -> str:
        named = {"date_string": self.chat_date} if self.chat_date else {}  # Llama's templates ask for it first
        template = {"chat_template": self.own_template} if self.own_template else {}
        all_arguments = {**named, **self.template_arguments, **arguments, **template}
        return chat_text(self.tokenizer, turns, all_arguments, self.chat_date)

    def _loses(self, turns: Turns, missing: int) -> UserError:
        later = any(turn["role"] == "user" for turn in turns[missing + 1 :])
        what, cure = ("few-shot examples", "--shots 0, ") if later else ("some of the question", "")
        begins = shortened(one_line(turns[missing]["content"]))
        hint = f"give {cure}another template (--model.chat_tags), or --model.chat_template false"
        return self._refused(f"loses {what}: no prompt has {begins!r}", hint)

    def _refused(self, problem: str, hint: str) -> UserError:
        name = getattr(self.tokenizer, "name_or_path", "") or "the model"
        return UserError(f"the chat template of {name} {problem}", hint)


def lost(turns: Turns, text: str) -> int | None:
    """Returns the number of the first turn whose content is not in a text, apart from blanks; None if all are there.

    A system text may be anywhere, and other turns in their order: a short answer is in many questions, too.
    """
    whole, begin = "".join(text.split()), 0
    if PART in whole:  # a list of parts as Python writes it
        return 0
    for number, turn in enumerate(turns):
        content, is_system = "".join(turn["content"].split()), turn["role"] == "system"
        if (position := whole.find(content, 0 if is_system else begin)) < 0:
            return number - (content in whole)  # then a short one before it was found in its place
        begin = begin if is_system else position + len(content)
    return None


def chat_text(
    tokenizer: Any,
    turns: Sequence[Mapping[str, Any]],
    arguments: Mapping[str, Any],
    date: str | None = None,
    seconds: float = SECONDS,
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
    conversation = [{k: v for k, v in turn.items() if v is not None} for turn in turns]
    question = {**tokenizer.special_tokens_map, **arguments, "conversations": [conversation], "chat_template": template}
    return str(ask(WORKER, [date or DATE, question], seconds))


def without_system_turn(turns: Turns) -> Turns:
    """Returns the turns with the system text prepended to the first other turn."""
    system = [turn["content"] for turn in turns if turn["role"] == "system"]
    others = [dict(turn) for turn in turns if turn["role"] != "system"]
    others[0]["content"] = "\n\n".join([*system, others[0]["content"]])
    return others


def in_parts(turns: Turns) -> list[dict[str, Any]]:
    """Returns the turns with contents as lists of parts, as templates of models for images and text may need them."""
    return [{**turn, "content": [{"type": "text", "text": turn["content"]}]} for turn in turns]


# The forms in which a chat is given to a template. Some templates reject or omit a system turn: its text begins the
# user's first turn then.
FORMS: tuple[Form, ...] = (
    lambda turns: turns,
    lambda turns: without_system_turn(turns),
    lambda turns: in_parts(turns),
    lambda turns: in_parts(without_system_turn(turns)),
)


def template_of(tags: ChatTags) -> str:
    """Returns a chat template that writes the tags; it renders system turns only if there are tags for them."""
    tag = {name: json.dumps(text, ensure_ascii=False) for name, text in asdict(tags).items()}
    roles = ["user", "assistant", *(["system"] if tags.system_start or tags.system_end else [])]
    turns = "".join(
        f"{{%- if turn.role == '{role}' %}}{{{{- {tag[f'{role}_start']} + turn.content + {tag[f'{role}_end']} -}}}}"
        "{%- endif %}"
        for role in roles
    )
    ending = f"{{%- if add_generation_prompt %}}{{{{- {tag['assistant_start']} -}}}}{{%- endif %}}"
    return f"{{%- for turn in messages %}}{turns}{{%- endfor %}}{ending}"


if __name__ == "__main__":
    from transformers.utils import chat_template_utils  # before memory is limited

    def rendered(question: tuple[str, dict[str, Any]]) -> str:
        """Returns a chat as one text, as transformers' own function does, but for today's date."""
        date, arguments = question
        day = datetime.strptime(date, DATE_FORM)  # today's would change prompts and scores from day to day
        chat_template_utils.datetime = SimpleNamespace(now=lambda: day)  # which strftime_now of templates asks
        (text,), _ = chat_template_utils.render_jinja_template(**arguments)
        return checked(str(text))

    serve_texts(rendered)
