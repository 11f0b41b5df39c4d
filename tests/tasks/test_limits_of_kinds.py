"""Limits of generated answers follow the right answers, as examples show them, under the model's tokenizer."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.scoring.kinds import KINDS, write_task

from afrieval.config.settings import DataConfig, ModelConfig, RunConfig, TaskConfig
from afrieval.tasks.cells.limits import generation
from afrieval.tasks.cells.plan import declared_cells


@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_twice_as_long_fits_and_ends_where_examples_end(tmp_path: Path, kind: str) -> None:
    write_task(tmp_path, kind)
    config = RunConfig(data=DataConfig("samples"), task=TaskConfig(kind, folder=str(tmp_path)))
    ((asked,), _) = declared_cells(config)
    shown = [asked.task.scoring.answer.shown(document.gold) for document in asked.documents]
    stop = "\n" if kind in ("translation", "summary", "restoration") else "\n\n"
    for per_letter in (1, 5):
        lm = SimpleNamespace(max_length=10_000, count_tokens=lambda text, n=per_letter: n * len(text))
        ends = generation(asked, lm)
        assert ends.max_tokens == 2 * per_letter * max(map(len, shown)) + 32 and ends.stop == (stop,)
        assert not any(stop in text for text in shown)
    chat = replace(asked, config=replace(config, model=ModelConfig(chat_template=True)))
    assert generation(chat, lm).stop == () and generation(chat, lm).max_tokens == ends.max_tokens
