"""How often are native prompts said to help or hurt models that read nothing?

    python bench/verdicts.py DATA [--tasks nollysenti sib200] [--networks 2] [--write]

DATA has the hub's layout. Twenty models per task, of five families, answer from what is not the meaning of a text: a
constant for each answer, the length of the label word or option, the length of the text, counts of its trigrams, or all
of them; with other random weights for English and for native prompts. Their log-likelihoods go through the metrics,
contrasts and verdicts of the suite, with the baselines of the data: on samples of 50 and 200 rows and on all, with the
texts as they are and shuffled among the rows. `--networks` runs Llama-shaped networks with random weights on samples of
50 rows through the whole suite as well, which takes minutes for each. `--write` puts it into docs/tables/verdicts.md.
"""

import argparse
import tempfile
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from afrieval.analysis.contrasts import contrasts
from afrieval.analysis.differences import Difference
from afrieval.languages import ENGLISH
from afrieval.results.cell_scores import CellScores
from afrieval.scoring.base import Array, Likelihood, Question, Response
from afrieval.scoring.metrics import metric
from afrieval.tasks.data.baselines import baselines
from afrieval.tasks.data.document import Document
from afrieval.tasks.data.lock import read_lock
from afrieval.tasks.data.sampling import order_of_documents
from afrieval.tasks.data.splits import load_split
from afrieval.tasks.declaration.spec import TaskSpec, load_task, task_names
from afrieval.tasks.prompts.prompts import prompt_languages

FAMILIES = ("constant", "answer length", "text length", "trigrams", "all of these")
READING = "reading"  # a family that knows right answers, and native prompts better: it shows that verdicts are possible
MODELS, SEED, TRIGRAMS, MOST_LANGUAGES = 20, 42, 32, 5
SIZES = (50, 200, None)
PAGE = Path(__file__).parents[1] / "docs/tables/verdicts.md"
BEGIN, END = "<!-- verdicts: written by bench/verdicts.py -->\n", "<!-- end of verdicts -->\n"


@dataclass(frozen=True)
class Data:
    """The rows of a task in a language.

    Attributes:
        texts: standardised lengths and trigrams of each text, shape (n, f).
        answers: standardised length of each answer, shape (n, k).
        order: places of the rows as samples take them.
        known: baselines.
    """

    language: str
    golds: Any
    texts: Array
    answers: Array
    order: list[int]
    known: dict[str, dict[str, float]]


def of_task(spec: TaskSpec, source: str) -> list[Data]:
    """Returns the languages with native prompts and data, a few at most; none if rows differ in their choices."""
    found: list[Data] = []
    for language in prompt_languages(spec):
        if language == ENGLISH or language not in spec.languages or len(found) == MOST_LANGUAGES:
            continue
        split = load_split(spec, language, spec.data.evaluate, source, read_lock())
        documents = [d for d in split.documents if d.gold is not None] if split else []
        if len(documents) >= 50 and len({len(d.choices) for d in documents}) == 1:
            known = baselines(spec, language, documents)
            order = order_of_documents(spec, documents, SEED)
            golds = np.array([d.gold for d in documents])
            texts, answers = map(standardised, (text_features(spec, documents), answer_lengths(documents)))
            found.append(Data(language, golds, texts, answers, order, known.scores if known else {}))
    return found


def text_features(spec: TaskSpec, documents: list[Document]) -> Array:
    names = [name for name in spec.field_columns if name not in spec.breakdowns]
    rows = []
    for document in documents:
        text = " ".join(document.fields[name] for name in names)
        hashes = Counter(zlib.crc32(text[at : at + 3].encode()) % TRIGRAMS for at in range(max(1, len(text) - 2)))
        rows.append([len(text), len(text.split()), *(hashes[h] / len(text or " ") for h in range(TRIGRAMS))])
    return np.array(rows, dtype=np.float64)


def answer_lengths(documents: list[Document]) -> Array:
    return np.array([[len(text) for text in d.choices] for d in documents], dtype=np.float64)


def standardised(values: Array) -> Array:
    spread = values.std(axis=0)
    return np.asarray((values - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def loglikelihoods(
    family: str, data: Data, written: str, rng: np.random.Generator, shared: np.random.Generator
) -> Array:
    """Returns the log-likelihoods of all answers under a model with random weights, shape (n, k)."""
    n, k = data.answers.shape
    every = family == "all of these"
    found = np.tile(rng.normal(0, 2, k), (n, 1))
    if family == READING:
        known = 2.0 if written == "native" else 1.0
        return np.asarray(found + shared.normal(0, 1, (n, k)) + known * (np.arange(k) == data.golds[:, None]))
    if family == "answer length" or every:
        found += rng.normal() * data.answers + rng.normal(0, 1, (n, k)) - 2 * rng.integers(1, 12, k)
    if family in ("text length", "trigrams") or every:
        used = slice(0, 2) if family == "text length" else slice(None)
        features = data.texts[:, used]
        weights = [source.normal(0, 1, (features.shape[1], k)) for source in (rng, shared)]
        found += features @ (weights[0] + (weights[1] if every else 0.0)) / np.sqrt(features.shape[1])
    return np.asarray(found - 20.0)


def cell(spec: TaskSpec, data: Data, places: Any, likelihoods: Array, written: str) -> CellScores:
    """Returns the scores of one model under one prompt."""
    golds, picked = data.golds[places], likelihoods.argmax(axis=1)
    metrics, measures = {"acc": metric("acc")}, {"acc": (picked == golds).astype(float)[:, None]}
    if spec.labels:
        matched = metric("acc_matched")
        metrics["acc_matched"] = matched
        rows = zip(likelihoods, golds, strict=True)
        given = [
            matched.measure(Response(0, likelihoods=[Likelihood(v, False) for v in row]), Question(int(g)))
            for row, g in rows
        ]
        measures["acc_matched"] = matched.apply_cell_normalisation(np.array(given))
    declared: Any = {"labels": spec.labels, "baselines": {data.language: data.known}}
    n, k = likelihoods.shape
    return CellScores(
        spec.name, data.language, 1, written, name="", metrics=metrics, measures=measures,
        ids=np.sort(places), golds=golds, picked=picked,
        n_choices=np.full(n, k), rows=n, contrast="acc_matched" if spec.labels else "", declared=declared,
    )  # fmt: skip


def rows(
    spec: TaskSpec, languages: list[Data], size: int | None, shuffled: bool, families: Sequence[str] = FAMILIES
) -> Iterator[tuple[str, Difference]]:
    """Yields the family of each model, and what is found of it in each language."""
    for model in range(MODELS // len(FAMILIES) * len(families)):
        family, cells = families[model % len(families)], []
        for data in languages:
            places = np.sort(data.order[:size])
            mixed = np.random.default_rng([SEED, model]).permutation(len(data.golds)) if shuffled else slice(None)
            for side, written in enumerate(("eng", "native")):
                seeds = [SEED, model, side, zlib.crc32(data.language.encode())]
                rng, shared = np.random.default_rng(seeds), np.random.default_rng([SEED, model])
                found = loglikelihoods(family, data, written, rng, shared)[mixed]
                cells.append(cell(spec, data, places, found[places], written))
        (contrast,) = contrasts(cells, "prompt_language", SEED)
        yield from ((family, row) for row in contrast.rows)


def networks(spec: TaskSpec, languages: list[Data], source: str, count: int) -> list[Difference]:
    """Returns what is found of random networks on samples of 50 rows."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    import afrieval
    from afrieval.exchange.discovery import read_inputs
    from afrieval.models.demo import byte_tokenizer

    found = []
    size = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    for seed in range(count):
        tokenizer = byte_tokenizer()
        config = LlamaConfig(vocab_size=len(tokenizer), max_position_embeddings=2048, initializer_range=0.1, **size)
        torch.manual_seed(seed)
        model = LlamaForCausalLM(config).eval()
        asked: Any = {"languages": [d.language for d in languages], "prompts": 1, "prompt_language": "both"}
        with tempfile.TemporaryDirectory() as folder:
            run = afrieval.evaluate(
                (model, tokenizer), spec.name, **asked, sample=50, data_source=source, run_dir=Path(folder) / "run"
            )
            found += [
                row for c in contrasts(read_inputs([run.path]).run_cells, "prompt_language", SEED) for row in c.rows
            ]
    return found


def line(name: str, found: list[Difference]) -> str:
    n, differ, said = len(found), sum(row.differs for row in found), sum(row.verdict != 0 for row in found)
    return f"| {name} | {n:,} | {100 * differ / n:.1f} % | {100 * said / n:.1f} % |"


def table(names: list[str], source: str, of_networks: int) -> list[str]:
    """Returns the lines of the table, and prints them as they come."""
    by: dict[str, list[Difference]] = {}
    for name in names:
        spec = load_task(name)
        languages = of_task(spec, source)
        if not languages:
            continue
        for size in SIZES:
            for shuffled in (False, True):
                sample = f"sample of {size}" if size else "all rows"
                setting = f"{sample}, {'texts shuffled' if shuffled else 'as they are'}"
                for family, row in rows(spec, languages, size, shuffled):
                    by.setdefault(setting, []).append(row)
                    if not shuffled and size is None:
                        by.setdefault(f"all rows, models of {family}", []).append(row)
                        by.setdefault(f"all rows, {name}", []).append(row)
        for size in SIZES:
            known = [row for _, row in rows(spec, languages, size, False, [READING])]
            by.setdefault(f"{f'sample of {size}' if size else 'all rows'}, models that read", []).extend(known)
        print(line(name, by[f"all rows, {name}"]), flush=True)
        if of_networks and (found := networks(spec, languages, source, of_networks)):
            by.setdefault("sample of 50, random networks", []).extend(found)
    head = ["| tried on | comparisons | sides differ | help or hurt |", "| --- | ---: | ---: | ---: |"]
    kinds = ("they are", "shuffled", "networks", *(f"rows, {name}" for name in names), "models of", "models that read")
    order = sorted(by, key=lambda name: next(at for at, kind in enumerate(kinds) if kind in name))
    return [*head, *(line(name, by[name]) for name in order)]


def main() -> None:
    parser = argparse.ArgumentParser(description="how often verdicts are wrong of models that read nothing")
    parser.add_argument("data", help="folder with the hub's layout ORG/NAME")
    parser.add_argument("--tasks", nargs="*", help="all tasks of choices with data if not given")
    parser.add_argument("--networks", type=int, default=0, help="random networks per task")
    parser.add_argument("--write", action="store_true", help="writes the table into docs/tables/verdicts.md")
    given = parser.parse_args()
    names = given.tasks or [name for name in task_names() if load_task(name).scoring.answer.has_choices]
    lines = table(names, given.data, given.networks)
    print("\n".join(lines))
    if given.write:
        before, begin, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        text = "\n".join(["", *lines, "", ""])
        PAGE.write_text(f"{before}{begin}{text}{END}{rest.partition(END)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main()
