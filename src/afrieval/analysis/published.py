"""Published score tables: one row per model and prompt, a column per language, in percent."""

import re
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np

from afrieval.data.published import PublishedRow, read_published

__all__ = ["AFROBENCH", "Average", "PublishedRow", "PublishedScore", "averages", "published_scores", "read_published"]

AFROBENCH = "AfroBench"
NOT_AVERAGED = ("eng", "fra")  # Portuguese is averaged: the printed averages come out only with it
TOLERANCE = 0.1 + 1e-9  # they are printed with one decimal, not always rounded to the nearest
CHOSEN = "best, chosen on test"


@dataclass(frozen=True)
class Average:
    """AfroBench's own average of a row: the mean over all languages that the row has, but English and French.

    Attributes:
        name: what to call it, since it is not the suite's mean over African languages.
        languages: those averaged over; rows of one table may differ in them.
        value: recomputed, in percent.
    """

    row: PublishedRow
    languages: list[str]
    value: float
    name: str = AFROBENCH

    @property
    def consistent(self) -> bool:
        """Whether it is the printed average to 0.1; so it is where none is printed."""
        return self.row.average is None or abs(self.value - self.row.average) <= TOLERANCE


def averages(rows: list[PublishedRow]) -> tuple[list[Average], list[Average]]:
    """Returns AfroBench's average of each row, and those of them that are not what the table says.

    Rows that have neither a language but English and French are left out.
    """
    found = []
    for row in rows:
        languages = [code for code in row.scores if code not in NOT_AVERAGED]
        if languages:
            found.append(Average(row, languages, float(np.mean([row.scores[code] for code in languages]))))
    return found, [average for average in found if not average.consistent]


@dataclass(frozen=True)
class PublishedScore:
    """A model's published scores over prompts, each the mean over the same languages; 0 to 1.

    Attributes:
        names: the model as printed in each row; more than one where a spreadsheet counted the name up.
        prompts: those with a score in every one of the languages; no other is used.
        left_out: prompts that lack one of them.
        best: the highest, chosen on the test set that it is a score of.
    """

    model: str
    names: list[str]
    shots: int | None
    prompts: list[str]
    left_out: list[str]
    best: float
    best_prompt: str
    mean: float
    chosen: str = CHOSEN


def published_scores(rows: list[PublishedRow], task: str, languages: list[str]) -> list[PublishedScore]:
    """Returns best and mean over prompts of each model, in the order of the tables.

    Args:
        rows: of one or more tables.
        task: its name.
        languages: those to average over; models without a row that has all of them are left out.
    """
    groups: dict[tuple[str, int | None], list[tuple[PublishedRow, str]]] = {}
    for row, printed in _one_name([row for row in rows if row.task == task]):
        groups.setdefault((row.model, row.shots), []).append((row, printed))
    found = [_score(model, shots, of_model, languages) for (model, shots), of_model in groups.items()]
    return [score for score in found if score is not None]


def _score(
    model: str, shots: int | None, rows: list[tuple[PublishedRow, str]], languages: list[str]
) -> PublishedScore | None:
    whole = [row for row, _ in rows if languages and set(languages) <= set(row.scores)]
    if not whole:
        return None
    values = {row.prompt: float(np.mean([row.scores[code] for code in languages])) / 100 for row in whole}
    best = max(values, key=lambda prompt: values[prompt])
    return PublishedScore(
        model=model,
        names=list(dict.fromkeys(printed for _, printed in rows)),
        shots=shots,
        prompts=list(values),
        left_out=[row.prompt for row, _ in rows if row not in whole],
        best=values[best],
        best_prompt=best,
        mean=float(np.mean(list(values.values()))),
    )


def _one_name(rows: list[PublishedRow]) -> list[tuple[PublishedRow, str]]:
    """Returns the rows under their models, each with the name as printed.

    A spreadsheet that fills a column down counts up the number that a name ends with: `pro-002` with prompt 1,
    `pro-003` with prompt 2, and so on. Such rows, each the only one of its name, are of the first one's model.
    """
    named = [row.model for row in rows]

    def origin(place: int) -> tuple[str, int] | None:
        row = rows[place]
        ends = re.fullmatch(r"(.*?)(\d+)", row.model)
        if not ends or not row.prompt.isdecimal() or named.count(row.model) > 1:
            return None
        return ends[1] + str(row.shots), int(ends[2]) - int(row.prompt)

    found = []
    for key, places in groupby(range(len(rows)), origin):
        of_key = [rows[place] for place in places]
        first = of_key[0].model
        found += [(replace(row, model=first) if key else row, row.model) for row in of_key]
    return found
