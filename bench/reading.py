"""How many recorded answers of real models are read, strictly and in all ways; docs/reading-answers.md has the table.

    AFRIEVAL_DATA=FOLDER python bench/reading.py [--show 100]

FOLDER has `recorded/` (GPT-4o on AfriMMLU, AfriXNLI and AfriMGSM) and TIGER-Lab/MMLU-Pro with the answers of
Llama-3.1-8B-Instruct and the letters that the authors' program read. `--show` prints answers that only the lenient
readings read, and those whose letters differ, for a person to judge.
"""

import argparse
import csv
import json
import os
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from afrieval.scoring.extract.choice import named_choice
from afrieval.scoring.extract.number import read_number
from afrieval.scoring.extract.phrase import read_choice

LETTERS, ANSWER_IS = "ABCDEFGHIJ", ["Answer:", "Correct answer:", "The answer is"]
RELATIONS = ["Entailment", "Neutral", "Contradiction"]
LAST = "The answer is"  # begins the last sentence of answers to MMLU-Pro


class Answer(NamedTuple):
    """A recorded answer, the choices, and the letter that another program read; empty if unknown."""

    text: str
    names: Sequence[str]
    choices: Sequence[str]
    read: str = ""


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def recorded(data: Path) -> dict[str, list[Answer]]:
    """Returns the answers that name choices, by what they are."""
    found: dict[str, list[Answer]] = {}
    for code, language in (("eng", "English"), ("swa", "Swahili")):
        rows = _rows(data / f"recorded/gpt_4o_few_shots_25__{code}.csv")
        found[f"GPT-4o, AfriMMLU, {language}"] = [Answer(row["output"], LETTERS[:4], ["?"] * 4) for row in rows]
        rows = _rows(data / f"recorded/afrixnli_gpt4o__{code}.csv")
        found[f"GPT-4o, AfriXNLI, {language}"] = [Answer(row["output"], RELATIONS, RELATIONS) for row in rows]
    lines = (data / "TIGER-Lab/MMLU-Pro/test.jsonl").read_text(encoding="utf-8").splitlines()
    whole = [
        Answer(row["generated_text"], LETTERS[: len(row["options"])], [*map(str, row["options"])], row["pred"])
        for row in map(json.loads, lines)
    ]
    found["Llama 3.1 8B Instruct, MMLU-Pro"] = whole
    found["the same, without the last sentence"] = [
        a._replace(text=a.text.rpartition(LAST)[0] or a.text) for a in whole
    ]
    return found


def table(answers: dict[str, list[Answer]], show: int) -> Iterator[str]:
    """Yields the lines of the table, and after them what only the lenient readings read."""
    yield "| answers | n | read strictly | read leniently only | unread | leniently as the authors read |"
    yield "| --- | --- | --- | --- | --- | --- |"
    shown: list[str] = []
    for what, of in answers.items():
        strict = [read_choice(a.text, a.names) for a in of]
        named = [named_choice(a.text, a.names, a.choices, ANSWER_IS) for a in of]
        only = [(a, n) for a, s, n in zip(of, strict, named, strict=True) if s is None and n is not None]
        known = [(a, n) for a, n in only if a.read]
        same = f"{sum(a.names[n] == a.read for a, n in known):,} of {len(known):,}" if known else ""
        n_strict, n_unread = len(of) - strict.count(None), named.count(None)
        yield f"| {what} | {len(of):,} | {n_strict:,} | {len(only):,} | {n_unread:,} | {same} |"
        odd = [pair for pair in known if pair[0].names[pair[1]] != pair[0].read]
        for a, n in [*odd, *random.Random(0).sample(only, min(show, len(only)))]:
            shown.append(f"{what}: {a.names[n]} ({a.read}) in {a.text[-300:]!r}")
        changed = sum(s is not None and s != n for s, n in zip(strict, named, strict=True))
        shown += [f"{what}: {changed} that were read strictly are read otherwise"] if changed else []
    yield from shown if show else ()


def numbers(data: Path) -> Iterator[str]:
    """Yields how many of GPT-4o's answers to AfriMGSM, and of GSM8K's own solutions, are read as a number."""
    for code, language in (("eng", "English"), ("swa", "Swahili")):
        read = [read_number(row["gpt_4o"]) for row in _rows(data / f"recorded/afrimgsm_gpt4o__{code}.csv")]
        yield f"GPT-4o, AfriMGSM, {language}: {len(read) - read.count(None)} of {len(read)} read"
    lines = (data / "openai/gsm8k/main/test.jsonl").read_text(encoding="utf-8").splitlines()
    solutions = [json.loads(line)["answer"].partition("####") for line in lines]
    pairs = [(read_number(text), read_number(right)) for text, _, right in solutions]
    n_same, n_unread = sum(a == b for a, b in pairs), sum(a is None for a, _ in pairs)
    yield f"GSM8K's solutions without their last line: {n_same} of {len(pairs)} as that line, {n_unread} unread"


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", type=int, default=0)
    show, data = parser.parse_args().show, Path(os.environ["AFRIEVAL_DATA"])
    for line in (*table(recorded(data), show), *numbers(data)):
        print(line)


if __name__ == "__main__":
    main()
