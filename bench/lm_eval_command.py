"""lm_eval's whole command with `hf` and with `hf-tree`, on its own tasks: python bench/lm_eval_command.py --data FOLDER

The tasks are lm_eval's files, whose data is read from FOLDER, laid out ORG/NAME as on the hub. The model is random.
"""

import argparse
import csv
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import lm_eval.tasks
import yaml
from engine_model import SHAPES, english, saved

TASKS = Path(lm_eval.tasks.__file__).parent
FAR = 1e-3


class Case(NamedTuple):
    """A way to draw the examples of a task's prompts, what to call it, and what the task's file says of it."""

    title: str
    settings: dict[str, Any]


FILE, DATA, SHOTS = "afrixnli/direct/prompt_1/afrixnli_yor.yaml", "masakhane/afrixnli/data/yor", 5
CASES = (
    Case("other examples for each question", {}),  # as lm_eval draws them, if a task does not say otherwise
    Case("the same examples", {"fewshot_config": {"sampler": "first_n"}}),
)
LABELS = {"entailment": 0, "neutral": 1, "contradiction": 2}  # numbers in the hub's copy of AfriXNLI


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, help="folder laid out ORG/NAME as on the hub")
    parser.add_argument("--shape", choices=list(SHAPES), default="50m")
    parser.add_argument("--limit", type=int, default=24)
    args = parser.parse_args()
    print("| lm_eval's task | model | seconds | ratio | scores and samples |", "| --- " * 5 + "|", sep="\n")
    with tempfile.TemporaryDirectory() as work:
        model = saved(Path(work) / "model", SHAPES[args.shape], english(args.data), "cpu", "float32")
        for case in CASES:
            name = written(case, Path(args.data), Path(work), args.limit)
            found = {kind: run(kind, name, model, Path(work)) for kind in ("hf", "hf-tree")}
            (slow, expected), (_, samples) = found.values()
            same = compared(expected, samples)
            for kind, (seconds, _) in found.items():
                asked = f"AfriXNLI, Yoruba, {SHOTS}-shot, {args.limit} questions, {case.title}"
                row = [asked, f"`{kind}`", f"{seconds:.0f}"]
                row += [f"{slow / seconds:.1f}", same if kind == "hf-tree" else ""]
                print(f"| {' | '.join(row)} |", flush=True)


def written(case: Case, data: Path, work: Path, limit: int) -> str:
    """Writes a task that is lm_eval's but for where its rows are, and returns its name."""
    with (data / DATA / "test.tsv").open(encoding="utf-8", newline="") as file:
        read = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        rows = [{name: LABELS.get(value, value) for name, value in row.items()} for row in read]
    files = {"test": rows[:limit], "validation": rows[limit:]}
    for split, of_split in files.items():
        path = work / f"{split}.jsonl"
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in of_split), encoding="utf-8")
    name = f"local_{CASES.index(case)}"
    places = {split: str(work / f"{split}.jsonl") for split in files}
    task = {
        "include": str(TASKS / FILE), "task": name, "tag": None, "dataset_path": "json", "dataset_name": None,
        "dataset_kwargs": {"data_files": places}, "fewshot_split": "validation",
        **case.settings,
    }  # fmt: skip
    (work / f"{name}.yaml").write_text(yaml.safe_dump(task), encoding="utf-8")
    return name


def run(kind: str, task: str, model: Path, work: Path) -> tuple[float, list[dict[str, Any]]]:
    """Returns how many seconds lm_eval's command takes, and its samples."""
    out = work / f"{task}-{kind}"
    words = ["--model", kind, "--model_args", f"pretrained={model},dtype=float32", "--tasks", task]
    words += ["--include_path", str(work), "--num_fewshot", str(SHOTS), "--device", "cpu", "--batch_size", "8"]
    command = [sys.executable, "-m", "afrieval.models.engine", "run", *words]
    begin = time.perf_counter()
    subprocess.run([*command, "--log_samples", "--output_path", str(out)], check=True, stdout=subprocess.DEVNULL)
    seconds = time.perf_counter() - begin
    (file,) = out.rglob("samples_*.jsonl")
    return seconds, [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def compared(expected: list[dict[str, Any]], found: list[dict[str, Any]]) -> str:
    """Returns how the samples of two runs differ.

    Raises:
        SystemExit: if a likelihood, a text or a score does.
    """
    far = 0.0
    for a, b in zip(expected, found, strict=True):
        if a.keys() != b.keys() or any(a[key] != b[key] for key in a if key not in ("resps", "filtered_resps")):
            sys.exit(f"sample {a['doc_id']} differs in more than likelihoods")
        for of_a, of_b in zip(a["resps"], b["resps"], strict=True):
            (one, *greedy), (other, *other_greedy) = (r[0] if isinstance(r[0], list) else r for r in (of_a, of_b))
            try:
                far = max(far, abs(float(one) - float(other)))
            except ValueError:  # a text
                far = max(far, float(one != other))
            if greedy != other_greedy or far > FAR:
                sys.exit(f"sample {a['doc_id']}: {of_a} with hf, {of_b} with hf-tree")
    return f"equal within {far:.0e}" if far else "equal"


if __name__ == "__main__":
    main()
