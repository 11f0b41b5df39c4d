"""Whether the engine gives hf's answers in each dtype of a device, with which kernels, and in how much memory.

python bench/equality.py                                      # a 50M Llama shape, for CPUs
python bench/equality.py --shape llama-3.2-1b --device cuda   # nothing downloaded

Requests are made of random tokens: 600 that all share, 12 questions of 40, and four choices each. Answers in 16 bits
are compared with those that hf gives with the same weights in float32. In float32, a difference is an error.
"""

import argparse
import logging
import random
import sys
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

from engine_model import SHAPES, random_model
from machine import peak_memory
from torch.profiler import ProfilerActivity, profile

from afrieval.models.demo import byte_tokenizer
from afrieval.models.engine.memory_estimate import pack_bytes
from afrieval.models.engine.packs import Packs
from afrieval.models.engine.requests import Answer, TokenRequest
from afrieval.models.engine.support import objection
from afrieval.models.engine.tree import build_tree
from afrieval.models.engine.tree_lm import TreeLM
from afrieval.tools.plan.token_counts import widest

DTYPES = ("float32", "bfloat16", "float16")
COLUMNS = (
    "shape", "dtype", "kernels", "check at the start", "hf: largest, mean difference", "engine", "other texts",
    "memory predicted", "measured",
)  # fmt: skip
KERNELS = {
    "_scaled_dot_product_flash_attention_for_cpu": "flash (CPU)",
    "_scaled_dot_product_flash_attention": "flash",
    "_scaled_dot_product_efficient_attention": "memory-efficient",
}
SHARED, QUESTIONS, QUESTION, CHOICES, ANSWER, WRITTEN = 600, 12, 40, 4, 6, 24
FAR = 1e-3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", choices=list(SHAPES), default="50m")
    parser.add_argument("--device", default="cpu")
    args = parser.parse_args()
    logging.getLogger("lm_eval").setLevel(logging.ERROR)
    print(f"| {' | '.join(COLUMNS)} |", f"|{' --- |' * len(COLUMNS)}", sep="\n")
    wrong = []
    for dtype in DTYPES:
        cells, far = row(args.shape, dtype, args.device)
        print(f"| {args.shape} | {dtype} | {' | '.join(cells)} |", flush=True)
        if dtype == "float32" and not far <= FAR:
            wrong.append(f"error: in float32, an answer differs by {far:.1e}")
    if wrong:
        sys.exit(wrong[0])


def row(shape: str, dtype: str, device: str) -> tuple[list[str], float]:
    """Returns a row's cells, and the largest difference of a likelihood between the engine and the reference."""
    lm, asked = loaded(random_model(SHAPES[shape], device, dtype)), requests()
    against = objection(lm) or "passes"
    kernels = used_kernels(lambda: scored(lm, asked, "tree"))
    memory = [*measured(lm, asked, device)]
    plain, tree = (scored(lm, asked, engine) for engine in ("plain", "tree"))
    texts = [written(lm, engine) for engine in ("plain", "tree")]
    other = sum(a != b for a, b in zip(*texts, strict=True))
    reference = plain if dtype == "float32" else scored(loaded(lm.model.float()), asked, "plain")
    found = [differences(answers, reference) for answers in (plain, tree)]
    shown = [f"{max(of):.0e}, {sum(of) / len(of):.0e}" for of in found]
    return [kernels, against, *shown, f"{other} of {len(texts[0])}", *memory], max(found[1])


def loaded(model: Any) -> TreeLM:
    return TreeLM(
        pretrained=model, tokenizer=byte_tokenizer(), engine="plain", softmax_dtype="float32", batch_size=1,
        max_length=2048,
    )  # fmt: skip


def requests() -> list[TokenRequest]:
    draw = random.Random(6)

    def tokens(n: int) -> list[int]:
        return [draw.randrange(3, 259) for _ in range(n)]

    head = tokens(SHARED)
    contexts = [head + tokens(QUESTION) for _ in range(QUESTIONS)]
    return [(None, context, tokens(ANSWER)) for context in contexts for _ in range(CHOICES)]


def scored(lm: TreeLM, asked: list[TokenRequest], engine: str) -> list[Answer]:
    lm.engine = engine
    return lm._loglikelihood_tokens(asked, disable_tqdm=True)


def written(lm: TreeLM, engine: str) -> list[str]:
    """Returns answers to prompts that share their beginning."""
    lm.engine = engine
    head = "Kí ni iye 12 + 30? Ìdáhùn: 42\n\n" * 8
    prompts = [f"{head}Kí ni iye {n} + {n + 1}? Ìdáhùn:" for n in range(8)]
    asked = [SimpleNamespace(args=(prompt, {"until": ["\n\n"], "max_gen_toks": WRITTEN})) for prompt in prompts]
    return lm.generate_until(asked, disable_tqdm=True)


def used_kernels(work: Callable[[], object]) -> str:
    """Returns which kernels some work computes attention with, of those that do not write scores down."""
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        work()
    names = {event.name.removeprefix("aten::") for event in profiler.events() or ()}
    return ", ".join(sorted(shown for name, shown in KERNELS.items() if name in names)) or "none"


def measured(lm: TreeLM, asked: list[TokenRequest], device: str) -> Iterator[str]:
    """Yields the memory that the engine predicts for a pack, and takes."""
    tree = build_tree([(c + a)[:-1] for _, c, a in asked], [a for *_, a in asked])
    packs = Packs()
    sizes = widest(tree, packs.size(lm, tree.longest), packs.scored(lm))
    yield f"{sum(pack_bytes(lm, *sizes).values()) / 2**20:,.0f} MiB"
    with peak_memory(device) as peak:
        scored(lm, asked, "tree")
    # a process' resident memory holds what was freed before
    yield f"{peak[0] / 2**20:,.0f} MiB" if device.startswith("cuda") else ""


def differences(answers: list[Answer], reference: list[Answer]) -> list[float]:
    return [abs(a - b) for (a, _), (b, _) in zip(answers, reference, strict=True)]


if __name__ == "__main__":
    main()
