"""Tasks of lm_eval have the same requests, answers and scores with `hf-tree` as with lm_eval's own `hf`."""

from pathlib import Path

import pytest
from lm_eval.models.huggingface import HFLM
from tests.models.engine.both_ways import MOST, apart, both, saved
from tests.models.engine.lm_eval_tasks import CLOZE, LETTERS, OPTIONS, WRITTEN


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved(tmp_path_factory.mktemp("llama"))


@pytest.fixture(autouse=True)
def _short_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets answers be short where a task does not say how long they may be."""
    monkeypatch.setattr(HFLM, "max_gen_toks", MOST)


@pytest.mark.parametrize("kind", [OPTIONS, LETTERS, CLOZE, WRITTEN], ids=["options", "letters", "cloze", "written"])
def test_tasks(kind: dict[str, object], folder: Path) -> None:
    assert apart(*both(folder, [*kind])) == []
