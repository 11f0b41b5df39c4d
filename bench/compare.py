"""How long `afrieval compare` takes on a large run: writes one of made-up samples, reads it and compares.

python bench/compare.py              # 1,000,000 samples, 2.4 GB in the folder for temporary files
python bench/compare.py --cells 200  # a tenth of it
"""

import argparse
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import count, islice, product
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from afrieval.analysis.contrasts import contrasts
from afrieval.analysis.means import means
from afrieval.analysis.scores import over_prompts
from afrieval.languages import LANGUAGES
from afrieval.results.comparable_runs import read_runs
from afrieval.results.run_files import write_run, write_samples
from afrieval.results.samples import Sample

DOCUMENTS, CHOICES, BYTES = 500, 4, 2_400
CODES = [code for code, language in LANGUAGES.items() if language.african][:16]
QUESTION = "Akẹ́kọ̀ọ́ 24 ló wà ní kíláàsì kan. Olùkọ́ pín wọn sí ẹgbẹ́. Ẹgbẹ́ mélòó ló wà? "
METRICS = ["acc", "acc_norm", "acc_bytes", "acc_tokens"]
T = TypeVar("T")


class Cell(NamedTuple):
    """A cell of the run; its name is that of its file."""

    task: str
    language: str
    kind: str
    prompt: int

    @property
    def name(self) -> str:
        return "_".join(map(str, self))


def cells(number: int) -> list[Cell]:
    """Returns 16 languages by two prompt languages by five prompts of one task after the other."""
    every: Iterator[Cell] = (
        Cell(f"task{task}", *place) for task in count() for place in product(CODES, ("eng", "native"), range(1, 6))
    )
    return list(islice(every, number))


def sample(cell: Cell, document: int, resps: Any, picked: int) -> Sample:
    """Returns a line as `afrieval run` writes it."""
    gold = document % CHOICES
    question = f"{document}: {QUESTION}"
    prompt = f"Question: {question}{QUESTION}\n\nChoices:\nA: 4\nB: 6\nC: 8\nD: 20\n\nAnswer:"
    answers = [[float(resp), False, 2] for resp in resps]
    return {
        "doc_id": document,
        "doc": {"id": document, "subject": "mathematics", "question": question, "choices": ["4", "6", "8", "20"]},
        "target": gold,
        "arguments": [[prompt, choice] for choice in (" 4", " 6", " 8", " 20")],
        "resps": [[answer] for answer in answers],
        "filtered_resps": answers,
        "filter": "none",
        "metrics": METRICS,
        **{f"{part}_hash": f"{document:064x}" for part in ("doc", "prompt", "target")},
        **{metric: float(picked == gold) for metric in METRICS},
        "task": cell.task,
        "language": cell.language,
        "prompt": cell.prompt,
        "prompt_language": cell.kind,
        "fewshot_ids": [],
        "defect": "",
        "n_choices": CHOICES,
        "answer": picked,
        "measures": {metric: [float(picked == gold)] for metric in METRICS},
        "gold": gold,
        "picked": picked,
    }


def write(folder: Path, planned: list[Cell]) -> None:
    """Writes run.yaml and the sample files; native prompts help a little, as documents differ in difficulty."""
    write_run(folder, record(planned))
    rng = np.random.default_rng(1)
    hard = rng.random(DOCUMENTS)
    for cell in planned:
        right = rng.random(DOCUMENTS) + 0.05 * (cell.kind == "native") > hard
        picked = np.where(right, np.arange(DOCUMENTS), np.arange(DOCUMENTS) + 1) % CHOICES
        resps = rng.normal(-12, 3, (DOCUMENTS, CHOICES))
        write_samples(folder, cell.name, (sample(cell, i, resps[i], int(picked[i])) for i in range(DOCUMENTS)))


def record(planned: list[Cell]) -> dict[str, Any]:
    """Returns what run.yaml says, as far as it is read."""
    tasks = dict.fromkeys(cell.task for cell in planned)
    return {
        "identity": {
            "model": {"model_name": "made-up"},
            "variant": "direct",
            "fewshot": {"num_fewshot": 0, "selection": "fixed", "seed": 42},
            "tasks": {name: described() for name in tasks},
        },
        "fewshot_ids": {},
        "declared": {name: declared(name) for name in tasks},
        "visits": [{"dtype": "float32", "device": "cpu", "batch_size": 8, "processes": 1, "versions": {}}],
    }


def declared(task: str) -> dict[str, Any]:
    """Returns what run.yaml says of a task to readers of the samples."""
    return {"title": task, "labels": [], "breakdowns": [], "parallel": [CODES], "unreviewed": {}}


def described() -> dict[str, Any]:
    """Returns what run.yaml says of a task."""
    return {
        "version": 1,
        "answer_form": "text",
        "prompts": {code: {n: f"{code}{n}" for n in range(1, 6)} for code in ("eng", *CODES)},
        "data": {code: {"test": code} for code in CODES},
    }


def timed(step: str, work: Callable[[], T]) -> T:
    """Prints a line of the table: what was done, for how long, and the most memory the process has had so far."""
    start = time.perf_counter()
    done = work()
    seconds = time.perf_counter() - start
    unit = 1e9 if sys.platform == "darwin" else 1e6  # macOS counts bytes, Linux kilobytes
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    print(f"| {step} | {seconds:.1f} | {peak:.2f} |", flush=True)
    return done


def main() -> None:
    """Writes, reads, compares, and removes what was written."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=2000, help=f"of {DOCUMENTS} documents (default: 2000)")
    planned = cells(parser.parse_args().cells)
    samples = len(planned) * DOCUMENTS
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        needed, free = samples * BYTES * 1.1, shutil.disk_usage(folder).free
        if needed > free:
            sys.exit(f"error: {folder} has {free / 1e9:.1f} GB free, and {needed / 1e9:.1f} are needed; try --cells")
        print("| step | seconds | peak memory, GB |\n| --- | ---: | ---: |")
        timed(f"write {samples:,} samples", lambda: write(folder, planned))
        size = sum(path.stat().st_size for path in folder.iterdir())
        scores = timed(f"read {size / 1e9:.1f} GB", lambda: read_runs([folder]))
        found = timed("differences", lambda: contrasts(scores, "prompt_language", 42))
        timed("means over languages", lambda: means(scores, ["Africa"]))
        timed("spread over prompts", lambda: over_prompts(scores))
        rows = sum(len(contrast.rows) for contrast in found)
        print(f"\n{len(scores):,} cells, {rows:,} differences, {size / samples:,.0f} bytes a sample")


if __name__ == "__main__":
    main()
