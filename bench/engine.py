"""The scoring engine beside the harness' own way: the same requests, the same random model, one Markdown table.

python bench/engine.py --data FOLDER                                      # a 50M Llama shape, for CPUs
python bench/engine.py --data FOLDER --shape llama-3-8b --device cuda     # bfloat16, nothing downloaded

FOLDER is laid out ORG/NAME as on the hub and has AfriMMLU, AfriXNLI, Belebele and AfriMGSM.
Every measurement is a process of its own. Nothing else should run meanwhile.
"""

import argparse
import multiprocessing
import platform
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import torch
from engine_cases import CASES, Case, Work, requests, work
from engine_model import SHAPES, english, random_model, tokenizer

COLUMNS = (
    "case", "way", "seconds", "documents/s", "tokens run", "of the limit", "of the least work", "memory", "ratio"
)  # fmt: skip
TRIAL = 4  # a quarter of the documents tells which batch size is best
FAR = 1e-3


@dataclass(frozen=True)
class Measured:
    """One way to compute a cell; memory is what it took beside the model, in bytes."""

    way: str
    seconds: float
    tokens: int
    memory: float
    answers: list[Any]
    work: Work


def main() -> None:
    args = arguments()
    rate = max(matrix_rate(args.device, args.dtype) for _ in range(20))  # the machine may be busy now and then
    print(f"{machine(args.device)}; {args.shape}, {args.dtype}, {args.limit} documents of each case", flush=True)
    print(f"matrix products: {rate / 1e9:,.0f} GFLOP/s\n", flush=True)
    print(row(COLUMNS), row(["---"] * len(COLUMNS)), sep="\n", flush=True)
    for case in CASES:
        if args.case in case.title:
            for line in lines(case, rate, args):
                print(row(line), flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, help="folder laid out ORG/NAME as on the hub")
    parser.add_argument("--shape", choices=list(SHAPES), default="50m")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", help="float32 on a CPU, bfloat16 elsewhere, if not given")
    parser.add_argument("--limit", type=int, default=48, help="documents of each case")
    parser.add_argument("--case", default="", help="only cases with this in their title")
    args = parser.parse_args()
    args.dtype = args.dtype or ("float32" if args.device == "cpu" else "bfloat16")
    return args


def lines(case: Case, rate: float, args: argparse.Namespace) -> Iterator[list[str]]:
    """Yields a table line for the harness' best batch size and one for the engine."""
    best: int | str = "auto"
    if args.device == "cpu":
        few = max(1, args.limit // TRIAL)
        best = min((1, 8, 32), key=lambda size: measure(case, "plain", size, few, args).seconds)
    plain = measure(case, "plain", best, args.limit, args)
    tree = measure(case, "tree", 8 if args.device == "cpu" else "auto", args.limit, args)
    if args.dtype == "float32":
        agree(plain.answers, tree.answers)
    for measured in (plain, tree):
        yield [
            case.title,
            measured.way,
            f"{measured.seconds:.1f}",
            f"{args.limit / measured.seconds:.2f}",
            f"{measured.tokens:,}",
            f"{measured.work.flops / rate / measured.seconds:.0%}",
            f"{measured.work.least / rate / measured.seconds:.0%}",
            f"{measured.memory / 2**20:,.0f} MiB",
            f"{plain.seconds / measured.seconds:.1f}",
        ]


def measure(case: Case, engine: str, batch: int | str, limit: int, args: argparse.Namespace) -> Measured:
    """Returns how long a cell takes one way, measured in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(_measure, case, engine, batch, limit, args).result()


def _measure(case: Case, engine: str, batch: int | str, limit: int, args: argparse.Namespace) -> Measured:
    with torch.no_grad():
        return _measured(case, engine, batch, limit, args)


def _measured(case: Case, engine: str, batch: int | str, limit: int, args: argparse.Namespace) -> Measured:
    lm = build(args)
    method, asked = requests(case, lm, args.data, limit)
    lm.choose_engine(engine)
    lm.batch_size_per_gpu = batch
    lm.plain([(None, [5, 6, 7], [8])], 1)  # libraries set themselves up in the first pass
    ran = [0]

    def count(module: Any, positional: Any, named: dict[str, Any]) -> None:
        ids = named.get("input_ids", positional[0] if positional else None)
        ran[0] += 0 if ids is None else ids.numel()

    lm.model.register_forward_pre_hook(count, with_kwargs=True)
    with peak_memory(lm.device) as peak:
        begin = time.perf_counter()
        answers = getattr(lm, method)(asked, disable_tqdm=True)
        seconds = time.perf_counter() - begin
    way = "engine" if engine == "tree" else f"hf, batch {batch}"
    return Measured(way, seconds, ran[0], peak[0], answers, needed_work(lm, method, asked, answers, args))


def build(args: argparse.Namespace) -> Any:
    """Returns the model; its tokenizer learns from the English questions of the data."""
    import logging

    from afrieval.models.backends.hf import HF

    logging.getLogger("lm_eval").setLevel(logging.ERROR)
    shape = SHAPES[args.shape]
    model = random_model(shape, args.device, args.dtype)
    words = tokenizer(english(args.data), shape.vocabulary)
    return HF(pretrained=model, tokenizer=words, batch_size=8, device=args.device, softmax_dtype="float32")


def needed_work(lm: Any, method: str, asked: list[Any], answers: list[Any], args: argparse.Namespace) -> Work:
    """Returns what the requests cannot do without."""
    if method == "loglikelihood":
        pairs = [lm._encode_pair(*r.args) for r in asked]
    else:
        texts = [(r.args[0], a) for r, a in zip(asked, answers, strict=True)]
        pairs = [(lm.tok_encode(c), lm.tok_encode(a, add_special_tokens=False) or [0]) for c, a in texts]
    return work(SHAPES[args.shape], lm.model, [(c + a)[:-1] for c, a in pairs], [a for _, a in pairs])


@contextmanager
def peak_memory(device: torch.device) -> Iterator[list[float]]:
    """Hands out the most bytes that were in use inside, beyond those in use before."""
    peak = [0.0]
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
        before = torch.cuda.memory_allocated(device)
        yield peak
        peak[0] = torch.cuda.max_memory_allocated(device) - before
        return
    process, done = psutil.Process(), threading.Event()
    start = process.memory_info().rss

    def watch() -> None:
        while not done.wait(0.01):
            peak[0] = max(peak[0], process.memory_info().rss - start)

    thread = threading.Thread(target=watch)
    thread.start()
    yield peak
    done.set()
    thread.join()


def agree(plain: list[Any], tree: list[Any]) -> None:
    """Stops if the two ways differ: a wrong answer is not a fast one."""
    for a, b in zip(plain, tree, strict=True):
        if a != b and (isinstance(a, str) or abs(a[0] - b[0]) > FAR or a[1] != b[1]):
            sys.exit(f"the harness' own way gives {a!r}, the engine {b!r}")


def matrix_rate(device: str, dtype: str) -> float:
    """Returns the FLOP/s of products of large square matrices."""
    n, repeats = (2048, 10) if device == "cpu" else (8192, 50)
    a, b = (torch.randn(n, n, dtype=getattr(torch, dtype), device=device) for _ in range(2))
    float((a @ b)[0, 0])
    begin = time.perf_counter()
    for _ in range(repeats):
        c = a @ b
    float(c[0, 0])
    return 2 * n**3 * repeats / (time.perf_counter() - begin)


def machine(device: str) -> str:
    """Returns what the machine is called."""
    if device.startswith("cuda"):
        return str(torch.cuda.get_device_name(device))
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return f"{(names or [platform.processor()])[0]}, {torch.get_num_threads()} threads"


def row(cells: Any) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
