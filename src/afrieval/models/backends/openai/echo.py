"""Likelihoods by completions that repeat the prompt with the log-probability of each of its tokens.

Context and answer are split as the harness does it: as many tokens as the context has by itself are context. The
server counts them, since texts of single tokens need not be valid UTF-8, and have no reliable offsets.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from afrieval.models.backends.openai.answer import choice_of, is_logprob
from afrieval.models.backends.openai.failure import Failure
from afrieval.models.backends.openai.usage import usage_of

PAYLOAD = {"echo": True, "logprobs": 1, "max_tokens": 1}  # some servers take 0 for no limit


class Token(NamedTuple):
    """A token of a prompt.

    Attributes:
        logprob: its log-probability after those before it; None for the first.
        greedy: whether no other token was more likely.
    """

    logprob: float | None
    greedy: bool


def split(context: str, continuation: str) -> tuple[str, str]:
    """Returns context and whole text; blanks at the end of a context belong to what follows, as in the harness."""
    return context.rstrip(), context + continuation


def prompt_tokens(response: Mapping[str, Any]) -> list[Token]:
    """Returns the tokens of a prompt.

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
    if not all((at == 0 and value is None) or is_logprob(value) for at, value in enumerate(values[:n])):
        raise _unsupported("returned log-probabilities of the prompt that are not numbers")
    best = stated.get("top_logprobs") if isinstance(stated, dict) else None
    best = best if isinstance(best, list) and len(best) == len(values) else [None] * len(values)
    return [Token(value, _is_greedy(value, top)) for value, top in zip(values[:n], best[:n], strict=True)]


def likelihood(tokens: list[Token], n_context: int) -> tuple[float, bool, int]:
    """Returns the log-likelihood of what follows a context, whether it is greedy, and its number of tokens.

    Args:
        tokens: of context and answer.
        n_context: how many tokens the context has by itself.

    Raises:
        Failure: if the answer has no tokens.
    """
    answer = tokens[n_context:]
    values = [token.logprob for token in answer if token.logprob is not None]
    if n_context < 1 or not answer or len(values) < len(answer):
        raise _unsupported(f"returned {len(tokens)} tokens for a prompt whose beginning has {n_context} by itself")
    return sum(values), all(token.greedy for token in answer), len(answer)


def _is_greedy(value: float | None, top: Any) -> bool:
    if value is None or not isinstance(top, dict) or not all(map(is_logprob, top.values())):
        return False
    return value >= max(top.values(), default=value)


def _unsupported(said: str) -> Failure:
    hint = "use a server that supports echo with logprobs, such as vLLM, or give --task.answer_form generate"
    return Failure(said, hint=hint, final=True)
