"""Which questions of several languages are one question, translated."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from afrieval.results.units import Unit

AGREE = 0.6  # of right answers, at least, if rows are translations; a guess among two agrees in half of them
Golds = tuple[NDArray[np.int64], NDArray[np.int64]]


def numbered(units: list[Unit]) -> list[Unit]:
    """Returns units of one task whose ids are the same number where they ask the same question, in any language.

    Languages share questions if their task declares them parallel: those with the same key, or with the same row number
    if one of the units has no keys. The data that ran may not be as declared, so the right answers have to agree: a
    language that differs from the others in more than four questions of ten shares none.

    Args:
        units: cells of any number of languages.
    """
    with_keys = [unit.keys for unit in units if unit.keys is not None]
    named = with_keys if len(with_keys) == len(units) else [unit.ids for unit in units]
    questions, flat = np.unique(np.concatenate(named), return_inverse=True)
    rows = np.split(flat, np.cumsum([len(names) for names in named])[:-1])
    groups = _groups(units)
    place = {name: at * len(questions) for at, name in enumerate(dict.fromkeys([*groups.values(), *groups]))}
    golds = {
        unit.language: (row[unit.golds >= 0] + place[groups[unit.language]], unit.golds[unit.golds >= 0])
        for unit, row in zip(units, rows, strict=True)
    }
    groups |= {language: language for language in _differing(golds)}
    return [_renumbered(unit, row + place[groups[unit.language]]) for unit, row in zip(units, rows, strict=True)]


def _groups(units: list[Unit]) -> dict[str, str]:
    """Returns each language's group, named after its members; what is parallel to one is to all that this one is."""
    declared = {frozenset(group) for unit in units for group in unit.declared.get("parallel", [])}
    groups = {}
    for language in dict.fromkeys(unit.language for unit in units):
        members, size = {language}, 0
        while size < len(members):
            size = len(members)
            members = members.union(*(group for group in declared if group & members))
        groups[language] = " ".join(sorted(members))
    return groups


def _differing(golds: dict[str, Golds]) -> list[str]:
    """Returns the languages whose right answers are not those of the others, the worst first."""
    found: list[str] = []
    while len(golds) > 1:
        agreement = _agreement(golds)
        worst = min(agreement, key=lambda language: agreement[language])
        if agreement[worst] >= AGREE:
            break
        found.append(worst)
        golds = {language: of for language, of in golds.items() if language != worst}
    return found


def _agreement(golds: dict[str, Golds]) -> dict[str, float]:
    """Returns how many right answers of other languages to its questions a language agrees with, as a share."""
    questions, flat = np.unique(np.concatenate([numbers for numbers, _ in golds.values()]), return_inverse=True)
    given = np.concatenate([right for _, right in golds.values()])
    votes = np.zeros((len(questions), int(given.max(initial=0)) + 1), dtype=np.int64)
    np.add.at(votes, (flat, given), 1)
    shares = {}
    for language, (numbers, right) in golds.items():
        of_question = votes[np.searchsorted(questions, numbers)]
        others = int(of_question.sum()) - len(right)
        alike = int(of_question[np.arange(len(right)), right].sum()) - len(right)
        shares[language] = alike / others if others else 1.0
    return shares


def _renumbered(unit: Unit, ids: NDArray[np.int64]) -> Unit:
    order = np.argsort(ids)
    return replace(unit, ids=ids[order], values=unit.values[order], golds=unit.golds[order])
