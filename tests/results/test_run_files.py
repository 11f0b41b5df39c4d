"""Files are written whole, read back equal, and kept from other processes."""

import errno
import json
import math
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from afrieval._util.errors import UserError
from afrieval.results.identity import check_same_run, differences, merged
from afrieval.results.run_files import (
    DERIVED,
    RESULTS,
    SUMMARY,
    USAGE,
    harness_path,
    locked,
    read_run,
    sample_path,
    write_atomically,
    write_csv,
    write_json,
    write_run,
    write_samples,
)
from afrieval.results.samples import Sample, read_samples

SAMPLE: Sample = {
    "doc_id": 0, "task": "afrixnli", "language": "yor", "prompt": 1, "prompt_language": "eng", "metrics": ["acc"],
    "acc": 1.0, "measures": {"acc": [1.0]}, "resps": [[[-1.5, False]], [[-2.5, True]]], "n_choices": 2, "defect": "",
}  # fmt: skip


@given(st.floats(allow_nan=False), st.text(st.characters(exclude_categories=["Cs"])))
def test_samples_read_back_equal(tmp_path_factory: pytest.TempPathFactory, number: float, text: str) -> None:
    folder = tmp_path_factory.mktemp("run")
    first: Sample = {**SAMPLE, "resps": [[[number, False]], [[0.1 + 0.2, True]]], "doc": {"question": text}}
    samples = [first, {**SAMPLE, "doc_id": 1, "defect": text, "resps": [[[-1.0, False]], [[-math.inf, True]]]}]
    write_samples(folder, "cell", samples)
    assert read_samples(sample_path(folder, "cell")) == samples


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    path = sample_path(tmp_path, "cell")
    path.write_text(json.dumps(SAMPLE) + '\n{"doc_id": \n')
    with pytest.raises(UserError, match="line 2") as caught:
        read_samples(path)
    assert "only its cell is redone" in caught.value.hint


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x"
    write_atomically(path, "old")

    def full_disk(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space"):
        write_atomically(path, "new")
    assert path.read_text() == "old"


def test_run_yaml_reads_back(tmp_path: Path) -> None:
    assert not read_run(tmp_path)
    content = {"identity": {"model": {"model_name": "a/b", "add_bos_token": None}}, "left_out": ["Yorùbá"]}
    write_run(tmp_path, content)
    assert read_run(tmp_path) == content
    (tmp_path / "run.yaml").write_text("a: [")
    with pytest.raises(UserError, match=r"run.yaml, line [12], is not valid YAML"):
        read_run(tmp_path)


@pytest.mark.parametrize(
    "text", ["plain", "Ẹ kú àárọ̀: it's", "😀 ሙሳ", "\a " + "a long line " * 20, "true", "C:\\data", "", "\n"]
)
def test_run_yaml_looks_the_same_whoever_dumps_it(tmp_path: Path, text: str) -> None:
    content: dict[str, Any] = {"identity": {"text": text, "texts": [text, None, 0.1, {}]}}
    write_run(tmp_path, content)
    by_python = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=120)
    assert (tmp_path / "run.yaml").read_text(encoding="utf-8") == by_python


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot be written") as caught, locked(tmp_path / "file" / "run"):
        pass
    assert "--run_dir" in caught.value.hint


@pytest.mark.skipif(sys.platform == "win32", reason="has no flock")
def test_a_file_system_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(file: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("fcntl.flock", fail)
    with pytest.raises(UserError, match="No locks available") as caught, locked(tmp_path / "run"):
        raise AssertionError("it is not locked")
    assert "with locks" in caught.value.hint


def test_differences_are_values_that_both_have() -> None:
    old = {"model": {"dtype": "auto", "name": "a"}, "tasks": {"x": {"prompts": {"eng": {1: "aa", 2: "bb"}}}}}
    new = {"model": {"dtype": "auto", "name": "b"}, "tasks": {"x": {"prompts": {"eng": {2: "cc", 3: "dd"}}}, "y": {}}}
    assert differences(old, new) == ["model.name was 'a' and is 'b'", "tasks.x.prompts.eng.2 was 'bb' and is 'cc'"]
    assert differences(old, {"tasks": {"y": {}}}) == []
    with pytest.raises(UserError, match=r"another run: model\.name was 'a' and is 'b', and 1 more"):
        check_same_run(old, new, "runs/x")


@pytest.mark.parametrize(
    ("changed", "scored_again"),
    [
        ({"version": 2}, True),
        ({"version": 2, "extract": {"bare": True}, "declaration": "b"}, True),
        ({"extract": {"bare": True}}, False),
        ({"version": 2, "prompts": {"eng": {1: "bb"}}}, False),
    ],
)
def test_another_scoring_is_cured_by_scoring_again(changed: dict[str, Any], scored_again: bool) -> None:
    """Unlike another option of the command, which stored settings do not have."""
    old = {"version": 1, "declaration": "a", "extract": {"bare": False}, "prompts": {"eng": {1: "aa"}}}
    with pytest.raises(UserError) as caught:
        check_same_run({"tasks": {"x": old}}, {"tasks": {"x": old | changed}}, "runs/x")
    assert ("afrieval score runs/x" in caught.value.hint) is scored_again


def test_merged_keeps_both() -> None:
    old = {"a": {"x": 1, "y": 2}, "b": 1}
    assert merged(old, {"a": {"y": 3, "z": 4}, "c": 5}) == {"a": {"x": 1, "y": 3, "z": 4}, "b": 1, "c": 5}
    assert old == {"a": {"x": 1, "y": 2}, "b": 1}


def test_what_a_kill_left_half_written_is_removed(tmp_path: Path) -> None:
    left = [".samples_a_yor_eng_1.jsonl.123", ".run.yaml.7", ".results.json.99", ".summary.csv.1", ".harness_x.json.42"]
    kept = [".samples_a.jsonl", ".notes.2024", "samples_a.jsonl", ".run.yaml.old", "answers_1.jsonl", ".DS_Store"]
    for name in (*left, *kept):
        (tmp_path / name).write_text("x")
    with locked(tmp_path):
        assert {p.name for p in tmp_path.iterdir()} == {*kept, ".lock"}


def test_every_file_that_is_written_whole_is_known_when_half_written(tmp_path: Path, monkeypatch: Any) -> None:
    def killed(*args: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "unlink", lambda *args, **options: None)
    monkeypatch.setattr(os, "fsync", killed)
    writers: list[Callable[[], None]] = [
        lambda: write_samples(tmp_path, "a/b (c)", []),
        lambda: write_run(tmp_path, {}),
        *(
            partial(write_json, path, {})
            for path in (harness_path(tmp_path, "a/b"), tmp_path / RESULTS, tmp_path / DERIVED)
        ),
        *(partial(write_csv, tmp_path / name, [], []) for name in (SUMMARY, USAGE)),
    ]
    for write in writers:
        with pytest.raises(KeyboardInterrupt):
            write()
    monkeypatch.undo()
    assert len(list(tmp_path.iterdir())) == len(writers)
    with locked(tmp_path):
        assert [p.name for p in tmp_path.iterdir()] == [".lock"]


def test_nothing_is_removed_from_a_folder_in_use(tmp_path: Path) -> None:
    with locked(tmp_path):
        (tmp_path / ".run.yaml.7").write_text("x")
        with pytest.raises(UserError, match="in use"), locked(tmp_path):
            pass
        assert (tmp_path / ".run.yaml.7").exists()
