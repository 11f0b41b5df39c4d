"""Two runs of the demo model on the sample rows, shared by the tests of all forms."""

from pathlib import Path

import pytest

COMMON = ("--model.model_name", "demo", "--data.source", "samples", "--eval.limit", "4", "--task.languages", "yor,hau")


def run_demo(folder: Path, *words: str) -> Path:
    """Runs the demo model, and returns the run folder."""
    from afrieval.cli import main

    assert main(["run", *COMMON, "--run_dir", str(folder), *words]) == 0
    return folder


@pytest.fixture(scope="package")
def choices(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with answers by likelihood, under both prompt languages and two prompts."""
    words = ("--task.task_name", "afrixnli,afrimmlu", "--task.prompts", "1,2", "--task.prompt_language", "both")
    return run_demo(tmp_path_factory.mktemp("choices") / "first", *words)


@pytest.fixture(scope="package")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with generated answers: numbers, spans, translations."""
    words = ("--task.task_name", "afrimgsm,masakhaner,flores_to_eng", "--task.prompts", "1", "--eval.max_gen_toks", "6")
    return run_demo(tmp_path_factory.mktemp("texts") / "second", *words, "--eval.num_fewshot", "1")
