"""What the sample file of a cell says by itself, and the scores that follow from it."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from afrieval.results.columns import Columns
from afrieval.results.derived import USUAL, Mask, names_of, of_groups, with_derived
from afrieval.results.grouped_fields import nested_fields, with_groups
from afrieval.results.samples import Sample
from afrieval.results.schema import Declared
from afrieval.results.scores import CellScores, Labels
from afrieval.results.selection import selection
from afrieval.results.shared import shared
from afrieval.scoring.base import Metric
from afrieval.scoring.metrics import metric

STORED_BY = ("breakdowns", "groups", "grouped_fields", "macro", "metrics", "labels")  # keys that samples are read by


class Stored(NamedTuple):
    """A cell without what follows from its measures; it can be sent to another process.

    Attributes:
        cell: with all measures that samples have, and no metrics, which are functions.
        groups: whether each document is in a group, shape (n,).
    """

    cell: CellScores
    groups: Mapping[str, Mask] = {}


def stored_scores(name: str, lines: Iterable[Sample], declared: Declared, path: Path | None, sent: bool) -> Stored:
    """Returns what samples say; arguments and errors are those of `reader.cell_scores`."""
    groups, breakdowns = declared.get("groups", {}), declared.get("breakdowns", [])
    named = [*breakdowns, *nested_fields(declared), *(name for fields in groups.values() for name in fields)]
    columns = Columns(dict.fromkeys(named), sent)
    for line in lines:
        columns.add(line)
    found = columns.measures(_declared_metrics(declared), str(path or name))
    texts = {field: labels for field, of in columns.fields.items() if (labels := columns.labels(of))}
    parts = columns.labels(columns.parts)
    verdicts = np.array(columns.verdicts, dtype=np.float64)
    cell = CellScores(
        name=name,
        task=line["task"],
        language=line["language"],
        prompt_language=line["prompt_language"],
        prompt=line["prompt"],
        measures={of: values for of, (_, values) in found.items()},
        ids=np.array(columns.ids, dtype=np.int64),
        golds=np.array(columns.golds, dtype=np.int64),
        picked=np.array(columns.picked, dtype=np.int64),
        n_choices=np.array(columns.n_choices, dtype=np.int64),
        rows=columns.rows,
        selection=selection(columns.rows, declared.get("test_set", {}).get(line["language"], 0), columns.sampled),
        defects=np.array(columns.defects, dtype=np.int64),
        keys=columns.key_numbers(line["language"]),
        verdicts=None if np.isnan(verdicts).all() else verdicts,
        parts=parts,
        fields=with_groups(texts, declared, parts),
        sent=columns.sent_numbers(),
        kept=tuple(columns.kept),
        usage=columns.usage,
        fewer_examples=tuple(columns.examples),
        lengths=columns.lengths if declared.get("labels") else (),
        declared=declared,
        path=path,
    )
    return Stored(cell, columns.in_groups(groups))


def completed(stored: Stored, reference: Mapping[str, CellScores]) -> CellScores:
    """Returns a cell with its metrics, with those over groups of documents, and with derived ones.

    Args:
        stored: what its samples say.
        reference: run folder to this cell there, for derived metrics that need it.
    """
    cell, declared = _compact(stored.cell), stored.cell.declared
    specified = _declared_metrics(declared)
    found = {of: (specified.get(of) or metric(of), values) for of, values in cell.measures.items()}
    others = {folder: there.measured for folder, there in reference.items()}
    derived = declared.get("derived", USUAL)
    in_groups = of_groups(found, stored.groups, derived)
    every = with_derived(found | in_groups, derived, others)
    return replace(
        cell,
        metrics={of: known for of, (known, _) in every.items()},
        measures={of: values for of, (_, values) in every.items()},
        of_groups=frozenset(in_groups),
        derived={of: names_of(spec) for of, spec in derived.items() if of in every},
        contrast=wanted if (wanted := declared.get("contrast", "")) in list(every)[1:] else "",
    )


def _compact(cell: CellScores) -> CellScores:
    """Returns a cell whose arrays are those of other cells where they are alike."""
    return replace(
        cell,
        ids=shared(cell.ids),
        golds=shared(cell.golds),
        n_choices=shared(cell.n_choices),
        defects=shared(cell.defects),
        keys=None if cell.keys is None else shared(cell.keys),
        verdicts=None if cell.verdicts is None else shared(cell.verdicts),
        parts=cell.parts and _compacted(cell.parts),
        fields={name: _compacted(labels) for name, labels in cell.fields.items()},
    )


def _compacted(labels: Labels) -> Labels:
    return replace(labels, codes=shared(labels.codes))


def _declared_metrics(declared: Declared) -> dict[str, Metric]:
    """Returns the metrics that run.yaml names, some of which have options, by name."""
    return {known.name: known for known in map(metric, declared.get("metrics", []))}
