"""What the likelihood of each token costs: the same texts by sums, by tokens, and by padded batches of 32.

python bench/tokens.py                                      # a 50M Llama shape, for CPUs
python bench/tokens.py --shape llama-3.2-1b --device cuda   # bfloat16, nothing downloaded

The texts have the shape of TOFU's: an answer to a question, a paraphrase and five wrong ones.
"""

import argparse
import random
import string
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch
from engine_model import SHAPES, random_model
from machine import clock

from afrieval.models.backends.hf import HF
from afrieval.models.demo import byte_tokenizer

QUESTION, ANSWER, ANSWERS, BATCH = 30, 60, 7, 32  # tokens, texts
ROUNDS = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", choices=list(SHAPES), default="50m")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--questions", type=int, default=40)
    args = parser.parse_args()
    model = random_model(SHAPES[args.shape], args.device, "float32" if args.device == "cpu" else "bfloat16")
    lm = HF(pretrained=model, tokenizer=byte_tokenizer(), batch_size=BATCH, softmax_dtype="float32", max_length=2048)
    lm.choose_engine("tree")
    texts = pairs(args.questions)
    ways: dict[str, Callable[[], Any]] = {
        "sums": lambda: asked(lm, texts),
        "tokens": lambda: asked(lm, texts, tokens=True),
        "tokens and vocabulary": lambda: asked(lm, texts, tokens=True, vocabulary=True),
        f"padded batches of {BATCH}": lambda: padded(lm, texts),
    }
    lm.plain([(None, [5, 6, 7], [8])], 1)  # libraries set themselves up in the first pass
    # in turn: the machine may be busy now and then
    rounds = [[timed(compute, args.device) for compute in ways.values()] for _ in range(ROUNDS)]
    fastest = [min(of_way) for of_way in zip(*rounds, strict=True)]
    print("| likelihoods | seconds | texts/s | times sums |", "| --- | --- | --- | --- |", sep="\n")
    for way, seconds in zip(ways, fastest, strict=True):
        print(f"| {way} | {seconds:.2f} | {len(texts) / seconds:.1f} | {seconds / fastest[0]:.2f} |")


def pairs(questions: int) -> list[tuple[str, str]]:
    """Returns prompts and answers of about TOFU's lengths, a letter a token."""
    draw = random.Random(1)

    def text(n: int) -> str:
        return "".join(draw.choices(string.ascii_letters, k=draw.randint(n // 2, n + n // 2)))

    return [(question, text(ANSWER)) for question in [text(QUESTION) for _ in range(questions)] for _ in range(ANSWERS)]


def asked(lm: Any, texts: list[tuple[str, str]], **options: bool) -> Any:
    return lm.loglikelihood([SimpleNamespace(args=(*text, *([options] if options else []))) for text in texts])


def padded(lm: Any, texts: list[tuple[str, str]]) -> list[torch.Tensor]:
    """Returns each token's log-probability as most evaluations compute it: the logits of all tokens of padded rows."""
    found = []
    for begin in range(0, len(texts), BATCH):
        batch = texts[begin : begin + BATCH]
        rows = lm.tokenizer([q + a for q, a in batch], padding=True, return_tensors="pt").to(lm.device)
        with torch.no_grad():
            logprobs = lm.model(**rows).logits[:, :-1].log_softmax(-1, dtype=torch.float32)
        found.append(logprobs.gather(2, rows["input_ids"][:, 1:, None])[..., 0].cpu())
    return found


def timed(compute: Callable[[], Any], device: str) -> float:
    begin = clock(device)
    compute()
    return clock(device) - begin


if __name__ == "__main__":
    main()
