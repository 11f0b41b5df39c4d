"""Checks that prompts begin with exactly one BOS token, and that complete prompts fit the context."""

from collections.abc import Sequence
from typing import Any

from afrieval.errors import UserError
from afrieval.tasks.cell import Cell, Probe

SHOWN = 8
LOOKED_AT = 100


def first_tokens(cells: Sequence[Cell], lm: Any) -> dict[str, list[int]]:
    """Returns task to the ids of the first tokens of one of its prompts, if the tokenizer is known.

    Args:
        cells: the cells to run.
        lm: the model.

    Raises:
        UserError: if complete prompts would not begin with exactly one beginning-of-sequence token:
            scores of Llama 3 would drop by some points without any other sign.
    """
    if not lm.can.count_tokens:
        return {}
    first: dict[str, Probe] = {}
    for cell in cells:
        if cell.coordinates.task not in first and (probe := cell.probe(lm)):
            first[cell.coordinates.task] = probe
    begun = {task: list(lm.tok_encode(probe.prompt)) for task, probe in first.items()}
    for task, tokens in begun.items():
        if first[task].complete:
            _check(task, tokens, getattr(lm.tokenizer, "bos_token_id", None))
    return {task: tokens[:SHOWN] for task, tokens in begun.items()}


def check_fit(cells: Sequence[Cell], lm: Any) -> None:
    """Rejects complete prompts that backends would truncate, some of them silently.

    Only the longest prompts in bytes are checked; one of them is about the longest in tokens.

    Raises:
        UserError: names the task and the context length that it needs.
    """
    for cell in cells:
        if not cell.complete or not (probe := cell.probe(lm)):
            continue
        prompts = sorted(probe.complete, key=lambda p: len(p.encode()))
        longest = max(lm.count_tokens(prompt) for prompt in prompts[-LOOKED_AT:])
        room = longest + probe.answer_tokens
        if room > lm.max_length:
            raise UserError(
                f"a prompt and answer of {cell.coordinates.task} may have {longest} and {probe.answer_tokens} tokens, "
                f"but the model's context has {lm.max_length}",
                f"give a context of {room} (backend_args: max_model_len for vllm, else max_length), "
                "or a smaller --eval.max_gen_toks, which may lower scores",
            )


def _check(task: str, tokens: list[int], bos: int | None) -> None:
    if bos is None:  # a model that knows no such token needs none
        return
    if tokens[:1] != [bos]:
        raise UserError(
            f"prompts of {task} would not begin with the beginning-of-sequence token",
            "give --model.add_bos_token true",
        )
    if tokens[1:2] == [bos]:
        raise UserError(
            f"prompts of {task} would begin with two beginning-of-sequence tokens",
            "give --model.add_bos_token false; the prompts already include one",
        )
