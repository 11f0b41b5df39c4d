"""Finds the end of an answer while it is being written."""

from collections.abc import Callable
from typing import Any

from lm_eval.models.utils_hf import stop_sequences_criteria

Ends = Callable[[list[int]], bool]


def ends_of(model: Any, tokenizer: Any, stop: list[str]) -> Ends:
    """Returns a function that tells whether an answer ends with its last token, as the harness does for one prompt.

    The harness looks for each stop text in a few of the last tokens, decoded by themselves. They are decoded here once
    for all stop texts that it looks for in as many tokens.

    Args:
        model: of transformers; its tokens that end a text are those of its generation config.
        tokenizer: the model's.
        stop: texts that end an answer.
    """
    own = model.generation_config.eos_token_id
    last = {own} if isinstance(own, int) else set(own or ())
    texts: dict[int, list[str]] = {}
    for criterion in stop_sequences_criteria(tokenizer, stop, 0, 1):
        texts.setdefault(criterion.sequence_id_len, []).append(criterion.sequence)

    def ends(tokens: list[int]) -> bool:
        if tokens[-1] in last:
            return True
        read = ((tokenizer.decode(tokens[-length:]), sought) for length, sought in texts.items())
        return any(text in decoded for decoded, sought in read for text in sought)

    return ends
