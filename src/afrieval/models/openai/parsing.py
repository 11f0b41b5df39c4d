"""Reads responses: texts, tokens and likelihoods."""

import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from afrieval._util.terminal import shortened
from afrieval.config.api_settings import Prices
from afrieval.models.load_errors import LONGEST
from afrieval.models.openai.failure import CHECK, Failure, valid
from afrieval.scoring.labels import TOO_LONG
from afrieval.scoring.responses import LOWEST, Details, Generated, Scored, is_cut

THINKING = ("reasoning_content", "reasoning", "thinking")  # where servers give it apart from the answer
ROUNDED = 1e-3  # rounding may make a logarithm exceed 0
# Why an answer ended, if the model or a filter refused it. Gemini adds a reason, or has other names.
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
        reason = " ".join(str(message or first["finish_reason"]).split())[:LONGEST]
        raise Failure(f"failed during an answer: {reason}", may_cost=True)
    return first


def is_refusal(choice: Mapping[str, Any]) -> bool:
    """Returns whether the model or a filter refused to answer; the message may be missing then."""
    ended, message = choice.get("finish_reason"), choice.get("message")
    filtered = isinstance(ended, str) and ended.lower().partition(":")[0] in REFUSING
    return filtered or bool(isinstance(message, dict) and _text(message.get("refusal"), "a refusal"))


def is_logprob(value: Any) -> bool:
    """Returns whether a value is the logarithm of a probability, which rounding may make a little larger than 0."""
    return type(value) in (int, float) and (value == -math.inf or -sys.float_info.max <= value < ROUNDED)


def generated(response: Mapping[str, Any]) -> Generated:
    """Returns the text of a response; thinking that the server gives apart is among its details.

    Raises:
        Failure: if the response has no answer, or one that is not text. No text at all is an answer: a model may
            have used all of its tokens for thinking, or called a tool.
    """
    choice = choice_of(response)
    stated = choice.get("message")
    message = stated if isinstance(stated, dict) else {"content": choice.get("text")}
    content = message.get("content")
    text, refusal = _text(content, "an answer"), _text(message.get("refusal"), "a refusal")
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    thinking = next(filter(None, (_joined(message.get(name)) for name in THINKING)), "")
    thinking = thinking or "".join(_joined(part.get("thinking")) or "" for part in parts)
    incomplete = response.get("incomplete_details")
    stated_ends = [choice.get(name) for name in ("finish_reason", "native_finish_reason", "stop_reason")]
    stated_ends += [response.get("stop_reason"), incomplete.get("reason") if isinstance(incomplete, dict) else None]
    reasons = [reason for reason in stated_ends if isinstance(reason, str)]
    at_limit = (reason for reason in reasons if is_cut({"finish_reason": reason}))  # if the server says so anywhere
    ended = next(at_limit, reasons[0] if reasons else "")
    details: Details = {"finish_reason": valid(ended)} if ended else {}
    details |= {"model": valid(served)} if isinstance(served := response.get("model"), str) else {}
    details |= {"thinking": thinking} if thinking else {}
    details |= {"refused": True} if is_refusal(choice) else {}
    return Generated(text or refusal, details)


def _text(content: Any, what: str) -> str:
    """Returns a text; empty for null."""
    text = _joined(content)
    if text is None and content is not None:
        shown = shortened(json.dumps(content, ensure_ascii=False))
        raise Failure(f"returned {what} that is not text: {valid(shown)}", hint=CHECK, may_cost=True)
    return text or ""


def _joined(content: Any) -> str | None:
    """Returns a text; some servers give it in parts, or cut it within a character. None if it is not text."""
    if isinstance(content, str):
        return valid(content)
    if not isinstance(content, list) or not all(isinstance(part, dict) for part in content):
        return None
    texts = [part.get("text", "" if part.get("type", "text") != "text" else None) for part in content]
    return valid("".join(texts)) if all(isinstance(text, str) for text in texts) else None


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
        return (fresh * prices.input + self.cached * cached + self.completion * prices.output) / 1_000_000

    @property
    def details(self) -> Details:
        """The tokens as they are stored."""
        named = {"cached_tokens": self.cached, "reasoning_tokens": self.reasoning}
        counted = {name: count for name, count in named.items() if count}
        return {"prompt_tokens": self.prompt, "completion_tokens": self.completion, **counted}


NOTHING = Usage(0, 0)


def usage_of(response: Mapping[str, Any]) -> Usage | None:
    """Returns the tokens that a response states; None if it does not state both numbers, or numbers that cannot be.

    Some servers leave thinking out of the answer's tokens, but charge for it: it is in the total.
    """
    stated: Any = response.get("usage")
    prompt, completion, total = (_count(stated, f"{name}_tokens") for name in ("prompt", "completion", "total"))
    numbers = (stated or {}).values() if isinstance(stated, dict) else ()
    if any(isinstance(number, int | float) and number < 0 for number in numbers):
        return None
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
    count = stated.get(name) if isinstance(stated, dict) else None
    return count if _is_count(count) else None


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value <= MOST


PAYLOAD = {"echo": True, "logprobs": 1, "max_tokens": 1}  # some servers take 0 for no limit


def split(context: str, continuation: str) -> tuple[str, str]:
    """Returns context and whole text; blanks at the end of a context belong to what follows, as in the harness."""
    return context.rstrip(), context + continuation


def prompt_tokens(response: Mapping[str, Any]) -> list[tuple[float | None, bool]]:
    """Returns the tokens of a prompt: the log-probability of each, None for the first, and whether it is greedy.

    Raises:
        Failure: if the server did not return all of their log-probabilities.
    """
    stated = choice_of(response).get("logprobs")
    values = stated.get("token_logprobs") if isinstance(stated, dict) else None
    usage = usage_of(response)
    written = usage.completion if usage else 1
    n = len(values) - written if isinstance(values, list) else 0
    if not isinstance(values, list) or n < 1 or written > 1:
        raise _unsupported("returned no log-probabilities of the prompt")
    if not all((i == 0 and value is None) or is_logprob(value) for i, value in enumerate(values[:n])):
        raise _unsupported("returned log-probabilities of the prompt that are not numbers")
    best = stated.get("top_logprobs") if isinstance(stated, dict) else None
    best = best if isinstance(best, list) and len(best) == len(values) else [None] * len(values)
    tokens = []
    for value, top in zip(values[:n], best[:n], strict=True):
        are_known = value is not None and isinstance(top, dict) and all(map(is_logprob, top.values()))
        tokens.append((value, are_known and value >= max(top.values(), default=value)))
    return tokens


def likelihood(response: Mapping[str, Any], n_context: int) -> tuple[float, bool, int]:
    """Returns the log-likelihood of what follows a context, whether it is greedy, and its number of tokens.

    Raises:
        Failure: if the answer has no tokens, or the server did not return all log-probabilities.
    """
    tokens = prompt_tokens(response)
    values = [value for value, _ in tokens[n_context:] if value is not None]
    if n_context < 1 or not values or len(values) < len(tokens) - n_context:
        raise _unsupported(f"returned {len(tokens)} tokens for a prompt whose beginning has {n_context} by itself")
    return sum(values), all(greedy for _, greedy in tokens[n_context:]), len(values)


def _unsupported(message: str) -> Failure:
    hint = "use a server that supports echo with logprobs, such as vLLM, or give --task.answer_form generate"
    return Failure(message, hint=hint, final=True)


BLANKS = str.maketrans("Ġ▁", "  ")  # how some servers show the blank before a token


def likelihoods(response: Mapping[str, Any], letters: Sequence[str]) -> list[tuple[float, bool, int]]:
    """Returns the log-likelihood of each letter, whether it is the most likely token, and its number of tokens.

    A letter may be a token with or without a blank before it; their probabilities add up. One that is not among the
    tokens gets `LOWEST`: it is less likely than all of them, but how much is unknown.

    Raises:
        Failure: if the server returned no log-probabilities, or something else in their place.
    """
    choice = choice_of(response)
    tokens = _first_tokens(choice)
    if not tokens and not (is_refusal(choice) or choice.get("finish_reason") == TOO_LONG):
        hint = "leave model.api.top_logprobs out, and give --task.answer_form generate"
        raise Failure("returned no log-probabilities of the first token", hint=hint, final=True)
    best = max(tokens, key=lambda pair: pair[1], default=("", 0.0))[0]
    return [(_sum([p for token, p in tokens if _is(token, letter)]), _is(best, letter), 1) for letter in letters]


def of_letters(response: Mapping[str, Any], letters: Sequence[str]) -> list[Any]:
    """Returns the `likelihoods` of a question's letters; the first also has how many were not among the tokens."""
    scores, choice = likelihoods(response, letters), choice_of(response)
    missing = sum(likelihood <= LOWEST for likelihood, *_ in scores)
    details: Details = {"letters": len(scores), "missing_letters": missing}
    details |= {"refused": True} if is_refusal(choice) else {}
    details = {"finish_reason": TOO_LONG} if choice.get("finish_reason") == TOO_LONG else details
    return [Scored(each, {} if number else details) for number, each in enumerate(scores)]


def _first_tokens(choice: Mapping[str, Any]) -> list[tuple[str, float]]:
    stated = choice.get("logprobs")
    content = stated.get("content") if isinstance(stated, dict) else None
    first = content[0] if isinstance(content, list) and content else {}
    listed = first.get("top_logprobs") if isinstance(first, dict) else None
    entries = listed if isinstance(listed, list) else []
    pairs: list[Any] = [
        (each.get("token"), each.get("logprob")) if isinstance(each, dict) else (None, None) for each in entries
    ]
    if not all(isinstance(token, str) and is_logprob(p) for token, p in pairs):
        raise Failure("returned tokens without valid log-probabilities", hint=CHECK, may_cost=True)
    return [(token, min(float(p), 0.0)) for token, p in pairs]


def _is(token: str, letter: str) -> bool:
    return token in (letter, f" {letter}") or token.translate(BLANKS) == f" {letter}"


def _sum(logprobs: Sequence[float]) -> float:
    """Returns the logarithm of a sum of probabilities."""
    if not logprobs:
        return LOWEST
    highest = max(logprobs)
    if highest <= LOWEST:
        return LOWEST
    return max(LOWEST, min(0.0, highest + math.log(sum(math.exp(each - highest) for each in logprobs))))
