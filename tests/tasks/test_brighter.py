"""BRIGHTER and EthioEmo in their published layout: rows listed twice, columns that are empty or missing."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.conftest import ROOT, spec_of

from afrieval.config.settings import DataConfig, EvalConfig, ModelConfig, RunConfig, TaskConfig
from afrieval.scoring.responses import Generation
from afrieval.tasks.cells.plan import declared_cells
from afrieval.tasks.prompts.prompts import example_answer

EMOTIONS = ["anger", "disgust", "fear", "joy", "sadness", "surprise"]
READ = {"brighter_emotions": ["afr", "eng", "vmw", "xho"]}  # others are laid out as one of these
LACKING = {"eng": "disgust", "afr": "surprise"}
SPLITS = ("test", "dev")


def rows_of(task: str, language: str, split: str, n: int) -> list[dict[str, Any]]:
    """Returns as many rows as published, of which those of track C are those of track A in another order."""
    lines = (ROOT / "tasks" / task / "sample/hau.jsonl").read_text(encoding="utf-8").splitlines()
    known = [row for row in map(json.loads, lines) if row.pop("split") == split]
    made = [known[i % len(known)] | {"text": f"{i}: {known[i % len(known)]['text']}"} for i in range(n)]
    if lacking := LACKING.get(language):
        made = [row | {lacking: None} for row in made]
    tracks = {"eng": ["track1"], "xho": ["track_c"], "zul": ["track_c"]}.get(language, ["track_a"])
    tracks = ["track_b"] if task == "brighter_intensity" else list(dict.fromkeys([*tracks, "track_c"]))
    every = [(track, row) for track in tracks for row in (made if track == tracks[0] else made[::-1])]
    return [row | {"id": f"{language}_{split}_{track}_{i:05}"} for i, (track, row) in enumerate(every)]


def write_parquet(task: str, source: Path) -> None:
    spec = spec_of(task)
    for language in READ.get(task, spec.languages):
        for split in SPLITS:
            path = source / spec.data.hub / spec.languages[language] / f"{split}-00000-of-00001.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            rows = rows_of(task, language, split, spec.data.rows_of(split, language) or 12)
            listed = [row | {"emotions": [e for e in EMOTIONS if row[e]]} for row in rows]
            pq.write_table(pa.Table.from_pylist(listed), path)


def write_csv(task: str, source: Path) -> None:
    spec = spec_of(task)
    for code in spec.languages.values():
        for split in SPLITS:
            path = source / spec.data.hub / split / f"{code}.csv"
            path.parent.mkdir(parents=True, exist_ok=True)
            rows = rows_of(str(spec.like), code, split, 12)[:12]
            with path.open("w", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, rows[0])
                writer.writeheader()
                writer.writerows(rows)


@pytest.mark.parametrize(
    ("task", "write"),
    [
        ("brighter_emotions", write_parquet),
        ("brighter_intensity", write_parquet),
        ("ethio_emo", write_csv),
        ("ethio_emo_intensity", write_csv),
    ],
)
def test_right_answers_score_100_in_each_language_and_prompt(task: str, write: Any, tmp_path: Path) -> None:
    write(task, tmp_path)
    spec = spec_of(task)
    asked = TaskConfig(task_name=task, prompts=[1, 2], prompt_language="both")
    config = RunConfig(ModelConfig("demo"), asked, EvalConfig(num_fewshot=2), DataConfig(str(tmp_path)))
    cells, _ = declared_cells(config)
    assert {cell.language for cell in cells} == set(READ.get(task, spec.languages))
    for cell in cells:
        documents, emotions = cell.documents, [e for e in EMOTIONS if e != LACKING.get(cell.language)]
        assert len(documents) == len({d.fields["text"] for d in documents}), "no row is there twice"
        assert len(documents) == (spec.data.rows_of("test", cell.language) or 12)
        score, every = cell.scorer(Generation(99, ("\n\n",))), []
        for document in documents[:24]:
            assert [*dict(document.gold or {})] == emotions and document.choices[: len(emotions)] == tuple(emotions)
            answer = example_answer(spec, cell.prompt, document, "generate")
            every.append(score(document, [f" {answer}"]).measures)
        found = {m.name: m.score(np.array([of[m.name] for of in every]), np.ones((1, len(every))))[0]
                 for m in cell.metrics}  # fmt: skip
        of_one = {name.rpartition("_")[2] for name in found} & set(EMOTIONS)
        assert of_one == set(emotions) and found == pytest.approx({n: float(n != "unparsed") for n in found})
        prompt = cell.prompt_text(documents[0], None)
        assert all(cell.prompt.labels[e] in prompt for e in emotions)
        words = [cell.prompt.labels[e] for e in EMOTIONS if e not in emotions]
        assert not any(word in prompt for word in words), "it names no label that the language does not have"
