"""This engine and other programs: the same requests, the same random model, the same machine, one Markdown table.

python bench/peers.py --data FOLDER                                        # a Llama shape of 48M parameters, for CPUs
python bench/peers.py --data FOLDER --shape llama-3.2-1b --device cuda     # bfloat16, nothing downloaded
python bench/peers.py --data FOLDER --case "yor, 5-shot" --limit 12 --programs hf,afrieval
python bench/peers.py --data FOLDER --python vllm=ENVIRONMENT/bin/python   # a program with an environment of its own
python bench/peers.py --data FOLDER --model "$(python scripts/real_model.py smollm2)" --programs hf,afrieval,llama.cpp

FOLDER is laid out ORG/NAME as on the hub and has AfriMMLU, AfriXNLI, Belebele, AfriMGSM and Marco-Bench-MIF;
AFRIEVAL_DATA if not given.
On a CPU each measurement is a process of its own, on a GPU each program and batch size. Nothing else should run, but
with one thread (OMP_NUM_THREADS=1), seconds are processor time, and other work counts little.
The table also names programs that are not installed or fail. In float32, log-likelihoods other than hf's are an error,
except llama.cpp's, whose cache has 16 bits.
"""

import argparse
import json
import logging
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import torch
from engine_cases import CASES, Case, needed_work, requests
from engine_model import SHAPES, Shape, endless, english, random_model, saved, shape_of
from llamacpp_job import llamacpp_case, with_texts
from machine import cores_taken, machine, matrix_rate, taken_by_others
from transformers import AutoTokenizer

from afrieval._util.errors import UserError
from afrieval.models.gguf import converted

COLUMNS = (
    "case", "program", "seconds", "documents/s", "tokens/document", "of the least work", "memory", "difference", "ratio"
)  # fmt: skip
PROGRAMS = ("hf", "afrieval", "llama.cpp", "continuous", "vllm", "vllm-well", "sglang", "sglang-well")
NAMES = {
    "continuous": "transformers' continuous batching",
    "vllm": "vllm (as lm_eval calls it)",
    "vllm-well": "vllm (called well)",
    "sglang": "sglang (as lm_eval calls it)",
    "sglang-well": "sglang (called well)",
}
BATCHES = {"cpu": (1, 8, 32), "cuda": (4, 16, 64)}
KEPT = ("vllm", "vllm-well", "sglang", "sglang-well")
SHARING = ("afrieval", "llama.cpp")  # what requests have in common; they compute all documents on a CPU
OWN = {"cpu": 8, "cuda": 64}  # batch of the others, as far as they have any; this engine and vLLM choose themselves
PEER = Path(__file__).with_name("peer.py")
LLAMACPP = Path(__file__).with_name("peer_llamacpp.py")
FAR = 1e-3


class Asked(NamedTuple):
    """The requests of a case, or some of them.

    Attributes:
        method: of the model.
        arguments: of each request.
        documents: the document that each request belongs to; -1 for neutral prompts.
        each: requests per document, in the whole case.
    """

    case: Case
    method: str
    arguments: list[list[Any]]
    documents: list[int]
    each: float

    def few(self, number: int) -> "Asked":
        """Returns the requests of some documents, evenly spread, and those of no document."""
        whole = sorted({d for d in self.documents if d >= 0})
        kept = {whole[i * len(whole) // number] for i in range(min(number, len(whole)))}
        at = [i for i, document in enumerate(self.documents) if document < 0 or document in kept]
        return self._replace(arguments=[self.arguments[i] for i in at], documents=[self.documents[i] for i in at])

    @property
    def size(self) -> float:
        """The number of documents; neutral prompts, which all share, count as much as other requests."""
        return len(self.arguments) / self.each


@dataclass(frozen=True)
class Row:
    """What a program gave for a case; `found` is a line of its answers, `peer.py` says what is in it."""

    asked: Asked
    program: str
    batch: int
    found: dict[str, Any]

    @property
    def rate(self) -> float:
        """Documents per second; 0 if it failed."""
        return self.asked.size / self.found["seconds"] if "seconds" in self.found else 0.0


@dataclass(frozen=True)
class Bench:
    """What is measured: models that end their answers or not, requests, and a model that knows their tokens."""

    args: argparse.Namespace
    work: Path
    shape: Shape
    folders: dict[bool, Path]
    asked: list[Asked]
    lm: Any


def main() -> None:
    args = arguments()
    rate = matrix_rate(args.device, args.dtype)
    with tempfile.TemporaryDirectory() as work:
        try:
            bench = prepared(args, Path(work))
        except UserError as e:
            sys.exit(f"error: {e}")
        before = cores_taken()
        missing = {program: reason for program in args.programs if (reason := absent(program, args))}
        rows = [row for program in args.programs if program not in missing for row in measured(bench, program)]
        others = taken_by_others(before)
    print(heading(args, rate, others, rows), "", line(COLUMNS), line(["---"] * len(COLUMNS)), sep="\n")
    for row in sorted(rows, key=lambda row: CASES.index(row.asked.case)):
        print(line(cells(bench, row, rows, rate)))
    for program, reason in missing.items():
        print(f"\n{NAMES.get(program, program)} was not run: {reason}.")
    check(rows, args.dtype == "float32")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--data", default=os.environ.get("AFRIEVAL_DATA"), help="folder laid out ORG/NAME as on the hub"
    )
    parser.add_argument("--shape", choices=list(SHAPES), default="50m")
    parser.add_argument("--model", type=Path, help="folder or GGUF file of a real Llama, instead of a shape")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", help="float32 on a CPU, bfloat16 elsewhere, if not given")
    parser.add_argument("--limit", type=int, help="documents of each case: 48 on a CPU, 200 elsewhere, if not given")
    parser.add_argument("--hf-limit", type=int, help="those of them that others compute: 6 on a CPU, all elsewhere")
    parser.add_argument(
        "--batches", type=int, nargs="+", help="batch sizes of hf; several, until one is slower, if not given"
    )
    parser.add_argument("--case", default="", help="only cases with this in their title")
    parser.add_argument("--programs", default=",".join(PROGRAMS), help="of these, which; hf is what others differ from")
    parser.add_argument("--python", action="append", default=[], help="PROGRAM=PATH of another Python that has it")
    args = parser.parse_args()
    if not args.data:
        parser.error("--data is missing, and so is AFRIEVAL_DATA")
    on_cpu = args.device == "cpu"
    args.dtype = args.dtype or ("float32" if on_cpu else "bfloat16")
    args.limit = args.limit or (48 if on_cpu else 200)
    args.hf_limit = min(args.limit, args.hf_limit or (6 if on_cpu else args.limit))
    args.programs = args.programs.split(",")
    args.batches = args.batches or BATCHES["cpu" if on_cpu else "cuda"]
    if unknown := [program for program in args.programs if program not in PROGRAMS]:
        parser.error(f"--programs: {unknown[0]!r} is not one of {', '.join(PROGRAMS)}")
    if not any(args.case in case.title for case in CASES):
        parser.error(f"--case: no title contains {args.case!r}; titles: {'; '.join(case.title for case in CASES)}")
    if wrong := [given for given in args.python if "=" not in given]:
        parser.error(f"--python: {wrong[0]!r} must have the form PROGRAM=PATH")
    args.python = dict(given.split("=", 1) for given in args.python)
    return args


def prepared(args: argparse.Namespace, work: Path) -> Bench:
    """Writes the models, and makes the requests as `afrieval run` does."""
    from afrieval.models.backends.hf import HF

    if args.model:
        folder = other = args.model if args.model.is_dir() else converted(args.model)
    else:
        learned_from = english(args.data)
        folder = saved(work / "model", SHAPES[args.shape], learned_from, args.device, args.dtype)
        other = endless(folder, work / "endless", learned_from)
        torch.cuda.empty_cache()  # the programs need it
    words = AutoTokenizer.from_pretrained(folder)
    logging.getLogger("lm_eval").setLevel(logging.ERROR)
    lm = HF(pretrained=random_model(SHAPES["tiny"], "cpu", "float32"), tokenizer=words, device="cpu")
    cases = [case for case in CASES if args.case in case.title]
    asked = [whole(case, *requests(case, lm, args.data, args.limit)) for case in cases]
    return Bench(args, work, shape_of(folder), {True: folder, False: other}, asked, lm)


def whole(case: Case, method: str, arguments: list[list[Any]], documents: list[int]) -> Asked:
    """Returns all requests of a case."""
    return Asked(case, method, arguments, documents, len(documents) / len({d for d in documents if d >= 0}))


def python(program: str, args: argparse.Namespace) -> str:
    return str(args.python.get(program, args.python.get(program.removesuffix("-well"), sys.executable)))


def absent(program: str, args: argparse.Namespace) -> str:
    """Returns why a program cannot be run; empty if it is installed."""
    if program == "llama.cpp" and (args.device, args.dtype) != ("cpu", "float32"):
        return "it is measured on CPUs, in float32"
    packages = {"hf": "lm_eval", "continuous": "transformers", "llama.cpp": "llama_cpp"}
    package = packages.get(program, program.removesuffix("-well"))
    find = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({package!r}) is None)"
    try:
        done = subprocess.run([python(program, args), "-c", find], check=False)
    except OSError as e:
        return f"{python(program, args)} cannot be run ({e.strerror})"
    return f"`{package}` is not installed" if done.returncode else ""


def measured(bench: Bench, program: str) -> Iterator[Row]:
    """Yields a row per case that a program can compute, with its fastest batch size."""
    asked = [a for a in bench.asked if program != "continuous" or a.method == "generate_until"]
    if program not in SHARING:  # on a CPU the others take long for what they do not share
        asked = [a.few(bench.args.hf_limit) if program == "hf" or a.method == "loglikelihood" else a for a in asked]
    for together in processes(bench, program, asked):
        yield from fastest(bench, program, together)


def processes(bench: Bench, program: str, asked: list[Asked]) -> list[list[Asked]]:
    """Returns which cases share a process: on a CPU none, but vLLM and SGLang take a minute to start."""
    if bench.args.device == "cpu" and program not in KEPT:
        return [[one] for one in asked]
    return [list(group) for _, group in groupby(asked, key=lambda a: a.case.longest > 0)]  # one model at a time


def fastest(bench: Bench, program: str, asked: list[Asked]) -> list[Row]:
    """Returns the fastest batch size of each case; on a CPU, larger ones are not tried after one that was slower."""
    kind = "cpu" if bench.args.device == "cpu" else "cuda"
    best: list[Row] = []
    for batch in bench.args.batches if program == "hf" else [OWN[kind]]:
        tried = run(bench, program, batch, asked)
        better = [max(pair, key=lambda row: row.rate) for pair in zip(best or tried, tried, strict=True)]
        stop = kind == "cpu" and better == best
        best = better
        if stop:
            break
    return best


def run(bench: Bench, program: str, batch: int, asked: list[Asked]) -> list[Row]:
    """Returns a row per case, measured in a process of its own."""
    job, answers = bench.work / "job.json", bench.work / "answers.jsonl"
    given = [
        {"folder": str(bench.folders[a.case.longest > 0]), "method": a.method, "requests": a.arguments} for a in asked
    ]
    machine_and_batch = {"device": bench.args.device, "dtype": bench.args.dtype, "batch": batch}
    machine_and_batch["threads"] = torch.get_num_threads()
    cases = [llamacpp_case(case, bench.lm, bench.work) for case in given] if program == "llama.cpp" else given
    job.write_text(json.dumps({"program": program, **machine_and_batch, "cases": cases}))
    answers.write_text("")
    peer = LLAMACPP if program == "llama.cpp" else PEER
    command = [python(program, bench.args), str(peer), str(job), str(answers)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = [json.loads(text) for text in answers.read_text().splitlines()]
    last = (done.stderr.strip().splitlines() or ["nothing was said"])[-1]
    found += [{"error": f"exit code {done.returncode}, {last}"}] * (len(asked) - len(found))
    if any("error" in of for of in found):
        print(done.stderr, file=sys.stderr, flush=True)
    if program == "llama.cpp":
        found = [with_texts(case, bench.lm, f) for case, f in zip(given, found, strict=True)]
    rows = [Row(a, program, batch, f) for a, f in zip(asked, found, strict=True)]
    for row in rows:
        print(row.asked.case.title, named(row), f"{row.rate:.2f} documents/s", file=sys.stderr, flush=True)
    return rows


def named(row: Row) -> str:
    name = NAMES.get(row.program, row.program)
    return f"{name}, batch {row.batch}" if row.program == "hf" else name


def cells(bench: Bench, row: Row, rows: Sequence[Row], rate: float) -> list[str]:
    """Returns the cells of a row of the table."""
    if "error" in row.found:
        return [row.asked.case.title, named(row), f"failed: {row.found['error'][:150]}", *[""] * (len(COLUMNS) - 3)]
    hf = reference(row, rows)
    tokens, seconds = row.found["tokens"], row.found["seconds"]
    asked = row.asked
    needed = needed_work(bench.lm, bench.shape, asked.method, asked.arguments, row.found["answers"])
    return [
        asked.case.title,
        named(row),
        f"{seconds:.1f}",
        f"{row.rate:.2f}",
        "not known" if tokens is None else f"{tokens / asked.size:,.0f}",
        f"{needed.least / rate / seconds:.0%}",
        f"{row.found['memory'] / 2**20:,.0f} MiB",
        str(difference(row, hf)) if hf and hf is not row else "",
        f"{row.rate / hf.rate:.1f}" if hf else "",
    ]


def reference(row: Row, rows: Sequence[Row]) -> Row | None:
    """Returns what hf gave for the same case."""
    return next((r for r in rows if r.program == "hf" and r.asked.case == row.asked.case and r.rate), None)


class Difference(NamedTuple):
    """How a program's answers differ from hf's: largest difference of log-likelihoods, other greedy answers, texts."""

    far: float
    greedy: int
    texts: int
    of: int

    def __str__(self) -> str:
        if self.far < 0:
            return f"{self.texts} of {self.of} texts"
        return f"{self.far:.0e}" + f", {self.greedy} of {self.of} greedy" * (self.greedy > 0)


def difference(row: Row, hf: Row) -> Difference:
    """Returns how the answers to the requests that hf was asked too differ from its."""
    own = dict(zip(map(json.dumps, row.asked.arguments), row.found["answers"], strict=True))
    pairs = [(own[json.dumps(a)], b) for a, b in zip(hf.asked.arguments, hf.found["answers"], strict=True)]
    if hf.asked.method == "generate_until":
        return Difference(-1.0, 0, sum(a != b for a, b in pairs), len(pairs))
    return Difference(max(abs(a[0] - b[0]) for a, b in pairs), sum(a[1] != b[1] for a, b in pairs), 0, len(pairs))


def check(rows: Sequence[Row], exact: bool) -> None:
    """Ends with an error if hf or this engine failed, or a log-likelihood is not hf's: a wrong answer is not fast."""
    for row in rows:
        hf = reference(row, rows)
        if "error" in row.found:
            if row.program in PROGRAMS[:2]:
                sys.exit(f"{row.asked.case.title}: {named(row)} failed, {row.found['error']}")
        elif exact and hf and row.program != "llama.cpp" and ((found := difference(row, hf)).far > FAR or found.greedy):
            sys.exit(f"{row.asked.case.title}: the answers of {named(row)} are not hf's, {found}")


def heading(args: argparse.Namespace, rate: float, others: float, rows: Sequence[Row]) -> str:
    """Returns what was measured where, for people."""
    model = args.model.name if args.model else f"shape {args.shape}"
    versions = sorted({row.found["version"] for row in rows if "version" in row.found})
    return (
        f"{date.today()}, {machine(args.device)}, {args.dtype}, matrix products at {rate / 1e9:,.0f} GFLOP/s; "
        f"{args.limit} documents of each case, {args.hf_limit} of them, evenly spread, for hf; "
        f"{model}; {', '.join(versions)}. Other programs took {others:.0%} of the cores meanwhile."
    )


def line(words: Sequence[str]) -> str:
    return f"| {' | '.join(words)} |"


if __name__ == "__main__":
    main()
