"""Scores from the columns of a packed file are those from its lines, to the bit, whatever the lines hold."""

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.results.test_reader import line, written

from afrieval.results import run_folder
from afrieval.results.cell_scores import Labels
from afrieval.results.packed import packed
from afrieval.results.packed_cells import packed_scores
from afrieval.results.packing import pack, unpack
from afrieval.results.run_files import sample_path, write_run
from afrieval.results.run_folder import RunFolder
from afrieval.results.sample_columns import Stored

NAME = "t_yor_eng_1"
DECLARED: dict[str, Any] = {
    "metrics": ["acc", "chrf"], "breakdowns": ["topic"], "labels": ["yes", "no"], "macro": "subject",
    "groups": {"hard": {"topic": ["physics", "ìṣirò"]}},
    "grouped_fields": {"area": {"of": "topic", "groups": {"science": ["physics"]}}},
    "derived": {"both": {"how": "mean", "of": ["acc", "hard.acc"]}},
}  # fmt: skip
SENT = {"doc_hash": "d", "prompt_hash": "p"}
TEXTS = st.sampled_from(
    ["physics", "ìṣirò", "a\nb", "", "\u2028", "𞤀", "\x00"]
)  # lines with lone surrogates are refused
CHOICES = {"resps": [[[-1.0, False]], [[-2.5, False]]], "n_choices": 2, "arguments": [["a", "b"], ["a", "ẹ"]]}


def same(one: Any, other: Any) -> bool:
    """Whether two values of scores are equal to the bit, and of the same type."""
    if isinstance(one, np.ndarray):
        alike = (
            one.dtype == other.dtype and one.shape == other.shape and one.flags.c_contiguous == other.flags.c_contiguous
        )
        return bool(alike and one.tobytes() == other.tobytes())
    if isinstance(one, Labels):
        return one.names == other.names and same(one.codes, other.codes)
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(value, other[name]) for name, value in one.items())
    return type(one) is type(other) and bool(one == other)


def differing(one: Stored, other: Stored) -> list[str]:
    cells = [f.name for f in fields(one.cell) if not same(getattr(one.cell, f.name), getattr(other.cell, f.name))]
    return cells + ([] if same(dict(one.groups), dict(other.groups)) else ["groups"])


def of_lines(folder: Path, name: str, sent: bool = True) -> Stored:
    run = RunFolder(folder, sent)
    return run._stored(name, run.lines(name))


def of_columns(folder: Path, name: str, sent: bool = True) -> Stored | None:
    return packed_scores(sample_path(folder, name), RunFolder(folder).record.get("declared", {}), sent)


@st.composite
def samples(draw: st.DrawFn) -> list[dict[str, Any]]:
    found = []
    for at in range(draw(st.integers(1, 6))):
        if at and draw(st.booleans()):
            found.append(line(at, None))
            continue
        measures = {"acc": [draw(st.sampled_from([0, 1, 0.0, -0.0, 1.0, 1 / 3]))]}
        if draw(st.booleans()):
            measures["chrf"] = draw(st.lists(st.floats(0, 50), min_size=18, max_size=18))
        more: dict[str, Any] = {"doc": {"topic": draw(TEXTS)}, **SENT}
        more |= draw(st.sampled_from([{}, CHOICES | {"gold": 1, "picked": None}, CHOICES | {"gold": 0, "picked": 1}]))
        more |= {"gold": draw(st.sampled_from([None, [1, 2], "text", True]))} if "resps" not in more else {}
        more |= {"key": draw(TEXTS)} if draw(st.booleans()) else {}
        more |= {"part": draw(TEXTS), "published_correct": True} if draw(st.booleans()) else {}
        more |= {"fitted": {"t": [3, 7], "examples": [2, 5]}} if draw(st.booleans()) else {}
        more |= {"details": {"prompt_tokens": 5, "cost": 0.1 * at}} if draw(st.booleans()) else {}
        found.append(line(at, measures, **more))
    return found


def stored(folder: Path, lines: list[dict[str, Any]]) -> bytes:
    """Writes a run of one cell; returns its sample file."""
    folder.mkdir(exist_ok=True)
    written(folder, [line(0, {"acc": [1.0]})], declared={"t": DECLARED}, cells=[NAME])
    text = "".join(json.dumps(each) + "\n" for each in lines).encode()
    sample_path(folder, NAME).write_bytes(text)
    return text


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=samples())
def test_any_lines_give_the_same_numbers_from_columns(tmp_path: Path, lines: list[dict[str, Any]]) -> None:
    text = stored(tmp_path, lines)
    before = of_lines(tmp_path, NAME)
    pack(tmp_path)
    for sent in (True, False):
        found = of_columns(tmp_path, NAME, sent)
        assert found and not set(differing(before, found)) - (set() if sent else {"sent"})
    unpack(tmp_path)
    assert sample_path(tmp_path, NAME).read_bytes() == text


def test_metrics_of_packed_cells_have_the_same_scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [line(i, {"acc": [i / 4], "chrf": [20.0 + i, 21.0, 15.0] * 6}, doc={"topic": "physics"}) for i in range(4)]
    stored(tmp_path, lines)
    loose = RunFolder(tmp_path).scores(NAME)
    pack(tmp_path)
    monkeypatch.setattr(run_folder, "cell_lines", None)  # no line is parsed
    tight = RunFolder(tmp_path).scores(NAME)
    assert list(tight.metrics) == ["acc", "chrf", "hard.acc", "both"]
    assert [tight.on(name).score for name in tight.metrics] == [loose.on(name).score for name in loose.metrics]
    assert tight.interval == loose.interval and tight.on("chrf").interval == loose.on("chrf").interval


def test_lines_are_parsed_where_they_would_be_read_otherwise(tmp_path: Path) -> None:
    stored(tmp_path, [line(0, {"acc": [1.0]}, doc={"topic": "physics", "year": 1999})])
    pack(tmp_path)
    assert of_columns(tmp_path, NAME)
    record = RunFolder(tmp_path).record
    write_run(tmp_path, record | {"declared": {"t": DECLARED | {"breakdowns": ["year"]}}})
    assert of_columns(tmp_path, NAME) is None
    assert RunFolder(tmp_path).scores(NAME).fields["year"].names == ("1999",)


def test_numbers_of_another_version_are_not_used(tmp_path: Path) -> None:
    stored(tmp_path, [line(0, {"acc": [1.0]})])
    pack(tmp_path)
    file = packed(tmp_path)
    assert file and of_columns(tmp_path, NAME)
    file.numbers += 1
    assert of_columns(tmp_path, NAME) is None and RunFolder(tmp_path).scores(NAME).score == 1.0


def test_a_cell_without_a_scored_document(tmp_path: Path) -> None:
    stored(tmp_path, [line(0, None), line(1, None)])
    before = of_lines(tmp_path, NAME)
    pack(tmp_path)
    found = of_columns(tmp_path, NAME)
    assert found and not differing(before, found) and found.cell.rows == 2
