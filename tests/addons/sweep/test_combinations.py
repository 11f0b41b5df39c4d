"""Which jobs a sweep file has, and that every mistake in it is named before a job starts."""

from pathlib import Path
from typing import Any

import pytest
from tests.conftest import ROOT, put
from tests.tools.jobs.files import COMMON, SUITE, write_sweep

from afrieval._util.errors import UserError
from afrieval._util.resources import shipped
from afrieval.addons.sweep.combinations import jobs_of
from afrieval.addons.sweep.sweep_file import read_sweep
from afrieval.tools.jobs.jobs import Job

DEMO = str(ROOT / "configs/models/demo.yaml")
TWO = [{}, {"eval.num_fewshot": 2}]


def jobs(tmp_path: Path, **keys: Any) -> list[Job]:
    return jobs_of(*read_sweep(write_sweep(tmp_path / "sweep.yaml", **keys)))


def test_a_job_has_all_runs_of_one_model(tmp_path: Path) -> None:
    models = [DEMO, {"model_name": "org/model.v1", "dtype": "float16", "shares": 2, "gpus": 0.5}]
    first, *others = jobs(tmp_path, models=models, suites=[SUITE, {"task_name": "afrimmlu"}], settings=TWO)
    assert first == Job("demo", first.runs) and len(first.runs) == 4
    assert [job.name for job in others] == ["model.v1-float16-1of2", "model.v1-float16-2of2"]
    assert others[0].siblings == [job.name for job in others]
    assert all(job.gpus == 0.5 and job.runs == others[0].runs for job in others)
    assert first.runs[0] == {"model.model_name": "demo", "model.chat_template": False, **FIRST, **COMMON}


FIRST = {f"task.{name}": value for name, value in SUITE.items()}


def test_models_and_tasks_are_named_as_for_a_run(tmp_path: Path) -> None:
    (of_file, of_hub) = jobs(tmp_path, models=["demo", "org/Model-1.5B"], suites=["afrixnli"])
    assert of_file.name == "demo" and of_hub.name == "Model-1.5B"
    assert [job.runs[0]["model.model_name"] for job in (of_file, of_hub)] == ["demo", "org/Model-1.5B"]
    assert of_hub.runs[0]["task.task_name"] == "afrixnli"


def test_settings_of_a_model_make_other_jobs(tmp_path: Path) -> None:
    settings = [{}, {"model.dtype": "bfloat16"}, {"model.backend_args": {"max_length": 512}}]
    found = jobs(tmp_path, settings=settings)
    assert [job.name for job in found][:2] == ["demo", "demo-bfloat16"] and len(found) == 3
    assert found[2].name.startswith("demo-backend_args")


def test_settings_of_examples_make_other_folders(tmp_path: Path) -> None:
    settings = [{"eval.num_fewshot": 2, "eval.fewshot_selection": each} for each in ("fixed", "per_document")]
    assert len(jobs(tmp_path, settings=settings)[0].runs) == 2


def test_later_settings_beat_earlier_ones(tmp_path: Path) -> None:
    (found,) = jobs(tmp_path, common={**COMMON, "task.languages": ["swa"]}, settings=[{"eval.limit": 1}])
    assert found.runs[0]["task.languages"] == ["swa"] and found.runs[0]["eval.limit"] == 1


def test_a_served_model_is_identified_by_its_server(tmp_path: Path) -> None:
    entry = {"model_name": "org/m", "model_type": "openai", "server": "vllm", "gpus": 2}
    (found,) = jobs(tmp_path, models=[entry])
    assert found.name == "m" and found.gpus == 2
    assert found.runs[0]["model.api.server"] == "vllm" and "model.api.base_url" not in found.runs[0]


WRONG: dict[str, tuple[dict[str, Any], str, str]] = {
    "no models": ({"models": []}, "models must be a list or map that is not empty", ""),
    "unknown key": ({"modles": [DEMO]}, "unknown key 'modles'", "did you mean models?"),
    "shares": ({"shares": 0}, "shares must be 1 or more", ""),
    "gpus": ({"gpus": 1.5}, "gpus must be a whole number, or less than 1, not 1.5", ""),
    "executor": ({"executor": "slrum"}, "executor must be local, slurm or ray", "did you mean slurm?"),
    "no model": ({"models": [{"dtype": "float16"}]}, "models.0 has no model_name", ""),
    "no file": ({"models": ["configs/models/dmeo.yaml"]}, "there is no file configs/models/dmeo.yaml", "demo.yaml"),
    "twice": ({"models": [DEMO, DEMO]}, "models.1 is the same model as models.0", "remove one of them"),
    "key of a suite": ({"suites": [{"task_nam": "x"}]}, "unknown key 'task_nam'", "did you mean task_name?"),
    "task": ({"suites": [{"task_name": "afrixnl"}]}, "demo with suites.0 and settings.0: unknown task", "afrixnli"),
    "language": (
        {"common": {"task.languages": ["xxx"]}},
        "afrixnli has no language 'xxx'",
        "afrieval list afrixnli shows all",
    ),
    "option": ({"settings": [{"eval.num_fewshots": 1}]}, "unknown option 'eval.num_fewshots'", "eval.num_fewshot?"),
    "value": ({"settings": [{"eval.limit": "3"}]}, "settings.0: eval.limit must be a whole number", ""),
    "run_dir": ({"common": {"run_dir": "x"}}, "run_dir is not supported in a sweep", "folder: is for all runs"),
    "same folder": ({"settings": [{}, {"eval.limit": 1}]}, "would have the same run folder", "change more"),
    "server": (
        {"models": [{"model_name": "m", "server": "vllm"}]},
        "models.0.server is 'vllm', but model_type is hf",
        "",
    ),
    "base_url of a setting": (
        {
            "models": [{"model_name": "m", "model_type": "openai", "server": "vllm"}],
            "settings": [{"model.api.base_url": "http://x/v1"}],
        },
        "the model has server and base_url",
        "remove base_url",
    ),
    "prompt": ({"common": {"task.prompts": [1, 77]}}, "afrixnli has no prompt 77 in eng", "choose from 1, 2"),
    "backend": ({"models": [{"model_name": "m", "backend_args": {"pefft": "x"}}]}, "pefft", "did you mean peft?"),
    "secret": (
        {"models": [{"model_name": "m", "model_type": "local-completions", "backend_args": {"api_key": "k"}}]},
        "has a key or password",
        "set it in the environment",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_mistakes_are_named(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    keys, message, hint = WRONG[name]
    monkeypatch.chdir(ROOT)
    with pytest.raises(UserError) as error:
        jobs(tmp_path, **keys)
    assert message in error.value.message and hint in error.value.hint, error.value
    assert "sweep.yaml" in error.value.message


def test_two_models_with_one_name(tmp_path: Path) -> None:
    for folder, model in (("a", "org/x"), ("b", "org/y")):
        put(tmp_path / folder / "m.yaml", f"model_name: {model}\n")
    with pytest.raises(UserError, match=r"models.0 and models.1 are different models with the name m"):
        jobs(tmp_path, models=[str(tmp_path / "a/m.yaml"), str(tmp_path / "b/m.yaml")])


@pytest.mark.parametrize("path", sorted(shipped("configs").glob("sweeps/*.yaml")), ids=lambda p: p.name)
def test_shipped_sweeps(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert jobs_of(*read_sweep(path))
