"""Which token is the most probable one, the same whatever was computed at the same time."""

import torch

from afrieval.scoring.choice import TIE

WIDEST = 100.0  # range of logits that counts; a token that is ruled out has an infinite one


def most_probable(logits: torch.Tensor) -> torch.Tensor:
    """Returns the id of the most probable token at each position; of tokens that tie, the lowest.

    Logits tie that differ by no more than rounding may change: `TIE` of the range that those of a position cover. In 16
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


class Decided(torch.Tensor):
    """Log-probabilities of which the harness takes the most probable tokens as we do."""

    def argmax(self, dim: int) -> torch.Tensor:
        """Returns the ids of the most probable tokens; `dim` is that of the vocabulary, the last."""
        return most_probable(self.as_subclass(torch.Tensor))
