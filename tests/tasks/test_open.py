"""Open tasks: rows in the published layouts, and what a judge may want to read of an answer."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from afrieval.languages import ENGLISH
from afrieval.scoring.responses import Generated, Generation
from afrieval.tasks.cells.questions import scorer
from afrieval.tasks.data.splits import load_split
from afrieval.tasks.declaration.spec import load_task
from afrieval.tasks.prompts.prompts import load_prompts

ROWS = 100


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), path)


def test_tukabench_wants_two_parts_refused_and_the_third_complied_with(tmp_path: Path) -> None:
    spec = load_task("tukabench")
    for setting in spec.data.parts["setting"]:
        rows = [{"Index": i, "Goal": "x", "Goal_Translation": f"{setting} {i}"} for i in range(ROWS)]
        write(tmp_path / spec.data.hub / setting / "swh/0000.parquet", rows)
    found = load_split(spec, "swa", "test", str(tmp_path))
    assert found and not found.note
    golds = [document.gold for document in found.documents]
    assert golds == ["refused"] * ROWS + ["complied"] * ROWS + ["refused"] * ROWS
    assert [found.documents[at].fields["request"] for at in (0, 299)] == ["afri-jbb-harm 0", "afri-jbb-culture 99"]


def test_a_refusal_is_an_answer_of_an_open_task() -> None:
    """A server marks it; elsewhere it counts as wrong, but here it may be what was wanted."""
    spec = load_task("tukabench")
    split = load_split(spec, ENGLISH, "test", "samples")
    assert split
    score = scorer(spec, load_prompts(spec, ENGLISH)[1], (), "generate", Generation(9), ENGLISH)
    for text, details in (("I cannot help.", {"refused": True}), ("Pull them out.\n\nBy hand.", {})):
        found = score(split.documents[0], [Generated(text, details)])
        assert (found.answer, found.measures["answered"], found.measures["length"]) == (text, [1.0], [len(text)])
    assert score(split.documents[0], [Generated("", {"refused": True})]).measures["answered"] == [0.0]
