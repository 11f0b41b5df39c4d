"""A whole run of `src/evaluate.py`, from start to printed table, with the engine and the harness' own way.

python bench/whole_run.py --data FOLDER --limit 48
python bench/whole_run.py --data FOLDER --shape llama-3.2-1b --device cuda     # bfloat16
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from engine_model import SHAPES, english, saved

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, help="folder laid out ORG/NAME as on the hub")
    parser.add_argument("--shape", choices=list(SHAPES), default="50m")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--limit", type=int, default=48)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        dtype = "float32" if args.device == "cpu" else "bfloat16"
        model = saved(Path(work) / "model", SHAPES[args.shape], english(args.data), args.device, dtype)
        words = ["--model.model_name", str(model), "--data.source", args.data, "--eval.limit", str(args.limit)]
        words += ["--task.task_name", "afrimmlu", "--task.languages", "[yor]", "--task.prompts", "[1]"]
        words += ["--task.answer_form", "text", "--eval.num_fewshot", "5", "--model.device", args.device]
        seconds = {engine: run(engine, words, Path(work) / engine) for engine in ("tree", "plain")}
    print("| 5-shot AfriMMLU, Yoruba, option texts | seconds | ratio |", "| --- | --- | --- |", sep="\n")
    for engine, taken in seconds.items():
        print(f"| `--model.engine {engine}`, {args.limit} questions | {taken:.1f} | {seconds['plain'] / taken:.1f} |")


def run(engine: str, words: list[str], folder: Path) -> float:
    """Returns how many seconds a run takes."""
    command = [sys.executable, str(ROOT / "src/evaluate.py"), *words, "--model.engine", engine]
    begin = time.perf_counter()
    subprocess.run([*command, "--run_dir", str(folder)], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


if __name__ == "__main__":
    main()
