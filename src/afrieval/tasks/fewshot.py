"""Selects the worked examples of a question.

The selection depends only on (seed, data set, split), so it is the same for every language, prompt,
limit, batch size, number of processes and order of documents. Rows are ranked by a hash of these and
their row number, and the first usable ones are selected. A pool without its last rows ranks the rest
the same. A task may ask for the order of the file instead, and for examples that share a field with
the question.
"""

import hashlib
from collections.abc import Sequence

from afrieval.errors import UserError
from afrieval.tasks.documents import Document


def ranking(
    pool: Sequence[Document], seed: int, data_set: str, split: str, document_id: int | None = None
) -> list[Document]:
    """Returns the pool's usable rows in the order in which they are selected.

    Args:
        pool: documents of the few-shot split; defective ones are never used.
        seed: eval.fewshot_random_seed.
        data_set: its name, so that all tasks on one data set use the same rows.
        split: the few-shot split's name.
        document_id: the evaluated document, if each has its own examples; else None.
    """
    key = f"{seed}:{data_set}:{split}" + ("" if document_id is None else f":{document_id}")

    def rank(row: Document) -> bytes:
        return hashlib.sha256(f"{key}:{row.id}".encode()).digest()

    return sorted((row for row in pool if not row.defect), key=rank)


def kind(document: Document, same: Sequence[str]) -> tuple[str, ...]:
    """Returns what a document and its examples share: the texts of the fields `same`."""
    return tuple(document.fields[name] for name in same)


def usable(ranked: Sequence[Document], document: Document, apart: Sequence[str] = ()) -> list[Document]:
    """Returns the rows that may be examples of a document; arguments are those of `examples`."""
    others = [row for row in ranked if (row.fields, row.choices) != (document.fields, document.choices)]
    return [row for row in others if all(row.fields[name] != document.fields[name] for name in apart)]


def examples(
    ranked: Sequence[Document], shots: int, document: Document, apart: Sequence[str] = (), same: Sequence[str] = ()
) -> list[Document]:
    """Returns the first `shots` of some rows that are not the document itself.

    A row with the same texts is the document itself, whichever split it comes from.

    Args:
        ranked: usable rows, in the order in which they are selected.
        shots: how many to select.
        document: the question.
        apart: fields in which examples must differ from it.
        same: fields in which all of `ranked` are like it, for messages.

    Raises:
        UserError: if there are too few.
    """
    taken = usable(ranked, document, apart)[:shots]
    if len(taken) < shots:
        alike = f" for {', '.join(kind(document, same))}" if same else ""
        raise UserError(
            f"eval.num_fewshot is {shots}, but only {len(taken)} examples are usable{alike}",
            f"give {len(taken)} or fewer" if taken else "give 0",
        )
    return taken
