"""What a run costs besides the model: reading, rendering, hashing, tokenizing, storing, and resuming what is finished.

python bench/host.py --data FOLDER               # IrokoBench whole
python bench/host.py --data FOLDER --limit 20 --tasks afrimmlu

The model is of the hf backend, with a BPE tokenizer of 16,384 tokens, and answers at once: forward passes are left out,
and the rest is as in `afrieval run`. Seconds are processor time of all threads, so that other work on the same machine
counts little.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine_model import SHAPES, english, saved

ROOT = Path(__file__).resolve().parents[1]
SHAPE = replace(SHAPES["tiny"], vocabulary=16_384)
SUITE = ["--task-config-yaml", str(ROOT / "configs/suites/irokobench.yaml")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="samples", help="folder laid out ORG/NAME as on the hub, or samples")
    parser.add_argument("--tasks", help="as in [afrimmlu,afrixnli]; those of IrokoBench if not given")
    parser.add_argument("--languages", help="as in [yor,amh]; all if not given")
    parser.add_argument("--limit", help="of documents for each cell")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        model = saved(Path(work) / "model", SHAPE, english(args.data), "cpu", "float32")
        words = ["run", "--model.model_name", str(model), "--data.source", args.data, *SUITE]
        words += ["--run_dir", str(Path(work) / "run")]
        for name in ("task.task_name", "task.languages", "eval.limit"):
            given = {"task.task_name": args.tasks, "task.languages": args.languages, "eval.limit": args.limit}[name]
            words += [f"--{name}", given] if given else []
        found = Path(work) / "stages.json"
        called([sys.executable, str(ROOT / "bench/host_stages.py"), str(found), *words])
        first = json.loads(found.read_text(encoding="utf-8"))
        resumed = called([sys.executable, "-m", "afrieval.cli.main", *words])
    print(table(first, resumed))


def called(command: list[str]) -> tuple[float, float]:
    """Runs a command, and returns its seconds of processor time and from start to end."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after, seconds = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - begin
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, seconds


def table(first: dict[str, Any], resumed: tuple[float, float]) -> str:
    """Returns the stages of a run, and what it takes to resume it, in Markdown."""
    seconds, requests = first["seconds"], first["requests"]
    lines = [f"| {requests:,} requests | seconds | µs per request |", "| --- | --- | --- |"]
    every = {**seconds, "all": sum(seconds.values())}
    lines += [f"| {stage} | {of:.1f} | {1e6 * of / requests:.1f} |" for stage, of in every.items()]
    lines += [f"| the same command again: processor time | {resumed[0]:.1f} | |"]
    lines += [f"| the same command again: from start to end | {resumed[1]:.1f} | |"]
    lines += [f"| peak memory | {first['MiB']:,.0f} MiB | |"]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
