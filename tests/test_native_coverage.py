"""Which native prompts there are, and that the reviewers' pages say so; AFRIEVAL_REWRITE_GOLDEN=1 writes them."""

import os

import pytest

from afrieval.languages import ENGLISH
from afrieval.tasks.declaration.spec import load_task
from afrieval.tasks.prompts.prompts import load_prompts, prompt_languages
from afrieval.tools.review import generated
from afrieval.tools.review.generated import BEGIN, INDEX, PAGES, pages
from tests.conftest import ROOT

REWRITE = os.environ.get("AFRIEVAL_REWRITE_GOLDEN") == "1"

IROKOBENCH = ("afrimmlu", "afrixnli", "afrimgsm", "afrimgsm_cot")
EXPECTED = {language for task in IROKOBENCH for language in load_task(task).languages} - {ENGLISH}


def test_the_index_has_a_place_for_its_table() -> None:
    assert f"{BEGIN}\n| language" in (ROOT / INDEX).read_text(encoding="utf-8")


def test_the_pages_are_those_of_the_prompts_and_reviews() -> None:
    expected = pages(ROOT)
    there = {path.relative_to(ROOT) for path in (ROOT / PAGES).glob("*")} | {INDEX}
    for path in there | {*expected} if REWRITE else ():
        (ROOT / path).parent.mkdir(exist_ok=True)
        if path in expected:
            (ROOT / path).write_bytes(expected[path].encode())
        else:
            (ROOT / path).unlink()
    shown = {path.relative_to(ROOT): path.read_bytes().decode() for path in (ROOT / PAGES).glob("*")}
    shown[INDEX] = (ROOT / INDEX).read_bytes().decode()
    differing = [path.name for path in {**shown, **expected} if shown.get(path) != expected.get(path)]
    assert not differing, f"{generated.REWRITE} writes them"


@pytest.mark.parametrize("task", [*IROKOBENCH, "belebele"])
def test_every_language_of_irokobench_has_three_native_prompts(task: str) -> None:
    """Also in Belebele, as far as it has the language; English is what native prompts are compared with."""
    spec = load_task(task)
    wanted = EXPECTED if task in IROKOBENCH else EXPECTED & set(spec.languages)
    with_prompts = {code for code in wanted & set(prompt_languages(spec)) if {1, 2, 3} <= set(load_prompts(spec, code))}
    assert wanted - with_prompts == set()


def test_speakers_are_not_asked_for_prompts_that_only_show_a_row() -> None:
    index = (ROOT / INDEX).read_text(encoding="utf-8")
    assert not [title for title in ("MultiBLiMP", "TukaBench", "Marco-Bench-MIF", "Aya evaluation") if title in index]
