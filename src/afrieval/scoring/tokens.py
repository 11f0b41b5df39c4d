"""What a model says of each token of a text: the basis of measures of memorisation."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Need = Literal["tokens", "vocabulary", "gradient"]  # what a metric may need besides the likelihood of a whole text


@dataclass(frozen=True)
class Tokens:
    """The tokens of a text, each given those before it.

    Attributes:
        logprobs: natural logarithm of each token's probability, shape (n,).
        greedy: whether each token is the most likely one, shape (n,).
        means: expected log-probability over the vocabulary at each token, shape (n,); None if not asked for.
        variances: variance of the log-probability over the vocabulary at each token, shape (n,); None if not asked for.
        ends: how many tokens at the end only end the text: 1 if an end-of-text token was appended, else 0.
        gradient_norm: mean over the model's parameter tensors of the 2-norm of the gradient of the mean negative
            log-likelihood; None if not asked for.
        characters: how many characters at the beginning of the text the tokens cover; None if they cover all of it.
    """

    logprobs: NDArray[np.float64]
    greedy: NDArray[np.bool_]
    means: NDArray[np.float64] | None = None
    variances: NDArray[np.float64] | None = None
    ends: int = 0
    gradient_norm: float | None = None
    characters: int | None = None

    @property
    def of_text(self) -> "Tokens":
        """The tokens of the text itself, without those that end it."""
        n = len(self.logprobs) - self.ends
        means, variances = (None if of is None else of[:n] for of in (self.means, self.variances))
        return replace(
            self, logprobs=self.logprobs[:n], greedy=self.greedy[:n], means=means, variances=variances, ends=0
        )

    @property
    def loss(self) -> float:
        """Mean negative log-likelihood of the tokens."""
        return -float(self.logprobs.mean())


def tokens_of(details: Mapping[str, Any]) -> Tokens | None:
    """Returns the tokens in the details of a likelihood, as JSON has them; None if there are none."""
    fields = details.get("tokens")
    if fields is None:
        return None
    means, variances = (None if fields.get(name) is None else np.array(fields[name]) for name in ("means", "variances"))
    return Tokens(
        np.array(fields["logprobs"], dtype=np.float64),
        np.array(fields["greedy"], dtype=np.bool_),
        means,
        variances,
        fields.get("ends", 0),
        fields.get("gradient_norm"),
        fields.get("characters"),
    )
