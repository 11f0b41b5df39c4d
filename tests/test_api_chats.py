"""Chats of a loaded model may have tags and a date, as those of a model file."""

from pathlib import Path
from typing import Any

import pytest

import afrieval
from tests.models.tiny import tiny_llama
from tests.test_api import SMALL, loaded

DATED = "{{ strftime_now('%d %b %Y') }}{% for turn in messages %} {{ turn.role }}: {{ turn.content }}{% endfor %} So:"


def test_a_loaded_model_chats_as_told(tmp_path: Path) -> None:
    pair = loaded(tiny_llama(tmp_path / "model", chat_template=DATED))
    begins: dict[str, Any] = {
        "26 Jul 2024 system: ": True,
        "10 Apr 2025 system: ": {"date": "10 Apr 2025"},
        "[INST] ": {"tags": {"user_start": "[INST] ", "user_end": " [/INST]"}},
    }
    for i, (begin, chat) in enumerate(begins.items()):
        run = afrieval.evaluate(pair, "afrixnli", chat_template=chat, **SMALL, run_dir=tmp_path / str(i))
        for sample in run.samples("afrixnli", "yor"):
            assert [text[: len(begin)] for text, *_ in sample["arguments"]] == [begin] * 3
    assert pair[1].chat_template == DATED


def test_settings_of_chats_that_do_not_exist() -> None:
    with pytest.raises(afrieval.UserError, match=r"unknown key 'day' .choose from tags, system, date"):
        afrieval.evaluate("demo", "afrixnli", chat_template={"day": "10 Apr 2025"}, **SMALL)  # type: ignore[arg-type]
    with pytest.raises(afrieval.UserError, match=r"model\.chat_date is '2025'"):
        afrieval.evaluate("demo", "afrixnli", chat_template={"date": "2025"}, **SMALL)
