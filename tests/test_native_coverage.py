"""Which native prompts there are, and that the reviewers' page says so; AFRIEVAL_REWRITE_GOLDEN=1 writes its table."""

import os

import pytest

from afrieval.languages import ENGLISH
from afrieval.review.generated import BEGIN, END, INDEX, index
from afrieval.tasks.prompts import load_prompts, prompt_languages
from afrieval.tasks.spec import load_task
from tests.conftest import ROOT

REWRITE = os.environ.get("AFRIEVAL_REWRITE_GOLDEN") == "1"

IROKOBENCH = ("afrimmlu", "afrixnli", "afrimgsm", "afrimgsm_cot")
EXPECTED = {language for task in IROKOBENCH for language in load_task(task).languages} - {ENGLISH}


def test_the_page_has_the_table() -> None:
    shown = (ROOT / INDEX).read_text(encoding="utf-8")
    assert BEGIN in shown and END in shown, f"{INDEX} lacks the marker lines {BEGIN}{END}"
    expected = index(ROOT)
    if REWRITE and shown != expected:
        (ROOT / INDEX).write_text(expected, encoding="utf-8", newline="")
        shown = expected
    assert shown == expected, "AFRIEVAL_REWRITE_GOLDEN=1 python -m pytest tests/test_native_coverage.py writes it"


@pytest.mark.parametrize("task", [*IROKOBENCH, "belebele"])
def test_every_language_of_irokobench_has_three_native_prompts(task: str) -> None:
    """Also in Belebele, as far as it has the language; English is what native prompts are compared with."""
    spec = load_task(task)
    wanted = EXPECTED if task in IROKOBENCH else EXPECTED & set(spec.languages)
    with_prompts = {code for code in wanted & set(prompt_languages(spec)) if {1, 2, 3} <= set(load_prompts(spec, code))}
    assert wanted - with_prompts == set()
