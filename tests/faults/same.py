"""Whether two run folders have the same numbers: those of a run under fire, and those of one that nothing disturbed."""

import csv
import json
import math
from pathlib import Path
from typing import Any

from afrieval.results.run_files import RESULTS, SUMMARY, sample_files

CLOSE = 1e-6  # of log-likelihoods, where what is computed together differs
CLOSE_Z = 1e-5  # of their distances from the mean, divided by a standard deviation that is small for the demo model
CIRCUMSTANCES = ("date", "seconds", "requests", "at_most", "lost")  # may differ between two sessions


def check_same(found: Path, expected: Path) -> bool:
    """Asserts that two runs have the same samples and scores; returns whether sample files are equal byte by byte."""
    names = [path.name for path in sample_files(expected)]
    assert [path.name for path in sample_files(found)] == names
    equal = [(found / name).read_bytes() == (expected / name).read_bytes() for name in names]
    for name, is_equal in zip(names, equal, strict=True):
        if not is_equal:
            _check_close(_lines(found / name), _lines(expected / name), name)
    _check_close(_rows(found / SUMMARY), _rows(expected / SUMMARY), SUMMARY)
    scores, others = (json.loads((folder / RESULTS).read_text(encoding="utf-8")) for folder in (found, expected))
    _check_close(scores["results"], others["results"], RESULTS)
    left = [path.name for path in found.iterdir() if path.name.startswith(".") and path.name != ".lock"]
    assert not left, f"left over: {left}"
    return all(equal)


def _lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _rows(path: Path) -> list[Any]:
    with path.open(encoding="utf-8", newline="") as file:
        return [{key: _number(value) for key, value in row.items()} for row in csv.DictReader(file)]


def _number(text: str) -> object:
    try:
        return float(text)
    except ValueError:
        return text


def _check_close(found: Any, expected: Any, where: str) -> None:
    """Asserts that two values are the same, and numbers in them as good as the same."""
    if isinstance(expected, dict):
        keys = [key for key in expected if key not in CIRCUMSTANCES]
        assert keys == [key for key in found if key not in CIRCUMSTANCES], where
        for key in keys:
            _check_close(found[key], expected[key], f"{where}, {key}")
    elif isinstance(expected, list):
        assert len(found) == len(expected), where
        for number, (one, other) in enumerate(zip(found, expected, strict=True)):
            _check_close(one, other, f"{where}, {number}")
    elif type(expected) is float and type(found) is float:
        close = CLOSE_Z if "min_k_plus_plus" in where else CLOSE
        same = math.isclose(found, expected, rel_tol=close, abs_tol=close) or (found != found and expected != expected)
        assert same, f"{where}: {found} for {expected}"
    else:
        assert found == expected, where
