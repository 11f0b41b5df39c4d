"""What is taken from the logits of a forward pass: of each token asked for, or of the whole vocabulary."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from afrieval.models.engine.ties import most_probable
from afrieval.models.engine.tree import Ints

CHUNK = 2**24  # logits at a time: their logarithms, in 32 bits, take as much memory again several times
LEAST = -1e4  # for logarithms of probabilities that are 0 in 32 bits
Table = NDArray[np.float64]  # rows are log-probabilities, whether tokens are greedy, and then means and variances


def read(lm: Any, logits: torch.Tensor, answers: Ints, where: Ints, vocabulary: bool = False) -> Table:
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


def on_device(lm: Any, logits: torch.Tensor, answers: Ints, where: Ints, vocabulary: bool = False) -> torch.Tensor:
    """Returns what `read` returns, where the logits are."""
    rows, asked = torch.from_numpy(where).to(logits.device), torch.from_numpy(answers).to(logits.device)
    step = max(1, CHUNK // logits.shape[-1])
    begins = range(0, len(logits), step)
    bounds = np.searchsorted(where, [*begins, len(logits)])
    parts = [
        _read(lm, logits[begin : begin + step], asked[first:end], rows[first:end] - begin, vocabulary)
        for begin, first, end in zip(begins, bounds[:-1], bounds[1:], strict=True)
    ]
    return torch.cat(parts, dim=1) if parts else torch.empty(2 + 2 * vocabulary, 0)


def _read(lm: Any, logits: torch.Tensor, asked: torch.Tensor, rows: torch.Tensor, vocabulary: bool) -> torch.Tensor:
    logprobs = torch.log_softmax(logits, dim=-1, dtype=lm.softmax_dtype)
    found = [logprobs[rows, asked], most_probable(logits)[rows] == asked]
    found += [moment[rows] for moment in moments(logprobs)] if vocabulary else []
    return torch.stack([each.to(logprobs.dtype) for each in found])


def moments(logprobs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns mean and variance of log p under p itself, of each distribution in the last dimension."""
    p = logprobs.exp()
    finite = logprobs.clamp(min=LEAST)  # which counts nothing where p is 0
    mean = (p * finite).sum(dim=-1)
    return mean, finite.sub_(mean[..., None]).square_().mul_(p).sum(dim=-1)
