"""Which questions of several languages are one question: parallel data, as declared and as right answers confirm."""

from dataclasses import replace

import numpy as np

from afrieval.results.cell_scores import CellScores
from afrieval.results.document_scores import Numbers

AGREE = 0.6  # of right answers, at least, if rows are translations; a guess among two agrees in half of them
Golds = tuple[Numbers, Numbers]


def numbered(cells: list[CellScores]) -> list[CellScores]:
    """Returns cells of one task whose ids are the same number where they ask the same question, in any language.

    Languages share questions if their task declares them parallel: those with the same key, or with the same row number
    if one of the cells has no keys. The data that ran may not be as declared, so the right answers have to agree: a
    language that differs from the others in more than four questions of ten shares none.
    """
    with_keys = [cell.keys for cell in cells if cell.keys is not None]
    named = with_keys if len(with_keys) == len(cells) else [cell.ids for cell in cells]
    questions, flat = np.unique(np.concatenate(named), return_inverse=True)
    rows = np.split(flat, np.cumsum([len(names) for names in named])[:-1])
    groups = _groups(cells)
    # Numbers of languages that are not parallel must not meet: each group has a range of its own, and each language
    # too, in case it turns out to differ from its group.
    offsets = {name: at * len(questions) for at, name in enumerate(dict.fromkeys([*groups.values(), *groups]))}
    golds = {
        cell.language: (row[cell.golds >= 0] + offsets[groups[cell.language]], cell.golds[cell.golds >= 0])
        for cell, row in zip(cells, rows, strict=True)
    }
    groups |= {language: language for language in _differing(golds)}
    renumbered = []
    for cell, row in zip(cells, rows, strict=True):
        ids = row + offsets[groups[cell.language]]
        if np.all(ids[1:] > ids[:-1]):
            renumbered.append(replace(cell, ids=ids))
        else:
            order = np.argsort(ids)
            renumbered.append(replace(cell.take(order), ids=ids[order]))
    return renumbered


def _groups(cells: list[CellScores]) -> dict[str, str]:
    """Returns each language's group, named after its members. Being parallel is transitive."""
    declared = {frozenset(group) for cell in cells for group in cell.declared.get("parallel", [])}
    groups = {}
    for language in dict.fromkeys(cell.language for cell in cells):
        members, size = {language}, 0
        while size < len(members):
            size = len(members)
            members = members.union(*(group for group in declared if group & members))
        groups[language] = " ".join(sorted(members))
    return groups


def _differing(golds: dict[str, Golds]) -> list[str]:
    """Returns the languages whose right answers differ from the others', the worst first."""
    outliers: list[str] = []
    while len(golds) > 1:
        agreement = _agreement(golds)
        worst = min(agreement, key=lambda language: agreement[language])
        if agreement[worst] >= AGREE:
            break
        outliers.append(worst)
        golds = {language: of for language, of in golds.items() if language != worst}
    return outliers


def _agreement(golds: dict[str, Golds]) -> dict[str, float]:
    """Returns how many right answers of other languages to its questions a language agrees with, as a share."""
    questions, flat = np.unique(np.concatenate([numbers for numbers, _ in golds.values()]), return_inverse=True)
    right_answers = np.concatenate([right for _, right in golds.values()])
    votes = np.zeros((len(questions), int(right_answers.max(initial=0)) + 1), dtype=np.int64)
    np.add.at(votes, (flat, right_answers), 1)
    shares = {}
    for language, (numbers, right) in golds.items():
        of_question = votes[np.searchsorted(questions, numbers)]
        others = int(of_question.sum()) - len(right)
        alike = int(of_question[np.arange(len(right)), right].sum()) - len(right)
        shares[language] = alike / others if others else 1.0
    return shares
