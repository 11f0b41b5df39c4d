"""What check-data finds in some of a task's languages: in sound rows, and where an error was made on purpose.

AFRIEVAL_DATA=FOLDER python bench/check_data.py [TASK ...]

Draws languages of the test split at random, leaves out rows that are known to be defective, and counts findings by the
number of languages. Thresholds were set on the tasks in SET, and are tested on the others.
"""

import os
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from afrieval.tasks.data.document import Document
from afrieval.tasks.data.lock import DataLock
from afrieval.tasks.declaration.spec import load_task
from afrieval.tools.data_checks.check import CHECKS
from afrieval.tools.data_checks.groups import DEFECTS, Finding, Group, groups
from afrieval.tools.data_checks.language_checks import rows_in_other_languages
from afrieval.tools.data_checks.pairing import out_of_order
from afrieval.tools.data_checks.rows import untranslated_rows

SET = ("afrimgsm", "afrixnli")
TESTED = ("afrimmlu", "belebele", "nollysenti", "sib200")
NUMBERS = (2, 3, 4, 6, 10, 18)
DRAWS = 3  # of languages, for each number of them
ROWS = 200  # in a row, at a random place: more take longer, and find more
SWAPPED, SHIFTED = 0.05, 12  # share of rows that change places; rows in a block, each with the text of the next
REPLACED = 2  # rows with the text of another language
ORDER = ("order", "pair")
LANGUAGE = ("language", "copied")
Rows = Sequence[Document]
Rng = np.random.Generator


def main() -> None:
    for name, tasks in [("given", sys.argv[1:])] if sys.argv[1:] else [("set on", SET), ("tested on", TESTED)]:
        counted: dict[int, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        for task in tasks:
            rng = np.random.default_rng(0)
            for number, group in drawn(task, rng):
                for what, value in measured(group, rng):
                    counted[number][what].append(value)
        print(f"{name} {' '.join(tasks)}")
        table(counted)


def table(counted: dict[int, dict[str, list[float]]]) -> None:
    columns = list(next(iter(counted.values())))
    print(f"| languages | {' | '.join(columns)} |\n|{' --- |' * (len(columns) + 1)}")
    for number, found in sorted(counted.items()):
        shown = [f"{10_000 * np.mean(v):.1f}" if "10,000" in w else f"{np.mean(v):.0%}" for w, v in found.items()]
        print(f"| {number} | {' | '.join(shown)} |", flush=True)


def drawn(task: str, rng: Rng) -> Iterator[tuple[int, Group]]:
    """Yields numbers of languages with a group that has so many, of rows that are sound in all of them."""
    spec = load_task(task)
    for group in groups(spec, spec.data.evaluate, os.environ["AFRIEVAL_DATA"], DataLock()):
        there = [code for code, of in group.documents.items() if not all(d.defect for d in of)]
        for number in NUMBERS:
            for _ in range(DRAWS if number <= len(there) else 0):
                codes = rng.choice(there, number, replace=False).tolist()
                of_codes = {code: group.documents[code] for code in codes}
                sound = [at for at in range(group.n) if not any(of[at].defect for of in of_codes.values())]
                start = int(rng.integers(max(len(sound) - ROWS, 0) + 1))
                rows = {code: [of[at] for at in sound[start : start + ROWS]] for code, of in of_codes.items()}
                yield number, Group(group.split, rows, {}, group.labels)


def measured(group: Group, rng: Rng) -> Iterator[tuple[str, float]]:
    """Yields what is counted, with 1 or 0, or a share of rows."""
    n, codes = group.n, list(group.documents)
    found = [finding for check in CHECKS for finding in check(group) if finding.kind in DEFECTS]
    yield "another row's text, of 10,000", share(found, ORDER, n * len(codes))
    yield "another language, of 10,000", share(found, LANGUAGE, n * len(codes))
    yield "whole languages", float(np.mean([any(f.whole and f.language == code for f in found) for code in codes]))
    changed, other = codes[0], codes[-1]
    for name, order in orders(n, rng):
        moved = {int(at) for at in np.flatnonzero(order != np.arange(n))}
        after = [*out_of_order(with_rows(group, changed, partial(in_order, order.tolist())))]
        if name == "scrambled":
            whole = {(f.kind, f.language) for f in after if f.whole}
            yield "scrambled: named", ("order", changed) in whole
            yield "not judged", ("unsure", changed) in whole
            yield "another named", any(kind == "order" and code != changed for kind, code in whole)
            continue
        rows = {group.documents[changed][at].id for at in moved}
        named = {row for f in after if f.language == changed and f.kind in ORDER for row in f.rows}
        yield f"{name}: found", bool(named & rows)
        yield f"{name}: rows named", len(named & rows) / len(rows)
    at = {int(place) for place in rng.choice(n, REPLACED, replace=False)}
    theirs = group.documents[other]
    replaced = with_rows(
        group, changed, lambda rows: [own_id(theirs[i], d) if i in at else d for i, d in enumerate(rows)]
    )
    found = [
        f
        for check in (rows_in_other_languages, untranslated_rows)
        for f in check(replaced)
        if f.kind in LANGUAGE and f.language == changed
    ]
    named = {row for f in found for row in f.rows} & {group.documents[changed][place].id for place in at}
    yield "in another language: rows named", len(named) / len(at)


def share(found: list[Finding], kinds: Sequence[str], n: int) -> float:
    return sum(len(f.rows) for f in found if f.kind in kinds and not f.whole) / n


def orders(n: int, rng: Rng) -> Iterator[tuple[str, np.ndarray]]:
    """Yields errors of order, each with the row whose text each place has then."""
    swapped, shifted = np.arange(n), np.arange(n)
    rows = rng.choice(n, max(round(SWAPPED * n), 2), replace=False)
    swapped[rows] = np.roll(rows, 1)
    start = int(rng.integers(n - SHIFTED))
    shifted[start : start + SHIFTED] += 1
    yield from (("swapped", swapped), ("shifted", shifted), ("scrambled", rng.permutation(n)))


def with_rows(group: Group, code: str, change: Callable[[Rows], Rows]) -> Group:
    """Returns a group in which a language has other texts at its places; row numbers stay."""
    rows = group.documents[code]
    changed = [own_id(new, old) for new, old in zip(change(rows), rows, strict=True)]
    return Group(group.split, {**group.documents, code: changed}, {}, group.labels)


def in_order(order: list[int], rows: Rows) -> Rows:
    return [rows[at] for at in order]


def own_id(document: Document, at: Document) -> Document:
    return replace(document, id=at.id)


if __name__ == "__main__":
    main()
