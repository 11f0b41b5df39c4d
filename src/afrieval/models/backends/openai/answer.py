"""Responses of chats and completions to generated texts, with what else is known of them."""

from collections.abc import Mapping, Sequence
from typing import Any

from afrieval.models.backends.openai.failure import Failure
from afrieval.scoring.detailed import Details, Generated

CUT = "length"
FILTER = "content_filter"


def choice_of(response: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the first choice of a response.

    Raises:
        Failure: if there is none.
    """
    choices = response.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(first, dict) or not ("text" in first or isinstance(first.get("message"), dict)):
        hint = "check that model.api.base_url is that of an OpenAI-compatible server"
        raise Failure("returned a response without an answer", hint=hint, may_cost=True)
    return first


def generated(response: Mapping[str, Any], stop: Sequence[str]) -> Generated:
    """Returns the text of a response; thinking is among its details, and never in the text.

    Args:
        response: of a chat or a completion.
        stop: texts that end an answer, for servers that do not know them.

    Raises:
        Failure: if the response has no answer.
    """
    choice = choice_of(response)
    message = choice.get("message") or {"content": choice.get("text")}
    text, refusal = _text(message.get("content")), _text(message.get("refusal"))
    thinking = _text(message.get("reasoning_content")) or _text(message.get("reasoning"))
    ended = choice.get("finish_reason")
    details: Details = {"finish_reason": ended} if isinstance(ended, str) else {}
    details |= {"model": served} if isinstance(served := response.get("model"), str) else {}
    details |= {"thinking": thinking} if thinking else {}
    details |= {"refused": True} if ended == FILTER or refusal else {}
    for end in stop:
        text = text.partition(end)[0]
    return Generated(text or refusal, details)


def _text(content: Any) -> str:
    """Returns a text; some servers give it in parts."""
    if isinstance(content, list):
        return "".join(part["text"] for part in content if isinstance(part, dict) and isinstance(part.get("text"), str))
    return content if isinstance(content, str) else ""
