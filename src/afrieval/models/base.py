"""What the suite asks of a model, whatever its backend."""

import math
from dataclasses import dataclass
from typing import Any, Literal

from afrieval.models.fingerprint import fingerprint


@dataclass(frozen=True)
class Capabilities:
    """What a model can do, as far as it is known before it is loaded.

    Attributes:
        loglikelihood: whether it gives the likelihood of an answer after a prompt.
        rolling: whether it gives the likelihood of a whole text.
        generate: whether it writes answers.
        chat: how it takes a chat: as `text`, by the template of its tokenizer; as `messages`, and then it takes nothing
            but chats; None if it takes none.
        count_tokens: whether its tokenizer is at hand.
        max_length: how many tokens a prompt and its answer may have; None if only the loaded model tells.
        assumed: whether that length is a default of the backend, and not the model's own.
    """

    loglikelihood: bool = True
    rolling: bool = True
    generate: bool = True
    chat: Literal["text", "messages"] | None = "text"
    count_tokens: bool = True
    max_length: int | None = None
    assumed: bool = False


class Model:
    """Mixin for the harness' models: what the rest of the suite may use, apart from asking for answers.

    Attributes:
        can: what the model can do.
        tokenizer: of the model; only where `can.count_tokens`.
        max_length: how many tokens a prompt and its answer may have; infinite where it is not known.
        too_long: requests that lost their beginning since they were last counted.
    """

    can = Capabilities()
    tokenizer: Any
    tok_encode: Any
    max_length: Any
    too_long = 0

    def count_tokens(self, text: str) -> int:
        """Returns how many tokens a text has; at most so many where the tokenizer is not known."""
        return len(self.tok_encode(text)) if self.can.count_tokens else most_tokens(text)

    def fingerprint(self) -> str:
        """Returns a short name of what was loaded: another model under the same name has another."""
        return fingerprint(self)


class UnknownTokenizer(Model):
    """Measures texts for a model that is not known yet."""

    can = Capabilities(count_tokens=False)
    max_length = math.inf


def most_tokens(text: str) -> int:
    """Returns how many tokens a text has at most: one per byte, and one that opens the sequence."""
    return len(text.encode()) + 1
