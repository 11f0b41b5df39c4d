"""Estimates what a run sends and receives, by building its requests without a model."""

from collections.abc import Sequence
from typing import Any

from afrieval.grouping import grouped
from afrieval.models.base import UnknownTokenizer
from afrieval.tasks.cell import Cell
from afrieval.tasks.shown import turns
from afrieval.tasks.size import Size

BYTES_PER_TOKEN = 3  # about that of large vocabularies, in Latin and Ethiopic script alike
BUILT = 200  # documents of a cell; its other requests are taken to be as long


class Unloaded(UnknownTokenizer):
    """Stands for a model that is not loaded, where requests are built."""

    tokenizer_name = ""

    def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
        """Returns a chat as text."""
        return turns(chat_history, add_generation_prompt)


def sizes(cells: Sequence[Cell], together: bool = False, echo: bool = False) -> list[Size]:
    """Returns the sizes of cells by task and language.

    Args:
        cells: the cells to run.
        together: whether one request asks for the likelihoods of all choices.
        echo: whether the context of likelihoods is sent once more, to count its tokens.
    """
    of_place = grouped(cells, lambda cell: (cell.coordinates.task, cell.coordinates.language))
    return [_sum([_size(cell, together, echo) for cell in members]) for members in of_place.values()]


def _sum(found: Sequence[Size]) -> Size:
    numbers = ("documents", "requests", "prompt_tokens", "answer_tokens")
    return Size(found[0].task, found[0].language, *(sum(getattr(size, name) for size in found) for name in numbers))


def _size(cell: Cell, together: bool, echo: bool) -> Size:
    asked, share = _requests(cell)
    if together:
        asked = list({request.args[0]: request for request in asked}.values())
    contexts = {request.args[0] for request in asked if isinstance(request.args[-1], str)} if echo else set[str]()
    requests = len(asked) / share if together else cell.n_requests + len(contexts) / share
    texts = [text for request in asked for text in request.args if isinstance(text, str)]
    sent = sum(len(text.encode()) for text in (*texts, *contexts))
    most = sum(request.args[-1].get("max_gen_toks", 0) for request in asked if isinstance(request.args[-1], dict))
    tokens = (sent / BYTES_PER_TOKEN / share, most / share)
    return Size(cell.coordinates.task, cell.coordinates.language, cell.n, round(requests), *map(round, tokens))


def _requests(cell: Cell) -> tuple[list[Any], float]:
    """Returns the requests of documents spread over a cell, and the share of its documents that they are of."""
    job = cell.build(Unloaded())
    if job.task is None:
        return [], 1.0
    chat = {"apply_chat_template": True, "fewshot_as_multiturn": True, "chat_template": turns} if job.chat else {}
    n = min(cell.n, job.limit or cell.n, len(job.task.eval_docs))
    chosen = range(0, n, -(-n // BUILT))
    with job.around():
        job.task.build_all_requests(
            limit=None, rank=0, world_size=1, samples=list(chosen), system_instruction=job.system, **chat
        )
    return job.task.instances, len(chosen) / n
