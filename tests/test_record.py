"""What the suite asks for, extracts and scores is what it was, and differences between two records are found."""

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

KNOWN = json.loads((ROOT / "tests/record.json").read_text(encoding="utf-8"))
CELL = {"key": "demo/text/afrimmlu", "requests": [[["1 + 1 =", " 2"]]], "resps": [[[[-1.5, True]]]], "score": "0.5"}
ROW = {"key": "demo/text/means", "row": {"mean": 0.25, "interval": None}}


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    return importlib.import_module("record")


SLOW = ("generate-whole/0-shot/translate", "generate-whole/2-shot")  # answers of full length take long
PARTS = ("text", "letter", "own", "generate/", "generate-whole/0-shot/direct")


@pytest.mark.parametrize("part", [*PARTS, *(pytest.param(part, marks=pytest.mark.slow) for part in SLOW)])
def test_no_cell_has_changed(bench: Any, part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    known = {name: digest for name, digest in KNOWN.items() if name.startswith(f"demo/{part}")}
    now = bench.hashes([run for run in bench.runs("samples", ["demo"]) if bench.key(run).startswith(f"demo/{part}")])
    changed = [name for name in known | now if known.get(name) != now.get(name)]
    assert known
    assert not changed, f"{changed} differ; if this is meant: python bench/record.py --hashes tests/record.json"


def test_every_cell_is_in_a_part() -> None:
    assert all(name.startswith(tuple(f"demo/{part}" for part in (*PARTS, *SLOW))) for name in KNOWN)


def compared(bench: Any, folder: Path, after: list[dict[str, Any]]) -> int:
    paths = [folder / "before.jsonl", folder / "after.jsonl"]
    for path, records in zip(paths, ([CELL, ROW], after), strict=True):
        bench.write(records, path)
    return int(bench.compare(*map(str, paths)))


def test_the_same_records_do_not_differ(bench: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    close = CELL | {"resps": [[[[-1.50009, True]]]]}
    assert compared(bench, tmp_path, [ROW, close]) == 0
    assert capsys.readouterr().out == "2 and 2 records, 0 differences\n"


@pytest.mark.parametrize(
    ("changed", "line"),
    [
        ({"resps": [[[[-1.5002, True]]]]}, "resps[0][0][0][0]: -1.5 became -1.5002"),
        ({"resps": [[[[-1.5, False]]]]}, "resps[0][0][0][1]: True became False"),
        ({"requests": [[["1 + 1 =", "2"]]]}, "requests[0][0][1]: ' 2' became '2'"),
        ({"requests": []}, "requests: [[['1 + 1 =', ' 2']]] became []"),
        ({"score": "0.50001"}, "score: '0.5' became '0.50001'"),
        ({"n": "3"}, "n: None became '3'"),
    ],
)
def test_a_difference_is_named(
    bench: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], changed: dict[str, Any], line: str
) -> None:
    assert compared(bench, tmp_path, [CELL | changed, ROW]) == 1
    assert f"demo/text/afrimmlu: {line}\n" in capsys.readouterr().out


def test_records_that_are_gone_or_new_are_named(bench: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert compared(bench, tmp_path, [CELL, ROW | {"key": "demo/text/other"}]) == 1
    printed = capsys.readouterr().out
    assert "demo/text/means: only in" in printed and "demo/text/other: only in" in printed


def test_the_hash_follows_the_request_and_not_the_likelihood(bench: Any) -> None:
    cell = {"requests": ["a"], "target": [0], "answer": [1], "scores": [{"acc": 0.0}], "resps": [-1.0]}
    assert bench.hashed(cell) == bench.hashed(cell | {"resps": [-2.0]})
    assert bench.hashed(cell) != bench.hashed(cell | {"requests": ["b"]})
    assert bench.hashed(cell) != bench.hashed(cell | {"scores": [{"acc": 1.0}]})
