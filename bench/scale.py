"""How reading, compare and leaderboard grow with the number of samples: packed runs of made-up models, up to 10^7.

python bench/scale.py 5 6                          # 10^5 and 10^6 samples: seconds and peak memory of each step
python bench/scale.py 7 --keep /tmp/scale          # 10^7; the runs stay in /tmp/scale, and are used again
python bench/scale.py 6 --models 2 --steps compare # as many samples of two models, which have ten times the tasks

Each of 20 models has 5 prompts in up to 5 tasks and 20 languages, with 1,000 documents. Scores are as in real runs, but
lines hold no text. A step is a process of its own.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from afrieval._util.signals import stoppable
from afrieval.languages import LANGUAGES
from afrieval.results.packed import PACKED
from afrieval.results.packing import pack
from afrieval.results.run_files import sample_path, write_run

DOCUMENTS, PROMPTS, CHOICES = 1_000, 5, 4
MODELS = 20
SHAPES = {5: (1, 1), 6: (2, 5), 7: (5, 20)}  # exponent to tasks and languages, of so many models
AFRICAN = sorted(code for code, language in LANGUAGES.items() if language.african)
READ = "import sys; from pathlib import Path; from afrieval.results.comparable_runs import read_runs; "
READ += "print(len(read_runs(map(Path, sys.argv[1:]))), 'cells')"
COMMAND = [sys.executable, "-m", "afrieval.cli.main"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("exponents", type=int, nargs="+", choices=SHAPES)
    parser.add_argument("--models", type=int, default=MODELS, metavar="N")
    parser.add_argument(
        "--steps", default="read,compare,leaderboard", help="comma-separated; default: all; none only makes runs"
    )
    parser.add_argument("--keep", type=Path, help="folder for the runs; those that are there are used again")
    args = parser.parse_args()
    print(f"{'samples':>13}  {'step':12} {'seconds':>8} {'MB':>7}  load")
    for exponent in args.exponents:
        with tempfile.TemporaryDirectory() as scratch:
            folder = (args.keep or Path(scratch)) / f"{args.models}-models-e{exponent}"
            runs = [folder / f"model-{at + 1:02}" for at in range(args.models)]
            tasks, languages = SHAPES[exponent][0] * MODELS // args.models, SHAPES[exponent][1]
            samples = args.models * PROMPTS * DOCUMENTS * tasks * languages
            start = time.perf_counter()
            for at, run in enumerate(runs):
                make(run, at, tasks, languages)
            shown(samples, "made", time.perf_counter() - start, 0)
            print(
                f"{'':13}  {sum((run / PACKED).stat().st_size for run in runs) / 1e6:,.0f} MB of archives",
                flush=True,
            )
            for step in filter(None, args.steps.split(",")):
                shown(samples, step, *measured(step, runs, Path(scratch)))
    return 0


def make(run: Path, at: int, tasks: int, languages: int) -> None:
    """Writes the run of a model, if it is not there."""
    if (run / PACKED).exists():
        return
    run.mkdir(parents=True, exist_ok=True)
    names = [f"made{task + 1:03}" for task in range(tasks)]
    codes = AFRICAN[:languages]
    cells = []
    for name, lines in made(at, names, codes):
        cells.append(name)
        sample_path(run, name).write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    identity = {
        "version": 1,
        "answer_form": "letter",
        "prompts": {"eng": {prompt + 1: f"p{prompt}" for prompt in range(PROMPTS)}},
        "data": {code: {"test": code} for code in codes},
    }
    record = {
        "identity": {
            "model": {"model_name": run.name},
            "variant": "direct",
            "fewshot": {"num_fewshot": 0, "selection": "fixed", "seed": 42},
            "tasks": dict.fromkeys(names, identity),
        },
        "declared": dict.fromkeys(names, declared(codes)),
        "cells": cells,
        "visits": [{"date": "2026-01-01T00:00:00+00:00"}],
    }
    write_run(run, record)
    pack(run)


def declared(codes: list[str]) -> Any:
    return {"metrics": ["acc"], "parallel": [codes], "labels": ["A", "B", "C", "D"]}


def made(at: int, names: list[str], codes: list[str]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yields the cells of a model, whose answers depend on its skill, the language and how hard the question is."""
    for task, name in enumerate(names):
        golds = np.random.default_rng(task).integers(0, CHOICES, DOCUMENTS)
        hard = np.random.default_rng(task).normal(size=DOCUMENTS)
        rng = np.random.default_rng([at, task])
        for code in codes:
            skill = at / MODELS - 0.5 + 0.3 * rng.normal()
            for prompt in range(1, PROMPTS + 1):
                right = rng.normal(skill, size=DOCUMENTS) > hard
                picked = np.where(right, golds, (golds + rng.integers(1, CHOICES, DOCUMENTS)) % CHOICES)
                of_cell = {"task": name, "language": code, "prompt": prompt, "prompt_language": "eng", "defect": ""}
                of_cell |= {"metrics": ["acc"], "n_choices": CHOICES, "resps": [[[-1.0, False, 1]]] * CHOICES}
                of_cell |= {"doc_hash": "d", "prompt_hash": "p"}
                lines = [
                    {**of_cell, "doc_id": row, **scored(gold, pick)}
                    for row, (gold, pick) in enumerate(zip(golds.tolist(), picked.tolist(), strict=True))
                ]
                yield f"{name}_{code}_eng_{prompt}", lines


def scored(gold: int, picked: int) -> dict[str, Any]:
    right = float(gold == picked)
    return {"gold": gold, "picked": picked, "acc": right, "measures": {"acc": [right]}}


def measured(step: str, runs: list[Path], scratch: Path) -> tuple[float, float]:
    """Returns the seconds and the peak memory in MB of a step."""
    paths = list(map(str, runs))
    words = {
        "read": [sys.executable, "-c", READ, *paths],
        "compare": [*COMMAND, "compare", *paths, "--csv", os.devnull],
        "leaderboard": [*COMMAND, "leaderboard", str(runs[0].parent), "-o", str(scratch / "site")],
    }[step]
    start = time.perf_counter()
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - start
    shutil.rmtree(scratch / "site", ignore_errors=True)
    if process.returncode:
        raise SystemExit(f"{step} ended with exit code {process.returncode}")
    return seconds, used.ru_maxrss / 1024


def shown(samples: int, step: str, seconds: float, memory: float) -> None:
    print(f"{samples:13,}  {step:12} {seconds:8.1f} {memory:7,.0f}  {os.getloadavg()[0]:.1f}", flush=True)


if __name__ == "__main__":
    sys.exit(stoppable(main, ""))
