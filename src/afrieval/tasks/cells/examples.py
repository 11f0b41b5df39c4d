"""Selects the few-shot examples of a question, and makes prompts fit the model's context."""

import hashlib
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import replace

from afrieval._util.errors import UserError
from afrieval.tasks.data.document import Document


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
    """Returns the rows that may be examples of a document; arguments as for `examples`."""
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
    selected = usable(ranked, document, apart)[:shots]
    if len(selected) < shots:
        alike = f" for {', '.join(kind(document, same))}" if same else ""
        raise UserError(
            f"eval.num_fewshot is {shots}, but only {len(selected)} examples are usable{alike}",
            f"give {len(selected)} or fewer" if selected else "give 0",
        )
    return selected


LONGEST_WORD = 50  # characters; what is longer is text without spaces
NEARLY_ALL = 0.99  # share of the room that is used before the search for the longest text ends
MOST_TRIES = 12
Shown = Sequence[Document]  # a question and its examples
Tokens = Callable[[str, Document], int]
Fitting = Callable[[Shown, Callable[[Shown], str]], Shown]  # returns what fits, given documents and what shows them


def cutting(name: str, where: str, tokens: Tokens, room: int) -> Fitting:
    """Returns a function that cuts a field of a question and its examples to one length if their prompt is too long.

    Args:
        name: the field.
        where: the cell, for messages.
        tokens: prompt and its document to the number of tokens of the prompt and its longest answer.
        room: the most tokens. A prompt that is too long even with an empty field is an error.
    """

    def shortened(shown: Shown, length: int) -> Shown:
        fields = [{**d.fields, name: cut(d.fields[name], length)} for d in shown]
        return [replace(d, fields=of) for d, of in zip(shown, fields, strict=True)]

    def fitting(shown: Shown, prompt: Callable[[Shown], str]) -> Shown:
        def used(length: int) -> int:
            return tokens(prompt(shortened(shown, length)), shown[0])

        whole = max(len(document.fields[name]) for document in shown)
        if (most := used(whole)) <= room:
            return shown
        if (least := used(0)) > room:
            raise UserError(
                f"{where}: without its {name}, prompt and answer of row {shown[0].id} may have {least} "
                f"tokens, but the model's context has {room}",
                "give a smaller --eval.num_fewshot or --eval.max_gen_toks",
            )
        return shortened(shown, longest(used, room, (0, least), (whole, most)))

    return fitting


def longest(tokens: Callable[[int], int], room: int, fits: tuple[int, int], too_long: tuple[int, int]) -> int:
    """Returns about the longest length whose tokens fit.

    Tokens grow almost in proportion to characters, so a few tries find it.

    Args:
        tokens: length to number of tokens.
        room: the most tokens.
        fits: a length that fits, and its tokens.
        too_long: a length that does not, and its tokens.
    """
    low, used = fits
    high, above = too_long
    for attempt in range(MOST_TRIES):
        if high - low <= 1 or used >= NEARLY_ALL * room:
            break
        share = ((1 + NEARLY_ALL) / 2 * room - used) / (above - used) if attempt % 3 < 2 else 0.5
        length = min(max(low + int(share * (high - low)), low + 1), high - 1)
        n_tokens = tokens(length)
        low, used, high, above = (length, n_tokens, high, above) if n_tokens <= room else (low, used, length, n_tokens)
    return low


def cut(text: str, length: int) -> str:
    """Returns whole words from a text's beginning, at most a number of characters.

    Text without spaces is cut between characters; a letter keeps its marks.
    """
    if len(text) <= length:
        return text
    begin = len(text[:length]) - len(re.search(r"\S*\Z", text[:length])[0])  # type: ignore[index]
    end = length + len(re.match(r"\S*", text[length:])[0])  # type: ignore[index]
    if end - begin <= LONGEST_WORD:
        length = begin if end > length else length
    while 0 < length < len(text) and unicodedata.category(text[length]).startswith("M"):
        length -= 1
    return text[:length].rstrip()


def dropping(fits: Callable[[str, Document], bool]) -> Fitting:
    """Returns a function that leaves out examples, from the last on, while a prompt is too long.

    If it is too long without any, the backend removes its beginning, and says so.
    """

    def fitting(shown: Shown, prompt: Callable[[Shown], str]) -> Shown:
        remaining = shown
        while len(remaining) > 1 and not fits(prompt(remaining), remaining[0]):
            remaining = remaining[:-1]
        return remaining

    return fitting
