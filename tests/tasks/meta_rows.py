"""Reads the sample rows of the Llama tasks, and finds the rows that belong together, in a way of its own."""

import ast
import json
import re
from pathlib import Path
from typing import Any

Row = dict[str, Any]

FOLDER = Path(__file__).parents[2] / "tasks" / "llama"
LETTERED = (
    "meta_mmlu_pro_pretrain",
    "meta_mmlu_pro_instruct",
    "meta_gpqa_cot",
    "meta_gpqa",
    "meta_mmlu_instruct",
    "meta_mmlu",
)
MATH = ("meta_math_hard", "meta_math")
PARTNERS = {"meta_math_hard": "test", "meta_math": "test", "meta_ifeval": "train"}  # their split
TASKS = (*LETTERED, "meta_bbh", *PARTNERS)
WORDINGS = ("Is it True that the first song", "Is the following True")  # Meta's; the partner has "true"


def read(task: str, split: str = "latest") -> list[Row]:
    lines = (FOLDER / task / "sample" / "eng.jsonl").read_text(encoding="utf-8").splitlines()
    return [row for row in map(json.loads, lines) if row["split"] == split]


def words(text: str) -> str:
    return " ".join(text.split())


def body(row: Row) -> str:
    """Returns what the user says in a serialised dialog of JSON, of Python, or of a little of both."""
    names = {"null": "None", "true": "True", "false": "False"}
    token = r"""("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|\b(null|true|false)\b"""
    text = re.sub(token, lambda m: m[1] or names[m[2]], row["input_question"])
    (turn,) = ast.literal_eval(text)["dialog"]
    return str(turn["body"])


def partner(row: Row, rows: list[Row], task: str) -> Row | None:
    if task == "meta_ifeval":
        text = body(row)
        for theirs in WORDINGS:
            text = text.replace(theirs, theirs.replace("True", "true"))
        found = [other for other in rows if words(other["prompt"]) == words(text)]
    else:
        found = [other for other in rows if words(other["problem"]) == words(row["input_question"])]
    return found[0] if found else None
