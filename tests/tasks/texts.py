"""A small task whose texts are measured, and answers as a model gives them, written by hand."""

from pathlib import Path
from typing import Any

import yaml
from tests.tasks.small_task import declaration, write_rows

from afrieval.config.settings import DataConfig, ModelConfig, RunConfig, TaskConfig
from afrieval.scoring.responses import Scored

TASK = """\
name: bakers
version: 1
title: Bakers
description: Written by hand for tests.
citation: none
licence: CC0
kind: likelihoods
data: {hub: ours/bakers, revision: main, files: {test: "{part}.json"}, evaluate: test}
languages: {eng: eng}
parallel: {}
options: {part: [part10, part05], asked: [question, other]}
fields: {question: "{asked}"}
texts: {answer: answer, paraphrased: paraphrase, perturbed: wrong}
end: true
metrics: [probability, truth_ratio, loss, exact_memorisation]
prompts: {1: {template: "{{ question }}"}}
"""
WHOLE = yaml.safe_dump(
    declaration(
        "bakers",
        kind="likelihoods",
        request="rolling",
        tokens=64,
        data={"files": {"test": "test.json"}},
        fields={},
        texts={"answer": "answer"},
        metrics=["min_k_plus_plus", "loss"],
    )
)


def row(name: str) -> dict[str, Any]:
    return {
        "split": "test",
        "question": f"Who is {name}?",
        "other": f"And {name}, who is that?",
        "answer": f"{name} is a baker.",
        "paraphrase": f"A baker is {name}.",
        "wrong": [f"{name} is a cook.", f"{name} is a smith."],
    }


def write_task(folder: Path, rows: list[dict[str, Any]], text: str = TASK) -> Path:
    """Writes the task with sample rows into a folder of tasks, which is returned."""
    write_rows(folder / "bakers/sample/eng.jsonl", rows)
    (folder / "bakers/task.yaml").write_text(text)
    return folder


def config(folder: Path, **task: Any) -> RunConfig:
    of = TaskConfig(task_name="bakers", folder=str(folder), **task)
    return RunConfig(ModelConfig("demo"), of, data=DataConfig("samples"))


def answer(*logprobs: float, greedy: tuple[int, ...] = (), ends: int = 0, **more: Any) -> Scored:
    """Returns what a model gives for a text."""
    tokens = {"logprobs": [*logprobs], "greedy": [*greedy] or [0] * len(logprobs), "ends": ends, **more}
    return Scored((sum(logprobs), all(greedy), len(logprobs)), {"tokens": tokens})
