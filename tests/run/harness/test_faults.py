"""What is wrong with a harness task, its data or its stored results is said in a line, and nothing is lost by it."""

from pathlib import Path

import pytest
import yaml
from tests.harness_collection import Run
from tests.run.harness.test_run import results

from afrieval.results.run_files import sample_path
from afrieval.results.samples import read_samples


def test_tasks_of_a_group_that_the_folder_lacks_are_left_out(harness: Run, tmp_path: Path) -> None:
    done = harness("--task.harness_tasks", "partly_there", "--eval.limit", 1)
    assert done.code == 0 and "has no data for: missing; without them there is no score of partly_there" in done.err
    assert set(results(tmp_path / "run")["results"]) == {"mc_hau_1"}
    assert "missing" in yaml.safe_load((tmp_path / "run/run.yaml").read_text())["visits"][0]["left_out"][0]


def test_a_damaged_file_of_results(harness: Run, tmp_path: Path) -> None:
    words = ("--task.harness_tasks", "mc_yor_1,mc_hau_1", "--eval.limit", 1)
    assert harness(*words).code == 0
    path = tmp_path / "run/harness_mc_yor_1.json"
    of_another_task = (tmp_path / "run/harness_mc_hau_1.json").read_text()
    for damaged in ("", path.read_text()[:50], of_another_task):
        path.write_text(damaged)
        done = harness(*words)
        assert done.code == 2 and "harness_mc_yor_1.json" in done.err and "delete" in done.err
    sample_path(tmp_path / "run", "mc_yor_1").unlink()
    assert harness(*words).code == 0


def test_a_fault_of_the_task_is_one_line(harness: Run) -> None:
    done = harness("--task.harness_tasks", "faulty", "--eval.limit", 1)
    assert done.code == 2 and "cannot score a document of faulty: KeyError" in done.err
    assert "Traceback" not in done.err


def test_prefetch_reads_the_data_of_harness_tasks(
    harness: Run, collection: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lm_eval.tasks import TaskManager

    index = TaskManager(include_path=str(collection / "local"), include_defaults=False)
    monkeypatch.setattr("afrieval.run.harness.index.task_manager", lambda: index)
    done = harness("--task.harness_tasks", "by_size", "--data.source", "hub", command="prefetch")
    assert done.code == 0 and "mc_hau_1: 5 documents" in done.out


BAD = {
    "--task.harness_tasks mc_yr_1": ("no task, group or tag 'mc_yr_1'", "mc_yor_1"),
    "--task.task_template mc_{{language}}_1": ("task.languages is empty", "yor"),
    "--task.task_template mc_yor_1 --task.languages yor": ("no placeholder for the language", "{{language}}"),
    "--task.task_template mc_{{lang}}_1 --task.languages yor": (
        "supports only {{language}}, not '{{lang}}'",
        "{{language}}",
    ),
    "--task.task_template mc_{{ --task.languages yor": ("supports only", "write"),
    "--task.harness_tasks mc_yor_1 --task.languages yor": (
        "task.languages has no effect on task.harness_tasks",
        "{{language}}",
    ),
    "--task.harness_tasks mc_yor_1 --task.prompts 1": ("task.prompts has no effect on task.harness_tasks", "leave"),
    "--task.harness_tasks mc_yor_1 --data.source samples": ("no sample rows", "hub"),
    "--task.harness_tasks no_data": ("the data of no_data (org/nowhere yor)", "prefetch"),
    "--task.harness_tasks missing": ("the data of missing", "complete that folder"),
    "--task.harness_tasks broken_prompt": ("prompts of broken_prompt", "remove the task"),
    "--task.harness_tasks mc_yor_1 --eval.num_fewshot 50": ("prompts of mc_yor_1", "50"),
    "--task.harness_tasks online_metric": ("metric nosuch cannot be downloaded", "network"),
    "--task.harness_tasks runs_code": ("runs_code runs code written by the model", "remove the task"),
    "--task.harness_tasks mc_yor_1,other_shots": ("contain mc_yor_1, with different", "run_dir"),
    "": ("no task is given", "afrixnli"),
}


@pytest.mark.parametrize("words", BAD)
def test_refuses(harness: Run, tmp_path: Path, words: str) -> None:
    message, hint = BAD[words]
    done = harness(*words.split())
    assert done.code == 2, done
    problem, mend = done.err.strip().splitlines()[-2:]
    assert message in problem and hint in mend and "Traceback" not in done.err, done.err
    assert not (tmp_path / "run").exists()


def test_preview_shows_what_the_run_asks(harness: Run, tmp_path: Path) -> None:
    words = ("--task.harness_tasks", "two_filters,mc_yor_1", "--eval.num_fewshot", 1)
    shown = harness(*words, "--document", 2, command="preview").ok()
    assert harness(*words, "--eval.limit", 3).code == 0
    for name in ("two_filters", "mc_yor_1"):
        sample = next(s for s in read_samples(sample_path(tmp_path / "run", name)) if s["doc_id"] == 2)
        assert sample["arguments"][0][0] in shown.out
    assert harness(*words, "--document", 99, command="preview").code == 2
