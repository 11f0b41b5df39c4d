"""The scoring engine beside the harness' own way: the same requests, the same random model, one table.

python bench/engine.py --data FOLDER                                      # a 50M Llama shape, for CPUs
python bench/engine.py --data FOLDER --shape llama-3-8b --device cuda     # bfloat16, nothing downloaded
python bench/engine.py --data tests/bench_data --shape tiny               # does it run at all

FOLDER is a mirror of the hub with AfriMMLU, AfriXNLI, Belebele and AfriMGSM (see docs/performance.md).
"""

import argparse
import platform
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import torch
from engine_cases import CASES, Case, Work, requests, work
from engine_model import SHAPES, TINY, Shape, random_model, tokenizer

from afrieval.models.hf import HF
from afrieval.tasks.data import load_split
from afrieval.tasks.spec import load_task

COLUMNS = (
    "case", "way", "seconds", "documents/s", "tokens run", "of the limit", "of the least work", "peak memory", "ratio"
)  # fmt: skip
TRIAL = 0.25  # of the documents, to find the best batch size


@dataclass
class Measured:
    """One way to compute a cell."""

    way: str
    seconds: float
    tokens: int
    memory: float
    answers: list[Any]


def main() -> None:
    args = arguments()
    shape = TINY if args.shape == "tiny" else SHAPES[args.shape]
    torch.set_grad_enabled(False)
    lm = build(shape, args)
    rate = max(matrix_rate(args.device, args.dtype) for _ in range(3))
    print(f"{machine(args.device)}; {args.shape}, {args.dtype}; matrix products: {rate / 1e9:,.0f} GFLOP/s", flush=True)
    print(row(COLUMNS), row(["---"] * len(COLUMNS)), sep="\n", flush=True)
    for case in CASES:
        if args.case in case.title:
            for line in lines(case, lm, shape, rate, args):
                print(row(line), flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, help="folder laid out ORG/NAME as on the hub")
    parser.add_argument("--shape", choices=[*SHAPES, "tiny"], default="50m")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", default=None, help="float32 on a CPU, bfloat16 elsewhere, if not given")
    parser.add_argument("--limit", type=int, default=48, help="documents of each case")
    parser.add_argument("--case", default="", help="only cases with this in their title")
    args = parser.parse_args()
    args.dtype = args.dtype or ("float32" if args.device == "cpu" else "bfloat16")
    return args


def build(shape: Shape, args: argparse.Namespace) -> Any:
    """Returns the model; its tokenizer learns from the English questions of the data."""
    texts: list[str] = []
    for name in ("afrimmlu", "belebele"):
        split = load_split(load_task(name), "eng", "test", args.data)
        texts += [text for d in (split.documents if split else []) for text in (*d.fields.values(), *d.choices)]
    lm: Any = HF(
        pretrained=random_model(shape, args.device, args.dtype),
        tokenizer=tokenizer(texts, shape.vocabulary),
        batch_size=8,
        device=args.device,
        softmax_dtype="float32",
    )
    lm.choose_engine("tree")
    return lm


def lines(case: Case, lm: Any, shape: Shape, rate: float, args: argparse.Namespace) -> Iterator[list[str]]:
    """Yields a table line for the harness' best batch size and one for the engine."""
    method, asked = requests(case, lm, args.data, args.limit)
    few = asked[: max(1, int(len(asked) * TRIAL))]
    sizes: list[int | str] = ["auto"] if args.device.startswith("cuda") else [1, 8, 32]
    best = min(sizes, key=lambda size: measure(lm, "plain", size, method, few).seconds) if sizes[1:] else sizes[0]
    plain = measure(lm, "plain", best, method, asked)
    tree = measure(lm, "tree", 8 if args.device == "cpu" else "auto", method, asked)
    agree(method, plain.answers, tree.answers, args.dtype)
    need = needed_work(shape, lm, method, asked, tree.answers)
    for measured in (plain, tree):
        yield [
            case.title,
            measured.way,
            f"{measured.seconds:.1f}",
            f"{args.limit / measured.seconds:.2f}",
            f"{measured.tokens:,}",
            f"{need.flops / rate / measured.seconds:.0%}",
            f"{need.least / rate / measured.seconds:.0%}",
            f"{measured.memory / 2**20:,.0f} MiB",
            f"{plain.seconds / measured.seconds:.1f}",
        ]


def measure(lm: Any, engine: str, batch: int | str, method: str, asked: list[Any]) -> Measured:
    """Returns how long some requests take one way, what they run and what memory they need beside the model."""
    lm.engine, lm.batch_size_per_gpu = engine, batch
    ran = [0]

    def count(module: Any, positional: Any, named: dict[str, Any]) -> None:
        ids = named.get("input_ids", positional[0] if positional else None)
        ran[0] += ids.numel() if ids is not None else 0

    handle = lm.model.register_forward_pre_hook(count, with_kwargs=True)
    with peak_memory(lm.device) as peak:
        begin = time.perf_counter()
        answers = getattr(lm, method)(asked, disable_tqdm=True)
        seconds = time.perf_counter() - begin
    handle.remove()
    way = "engine" if engine == "tree" else f"hf, batch {batch}"
    return Measured(way, seconds, ran[0], peak[0], answers)


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


def agree(method: str, plain: list[Any], tree: list[Any], dtype: str) -> None:
    """Stops if the two ways differ: a wrong answer is not a fast one."""
    if dtype != "float32":
        return
    if method == "generate_until":
        different = sum(a != b for a, b in zip(plain, tree, strict=True))
        print(f"{different} of {len(plain)} generated texts differ", file=sys.stderr)
        return
    far = max(abs(a[0] - b[0]) for a, b in zip(plain, tree, strict=True))
    if far > 1e-3 or any(a[1] != b[1] for a, b in zip(plain, tree, strict=True)):
        sys.exit(f"the engine's answers differ by {far}")


def needed_work(shape: Shape, lm: Any, method: str, asked: list[Any], answers: list[Any]) -> Work:
    """Returns what the requests cannot do without."""
    pairs = [lm._encode_pair(*r.args) if method == "loglikelihood" else _written(lm, r, a) for r, a in
             zip(asked, answers, strict=True)]  # fmt: skip
    return work(shape, lm.model, [(c + a)[:-1] for c, a in pairs], [a for _, a in pairs])


def _written(lm: Any, request: Any, answer: str) -> tuple[list[int], list[int]]:
    return lm.tok_encode(request.args[0]), lm.tok_encode(answer, add_special_tokens=False) or [0]


def matrix_rate(device: str, dtype: str) -> float:
    """Returns the FLOP/s of products of large square matrices."""
    n = 2048 if device == "cpu" else 8192
    a, b = (torch.randn(n, n, dtype=getattr(torch, dtype), device=device) for _ in range(2))
    repeats = 8 if device == "cpu" else 50
    for warm in (True, False):
        begin = time.perf_counter()
        for _ in range(repeats):
            c = a @ b
        float(c[0, 0])
        seconds = time.perf_counter() - begin
        if not warm:
            return 2 * n**3 * repeats / seconds
    raise AssertionError


def machine(device: str) -> str:
    """Returns what the machine is called."""
    if device.startswith("cuda"):
        return str(torch.cuda.get_device_name(device))
    info = Path("/proc/cpuinfo")
    names = [line.split(":")[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")] \
        if info.exists() else [platform.processor()]  # fmt: skip
    return f"{names[0]}, {torch.get_num_threads()} threads"


def row(cells: Any) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
