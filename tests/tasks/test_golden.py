"""The exact text of every prompt; AFRIEVAL_REWRITE_GOLDEN=1 writes the files anew, for git to show what changed."""

import os
from pathlib import Path

import pytest
from tests.conftest import TEMPLATED, spec_of

from afrieval.languages import ENGLISH
from afrieval.tasks.prompts.prompts import prompt_languages
from afrieval.tools.review.sheet import golden

GOLDEN = Path(__file__).parent / "golden"
REWRITE = os.environ.get("AFRIEVAL_REWRITE_GOLDEN") == "1"
# Tasks that share prompts differ in their English ones at most, such as in the direction of a translation.
FILES = [
    (task, file)
    for task in TEMPLATED
    for file in ([ENGLISH] if spec_of(task).shares_prompts else prompt_languages(spec_of(task)))
]


@pytest.mark.parametrize("task", TEMPLATED)
def test_every_prompt_is_as_reviewed(task: str) -> None:
    for file in [file for of, file in FILES if of == task]:
        path = GOLDEN / f"{task}-{file}.txt"
        text = golden(spec_of(task), file)
        if REWRITE:
            GOLDEN.mkdir(exist_ok=True)
            path.write_bytes(text.encode())
        assert path.is_file(), "AFRIEVAL_REWRITE_GOLDEN=1 python -m pytest tests/tasks/test_golden.py writes it"
        assert path.read_bytes().decode() == text, path.name


def test_no_golden_file_is_left_over() -> None:
    left_over = [p for p in GOLDEN.glob("*") if p.name not in {f"{task}-{file}.txt" for task, file in FILES}]
    for path in left_over if REWRITE else ():
        path.unlink()
    assert REWRITE or not left_over
