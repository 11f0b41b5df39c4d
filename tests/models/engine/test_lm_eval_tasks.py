"""Tasks of lm_eval have the same requests, answers and scores with `hf-tree` as with lm_eval's own `hf`."""

from pathlib import Path

import pytest
from tests.models.engine.both_ways import apart, both, saved
from tests.models.engine.lm_eval_tasks import CLOZE, LETTERS, NO_SHOTS, OPTIONS, TASKS, WRITTEN


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved(tmp_path_factory.mktemp("llama"))


@pytest.mark.parametrize("kind", [OPTIONS, LETTERS, CLOZE, WRITTEN], ids=["options", "letters", "cloze", "written"])
def test_tasks(kind: dict[str, object], folder: Path) -> None:
    """Every second file; `make test-models` has all."""
    assert apart(*both(folder, [*kind][::2], rows=2)) == []


@pytest.mark.models
@pytest.mark.parametrize("kind", ["llama", "gemma3", "falcon", "T5"])
def test_tasks_with_examples(kind: str, tmp_path: Path) -> None:
    paths = [path for path in TASKS if path not in NO_SHOTS]
    assert apart(*both(saved(tmp_path, kind), paths, num_fewshot=2)) == []


@pytest.mark.models
def test_tasks_without_examples(folder: Path) -> None:
    assert apart(*both(folder, [*TASKS])) == []
