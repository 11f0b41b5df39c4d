"""The benchmark of a run's own work asks what a run asks, and computes nothing."""

import importlib
import json
from pathlib import Path

import pytest

from afrieval.models.response_cache import CachedLM
from tests.conftest import ROOT


def test_a_run_is_answered_at_once_and_each_stage_is_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.syspath_prepend(ROOT / "bench")
    host, stages = importlib.import_module("host"), importlib.import_module("host_stages")
    words = ["run", "--model.model_name", "demo", "--task.task_name", "[afrimmlu,afrimgsm]", "--data.source", "samples"]
    words += ["--task.languages", "[yor]", "--task.prompts", "[1]", "--eval.limit", "2"]
    asked, out = CachedLM._ask, tmp_path / "stages.json"
    assert stages.main(str(out), [*words, "--run_dir", str(tmp_path / "run")]) == 0
    found = json.loads(out.read_text(encoding="utf-8"))
    assert found["requests"] == 2 * 4 + 2 and list(found["seconds"]) == [*stages.STAGES, stages.REST]
    assert all(found["seconds"][stage] > 0 for stage in ("read data", "tokenize", "score", "make and write samples"))
    (line,) = (tmp_path / "run/samples_afrimgsm_yor_eng_1.jsonl").read_text(encoding="utf-8").splitlines()[:1]
    assert json.loads(line)["resps"] == [[stages.ANSWER]] and CachedLM._ask is asked
    table = host.table(found, (1.0, 2.0))
    assert "| 10 requests |" in table and f"| all | {sum(found['seconds'].values()):.1f} |" in table
