"""What the suite says today, cell by cell, so that a later version can be compared with it.

python bench/record.py --data samples --out before.jsonl
python bench/record.py --data FOLDER --prompts '[1,3]' --out data.before.jsonl
python bench/record.py --compare before.jsonl after.jsonl
python bench/record.py --hashes tests/record.json
"""

import argparse
import contextlib
import csv
import hashlib
import io
import itertools
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
TASKS = {
    "text": ["afrimmlu", "afrixnli", "belebele", "sib200", "afrisenti"],
    "letter": ["afrimmlu", "belebele"],
    # Not translation, whose metrics depend on what is on the machine.
    "generate": [
        *("afrimgsm", "afrimgsm_cot", "afrimmlu", "afrixnli", "belebele", "sib200"),
        *("masakhaner", "masakhapos", "afriqa", "xlsum", "diacritics"),
    ],
}
TRANSLATED = ["afrimgsm", "afrimgsm_cot", "afrimmlu", "afrixnli"]
LLAMA = ["bbh", "gpqa", "gpqa_cot", "ifeval", "math", "math_hard", "mmlu", "mmlu_instruct"]
LLAMA += ["mmlu_pro_instruct", "mmlu_pro_pretrain"]
MODELS = ("demo", "t5")
SHORT = ["--eval.max_gen_toks", "16"]  # long answers of random models take long and say little
WHOLE = ["--task.prompts", "[1]"]  # but a few may be as long as the suite lets them
SLICE = ["--task.languages", "[yor]", "--task.prompts", "[1,3]", "--eval.limit", "4"]
NAMING = [  # what tells a row of `afrieval compare` from the others
    *("table", "task", "dimension", "first", "second", "languages of", "language", "prompt_language"),
    *("kind", "metric", "average", "setting"),
]
ROUGH = {"resps": 1e-4, "filtered_resps": 1e-4}  # of likelihoods; everything else must be the same
LIKELIHOODS = {"acc_matched"}  # stored as such, and so not the same to the last digit on each machine
FORMER = {"unparsed": "unread"}  # metrics keep the names that they had when the record was begun
Record = dict[str, Any]


class Run(NamedTuple):
    """One command: some tasks under one answer form, number of shots and variant."""

    model: str
    form: str  # empty: each task's own
    shots: int
    variant: str
    tasks: list[str]
    whole: bool = False  # whether generated answers may have their full length

    @property
    def flags(self) -> list[str]:
        """Its options of `afrieval run`, but for model, data and folder."""
        flags = ["--task.task_name", f"[{','.join(self.tasks)}]"]
        if self.variant == "llama":
            return flags if self.whole else [*flags, *SHORT]
        if self.form == "generate":
            flags += WHOLE if self.whole else SHORT
        flags += ["--task.answer_form", self.form, "--eval.num_fewshot", str(self.shots)]
        both = "both" if self.variant == "direct" else "eng"
        return [*flags, "--task.variant", self.variant, "--task.prompt_language", both]


def main() -> None:
    args = parser().parse_args()
    if args.compare:
        sys.exit(compare(*args.compare))
    if args.hashes:
        found = hashes(runs("samples", ["demo"]))
        Path(args.hashes).write_text(json.dumps(found, indent=0) + "\n", encoding="utf-8")
    elif args.data and args.out:
        flags = [] if args.data == "samples" else ["--eval.limit", "5"]
        flags += ["--task.prompts", args.prompts] if args.prompts else []
        write(records(runs(args.data, args.models), args.data, flags), Path(args.out))
    else:
        parser().error("give --data and --out, --compare or --hashes")


def parser() -> argparse.ArgumentParser:
    """Returns the parser of this script's options."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", help="samples, or a folder laid out ORG/NAME as on the hub: 5 rows of each cell")
    options.add_argument("--out", metavar="FILE", help="where the record goes, with --data")
    options.add_argument("--models", nargs="+", choices=MODELS, default=MODELS)
    options.add_argument("--prompts", help="as in [1,3]; all if not given")
    options.add_argument("--compare", nargs=2, metavar="FILE", help="print where two records differ")
    options.add_argument("--hashes", metavar="FILE", help="write a hash for each cell of a small run on the samples")
    return options


def runs(data: str, models: Iterable[str] = MODELS) -> Iterator[Run]:
    """Yields all runs that some data can have."""
    for model in models:
        for form, shots, variant in itertools.product(TASKS, (0, 2), ("direct", "translate")):
            tasks = [t for t in TASKS[form] if variant == "direct" or t in TRANSLATED]
            if variant == "direct" or data == "samples":
                yield Run(model, form, shots, variant, tasks)
                if form == "generate" and model == "demo":
                    yield Run(model, form, shots, variant, tasks, whole=True)
        if data == "samples":
            yield Run(model, "", 0, "llama", [f"meta_{name}" for name in LLAMA], whole=model == "demo")


def records(of: Iterable[Run], data: str, flags: list[str], with_tables: bool = True) -> Iterator[Record]:
    """Runs commands and yields a record for each cell and for each row of the tables made from it.

    Args:
        of: the runs.
        data: samples or a folder.
        flags: options of all runs but Llama's, whose tasks have one language and one prompt; a run's own come last.
        with_tables: whether to make tables.
    """
    with tempfile.TemporaryDirectory() as work:
        for number, run in enumerate(of):
            folder, begin = Path(work) / str(number), time.perf_counter()
            more = [] if run.variant == "llama" else flags
            model = "demo" if run.model == "demo" else str(t5(Path(work) / "t5"))
            words = ["run", "--model.model_name", model, "--data.source", data, "--run_dir", str(folder)]
            called([*words, *more, *run.flags])
            yield from cells(run, folder)
            if with_tables and (run.form == "" or not run.whole):  # one prompt alone has nothing to compare
                yield from tables(run, folder)
            print(f"{time.perf_counter() - begin:6.1f} s  {key(run)}", file=sys.stderr, flush=True)


def called(words: list[str]) -> None:
    """Calls the command line in this process; what it says is shown only if it fails."""
    from afrieval.cli.main import main as afrieval

    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = afrieval(words)
    if code:
        sys.exit(f"{said.getvalue()[-2000:]}\nfailed: afrieval {' '.join(words)}")


def t5(folder: Path) -> Path:
    """Returns a tiny random T5, built at first use."""
    if str(ROOT) not in sys.path:
        sys.path.append(str(ROOT))
    from tests.models.tiny import tiny_t5

    return folder if folder.is_dir() else tiny_t5(folder)


def cells(run: Run, folder: Path) -> Iterator[Record]:
    """Yields the cells of a run folder. All that is known of its format is here."""
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))["results"]
    with (folder / "summary.csv").open(encoding="utf-8", newline="") as file:
        summary = {f"{r['task']}_{r['language']}_{r['prompt_language']}_{r['prompt']}": r for r in csv.DictReader(file)}
    for path in sorted(folder.glob("samples_*.jsonl")):
        samples = [json.loads(line) for line in path.read_bytes().splitlines()]  # a text ends lines elsewhere too
        name, first = path.stem.removeprefix("samples_"), samples[0]
        row = {k: v for k, v in summary[name].items() if v not in ("", None)}
        task, language = first["task"].removesuffix("_translate"), first["language"]
        yield {
            "key": key(run, task, language, f"{first['prompt_language']}-{first['prompt']}"),
            "requests": [s["arguments"] for s in samples],
            "target": [s["target"] for s in samples],
            "resps": [s["resps"] for s in samples],
            "filtered_resps": [s["filtered_resps"] for s in samples],
            "answer": [s.get("picked") for s in samples],
            "scores": [{FORMER.get(m, m): s[m] for m in s["metrics"] if m not in LIKELIHOODS} for s in samples],
            "defect": [s["defect"] for s in samples],
            "metric": row.get("metric"),
            "unparsed": row.get("unparsed"),
            **{k: row.get(k) for k in ("score", "standard_error", "low", "high", "n", "n_defect", "macro", "parts")},
            "results": {former(k): v for k, v in results[name].items() if k not in ("name", "alias")},
        }


def tables(run: Run, folder: Path) -> Iterator[Record]:
    """Yields the rows of the tables that `afrieval compare` makes: means over languages and parts, contrasts."""
    contrast = {"direct": ["--contrast", "prompt_language"], "translate": ["--contrast", "prompt"], "llama": []}
    called(["compare", str(folder), *contrast[run.variant], "--json", str(folder / "tables.json")])
    for table in json.loads((folder / "tables.json").read_text(encoding="utf-8")):
        for row in table["rows"]:
            where = [str(row[name]) for name in NAMING if row.get(name) is not None]
            numbers = {former(k): v for k, v in row.items() if k not in (*NAMING, "model", "evals", "samples")}
            yield {"key": key(run, *where), "row": numbers}


def former(column: str) -> str:
    """Returns a column's name with its metric's former name."""
    for now, was in FORMER.items():
        column = re.sub(rf"^{now}(?=_stderr|,|$)", was, column)
    return column


def key(run: Run, *where: str) -> str:
    """Returns the name of a record."""
    form = (run.form or "own") + ("-whole" if run.whole and run.form else "")
    return "/".join([run.model, form, f"{run.shots}-shot", run.variant, *where])


def write(found: Iterable[Record], path: Path) -> None:
    """Writes records, one a line."""
    with path.open("w", encoding="utf-8") as file:
        for record in found:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")


def hashes(of: Iterable[Run]) -> dict[str, str]:
    """Returns a hash for each cell of a few rows of runs; what depends on a machine's arithmetic is left out."""
    short = (run._replace(whole=run.whole and run.variant != "llama") for run in of)
    return {record["key"]: hashed(record) for record in records(short, "samples", SLICE, with_tables=False)}


def hashed(cell: Mapping[str, Any]) -> str:
    """Returns a short hash of a cell's requests, targets, answers and scores."""
    kept = [cell[name] for name in ("requests", "target", "answer", "scores")]
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()[:12]


def compare(before: str, after: str) -> int:
    """Prints where two records differ, and returns 1 if they do."""
    old, new = read(before), read(after)
    lines = [f"{name}: only in {before}" for name in old.keys() - new.keys()]
    lines += [f"{name}: only in {after}" for name in new.keys() - old.keys()]
    for name in old.keys() & new.keys():
        for field in sorted(old[name].keys() | new[name].keys()):
            a, b = old[name].get(field), new[name].get(field)
            if found := difference(a, b, ROUGH.get(field, 0.0)):
                lines.append(f"{name}: {field}{found}")
    print("\n".join([*sorted(lines), f"{len(old)} and {len(new)} records, {len(lines)} differences"]))
    return 1 if lines else 0


def difference(a: Any, b: Any, tolerance: float) -> str:
    """Returns where two nested values first differ, and how; empty if they do not."""
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        a, b = dict(enumerate(a)), dict(enumerate(b))
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        inside = ((at, difference(a[at], b[at], tolerance)) for at in a)
        return next((f"[{at}]{found}" for at, found in inside if found), "")
    if isinstance(a, float) and isinstance(b, float) and abs(a - b) <= tolerance:
        return ""
    return "" if repr(a) == repr(b) else f": {short(a)} became {short(b)}"


def short(value: Any) -> str:
    """Returns a value as a text of some characters."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:50]} ... {text[-25:]}"


def read(path: str) -> dict[str, Record]:
    """Returns the records of a file by key; keys must differ."""
    found: dict[str, Record] = {}
    with Path(path).open(encoding="utf-8") as file:
        for line in file:
            record = json.loads(line)
            if record["key"] in found:
                sys.exit(f"{path}: two records have the key {record['key']}")
            found[record["key"]] = record
    return found


if __name__ == "__main__":
    os.environ |= {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    main()
