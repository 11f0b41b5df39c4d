"""The notebook runs anywhere, without a network, and its tables say what the stored answers say."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.conftest import ROOT

from afrieval.results.run_files import sample_path
from afrieval.results.samples import read_samples

pytest.importorskip("ipykernel", reason="the extra dev is not installed")
nbclient = pytest.importorskip("nbclient", reason="the extra dev is not installed")
nbformat = pytest.importorskip("nbformat", reason="the extra dev is not installed")

NOTEBOOK = ROOT / "examples/first-hour.ipynb"
ASKED = """print(json.dumps({
    "scores": scores.to_dict("records"), "contrasts": contrasts.to_pandas().to_dict("records")
}, default=str))"""


def read() -> Any:
    return nbformat.read(NOTEBOOK, as_version=4)


def accuracies(run: Path, language: str, prompt_language: str) -> list[float]:
    """Returns how often the gold choice has the highest likelihood, under each prompt."""
    found = []
    for prompt in (1, 2):
        lines = read_samples(sample_path(run, f"nollysenti_{language}_{prompt_language}_{prompt}"))
        picked = [np.argmax([likelihood for [(likelihood, *_)] in line["resps"]]) for line in lines]
        found.append(float(np.mean([at == line["gold"] for at, line in zip(picked, lines, strict=True)])))
    return found


@pytest.mark.slow
def test_it_runs_and_its_tables_are_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]))
    notebook = read()
    notebook.cells += [nbformat.v4.new_code_cell("import json"), nbformat.v4.new_code_cell(ASKED)]
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = json.loads(notebook.cells[-1].outputs[-1].text)
    run = tmp_path / "runs/first"
    assert {(row["language"], row["prompt_language"]) for row in shown["scores"]} == {
        (language, kind) for language in ("hau", "yor") for kind in ("eng", "native")
    }
    for row in shown["scores"]:
        mean = np.mean(accuracies(run, row["language"], row["prompt_language"]))
        assert row["score"] == pytest.approx(mean) and row["n"] == 12
    for row in shown["contrasts"]:
        english, native = (np.mean(accuracies(run, row["language"], kind)) for kind in ("eng", "native"))
        assert row["difference"] == pytest.approx(native - english)
        assert row["first_score"] == pytest.approx(english) and row["second_score"] == pytest.approx(native)
    assert len({row["difference"] for row in shown["contrasts"]}) == 2  # a constant would be no test
    assert (tmp_path / "report.html").stat().st_size > 50_000 and (tmp_path / "native.svg").stat().st_size > 5_000


def test_it_is_stored_without_outputs() -> None:
    assert not [cell for cell in read().cells if cell.get("outputs") or cell.get("execution_count")]
