"""Our runs against runs of our exported tasks by the harness' own command, by what was sent to the model."""

import json
from dataclasses import replace
from typing import Any

import numpy as np

from afrieval.analysis.contrasts import Contrast, contrasts
from afrieval.harness.folder_files import read_foreign
from afrieval.harness.folder_settings import continuations, digest
from afrieval.results.samples import read_lines
from afrieval.results.units import Unit

Samples = dict[int, dict[str, Any]]


def beside(own: list[Unit], foreign: list[Unit], seed: int) -> list[Contrast]:
    """Returns the contrasts of each model of ours with each of the harness' runs.

    The two tell of their data and prompts in other words, so neither can be checked against the other by those. Both
    keep a hash of each document and of each prompt as it was sent, examples and chat template included.

    Args:
        own: units of our runs.
        foreign: units of `foreign_units`.
        seed: of bootstrap and permutations.
    """
    found = []
    for ours in _by_model(own):
        for theirs in _by_model(foreign):
            pairs = _pairs(ours, theirs)
            found += contrasts([u for pair in pairs for u in pair], "model", seed)
    return found


def _by_model(units: list[Unit]) -> list[list[Unit]]:
    models: dict[str, list[Unit]] = {}
    for unit in units:
        models.setdefault(unit.dimensions["model"], []).append(unit)
    return list(models.values())


def _pairs(own: list[Unit], foreign: list[Unit]) -> list[tuple[Unit, Unit]]:
    """Returns the units of the same cell, with what has to match as both tell it."""
    there = {_cell(unit): unit for unit in foreign}
    return [_told_alike(unit, there[_cell(unit)]) for unit in own if _cell(unit) in there]


def _cell(unit: Unit) -> tuple[Any, ...]:
    return (unit.task, *(value for name, value in sorted(unit.dimensions.items()) if name != "model"))


def _told_alike(own: Unit, foreign: Unit) -> tuple[Unit, Unit]:
    """Returns both with what has to match over the documents that they share, and the settings that both tell."""
    ours, theirs = _own_samples(own), _foreign_samples(foreign)
    common = np.intersect1d(own.ids, foreign.ids).tolist()
    told = [_sent([samples[row] for row in common]) for samples in (ours, theirs)]
    shared = told[0].keys() & told[1].keys()
    musts = [
        {"task version": unit.must["task version"], **{name: sent[name] for name in sent if name in shared}}
        for unit, sent in zip((own, foreign), told, strict=True)
    ]
    mays = _shared(own.may, foreign.may), _shared(foreign.may, own.may)
    return replace(own, must=musts[0], may=mays[0]), replace(foreign, must=musts[1], may=mays[1])


def _own_samples(unit: Unit) -> Samples:
    return {line["doc_id"]: line for line in read_lines(unit.path)} if unit.path else {}


def _foreign_samples(unit: Unit) -> Samples:
    return {sample["doc"]["id"]: sample for sample in read_foreign(unit.path)} if unit.path else {}


def _sent(samples: list[dict[str, Any]]) -> dict[str, str]:
    """Returns what was sent; runs of ours may have been stored without the texts, but never without the hashes."""
    sent = {
        "data": digest(s["doc_hash"] for s in samples),
        "prompt text": digest(s["prompt_hash"] for s in samples),
    }
    if all(s.get("arguments") for s in samples):
        sent["answers asked for"] = digest(json.dumps(continuations(s), sort_keys=True) for s in samples)
    return sent


def _shared(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Returns the settings that the other tells too, inside maps as well."""
    both = {name: value for name, value in one.items() if name in other}
    return {
        name: _shared(value, other[name]) if isinstance(value, dict) and isinstance(other[name], dict) else value
        for name, value in both.items()
    }
