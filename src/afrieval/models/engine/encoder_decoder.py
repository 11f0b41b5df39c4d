"""Log-likelihoods of answers by an encoder-decoder: a context is encoded once, whatever is asked about it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from accelerate.utils.memory import should_reduce_batch_size
from transformers.cache_utils import DynamicCache, EncoderDecoderCache

from afrieval.models.engine.likelihood import Answer, TokenRequest
from afrieval.models.engine.memory import Packs, too_small


def encoder_decoder_loglikelihoods(
    lm: Any, requests: list[TokenRequest], packs: Packs, answered: Callable[[int, Answer], None]
) -> list[Answer]:
    """Returns the log-likelihood of each answer and whether it is the greedy one, in the order of the requests.

    Args:
        lm: a model of the harness' hf backend.
        requests: (anything, tokens of the context, tokens of the answer); cut from the left as the harness does.
        packs: how many tokens are encoded at a time, padding included.
        answered: called with the number of a request and its answer as soon as it is known.

    Raises:
        UserError: if a single context needs too much memory.
    """
    asked: dict[tuple[int, ...], list[int]] = {}
    for i, (_, context, _) in enumerate(requests):
        asked.setdefault(tuple(context[-lm.max_length :]), []).append(i)
    contexts = sorted(asked, key=len, reverse=True)
    answers: list[Answer] = [(0.0, False)] * len(requests)
    while contexts:
        batch = contexts[: max(1, packs.size(lm, len(contexts[0])) // len(contexts[0]))]
        numbers = [(row, i) for row, context in enumerate(batch) for i in asked[context]]
        texts = [requests[i][2][-lm.max_length :] for _, i in numbers]
        try:
            found = _batch(lm, batch, [row for row, _ in numbers], texts)
        except RuntimeError as e:
            if not should_reduce_batch_size(e):
                raise
            if len(batch) == 1:
                raise too_small(len(batch[0])) from e
            packs.halve(len(batch) * len(batch[0]), e)
            continue
        for (_, i), answer in zip(numbers, found, strict=True):
            answers[i] = answer
            answered(i, answer)
        contexts = contexts[len(batch) :]
    return answers


def _batch(lm: Any, contexts: list[tuple[int, ...]], rows: list[int], answers: list[list[int]]) -> list[Answer]:
    """Returns the answers' likelihoods; `rows` says which context each of them is about.

    The decoder begins with the same token whatever the answer: one step with it gives the first tokens' probabilities
    and leaves the keys and values of the encoder's output in the cache, ready to be shared.
    """
    encoded, mask = _padded(lm, contexts)
    which = torch.tensor(rows, device=lm.device)
    cache = EncoderDecoderCache(DynamicCache(), DynamicCache())
    start = torch.full((len(contexts), 1), lm.model.config.decoder_start_token_id, device=lm.device)
    with (
        torch.no_grad(),
        torch.autocast(lm.device.type, lm.mixed_precision_dtype, lm.mixed_precision_dtype is not None),
    ):
        states = lm.model.get_encoder()(input_ids=encoded, attention_mask=mask)
        shared = {"encoder_outputs": states, "attention_mask": mask, "past_key_values": cache, "use_cache": True}
        logits = lm.model(decoder_input_ids=start, **shared).logits[which]
        if max(map(len, answers)) > 1:
            begun, _ = _padded(lm, [answer[:-1] for answer in answers])
            cache.batch_select_indices(which)
            states = type(states)(last_hidden_state=states.last_hidden_state[which])
            shared |= {"encoder_outputs": states, "attention_mask": mask[which]}
            logits = torch.cat([logits, lm.model(decoder_input_ids=begun, **shared).logits], dim=1)
    logprobs = torch.log_softmax(logits, dim=-1, dtype=lm.softmax_dtype)
    best = logits.argmax(dim=-1)
    wanted, _ = _padded(lm, answers)
    values = logprobs.gather(2, wanted[:, :, None])[:, :, 0].double().cpu().numpy()
    greedy = (best == wanted).cpu().numpy()
    return [
        (float(np.sum(values[i, : len(answer)])), bool(greedy[i, : len(answer)].all()))
        for i, answer in enumerate(answers)
    ]


def _padded(lm: Any, rows: list[Any]) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns token ids, padded on the right, and where there are any."""
    longest = max(map(len, rows))
    ids = torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows], dtype=torch.long)
    mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows])
    return ids.to(lm.device), mask.to(lm.device)
