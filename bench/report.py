"""How long a report takes on many large runs: a small run of the demo model is multiplied, read and reported.

python bench/report.py                                    # 20 models, 18 languages, 5 prompts, 500 documents
python bench/report.py --models 4 --documents 100         # smaller
AFRIEVAL_DATA=FOLDER python bench/report.py --keep /tmp/x # real rows; the run folders stay in /tmp/x
python bench/report.py --pack                             # of packed runs

Each model has the questions of the small run again and again, with likelihoods of its own, so that scores differ.
"""

import argparse
import itertools
import os
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
from afrieval.results.comparable_runs import read_runs
from afrieval.results.packed import PACKED
from afrieval.results.run_files import read_run, sample_files, write_run
from afrieval.results.samples import read_samples
from afrieval.tasks.declaration.spec import load_task

AFRIEVAL = [sys.executable, "-m", "afrieval.cli.main"]
DATA = ["--data.source", os.environ.get("AFRIEVAL_DATA", "samples")]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", default="afrimmlu")
    for name, default in {"models": 20, "languages": 18, "prompts": 5, "documents": 500}.items():
        parser.add_argument(f"--{name}", type=int, default=default, metavar="N")
    parser.add_argument("--prompt-language", choices=["eng", "native", "both"], default="eng")
    parser.add_argument("--pack", action="store_true", help="pack the runs before they are read")
    parser.add_argument("--keep", type=Path, help="folder for the runs; those that are there are used again")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.keep or Path(scratch)
        runs = [folder / f"model-{at + 1:02}" for at in range(args.models)]
        if not runs[-1].exists():
            known = sorted(load_task(args.task).languages, key=lambda code: not LANGUAGES[code].african)
            multiply(small_run(folder / "small", args), runs, known[: args.languages], args.documents)
        if args.pack:
            subprocess.run([*AFRIEVAL, "pack", *map(str, runs)], check=True)
        report(runs, Path(scratch) / "report.html")
    return 0


def small_run(folder: Path, args: argparse.Namespace) -> Path:
    """Evaluates the demo model on a few rows of each language that the data source has, under each prompt."""
    prompts = ",".join(map(str, range(1, args.prompts + 1)))
    words = ["--model.model_name", "demo", "--task.task_name", args.task, "--task.prompts", prompts, *DATA]
    words += ["--task.prompt_language", args.prompt_language, "--eval.limit", "20", "--run_dir", str(folder)]
    subprocess.run([*AFRIEVAL, "run", *words], check=True, stdout=subprocess.DEVNULL)
    return folder


def multiply(small: Path, runs: list[Path], languages: list[str], documents: int) -> None:
    """Writes the run folders of all models; languages that the small run lacks have the rows of others."""
    record: Any = read_run(small)
    first: dict[str, dict[str, list[Any]]] = {}
    for path in sample_files(small):
        lines = [line for line in read_samples(path) if line["metrics"]]
        first.setdefault(lines[0]["language"], {})[path.stem] = lines
    sources = dict(zip(languages, itertools.cycle(first), strict=False))
    samples = {
        stem.replace(f"_{source}_", f"_{code}_"): [line | {"language": code} for line in lines]
        for code, source in sources.items()
        for stem, lines in first[source].items()
    }
    record["cells"] = sorted(stem.removeprefix("samples_") for stem in samples)
    (task,) = record["identity"]["tasks"].values()
    for kind in ("data", "prompts"):
        task[kind] |= {code: task[kind][source] for code, source in sources.items() if source in task[kind]}
    hard = np.random.default_rng(0).normal(size=documents)
    for at, run in enumerate(runs):
        run.mkdir(parents=True, exist_ok=True)
        rng = np.random.default_rng(at)
        for stem, lines in samples.items():
            text = b"\n".join(map(orjson.dumps, varied(lines, hard, 2 * at / len(runs) - 1, rng)))
            (run / f"{stem}.jsonl").write_bytes(text + b"\n")
        record["identity"]["model"] |= {"model_name": run.name, "fingerprint": run.name}
        write_run(run, record)


def varied(lines: list[dict[str, Any]], hard: Any, skill: float, rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    """Yields as many lines as documents are wanted, whose answers depend on the model's skill."""
    right = rng.normal(skill + 0.3 * rng.normal(), size=len(hard)) > hard
    for at, is_right in enumerate(right):
        line = lines[at % len(lines)]
        gold, n = line["gold"], line["n_choices"]
        picked = gold if is_right else (gold + int(rng.integers(1, n))) % n
        sums = np.sort(rng.normal(-12, 3, n))
        sums[[-1, picked]] = sums[[picked, -1]]
        answers = [[float(one), False, 2] for one in sums]
        measures = {name: [float(is_right)] for name in line["measures"]}
        if "acc_matched" in measures:
            measures["acc_matched"] = [float(gold), *map(float, sums)]
        shown = {name: of if len(of) > 1 else of[0] for name, of in measures.items()}
        yield (
            line
            | shown
            | {
                "doc_id": at,
                "doc": line["doc"] | {"id": at},
                "resps": [[answer] for answer in answers],
                "filtered_resps": answers,
                "measures": measures,
                "answer": picked,
                "picked": picked,
            }
        )


def report(runs: list[Path], page: Path) -> None:
    """Prints what reading takes, and what the whole report takes."""
    files = [path for run in runs for path in (*sample_files(run), run / PACKED) if path.exists()]
    start, used = time.perf_counter(), os.times()
    cells = read_runs(runs)
    seconds, now = time.perf_counter() - start, os.times()
    spent = now.user + now.children_user - used.user - used.children_user
    n, size = sum(cell.rows for cell in cells), sum(path.stat().st_size for path in files)
    print(
        f"read {n:,} lines, {len(files):,} files, {size / 1e9:.2f} GB: {seconds:.1f} s, {spent:.1f} s of user time",
        flush=True,
    )
    start = time.perf_counter()
    subprocess.run([*AFRIEVAL, "report", *map(str, runs), "-o", str(page)], check=True)
    seconds = time.perf_counter() - start
    print(f"afrieval report: {seconds:.1f} s, a page of {page.stat().st_size / 1e6:.1f} MB", flush=True)


if __name__ == "__main__":
    sys.exit(stoppable(main, ""))
