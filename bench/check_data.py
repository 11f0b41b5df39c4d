"""How many misplaced rows check-data finds: in each language of real data, texts of some rows change places.

AFRIEVAL_DATA=FOLDER python bench/check_data.py [TASK ...]
"""

import os
import sys
from collections.abc import Iterator

import numpy as np

from afrieval.data.lock import DataLock
from afrieval.quality.groups import FEWEST, Group, groups
from afrieval.quality.order import IN_ORDER, moved_rows, statistics_of_order
from afrieval.quality.similarity import Matrix, Similarity, order_statistic
from afrieval.tasks.spec import load_task

SHARES = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
REPEATS = 3


def main() -> None:
    tasks = sys.argv[1:] or ["afrixnli", "afrimmlu", "afrimgsm", "belebele"]
    rng = np.random.default_rng(0)
    for task in tasks:
        spec = load_task(task)
        for group in groups(spec, os.environ["AFRIEVAL_DATA"], DataLock()):
            if group.split == spec.data.evaluate and len(group.documents) > 1 and group.n >= FEWEST:
                print(f"{task} {group.split}: {group.n} rows, {len(group.documents)} languages")
                report([*columns(group)], group.n, rng)


def columns(group: Group) -> Iterator[dict[str, tuple[Matrix, Matrix]]]:
    """Yields, per column, the similarities of each language that is in order."""
    for texts in group.columns.values():
        similarity = Similarity(texts)
        statistics = statistics_of_order(similarity, list(texts))
        ordered = [code for code in texts if statistics[code] >= IN_ORDER]
        yield {code: similarity.to_others(code, ordered) for code in ordered}


def report(of_columns: list[dict[str, tuple[Matrix, Matrix]]], n: int, rng: np.random.Generator) -> None:
    languages = set.intersection(*(set(column) for column in of_columns))
    for share in SHARES:
        k = max(round(share * n), 2)
        found, named, whole = [], [], []
        for _ in range(REPEATS):
            for code in sorted(languages):
                rows = rng.choice(n, k, replace=False)
                order = np.arange(n)
                order[rows] = np.roll(rows, 1)
                of_language = [column[code] for column in of_columns]
                moved = {row for own, others in of_language for row in moved_rows(own[order], others)}
                hits = len(moved.intersection(rows.tolist()))
                shuffled = any(order_statistic(own[order]) < IN_ORDER for own, _ in of_language)
                found.append(bool(hits) or shuffled)
                named.append(hits / k)
                whole.append(shuffled)
        figures = f"{np.mean(found):6.0%} {np.mean(whole):6.0%} {np.mean(named):6.0%}"
        print(f"  {k:4} rows ({share:6.1%}): found, as a whole, rows named: {figures}", flush=True)


if __name__ == "__main__":
    main()
