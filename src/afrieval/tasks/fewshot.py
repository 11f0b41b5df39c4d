"""Which worked examples stand before a question.

The choice depends on (seed, data set, split) alone, so it is the same for every language, prompt, limit,
batch size, number of processes and order of documents. Rows are ranked by a hash of these and their row
number; the first ones that may serve are taken. A pool that lacks its last rows ranks the rest the same.
"""

import hashlib
from collections.abc import Sequence

from afrieval.errors import UserError
from afrieval.tasks.documents import Document


def ranking(
    pool: Sequence[Document], seed: int, data_set: str, split: str, document_id: int | None = None
) -> list[Document]:
    """Returns the pool's usable rows in the order in which they are taken.

    Args:
        pool: documents of the few-shot split; defective ones never serve.
        seed: eval.fewshot_random_seed.
        data_set: where they come from, so that all tasks on one data set draw the same rows.
        split: the few-shot split's name.
        document_id: the evaluated document, for examples of its own; None for one choice for all.
    """
    key = f"{seed}:{data_set}:{split}" + ("" if document_id is None else f":{document_id}")

    def rank(row: Document) -> bytes:
        return hashlib.sha256(f"{key}:{row.id}".encode()).digest()

    return sorted((row for row in pool if not row.defect), key=rank)


def examples(ranked: Sequence[Document], shots: int, document: Document, apart: Sequence[str] = ()) -> list[Document]:
    """Returns the first `shots` ranked rows that are not the document itself.

    A row with the same texts is the document itself, whichever split it comes from.

    Args:
        ranked: the pool, as `ranking` orders it.
        shots: how many to take.
        document: the question they stand before.
        apart: fields in which they must differ from it.

    Raises:
        UserError: if too few are left.
    """
    usable = [row for row in ranked if (row.fields, row.choices) != (document.fields, document.choices)]
    taken = [row for row in usable if all(row.fields[name] != document.fields[name] for name in apart)][:shots]
    if len(taken) < shots:
        raise UserError(
            f"eval.num_fewshot is {shots}, but there are only {len(taken)} usable examples",
            f"give {len(taken)} or fewer",
        )
    return taken
