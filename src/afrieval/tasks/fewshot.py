"""Which worked examples stand before a question.

The choice depends on (seed, task, split) alone, so it is the same for every language, prompt, limit,
batch size, number of processes and order of documents. Rows are ranked by a hash of these and their row
number; the first ones that may serve are taken. A pool that lacks its last rows ranks the rest the same.
"""

import hashlib
from collections.abc import Sequence

from afrieval.errors import UserError
from afrieval.tasks.documents import Document


def ranking(
    pool: Sequence[Document], seed: int, task: str, split: str, document_id: int | None = None
) -> list[Document]:
    """Returns the pool's usable rows in the order in which they are taken.

    Args:
        pool: documents of the few-shot split; defective ones never serve.
        seed: eval.fewshot_random_seed.
        task: the task's name.
        split: the few-shot split's name.
        document_id: the evaluated document, for examples of its own; None for one choice for all.
    """
    key = f"{seed}:{task}:{split}" + ("" if document_id is None else f":{document_id}")

    def rank(row: Document) -> bytes:
        return hashlib.sha256(f"{key}:{row.id}".encode()).digest()

    return sorted((row for row in pool if not row.defect), key=rank)


def examples(ranked: Sequence[Document], shots: int, document: Document) -> list[Document]:
    """Returns the first `shots` ranked rows that are not the document itself.

    A row with the same texts is the document itself, whichever split it comes from.

    Raises:
        UserError: if too few are left.
    """
    taken = [row for row in ranked if (row.fields, row.choices) != (document.fields, document.choices)][:shots]
    if len(taken) < shots:
        raise UserError(
            f"eval.num_fewshot is {shots}, but there are only {len(taken)} usable examples",
            f"give {len(taken)} or fewer",
        )
    return taken
