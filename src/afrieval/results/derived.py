"""Derived metrics and fields that are groups of other fields, in stored samples."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast

import numpy as np
from numpy.typing import NDArray

from afrieval._util.errors import UserError
from afrieval.results.document_columns import Labels
from afrieval.results.schema import Declared, DerivedFrom
from afrieval.scoring import registry
from afrieval.scoring.base import Array, Derived, Input, Metric, not_measured
from afrieval.scoring.derived import derived
from afrieval.scoring.statistics.intervals import linear_values, slopes_of_weights

Mask = NDArray[np.bool_]
Measured = dict[str, tuple[Metric, Array]]  # metric to what it is, and its measures of shape (n, k)
# Of runs that do not say what they derive.
USUAL = {name: cast(DerivedFrom, {"how": "mean", "of": of}) for name, of in registry.OF_INSTRUCTIONS.items()}


@dataclass(frozen=True)
class _Inputs:
    """What a derived metric is computed from.

    Attributes:
        spans: each metric with its first and last column of the measures, which stand side by side; NaN in documents
            that it does not have.
        reference: these metrics of another run, with their measures there.
        lean: whether inputs that are derived themselves have no values per document, unless these are asked for: they
            are found numerically, which takes long for each draw.
    """

    derived: Derived
    spans: list[tuple[Metric, int, int]]
    reference: Sequence[tuple[Metric, Array]]
    lean: bool

    @cached_property
    def _others(self) -> list[tuple[Array, Array, Array]]:
        return [(known.score(m, np.ones((1, len(m)))), linear_values(known, m), m) for known, m in self.reference]

    def score(self, measures: Array, weights: Array) -> Array:
        """Returns the score for each row of weights, shape (b,)."""
        return self.derived.score(self._inputs(measures, weights))

    def _inputs(self, measures: Array, weights: Array, with_values: bool = False) -> list[Input]:
        inputs = []
        for metric, start, stop in self.spans:
            measured = ~np.isnan(measures[:, start:stop]).all(axis=1)
            columns, of_own = measures[measured, start:stop], weights[:, measured]
            is_derived = isinstance(getattr(metric.score, "__self__", None), _Inputs)
            without = self.lean and is_derived and not with_values
            values = np.zeros(0) if without else linear_values(metric, columns)
            inputs.append(Input(metric.score(columns, of_own), values, of_own, columns))
        for scores, values, stored in self._others:
            ones = np.ones((len(weights), len(values)))
            inputs.append(Input(np.repeat(scores, len(weights)), values, ones, stored))
        return inputs

    def values(self, measures: Array) -> Array:
        """Returns a value per document whose mean is the score; documents are not grouped, since inputs have values."""
        ones = np.ones(len(measures))
        if self.derived.per_document_values and not self.reference and not np.isnan(measures).any():
            return self.derived.per_document_values(self._inputs(measures, ones[None], with_values=True))
        whole = float(self.score(measures, ones[None])[0])
        if self.derived.interval == "none":
            return np.full(len(measures), whole)
        slopes = slopes_of_weights(self.score, measures, ones)
        return np.asarray(whole + len(measures) * (slopes - slopes.mean()))


def derived_metric(
    how: Derived,
    inputs: Sequence[tuple[Metric, Array]],
    reference: Sequence[tuple[Metric, Array]] = (),
    lean: bool = False,
) -> tuple[Metric, Array]:
    """Returns a derived metric with its measures: those of its inputs side by side.

    It gets a Wilson interval if it and all its inputs are proportions.

    Args:
        how: how it is computed.
        inputs: metrics with their measures of the same documents; NaN in those that a metric does not have.
        reference: the same metrics of another run, which is not drawn from.
        lean: whether inputs that are derived themselves have no values per document.
    """
    stops = np.cumsum([measures.shape[1] for _, measures in inputs]).tolist()
    spans = [(metric, start, stop) for (metric, _), start, stop in zip(inputs, [0, *stops], stops, strict=False)]
    lows, highs = zip(*(metric.bounds for metric, _ in inputs), strict=True)
    bounds = how.bounds or (min(lows), max(highs))
    shares = bounds == (0.0, 1.0) and not reference and all(metric.interval == "wilson" for metric, _ in inputs)
    interval = "wilson" if shares and how.interval == "bootstrap" else how.interval
    parts = _Inputs(how, spans, reference, lean)
    metric = Metric(how.name, not_measured, parts.score, how.higher_is_better, bounds, interval, parts.values)
    return metric, np.hstack([measures for _, measures in inputs])


def of_groups(metrics: Measured, groups: Mapping[str, Mask], declared: Mapping[str, DerivedFrom]) -> Measured:
    """Returns metrics of groups of documents, as GROUP.METRIC: the main one, and those that others are derived from."""
    sources = {f"{group}.{name}": (group, name) for group in groups for name in list(metrics)[:1]}
    parts = [of.partition(".") for spec in declared.values() for of in names_of(spec)]
    sources |= {f"{group}.{name}": (group, name) for group, _, name in parts if group in groups and name in metrics}
    return {
        of: (replace(metrics[name][0], name=of), np.where(groups[group][:, None], metrics[name][1], np.nan))
        for of, (group, name) in sources.items()
        if groups[group].any()
    }


def with_derived(metrics: Measured, declared: Mapping[str, DerivedFrom], reference: Mapping[str, Measured]) -> Measured:
    """Returns metrics with those that are derived from them, as far as all that they are made of is there.

    Args:
        metrics: metrics with their measures, the main one first.
        declared: name to how it is derived.
        reference: run folder to the metrics that this cell has there.
    """
    whole = dict(metrics)
    for name, spec in declared.items():
        names = names_of(spec)
        others = reference[folder] if (folder := spec.get("reference")) else None
        if any(of not in known for of in names for known in (whole, others or whole)):
            continue
        of_reference = [others[of] for of in names] if others else []
        how = derived_from(name, spec, len(names) + len(of_reference))
        whole[name] = derived_metric(how, [whole[of] for of in names], of_reference)
    return whole


def derived_from(name: str, spec: DerivedFrom, n: int) -> Derived:
    """Returns a derived metric that is declared with so many inputs; refuses another number than it takes."""
    how = derived(name, spec["how"])
    if not n or how.n_inputs not in (None, n):
        problem = f"the derived metric {name}, {spec['how']}, takes {how.n_inputs or 'one or more'} inputs, not {n}"
        raise UserError(problem, "restore run.yaml from a copy, or run again")
    return how


def names_of(spec: DerivedFrom) -> tuple[str, ...]:
    """Returns the metrics that a derived metric is made of."""
    return (spec["of"],) if isinstance(spec["of"], str) else tuple(spec["of"])


def with_groups(fields: Mapping[str, Labels], declared: Declared, parts: Labels | None) -> dict[str, Labels]:
    """Returns the fields of documents with those that are groups of others; a value that is in no group has none.

    Where documents were not stored, the parts that macro means are over were: they are a field, which has groups.
    """
    by_field, macro = dict(fields), declared.get("macro")
    if macro and parts is not None:
        by_field.setdefault(macro, parts)
    for name, grouping in declared.get("grouped_fields", {}).items():
        if name in by_field or grouping["of"] not in by_field:
            continue
        labels, groups = by_field[grouping["of"]], grouping["groups"]
        group_of = {value: index for index, values in enumerate(groups.values()) for value in values}
        codes = np.array([*(group_of.get(value, -1) for value in labels.names), -1], dtype=np.int64)
        by_field[name] = Labels(codes[labels.codes], tuple(groups))  # -1, a document without a value, is the last
    return by_field


def levels(declared: Declared, name: str) -> list[str]:
    """Returns a field and the fields that group its values, the largest first: category, subcategory, subject."""
    chain, grouped = [name], declared.get("grouped_fields", {})
    while above := next((of for of, field in grouped.items() if field["of"] == chain[0] and of not in chain), None):
        chain.insert(0, above)  # a file that was changed may lead in a circle
    return chain


def ordered(declared: Declared, name: str) -> list[str]:
    """Returns the values of a field that is grouped or groups others, in the order of the task file."""
    grouped = declared.get("grouped_fields", {})
    if name in grouped:
        return list(grouped[name]["groups"])
    above = next((field for field in grouped.values() if field["of"] == name), None)
    return [value for values in above["groups"].values() for value in values] if above else []


def nested_fields(declared: Declared) -> list[str]:
    """Returns the fields that scores of parts are shown by, the smallest first: subject, then subcategory."""
    return [*smallest(declared), *declared.get("grouped_fields", {})]


def smallest(declared: Declared) -> list[str]:
    """Returns the fields whose values are parts, not groups: of macro means, or members of groups."""
    grouped, macro = declared.get("grouped_fields", {}), declared.get("macro")
    grouped_fields = dict.fromkeys(field["of"] for field in grouped.values())
    return [
        name for name in ([macro] if macro else []) + [n for n in grouped_fields if n != macro] if name not in grouped
    ]
