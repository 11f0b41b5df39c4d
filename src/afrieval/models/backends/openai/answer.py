"""Responses of chats and completions to generated texts, with what else is known of them."""

from collections.abc import Mapping, Sequence
from typing import Any

from afrieval.models.backends.openai.failure import LONGEST, Failure, valid
from afrieval.scoring.detailed import Details, Generated

CUT, STOPPED = "length", "stop"
# Why an answer ended, if the model or a filter refused it. Gemini adds a reason, or has names of its own.
REFUSING = ("content_filter", "refusal", "sensitive", "safety", "recitation", "blocklist", "prohibited_content", "spii")
BROKEN = ("error", "network_error", "abort", "insufficient_system_resource")  # why it ended, if it is not an answer


def choice_of(response: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the first choice of a response.

    Raises:
        Failure: if there is none, or the server failed in the middle of it, which some say with status 200.
    """
    choices = response.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    has_text = isinstance(first, dict) and ("text" in first or isinstance(first.get("message"), dict))
    if not isinstance(first, dict) or not (has_text or is_refusal(first)):
        hint = "check that model.api.base_url is that of an OpenAI-compatible server"
        raise Failure("returned a response without an answer", hint=hint, may_cost=True)
    if (error := first.get("error")) or first.get("finish_reason") in BROKEN:
        message = error.get("message") if isinstance(error, dict) else error
        said = " ".join(str(message or first["finish_reason"]).split())[:LONGEST]
        raise Failure(f"failed during an answer: {said}", may_cost=True)
    return first


def is_refusal(choice: Mapping[str, Any]) -> bool:
    """Returns whether the model or a filter refused to answer; the message may be missing then."""
    ended, message = choice.get("finish_reason"), choice.get("message")
    filtered = isinstance(ended, str) and ended.lower().partition(":")[0] in REFUSING
    return filtered or bool(isinstance(message, dict) and _text(message.get("refusal")))


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
    whole, ended = text, choice.get("finish_reason")
    for end in stop:
        text = text.partition(end)[0]
    ended = STOPPED if ended == CUT and text != whole else ended  # at the limit, but after the end
    details: Details = {"finish_reason": ended} if isinstance(ended, str) else {}
    details |= {"model": served} if isinstance(served := response.get("model"), str) else {}
    details |= {"thinking": thinking} if thinking else {}
    details |= {"refused": True} if is_refusal(choice) else {}
    return Generated(text or refusal, details)


def _text(content: Any) -> str:
    """Returns a text; some servers give it in parts, or cut it within a character."""
    if isinstance(content, list):
        content = "".join(
            part["text"] for part in content if isinstance(part, dict) and isinstance(part.get("text"), str)
        )
    return valid(content) if isinstance(content, str) else ""
