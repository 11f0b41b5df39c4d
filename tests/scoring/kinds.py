"""A small task of each kind whose answers are generated, written by hand."""

import json
from pathlib import Path
from typing import Any

TASK = """\
name: {kind}
version: 1
title: A task of kind {kind}
description: Written by hand for tests.
citation: none
licence: CC0
kind: {kind}
data: {{hub: ours/{kind}, revision: main, files: {{test: x.jsonl, dev: y.jsonl}}, evaluate: test, fewshot: dev}}
languages: {{yor: yor}}
parallel: {{}}
fields: {{text: text}}
answer: answer
prompts: {{1: {{template: "Text: {{{{ text }}}}\\nAnswer:"}}}}
"""
TEXTS = [
    ("Musa lives in the old city of Kano .", "Musa ń gbé ní ìlú àtijọ́ Kánò ."),
    ("Ada went to the market with her sister .", "Ada lọ sí ọjà pẹ̀lú arábìnrin rẹ̀ ."),
    ("The rain fell all night long .", "Òjò rọ̀ ní gbogbo òru náà ."),
]
PARTS = ["PROPN", "VERB", "ADP", "X"]
KINDS: dict[str, tuple[list[Any], str]] = {
    "question": ([["Kánò", "ìlú Kánò"], ["sí ọjà"], ["òjò"]], ""),
    "translation": ([yor for _, yor in TEXTS], "answer_language: yor\n"),
    "summary": ([yor for _, yor in TEXTS], ""),
    "open": ([yor for _, yor in TEXTS], ""),
    "restoration": ([yor for _, yor in TEXTS], ""),
    "spans": (
        [["B-PER", *["O"] * 6, "B-LOC", "O"], ["B-PER", *["O"] * 8], ["O"] * 7],
        "tags: [O, B-PER, I-PER, B-LOC]\n",
    ),
    "levels": ([3, 0, 1], "labels: [answer]\n"),
    "labels": ([["joy"], [], ["joy", "fear"]], "labels: [joy, fear, none]\n"),
    "tags": ([[PARTS[i % 4] for i in range(len(eng.split()))] for eng, _ in TEXTS], f"tags: {PARTS}\n"),
}


def write_task(folder: Path, kind: str) -> None:
    """Writes a task of a kind, with sample rows, into a folder of tasks."""
    golds, keys = KINDS[kind]
    (folder / kind / "sample").mkdir(parents=True)
    (folder / kind / "task.yaml").write_text(TASK.format(kind=kind) + keys)
    rows = [{"text": eng, "tokens": eng.split(), "answer": gold} for (eng, _), gold in zip(TEXTS, golds, strict=True)]
    lines = [{"split": split, **row} for split in ("test", "dev") for row in rows]
    text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
    (folder / kind / "sample/yor.jsonl").write_text(text, encoding="utf-8")
