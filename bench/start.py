"""How long a run takes before the model sees its first task token, and `--help`: afrieval beside `lm_eval`.

python bench/start.py
"""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from afrieval.models.demo import demo_folder

RUNS = 5
UNTIL_FIRST = """
import os, sys, time
from lm_eval.models.huggingface import HFLM
import {module} as cli

def first(self, *args, **kwargs):
    print("FIRST", time.time(), flush=True)
    os._exit(0)

if "afrieval" in "{module}":
    from afrieval.models.backends.hf import HF
    HF._loglikelihood_tokens = first  # the check at load comes before
else:
    HFLM._loglikelihood_tokens = first
sys.argv[1:] = {argv!r}
{call}
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as work:
        tasks = Path(work) / "tasks"
        scripts = Path(sys.executable).parent
        export = ["export", "--to", "harness", str(tasks), "--task.task_name", "afrimmlu", "--data.source", "samples"]
        subprocess.run([scripts / "afrieval", *export], check=True, stdout=subprocess.DEVNULL)
        own = ["run", "--model.model_name", "demo", "--task.task_name", "afrimmlu", "--data.source", "samples"]
        own += ["--task.languages", "[yor]", "--task.prompts", "[1]", "--eval.limit", "1"]
        theirs = ["run", "--model", "hf", "--model_args", f"pretrained={demo_folder()}", "--limit", "1"]
        theirs += ["--tasks", "afrimmlu_yor_eng_1", "--include_path", str(tasks), "--device", "cpu"]
        lines = [
            ("--help", help_time([str(scripts / "afrieval"), "run"]), help_time([str(scripts / "lm_eval"), "run"])),
            (
                "start to first pass",
                first_pass("afrieval.cli", own, "cli.main(sys.argv[1:])", work),
                first_pass("lm_eval.__main__", theirs, "cli.cli_evaluate()", work),
            ),
        ]
    print("| | afrieval | lm_eval |", "| --- | --- | --- |", sep="\n")
    for name, *seconds in lines:
        print(f"| {name} | {' | '.join(f'{s:.2f} s' for s in seconds)} |")


def help_time(command: list[str]) -> float:
    """Returns the median of seconds that a command's help takes."""

    def once() -> float:
        begin = time.perf_counter()
        subprocess.run([*command, "--help"], check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - begin

    once()
    return statistics.median(once() for _ in range(RUNS))


def first_pass(module: str, argv: list[str], call: str, work: str) -> float:
    """Returns the median of seconds from the start of a process to its first forward pass."""
    script = UNTIL_FIRST.format(module=module, argv=argv, call=call)

    def once(number: int) -> float:
        folder = Path(work) / f"{module}{number}"
        folder.mkdir()
        begin = time.time()
        done = subprocess.run([sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, check=False)
        first = [line for line in done.stdout.splitlines() if line.startswith("FIRST")]
        if not first:
            sys.exit(done.stderr)
        return float(first[0].split()[1]) - begin

    once(-1)
    return statistics.median(once(i) for i in range(RUNS))


if __name__ == "__main__":
    main()
