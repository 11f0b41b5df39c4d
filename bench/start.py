"""What commands take before they do their work, in processor time: afrieval, and `lm_eval` where it has the command.

python bench/start.py

Processor time (user and system, of the whole process, one thread) is what an idle machine would take, nearly: start is
one thread's work. The smallest of several runs counts. The last row is what no run can be faster than: the libraries
that a run with a local model needs, imported and nothing else.
"""

import argparse
import math
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from afrieval.models.demo import demo_folder

SCRIPTS = Path(sys.executable).parent
SMALL = [
    "--task.task_name",
    "afrimmlu",
    "--task.languages",
    "[yor]",
    "--task.prompts",
    "[1]",
    "--data.source",
    "samples",
]
LIBRARIES = """
from afrieval._util import garbage
garbage.start()
import os, torch, lm_eval.evaluator, lm_eval.models.huggingface
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaForCausalLM
os._exit(0)
"""
# Ends the process at the first forward pass for a task; the check at load comes before.
UNTIL_FIRST = """
import os, sys
from afrieval._util import garbage
garbage.start()
from lm_eval.models.huggingface import HFLM
from {module} import {name}

def first(self, *args, **kwargs):
    os._exit(0)

if "afrieval" in {module!r}:
    from afrieval.models.backends.hf import HF as HFLM
HFLM._loglikelihood_tokens = first
sys.argv[1:] = {words!r}
{name}({given})
sys.exit("no request reached the model")
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3, help="how often each command is run")
    parser.add_argument("--own", action="store_true", help="leave lm_eval out")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        rows = measured(Path(work), args.runs, args.own)
    print("| processor time | afrieval | `lm_eval` |", "| --- | --- | --- |", sep="\n")
    for name, taken in rows.items():
        print(f"| {name} | {' | '.join('' if s is None else f'{s:.2f} s' for s in taken)} |")


def measured(work: Path, runs: int, own: bool) -> dict[str, list[float | None]]:
    """Returns the least processor time of each row, of afrieval and of lm_eval; None where it has no such command."""
    afrieval, lm_eval, tasks = str(SCRIPTS / "afrieval"), str(SCRIPTS / "lm_eval"), work / "tasks"
    one, other = ([afrieval, "run", "--model.model_name", "demo", *SMALL, "--run_dir", str(work / n)] for n in "ab")
    export = [afrieval, "export", "--to", "harness", str(tasks), "--task.task_name", "afrimmlu", *SMALL[-2:]]
    for command in (one, [*other, "--eval.num_fewshot", "1"], export):
        seconds(command, work)
    theirs = ["run", "--model", "hf", "--model_args", f"pretrained={demo_folder()}", "--limit", "1"]
    theirs += ["--tasks", "afrimmlu_yor_eng_1", "--include_path", str(tasks), "--device", "cpu"]
    limited = ["run", "--model.model_name", "demo", *SMALL, "--eval.limit", "1"]
    commands: list[tuple[str, list[str], list[str]]] = [
        ("`run --help`", [afrieval, "run", "--help"], [lm_eval, "run", "--help"]),
        ("`list`, of all tasks (`lm_eval ls tasks`)", [afrieval, "list"], [lm_eval, "ls", "tasks"]),
        ("`preview`, of one prompt", [afrieval, "preview", *SMALL], []),
        ("`compare`, of two runs", [afrieval, "compare", str(work / "a"), str(work / "b")], []),
        ("`run`, of a run that is finished", one, []),
        ("`run`, to the first forward pass of a task", first_pass(limited), first_pass(theirs, "lm_eval.__main__")),
        ("torch, transformers with Llama, and lm_eval alone", [sys.executable, "-c", LIBRARIES], []),
    ]
    found: dict[str, list[float | None]] = {name: [None, None] for name, *_ in commands}
    for _ in range(runs):  # in turns, so that what else the machine does hits all of them
        for name, *both in commands:
            for side, command in enumerate(both[:1] if own else both):
                if command:
                    found[name][side] = min(seconds(command, work), found[name][side] or math.inf)
    return found


def first_pass(words: list[str], module: str = "afrieval.cli.main") -> list[str]:
    """Returns a command that ends at the first forward pass."""
    name, given = ("main", "sys.argv[1:]") if module == "afrieval.cli.main" else ("cli_evaluate", "")
    return [sys.executable, "-c", UNTIL_FIRST.format(module=module, name=name, words=words, given=given)]


def seconds(command: list[str], work: Path) -> float:
    """Returns the processor time of a command, in a folder of its own."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory(dir=work) as folder:
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command[:3])}: {done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
