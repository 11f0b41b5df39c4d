"""BRIGHTER in its published layout: rows listed twice, and emotions that a language lacks."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.conftest import ROOT, spec_of

from afrieval.config.settings import DataConfig, ModelConfig, RunConfig, TaskConfig
from afrieval.tasks.cells.plan import declared_cells
from afrieval.tasks.prompts.prompts import example_answer

EMOTIONS = ["anger", "disgust", "fear", "joy", "sadness", "surprise"]
LACKING = {"eng": "disgust", "afr": "surprise"}


def write_parquet(source: Path, language: str, tracks: list[str]) -> None:
    """Writes a language's test set, in which the rows of the second track are those of the first in another order."""
    spec = spec_of("brighter_emotions")
    lines = (ROOT / "tasks/brighter_emotions/sample/hau.jsonl").read_text(encoding="utf-8").splitlines()
    samples = [row for row in map(json.loads, lines) if row.pop("split") == "test"]
    n = spec.data.rows_of("test", language) or 12
    rows: list[dict[str, Any]] = [samples[i % len(samples)] | {"text": f"{i}: {language}"} for i in range(n)]
    rows = [row | ({LACKING[language]: None} if language in LACKING else {}) for row in rows]
    listed = [(track, row) for track in tracks for row in (rows if track == tracks[0] else rows[::-1])]
    table = [
        row | {"id": f"{language}_test_{track}_{i:05}", "emotions": [e for e in EMOTIONS if row[e]]}
        for i, (track, row) in enumerate(listed)
    ]
    path = source / spec.data.hub / spec.languages[language] / "test-00000-of-00001.parquet"
    path.parent.mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(table), path)


@pytest.mark.parametrize(
    ("language", "tracks"), [("eng", ["track1", "track_c"]), ("afr", ["track_a", "track_c"]), ("xho", ["track_c"])]
)
def test_each_row_once_with_the_emotions_of_its_language(language: str, tracks: list[str], tmp_path: Path) -> None:
    write_parquet(tmp_path, language, tracks)
    spec = spec_of("brighter_emotions")
    task = TaskConfig(task_name="brighter_emotions", languages=[language], prompt_language="both")
    cells, _ = declared_cells(RunConfig(ModelConfig("demo"), task, data=DataConfig(str(tmp_path))))
    emotions = [e for e in EMOTIONS if e != LACKING.get(language)]
    for cell in cells:
        documents = cell.documents
        assert len(documents) == len({d.fields["text"] for d in documents}) == spec.data.rows_of("test", language)
        for document in documents[:24]:
            assert [*dict(document.gold or {})] == emotions and document.choices[: len(emotions)] == tuple(emotions)
            assert example_answer(spec, cell.prompt, document, "generate")
        prompt = cell.prompt_text(documents[0], None)
        named = [e for e in EMOTIONS if cell.prompt.labels[e] in prompt]
        assert named == emotions, "a prompt names no label that the language does not have"
