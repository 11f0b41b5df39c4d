"""Two runs of the demo model on sample rows that pass for a data set, shared by the tests of all forms."""

from pathlib import Path

import pytest

from afrieval.results.run_files import read_run, write_run

COMMON = ("--model.model_name", "demo", "--data.source", "samples", "--eval.sample", "4", "--task.languages", "yor,hau")


def run_demo(folder: Path, *words: str) -> Path:
    """Runs the demo model, and returns the run folder."""
    from afrieval.cli.main import main

    assert main(["run", *COMMON, "--run_dir", str(folder), *words]) == 0
    return declared_as(folder, own_rows=False)


def export(form: str, folder: Path, *runs: Path) -> None:
    """Exports runs in a form."""
    from afrieval.cli.main import main

    words = [word for run in runs for word in ("--run", str(run))]
    assert main(["export", "--to", form, str(folder), *words]) == 0


def declared_as(folder: Path, own_rows: bool) -> Path:
    """Changes whether the rows of a run are the suite's own; no other rows are here without a network."""
    record = read_run(folder)
    for declared in record["declared"].values():
        declared["sample_rows"] = dict.fromkeys(declared["sample_rows"], own_rows)
    write_run(folder, dict(record))
    return folder


@pytest.fixture(scope="package")
def choices(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with answers by likelihood, under both prompt languages and two prompts."""
    words = ("--task.task_name", "afrixnli,afrimmlu", "--task.prompts", "1,2", "--task.prompt_language", "both")
    return run_demo(tmp_path_factory.mktemp("choices") / "first", *words)


@pytest.fixture(scope="package")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with generated answers: numbers, spans, translations."""
    words = ("--task.task_name", "afrimgsm,masakhaner,flores_to_eng", "--task.prompts", "1", "--eval.max_gen_toks", "3")
    return run_demo(tmp_path_factory.mktemp("texts") / "second", *words, "--eval.num_fewshot", "1")
