"""Run folders made by hand, for pages."""

import re
from pathlib import Path
from typing import Any

from afrieval.analysis.inputs import Inputs
from afrieval.exchange.discovery import read_inputs
from afrieval.results.run_files import write_run, write_samples

LABELS = ["entailment", "neutral", "contradiction"]
HASH = "0" * 15


def line(row: int, language: str, prompt_language: str, picked: int, question: str, **changes: Any) -> dict[str, Any]:
    """A sample of AfriXNLI whose right answer is the first label in even rows, and the second in odd ones."""
    right = float(picked == row % 2)
    return {
        "doc_id": row,
        "doc": {"id": row, "premise": question, "choices": LABELS, "topic": "even" if row % 2 == 0 else "odd"},
        "target": row % 2,
        "arguments": [[f"{question}\nAnswer:", f" {label}"] for label in LABELS],
        "resps": [[[-1.0 if i == picked else -3.0, False, 2]] for i in range(3)],
        "doc_hash": f"{row}", "prompt_hash": f"{row} {prompt_language}",
        "metrics": ["acc"], "acc": right, "measures": {"acc": [right]},
        "task": "afrixnli", "language": language, "prompt": 1, "prompt_language": prompt_language,
        "fewshot_ids": [], "defect": "", "n_choices": 3, "answer": picked, "gold": row % 2, "picked": picked,
        **changes,
    }  # fmt: skip


def text(html: str) -> str:
    """What a reader sees of a page, in one line."""
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def small_run(
    folder: Path, model: str = "small", picks: int = 0, question: str = "Ṣé ó dára?", prompts: int = 1, **identity: Any
) -> Path:
    """Writes a run of two languages, and English and native prompts, of eight documents.

    Args:
        folder: where to write it.
        model: its name.
        picks: the label that native prompts make the model pick; English prompts make it pick the first.
        question: what is asked.
        prompts: how many; each makes the model pick the label after that of the one before.
        identity: more of the model.
    """
    lines = {
        f"afrixnli_{language}_{written}_{prompt}": [
            line(row, language, written, (first + prompt - 1) % 3, question, prompt=prompt) for row in range(8)
        ]
        for language in ("yor", "hau")
        for written, first in (("eng", 0), ("native", picks))
        for prompt in range(1, prompts + 1)
    }
    task = {
        "version": 3, "answer_form": "text",
        "prompts": {
            code: {prompt: f"{HASH}{at}{prompt}" for prompt in range(1, prompts + 1)}
            for at, code in enumerate(("eng", "yor", "hau"))
        },
        "data": {code: {"test": code * 20} for code in ("yor", "hau")},
    }  # fmt: skip
    declared: dict[str, Any] = {"title": "AfriXNLI", "labels": LABELS, "breakdowns": ["topic"], "metrics": ["acc"]}
    declared |= {"unreviewed": {"yor": True}}
    model_identity = {"model_name": model, "revision": "main", **identity}
    return write_by_hand(folder, model_identity, {"afrixnli": task}, {"afrixnli": declared}, lines)


def write_by_hand(
    folder: Path, model: dict[str, Any], tasks: Any, declared: Any, lines: dict[str, list[dict[str, Any]]]
) -> Path:
    """Writes a run from the lines of its cells, and what its run.yaml says of model and tasks."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, of_cell in lines.items():
        write_samples(folder, name, of_cell)
    fewshot = {"num_fewshot": 0, "selection": "fixed", "seed": 42}
    identity: Any = {"model": model, "variant": "direct", "fewshot": fewshot, "tasks": tasks}
    visit: Any = {"date": "2026-01-01T00:00:00+00:00", "device": "cpu", "versions": {"afrieval": "0.1.0"}}
    visit["left_out"] = []
    record: Any = {"identity": identity, "fewshot_ids": {}, "declared": declared, "cells": [*lines], "visits": [visit]}
    write_run(folder, record)
    return folder


def two_models(tmp_path: Path, **changes: Any) -> Inputs:
    """Two runs, of models that answer differently under native prompts."""
    return read_inputs(
        [small_run(tmp_path / "a", "first", 0, **changes), small_run(tmp_path / "b", "second", 1, **changes)]
    )
