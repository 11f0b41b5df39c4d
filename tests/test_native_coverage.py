"""Which native prompts there are, and that the reviewers' page says so; AFRIEVAL_REWRITE_GOLDEN=1 writes its table."""

import os

import pytest

from afrieval.languages import ENGLISH, LANGUAGES
from afrieval.report.values import ranges
from afrieval.tasks.prompts import load_prompts, prompt_languages
from afrieval.tasks.spec import TaskSpec, load_task
from tests.conftest import ROOT, TEMPLATED

PAGE = ROOT / "docs/native-prompts.md"
BEGIN, END = "<!-- coverage: written by tests/test_native_coverage.py -->\n", "<!-- end of coverage -->\n"
REWRITE = os.environ.get("AFRIEVAL_REWRITE_GOLDEN") == "1"

IROKOBENCH = ("afrimmlu", "afrixnli", "afrimgsm", "afrimgsm_cot")
EXPECTED = {language for task in IROKOBENCH for language in load_task(task).languages} - {ENGLISH}


def table() -> str:
    """The languages that have native prompts, by name, against the tasks."""
    specs = [load_task(name) for name in TEMPLATED]
    codes = {code for spec in specs for code in prompt_languages(spec)} - {ENGLISH}
    rows = [["language", "code", *(spec.title for spec in specs)], ["---"] * (2 + len(specs))]
    for code in sorted(codes, key=lambda c: LANGUAGES[c].name):
        rows.append([LANGUAGES[code].name, f"`{code}`", *(cell(spec, code) for spec in specs)])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def cell(spec: TaskSpec, code: str) -> str:
    """The prompts' numbers, with a star if nobody has reviewed them; a dash if there are none."""
    if code not in prompt_languages(spec):
        return "-"
    prompts = load_prompts(spec, code)
    star = "" if all(p.reviewed_by for p in prompts.values()) else "*"
    return ranges(sorted(prompts)) + star


def test_the_page_has_the_table() -> None:
    before, begin, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    shown, end, after = rest.partition(END)
    assert begin and end, f"{PAGE.name} lacks the marker lines {BEGIN}{END}"
    expected = f"\n{table()}\n"
    if REWRITE and shown != expected:
        PAGE.write_text(f"{before}{BEGIN}{expected}{END}{after}", encoding="utf-8", newline="")
        shown = expected
    assert shown == expected, "AFRIEVAL_REWRITE_GOLDEN=1 python -m pytest tests/test_native_coverage.py writes it"


@pytest.mark.parametrize("task", [*IROKOBENCH, "belebele"])
def test_every_language_of_irokobench_has_three_native_prompts(task: str) -> None:
    """Also in Belebele, as far as it has the language; English is what native prompts are compared with."""
    spec = load_task(task)
    wanted = EXPECTED if task in IROKOBENCH else EXPECTED & set(spec.languages)
    with_prompts = {code for code in wanted & set(prompt_languages(spec)) if {1, 2, 3} <= set(load_prompts(spec, code))}
    assert wanted - with_prompts == set()
