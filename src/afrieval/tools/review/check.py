"""Checks all that a speaker wrote, before anything is changed."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations, product

from afrieval._util.errors import UserError, nearest
from afrieval._util.terminal import shortened, visible
from afrieval.tasks.prompts.prompts import Prompt
from afrieval.tasks.prompts.reviews import VERDICTS
from afrieval.tasks.prompts.vocabulary import String
from afrieval.tools.review.sheet import Sheet, SheetRow

CURE = "write ok, change or unsure"
_PLACEHOLDER = re.compile(r"{{.*?}}|{%.*?%}|{#.*?#}")


def decisions(sheet: Sheet, strings: Mapping[str, String], where: str) -> tuple[list[SheetRow], list[UserError]]:
    """Returns the rows with a verdict, whose new texts are those approved or doubted, and the errors in all rows."""
    decided, errors = [], []
    rows_of = Counter(row.id for row in sheet.rows)
    for row in sheet.rows:
        faults = list(_faults(row, strings, rows_of[row.id]))
        errors += [
            UserError(f"{where}, row {row.number}, column {column}: {why}", cure) for column, why, cure in faults
        ]
        if not faults and row.verdict:
            verdict = row.verdict.casefold()
            text = clean(row.new) if verdict == "change" else strings[row.id].text
            decided.append(replace(row, verdict=verdict, new=text))
    return decided, errors


def label_faults(prompts: Mapping[int, Prompt]) -> dict[tuple[str, str], str]:
    """Returns pairs of label words that cannot be distinguished in an answer, and why."""
    faults = {}
    for prompt in prompts.values():
        for (_, one), (_, other) in combinations(prompt.labels.items(), 2):
            short, long = sorted((one, other), key=len)
            if long.casefold().startswith(short.casefold()):
                faults[short, long] = f"{long!r} begins like {short!r}, another answer in prompt {prompt.number}"
        for other_prompt in prompts.values():
            for (name, word), (other, same) in product(prompt.labels.items(), other_prompt.labels.items()):
                if name != other and word.casefold() == same.casefold():
                    faults[word, same] = (
                        f"{word!r} is {name} in prompt {prompt.number}, and {other} in prompt {other_prompt.number}"
                    )
    return faults


def clean(text: str) -> str:
    """Returns a text in composed form (NFC), without blanks at the ends of lines or several in a row."""
    lines = unicodedata.normalize("NFC", text).strip().split("\n")
    return "\n".join(re.sub(r"[ \t]+", " ", line).strip(" ") for line in lines)


def _faults(row: SheetRow, strings: Mapping[str, String], rows: int) -> Iterator[tuple[str, str, str]]:
    """Yields what is wrong with a row: the column, the problem and its cure."""
    verdict = row.verdict.casefold()
    if not verdict:
        if row.new or row.comment:
            yield "verdict", f"it is empty, but the row has a {'new text' if row.new else 'comment'}", CURE
        return
    if verdict not in VERDICTS:
        yield "verdict", f"{shortened(row.verdict)!r} is not a verdict", CURE
    elif row.id not in strings:
        yield "id", f"unknown string {shortened(row.id)!r}", nearest(row.id, list(strings))
    elif strings[row.id].is_reference:
        (word,) = strings[row.id].references
        yield "id", f"{row.id} is the shared word {word}", f"review {word} instead"
    elif rows > 1:
        yield "id", f"{row.id} occurs in {rows} rows", "keep one of them"
    else:
        yield from _faults_of_texts(row, verdict == "change", strings[row.id])


def _faults_of_texts(row: SheetRow, is_change: bool, string: String) -> Iterator[tuple[str, str, str]]:
    new = clean(row.new)
    if is_change and not new:
        yield "new text", "it is empty, but the verdict is change", "write the new text, or another verdict"
    elif is_change and new == string.text:
        return  # somebody wrote the same, or the sheet was read before
    elif row.new and not is_change:
        cure = "write change, or move the text to the comment"
        yield "new text", f"it is filled in, but the verdict is {row.verdict.casefold()}", cure
    elif clean(row.native) != clean(string.text):
        shown = shortened(string.text.replace("\n", " / "))
        cure = "clear the verdict of this row to leave it out, and review the string in a new sheet"
        yield "native", f"the text was changed after this sheet was made; it is now {shown!r}", cure
    elif is_change:
        yield from (("new text", *fault) for fault in text_faults(string, new))


def text_faults(string: String, new: str) -> Iterator[tuple[str, str]]:
    """Yields why a text cannot take the place of a string, each with its cure."""
    if visible(new) != new:
        yield f"it contains an invisible character, {shortened(visible(new))}", "type the text anew"
    old_lines, lines = string.text.split("\n"), new.split("\n")
    if [not line for line in lines] != [not line for line in old_lines]:
        problem = f"it has {len(lines)} lines, and the native text has {len(old_lines)}"
        if len(lines) == len(old_lines):
            problem = "its empty lines are not where those of the native text are"
        yield problem, "keep the same lines and empty lines"
        return
    for number, (old, line) in enumerate(zip(old_lines, lines, strict=True), 1):
        expected, actual = (Counter(_PLACEHOLDER.findall(each)) for each in (old, line))
        if expected != actual:
            differing = ", ".join([*(expected - actual), *(actual - expected)])
            yield (
                f"line {number} differs in {differing}",
                "copy what is in double braces from the native text unchanged",
            )
        else:
            outside = _PLACEHOLDER.sub("", line)
            if string.id.split("/")[1] in ("lead_in", "answer_is"):
                outside = outside.replace("{answer}", "", 1)
            if set(outside) & {*"{}"}:
                yield f"line {number} has braces that the native text does not have", "remove them"
