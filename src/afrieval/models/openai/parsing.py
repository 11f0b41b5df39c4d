"""Responses of chats and completions: generated texts, tokens and cost."""

import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from afrieval._util.terminal import shortened
from afrieval.config.sections import Prices
from afrieval.models.base import most_tokens
from afrieval.models.openai.failure import CHECK, LONGEST, Failure, valid
from afrieval.scoring.responses import Details, Generated

CUT, STOPPED = "length", "stop"
ROUNDED = 1e-3  # rounding may make a logarithm exceed 0
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
        raise Failure("returned a response without an answer", hint=CHECK, may_cost=True)
    if (error := first.get("error")) or first.get("finish_reason") in BROKEN:
        message = error.get("message") if isinstance(error, dict) else error
        said = " ".join(str(message or first["finish_reason"]).split())[:LONGEST]
        raise Failure(f"failed during an answer: {said}", may_cost=True)
    return first


def is_refusal(choice: Mapping[str, Any]) -> bool:
    """Returns whether the model or a filter refused to answer; the message may be missing then."""
    ended, message = choice.get("finish_reason"), choice.get("message")
    filtered = isinstance(ended, str) and ended.lower().partition(":")[0] in REFUSING
    return filtered or bool(isinstance(message, dict) and _text(message.get("refusal"), "a refusal"))


def is_logprob(value: Any) -> bool:
    """Returns whether a value is the logarithm of a probability, which rounding may make a little larger than 0."""
    return type(value) in (int, float) and (value == -math.inf or -sys.float_info.max <= value < ROUNDED)


def generated(response: Mapping[str, Any], stop: Sequence[str]) -> Generated:
    """Returns the text of a response; thinking is among its details, and never in the text.

    Args:
        response: of a chat or a completion.
        stop: texts that end an answer, for servers that do not know them.

    Raises:
        Failure: if the response has no answer, or one that is not text. No text at all is an answer: a model may
            have used all of its tokens for thinking, or called a tool.
    """
    choice = choice_of(response)
    stated = choice.get("message")
    message = stated if isinstance(stated, dict) else {"content": choice.get("text")}
    text, refusal = _text(message.get("content"), "an answer"), _text(message.get("refusal"), "a refusal")
    thinking = _joined(message.get("reasoning_content")) or _joined(message.get("reasoning"))
    whole, ended = text, choice.get("finish_reason")
    for end in stop:
        text = text.partition(end)[0]
    ended = STOPPED if ended == CUT and text != whole else ended  # at the limit, but after the end
    details: Details = {"finish_reason": valid(ended)} if isinstance(ended, str) else {}
    details |= {"model": valid(served)} if isinstance(served := response.get("model"), str) else {}
    details |= {"thinking": thinking} if thinking else {}
    details |= {"refused": True} if is_refusal(choice) else {}
    return Generated(text or refusal, details)


def _text(content: Any, what: str) -> str:
    """Returns a text; empty for null.

    Raises:
        Failure: for any other value, of which no text can be made.
    """
    text = _joined(content)
    if text is None and content is not None:
        shown = shortened(json.dumps(content, ensure_ascii=False))
        raise Failure(f"returned {what} that is not text: {valid(shown)}", hint=CHECK, may_cost=True)
    return text or ""


def _joined(content: Any) -> str | None:
    """Returns a text; some servers give it in parts, or cut it within a character. None if it is not text."""
    if isinstance(content, str):
        return valid(content)
    if not isinstance(content, list) or not all(map(_is_part, content)):
        return None
    return valid("".join(part.get("text", "") for part in content))


def _is_part(part: Any) -> bool:
    """Returns whether a part of an answer is text, or of another type, such as thinking."""
    if not isinstance(part, dict):
        return False
    return isinstance(part.get("text"), str) or ("text" not in part and part.get("type", "text") != "text")


MILLION = 1_000_000
MOST = 10**9  # tokens of a request that are believed


@dataclass(frozen=True)
class Usage:
    """Tokens of a request.

    Attributes:
        prompt: of the prompt.
        completion: of the answer, thinking included.
        cached: of the prompt, how many the server had cached.
        reasoning: of the answer, how many were thinking.
    """

    prompt: int
    completion: int
    cached: int = 0
    reasoning: int = 0

    def cost(self, prices: Prices) -> float | None:
        """Returns the price of these tokens; None if prices are unknown."""
        if prices.input is None or prices.output is None:
            return None
        cached = prices.input if prices.cached_input is None else prices.cached_input
        fresh = max(self.prompt - self.cached, 0)
        return (fresh * prices.input + self.cached * cached + self.completion * prices.output) / MILLION

    @property
    def details(self) -> Details:
        """The tokens as they are stored."""
        named = {"cached_tokens": self.cached, "reasoning_tokens": self.reasoning}
        told = {name: count for name, count in named.items() if count}
        return {"prompt_tokens": self.prompt, "completion_tokens": self.completion, **told}


NOTHING = Usage(0, 0)


def most(prompt: str, max_tokens: int) -> Usage:
    """Returns the most tokens that a request may take: one per byte of its JSON text, and a whole answer."""
    return Usage(most_tokens(prompt), max_tokens)


def usage_of(response: Mapping[str, Any]) -> Usage | None:
    """Returns the tokens that a response states; None if it does not state both numbers, or numbers that cannot be.

    Some servers leave thinking out of the answer's tokens, but charge for it: it is in the total.
    """
    stated: Any = response.get("usage")
    prompt, completion, total = (_count(stated, f"{name}_tokens") for name in ("prompt", "completion", "total"))
    if not prompt or (completion is None and (total or 0) < prompt):  # each request has a prompt
        return None
    completion = max(completion or 0, (total or 0) - prompt)
    cached = _count(stated.get("prompt_tokens_details"), "cached_tokens") or 0
    reasoning = _count(stated.get("completion_tokens_details"), "reasoning_tokens") or 0
    return Usage(prompt, completion, cached if cached <= prompt else 0, reasoning)


def usage_in(details: Details) -> Usage | None:
    """Returns the tokens in the details of a stored answer; None if they are unknown."""
    prompt, completion = (_count(details, f"{name}_tokens") for name in ("prompt", "completion"))
    if prompt is None or completion is None:
        return None
    return Usage(prompt, completion, *(_count(details, f"{name}_tokens") or 0 for name in ("cached", "reasoning")))


def pair_in(details: Details, name: str) -> Usage:
    """Returns the tokens of prompt and answer in a pair that is stored with an answer; nothing if there is none."""
    pair = details.get(name)
    return Usage(*pair) if isinstance(pair, list) and len(pair) == 2 and all(map(_is_count, pair)) else NOTHING


def _count(stated: Any, name: str) -> int | None:
    """Returns a number of tokens; None if it is not stated, or cannot be one."""
    found = stated.get(name) if isinstance(stated, dict) else None
    return found if _is_count(found) else None


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value <= MOST
