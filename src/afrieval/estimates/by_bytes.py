"""Estimates what a run sends and receives where no tokenizer is known, by building its requests without a model."""

from collections.abc import Sequence

from afrieval.estimates.requests import built, spread
from afrieval.estimates.size import Size, by_place
from afrieval.models.answer_file import AnswerFile
from afrieval.models.base import UnknownTokenizer
from afrieval.models.response_cache import CachedLM
from afrieval.models.work import Amount
from afrieval.tasks.cell import Cell
from afrieval.tasks.shown import turns

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
    model = CachedLM(Unloaded(), AnswerFile(None))
    return by_place(_size(cell, model, together, echo) for cell in cells)


def _size(cell: Cell, model: CachedLM, together: bool, echo: bool) -> Size:
    job = cell.build(model)
    documents = spread(job, BUILT)
    asked, whole = built(job, documents), len(job.task.eval_docs) / len(documents) if documents else 1.0
    if together:
        asked = list({request.args[0]: request for request in asked}.values())
    contexts = {request.args[0] for request in asked if isinstance(request.args[-1], str)} if echo else set[str]()
    requests = len(asked) * whole if together else cell.n_requests + len(contexts) * whole
    texts = [text for request in asked for text in request.args if isinstance(text, str)]
    sent = sum(len(text.encode()) for text in (*texts, *contexts))
    most = sum(request.args[-1].get("max_gen_toks", 0) for request in asked if isinstance(request.args[-1], dict))
    amount = Amount(round(requests), round(sent / BYTES_PER_TOKEN * whole), most=round(most * whole))
    place = cell.coordinates.task, cell.coordinates.language, 1, cell.n
    return Size(*place, answers=amount) if "generate_until" in cell.asks else Size(*place, likelihoods=amount)
