"""`eval.yaml` of data sets: its ids are those that exported results name."""

from pathlib import Path

import pytest
import yaml
from huggingface_hub import parse_eval_result_entries
from tests.conftest import Cli
from tests.exchange.conftest import run_demo
from tests.scripts.test_models_exist import script

hub_eval_yaml = script("hub_eval_yaml")


def test_exported_results_have_a_task_in_it(cli: Cli, tmp_path: Path) -> None:
    assert hub_eval_yaml.main([str(tmp_path / "declared")]) == 0
    files = sorted(tmp_path.glob("declared/masakhane/*/eval.yaml"))
    assert [path.parent.name for path in files] == ["afrimgsm", "afrimmlu", "afrixnli"]
    run = run_demo(tmp_path / "run", "--task.task_name", "afrixnli", "--task.prompts", "1")
    assert cli("export", "--to", "huggingface-eval-yaml", tmp_path / "out", "--run", run).code == 0
    [exported] = tmp_path.glob("out/demo/.eval_results/*.yaml")
    declared = yaml.safe_load(files[2].read_text(encoding="utf-8"))
    assert set(declared) == {"name", "description", "evaluation_framework", "tasks"}  # all are required
    ids = [task["id"] for task in declared["tasks"]]
    assert len(ids) == len({*ids}) == 18 and {task["split"] for task in declared["tasks"]} == {"test"}
    for entry in parse_eval_result_entries(yaml.safe_load(exported.read_text(encoding="utf-8"))):
        assert entry.dataset_id == "masakhane/afrixnli" and entry.task_id in ids


def test_unknown_tasks_are_errors(tmp_path: Path) -> None:
    assert hub_eval_yaml.main([str(tmp_path), "afrixnil"]) == 2 and hub_eval_yaml.main([]) == 2


@pytest.mark.parametrize("name", ["file", "file/below", "x" * 300, "loop", "nul\0"])
def test_folders_that_cannot_be_written_are_errors(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert hub_eval_yaml.main([str(tmp_path / name)]) == 2
    error, hint = capsys.readouterr().err.splitlines()
    assert error.startswith("error: ") and hint.startswith("hint: ")
