"""How the engine's work grows with documents, shots, choices and prompts, next to `hf`: one Markdown table.

python bench/growth.py                     # a Llama shape of 48M parameters, about ten minutes on two cores
python bench/growth.py --shape tiny        # bookkeeping instead of arithmetic
python bench/growth.py --only choices --shape 50m-lfm2

Tokens are random. Each measurement is a process of its own. hf computes some of the documents, in batches of 8.
"""

import argparse
import json
import random
import subprocess
import sys
from dataclasses import asdict, dataclass, replace
from datetime import date
from typing import Any

import torch
from engine_model import SHAPES, random_model, tokenizer
from machine import clock, cores_taken, machine, matrix_rate, peak_memory, taken_by_others

COLUMNS = ("grows", "", "tokens/document", "ms/document", "ms/token", "memory", "hf: ms/document", "memory", "ratio")
WORDS = range(300, 390)  # tokens of prompts, which every shape has


@dataclass(frozen=True)
class Prompts:
    """What is asked: each document has a question, and answers of some tokens after it.

    Attributes:
        documents: how many.
        shots: examples before each question, the same for all, of 100 tokens.
        question: its tokens.
        choices: how many answers.
        answer: tokens of each.
        of_hf: documents that hf computes.
    """

    documents: int = 100
    shots: int = 5
    question: int = 60
    choices: int = 4
    answer: int = 5
    of_hf: int = 3


SHORT = Prompts(shots=1, question=20, choices=2, answer=1, of_hf=16)
ROWS = {
    "documents": [(n, replace(SHORT, documents=n)) for n in (10, 100, 1_000, 10_000)],
    "shots": [(n, Prompts(shots=n, of_hf=3 if n < 25 else 1)) for n in (0, 5, 25)],
    "choices": [(n, Prompts(documents=20, choices=n, of_hf=1)) for n in (2, 20, 200)],
    "prompt": [(n, Prompts(documents=2, shots=0, question=n, choices=2, of_hf=1)) for n in (500, 5_000, 15_000)],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", choices=list(SHAPES), default="50m")
    parser.add_argument("--only", choices=list(ROWS))
    parser.add_argument("--measure", help=argparse.SUPPRESS)  # what one process measures
    args = parser.parse_args()
    if args.measure:
        print(json.dumps(measured(args.shape, **json.loads(args.measure))))
        return
    rate, before = matrix_rate("cpu", "float32"), cores_taken()
    lines = [COLUMNS, ["---"] * len(COLUMNS)]
    for grows, rows in ROWS.items():
        if args.only in (None, grows):
            lines += [row(args.shape, grows, number, prompts) for number, prompts in rows]
    print(
        f"{date.today()}, {machine()}, float32, matrix products at {rate / 1e9:,.0f} GFLOP/s, shape {args.shape}. "
        f"Other programs took {taken_by_others(before):.0%} of the cores meanwhile.\n"
    )
    print("\n".join(f"| {' | '.join(line)} |" for line in lines))


def row(shape: str, grows: str, number: int, prompts: Prompts) -> list[str]:
    """Returns the cells of a row of the table."""
    tree = separately(shape, prompts, "tree")
    hf = separately(shape, replace(prompts, documents=prompts.of_hf), "plain")
    each, hf_each = tree["seconds"] / prompts.documents, hf["seconds"] / prompts.of_hf
    print(grows, number, tree, hf, file=sys.stderr, flush=True)
    return [
        grows,
        f"{number:,}",
        f"{tree['tokens'] / prompts.documents:,.0f}",
        f"{1e3 * each:,.1f}",
        f"{1e3 * tree['seconds'] / tree['tokens']:.2f}",
        f"{tree['memory'] / 2**20:,.0f} MiB",
        f"{1e3 * hf_each:,.1f}",
        f"{hf['memory'] / 2**20:,.0f} MiB",
        f"{hf_each / each:.1f}",
    ]


def separately(shape: str, prompts: Prompts, engine: str) -> dict[str, float]:
    """Returns what a process of its own measures."""
    task = json.dumps({"engine": engine, **asdict(prompts)})
    command = [sys.executable, __file__, "--shape", shape, "--measure", task]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def measured(shape: str, engine: str, **numbers: int) -> dict[str, float]:
    """Returns seconds, tokens and bytes of memory that the requests take."""
    from afrieval.models.backends.hf import HF

    prompts = Prompts(**numbers)
    words = tokenizer(["a b c"], SHAPES[shape].vocabulary)
    model = random_model(SHAPES[shape], "cpu", "float32")
    lm: Any = HF(pretrained=model, tokenizer=words, device="cpu", batch_size=8, max_length=16_000)
    if engine == "tree":
        lm.choose_engine("tree")
    lm._loglikelihood_tokens([(None, [300, 301], [302])])
    tokens = [0]
    model.get_input_embeddings().register_forward_pre_hook(lambda layer, args: tokens.append(args[0].numel()))
    pairs = requests(prompts)
    with torch.no_grad(), peak_memory("cpu") as peak:
        begin = clock("cpu")
        lm._loglikelihood_tokens(pairs)
        seconds = clock("cpu") - begin
    return {"seconds": seconds, "tokens": sum(tokens), "memory": peak[0]}


def requests(prompts: Prompts) -> list[Any]:
    """Returns requests of random tokens."""
    draw = random.Random(1)

    def text(n: int) -> list[int]:
        return draw.choices(WORDS, k=n)

    head = text(1 + 100 * prompts.shots)
    contexts = [head + text(prompts.question) for _ in range(prompts.documents)]
    return [
        ((str(i), str(j)), context, text(prompts.answer))
        for i, context in enumerate(contexts)
        for j in range(prompts.choices)
    ]


if __name__ == "__main__":
    main()
