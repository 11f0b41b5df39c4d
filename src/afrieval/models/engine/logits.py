"""Reads log-probabilities and the most probable token from logits, and finds where an answer ends."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from lm_eval.models.utils_hf import stop_sequences_criteria
from numpy.typing import NDArray
from torch import Tensor

from afrieval.models.engine.requests import EngineModel
from afrieval.models.engine.tree import Ints

TIE = 1e-5  # of the range of logits; scoring.responses takes as much of likelihoods
WIDEST = 100.0  # range of logits that counts; a token that is ruled out has an infinite one


def most_probable(logits: Tensor) -> Tensor:
    """Returns the id of the most probable token at each position; of tokens that tie, the lowest.

    Logits tie that differ by no more than rounding may change: `TIE` of the range of logits at a position. In 16
    bits, where steps between numbers are larger, only equal ones do.

    Args:
        logits: [..., vocabulary], or their logarithms of probabilities, which differ by the same amounts.

    Returns:
        Token ids, [...].
    """
    highest, lowest = (bound(dim=-1, keepdim=True).float() for bound in (logits.amax, logits.amin))
    slack = TIE * (highest - lowest).clamp(1.0, WIDEST)
    near = logits >= (highest - slack).to(logits.dtype)
    return near.view(torch.uint8).argmax(dim=-1)  # torch takes the first of equal ones


class Decided(Tensor):
    """Log-probabilities of which the harness takes the most probable tokens as we do."""

    def argmax(self, dim: int) -> Tensor:
        """Returns the ids of the most probable tokens; the last dimension is the vocabulary."""
        return most_probable(self.as_subclass(Tensor))


CHUNK = 2**24  # logits at a time: their logarithms, in 32 bits, take as much memory again several times
LEAST = -1e4  # for logarithms of probabilities that are 0 in 32 bits
Table = NDArray[np.float64]  # rows are log-probabilities, whether tokens are greedy, and then means and variances


def read(lm: EngineModel, logits: Tensor, answers: Ints, where: Ints, vocabulary: bool = False) -> Table:
    """Returns the log-probabilities of answer tokens, and whether each is the most probable one.

    Args:
        lm: the model.
        logits: [positions, vocabulary].
        answers: token ids.
        where: the position of each, in increasing order.
        vocabulary: whether mean and variance of the log-probability over the vocabulary are wanted too.

    Returns:
        Array, [2 or 4, answers].
    """
    table: Table = on_device(lm, logits, answers, where, vocabulary).cpu().double().numpy()
    return table


def on_device(lm: EngineModel, logits: Tensor, answers: Ints, where: Ints, vocabulary: bool = False) -> Tensor:
    """Returns what `read` returns, where the logits are."""
    rows, tokens = torch.from_numpy(where).to(logits.device), torch.from_numpy(answers).to(logits.device)
    step = max(1, CHUNK // logits.shape[-1])
    begins = range(0, len(logits), step)
    bounds = np.searchsorted(where, [*begins, len(logits)])
    parts = [
        _read(lm, logits[begin : begin + step], tokens[first:end], rows[first:end] - begin, vocabulary)
        for begin, first, end in zip(begins, bounds[:-1], bounds[1:], strict=True)
    ]
    return torch.cat(parts, dim=1) if parts else torch.empty(2 + 2 * vocabulary, 0)


def _read(lm: EngineModel, logits: Tensor, tokens: Tensor, rows: Tensor, vocabulary: bool) -> Tensor:
    logprobs = torch.log_softmax(logits, dim=-1, dtype=lm.softmax_dtype)
    columns = [logprobs[rows, tokens], most_probable(logits)[rows] == tokens]
    columns += [moment[rows] for moment in moments(logprobs)] if vocabulary else []
    return torch.stack([each.to(logprobs.dtype) for each in columns])


def moments(logprobs: Tensor) -> tuple[Tensor, Tensor]:
    """Returns mean and variance of log p under p itself, of each distribution in the last dimension."""
    p = logprobs.exp()
    finite = logprobs.clamp(min=LEAST)  # which counts nothing where p is 0
    mean = (p * finite).sum(dim=-1)
    return mean, finite.sub_(mean[..., None]).square_().mul_(p).sum(dim=-1)


Ends = Callable[[list[int]], bool]


def ends_of(model: Any, tokenizer: Any, stop: list[str]) -> Ends:
    """Returns a function that tells whether an answer ends with its last token, as the harness does for one prompt.

    The harness looks for each stop text in a few of the last tokens, decoded by themselves. They are decoded here once
    for all stop texts that it looks for in as many tokens.
    """
    eos = model.generation_config.eos_token_id
    last = {eos} if isinstance(eos, int) else set(eos or ())
    texts: dict[int, list[str]] = {}
    for criterion in stop_sequences_criteria(tokenizer, stop, 0, 1):
        texts.setdefault(criterion.sequence_id_len, []).append(criterion.sequence)

    def ends(tokens: list[int]) -> bool:
        if tokens[-1] in last:
            return True
        read = ((tokenizer.decode(tokens[-length:]), sought) for length, sought in texts.items())
        return any(text in decoded for decoded, sought in read for text in sought)

    return ends
