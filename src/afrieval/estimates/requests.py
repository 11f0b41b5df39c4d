"""The requests of a cell, built for a model as a run builds them, without sending them."""

from collections.abc import Sequence
from typing import Any

from afrieval.tasks.cell import Job


def built(job: Job, documents: Sequence[int] | None = None) -> list[Any]:
    """Returns the requests of a cell in the order in which they are asked.

    Args:
        job: that of the cell.
        documents: numbers of scored documents; None for all.
    """
    if job.task is None:
        return []
    chat = {"apply_chat_template": True, "fewshot_as_multiturn": True} if job.chat else {}
    chat |= {"chat_template": job.model.apply_chat_template} if job.chat else {}
    places = job.samples if documents is None else documents
    some = {"limit": None, "samples": list(places)} if places else {"limit": job.limit}
    with job.around():
        job.task.build_all_requests(rank=0, world_size=1, system_instruction=job.system, **some, **chat)
    return [request for request in job.task.instances for _ in range(request.repeats or 1)]


def spread(job: Job, most: int) -> list[int] | None:
    """Returns at most so many documents, spread over a cell; None for all.

    The harness draws the examples of its tasks in the order of documents, so that all are needed there.

    Args:
        job: that of the cell.
        most: number of documents.
    """
    if job.task is None or job.limit is not None or job.samples:
        return None
    n = len(job.task.eval_docs)
    return list(range(0, n, -(-n // most))) if n > most else None
