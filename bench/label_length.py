"""Does a score depend on the length of label words? Two simulations; docs/scoring.md has their tables.

    AFRIEVAL_DATA=FOLDER python bench/label_length.py

Random models know nothing: no label should be picked more often than another. The knowing model knows as much with
native label words as with English ones, and only the length of the words differs.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import torch
from engine_model import tokenizer
from transformers import LlamaConfig, LlamaForCausalLM

from afrieval.scoring.base import Array, Likelihood, Question
from afrieval.scoring.metrics import metric
from afrieval.scoring.responses import of_likelihoods
from afrieval.tasks.cells.questions import CONTENT_FREE
from afrieval.tasks.data.splits import load_split
from afrieval.tasks.declaration.spec import load_task
from afrieval.tasks.prompts.prompts import Prompt, answers, load_prompts, render

METRICS = ("acc", "acc_norm", "acc_bytes", "acc_tokens", "acc_pmi", "acc_matched")
LANGUAGES, PROMPTS, LETTERED = ("amh", "hau", "yor"), (1, 2, 3), 6
SEEDS, ROWS, NEUTRAL = range(4), 45, 1
SIDES = {"English": (PROMPTS, False), "native": (PROMPTS, True), "lettered": ([LETTERED], False)}
ENGLISH, NATIVE, CELLS, QUESTIONS = (1, 1, 1), (4, 12, 3), 60, 600
BALANCED, UNBALANCED = (1 / 3, 1 / 3, 1 / 3), (0.67, 0.11, 0.22)  # AfriXNLI; AfriSenti in Amharic
ALL, HALF = 0.3, 0.15  # what a model knows: the scale of what a right answer adds


class Cell(NamedTuple):
    """Log-likelihoods of shape (n, k), those after neutral prompts (m, k), tokens per label, labels, right ones."""

    totals: Array
    neutral: Array
    lengths: Sequence[int]
    words: Sequence[str]
    golds: Sequence[int]

    def right_as(self, name: str, golds: Sequence[int]) -> Array:
        """Returns whether each document is right if these were the right labels."""
        found = metric(name)
        measures = []
        for row, gold in zip(self.totals, golds, strict=True):
            given = [Likelihood(float(v), False, n) for v, n in zip(row, self.lengths, strict=True)]
            response = of_likelihoods(given, self.neutral.tolist())
            measures.append(found.measure(response, Question(gold, self.words, self.words)))
        return found.apply_cell_normalisation(np.array(measures, dtype=np.float64))[:, 0]

    def shares(self, name: str) -> list[float]:
        """Returns how often each label is picked."""
        return [float(self.right_as(name, [label] * len(self.totals)).mean()) for label in range(len(self.words))]


def random_model(seed: int, vocabulary: int) -> Any:
    """Returns a small Llama with random weights."""
    size = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4}
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        config = LlamaConfig(vocab_size=vocabulary, max_position_embeddings=4096, initializer_range=0.1, **size)
        return LlamaForCausalLM(config).eval()


def loglikelihoods(model: Any, tokens: Any, context: str, words: Sequence[str]) -> tuple[list[float], list[int]]:
    """Returns the log-likelihood and number of tokens of each word after a context."""
    start = len(tokens(context).input_ids)
    rows = [torch.tensor(tokens(f"{context} {word}").input_ids) for word in words]
    ids = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
    with torch.inference_mode():
        logprobs = torch.log_softmax(model(ids).logits[:, start - 1 :].double(), dim=-1)
    answers = [row[start:] for row in rows]
    totals = [float(of[range(len(word)), word].sum()) for of, word in zip(logprobs, answers, strict=True)]
    return totals, [len(word) for word in answers]


def random_cell(model: Any, tokens: Any, prompt: Prompt, language: str) -> Cell:
    """Returns a cell of a random model on real rows."""
    split = load_split(load_task("afrixnli"), language, "test", os.environ["AFRIEVAL_DATA"])
    rows = split.documents[:ROWS] if split else []
    words = answers(prompt, rows[0], "text")
    found = [loglikelihoods(model, tokens, render(prompt, row, language), words) for row in rows]
    empty = [replace(rows[0], fields=dict.fromkeys(rows[0].fields, text)) for text in CONTENT_FREE]
    neutral = [loglikelihoods(model, tokens, render(prompt, row, language), words)[0] for row in empty]
    return Cell(
        np.array([f[0] for f in found]), np.array(neutral), found[0][1], words, [int(r.gold or 0) for r in rows]
    )


def random_cells(numbers: Sequence[int], native: bool) -> Iterator[Cell]:
    """Yields a cell per model, language and prompt."""
    task = load_task("afrixnli")
    english = load_split(task, "eng", "validation", os.environ["AFRIEVAL_DATA"])
    labels = [f" {word}" for prompt in load_prompts(task, "eng").values() for word in prompt.labels.values()]
    texts = [text for d in (english.documents if english else []) for text in d.fields.values()]
    tokens = tokenizer([*texts, *labels * 50], 1000)
    for seed in SEEDS:
        model = random_model(seed, len(tokens))
        for language in LANGUAGES:
            prompts = load_prompts(task, language if native else "eng")
            yield from (random_cell(model, tokens, prompts[number], language) for number in numbers)


def knowing_cell(
    rng: np.random.Generator, lengths: Sequence[int], noise: Array, shares: Sequence[float], known: float
) -> Cell:
    """Returns a cell of a model that knows the right answers in part; each label word has a likelihood of its own."""
    n, k = QUESTIONS, len(lengths)
    golds = rng.permutation(np.repeat(range(k), [round(share * n) for share in shares]))
    usual = rng.normal(0, 0.7, k) - 1.2 * np.array(lengths)  # of the words, whatever the question
    totals = usual + rng.normal(0, 1, (n, k)) * noise
    totals[np.arange(n), golds] += rng.gamma(4, known, n)
    neutral = usual + rng.normal(0, 1, (len(CONTENT_FREE), k)) * noise
    return Cell(
        totals, neutral, lengths, [name * 5 * of for name, of in zip("abc", lengths, strict=True)], golds.tolist()
    )


def knowing(name: str, grows: bool, shares: Sequence[float] = BALANCED, native: float = ALL) -> list[float]:
    """Returns the mean scores with English and with native label words, and the standard deviation of the difference.

    Args:
        name: the metric.
        grows: whether each token of a label adds noise; else only the first does.
        shares: how often each label is right.
        native: what the model knows with native label words.
    """
    rng, found = np.random.default_rng(0), []
    for _ in range(CELLS):
        noises = [0.4 * np.sqrt(of) if grows else np.full(3, 0.4) for of in (ENGLISH, NATIVE)]
        sides = zip((ENGLISH, NATIVE), noises, (ALL, native), strict=True)
        cells = [knowing_cell(rng, of, noise, shares, known) for of, noise, known in sides]
        found.append([cell.right_as(name, cell.golds).mean() for cell in cells])
    english, native = 100 * np.array(found).T
    return [float(english.mean()), float((native - english).mean()), float((native - english).std())]


def main() -> None:
    """Prints a row per score of the knowing model, then of random ones."""
    torch.set_num_threads(2)
    for name in METRICS:
        for grows in (False, True):
            english, difference, deviation = knowing(name, grows)
            print(f"{name:12} knowing, noise grows {grows!s:5}: {english:5.1f} {difference:+6.1f} (sd {deviation:.1f})")
        for native in (ALL, HALF):
            english, difference, deviation = knowing(name, False, UNBALANCED, native)
            print(f"{name:12} unbalanced, native {native}: {english:5.1f} {difference:+6.1f} (sd {deviation:.1f})")
    for side, (numbers, in_language) in SIDES.items():
        cells = list(random_cells(numbers, in_language))
        for name in METRICS:
            shares = 100 * np.array([cell.shares(name) for cell in cells])
            largest = shares.max(axis=1).mean()
            print(f"{name:12} random, {side:8}: neutral {shares[:, NEUTRAL].mean():5.1f}, largest {largest:5.1f}")


if __name__ == "__main__":
    main()
