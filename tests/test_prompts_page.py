"""The page on prompts has a table per task, made from the declarations; AFRIEVAL_REWRITE_GOLDEN=1 writes it."""

import os

import pytest

from afrieval.languages import ENGLISH
from afrieval.tasks.declaration.spec import TaskSpec
from afrieval.tasks.prompts.paper import harness_file, paper_prompts, read_harness_prompt
from afrieval.tasks.prompts.prompts import clean, load_prompts, render
from tests.conftest import PAPERS, ROOT, TEMPLATED, spec_of
from tests.tasks.contract import placeholder

PAGE = ROOT / "docs/tables/prompts.md"
BEGIN, END = "<!-- prompts: written by tests/test_prompts_page.py -->\n", "<!-- end of prompts -->\n"
REWRITE = os.environ.get("AFRIEVAL_REWRITE_GOLDEN") == "1"
HEAD = [["prompt", "source", "what was changed"], ["---"] * 3]


def page() -> str:
    specs = map(spec_of, TEMPLATED)
    return "\n".join(table(spec) for spec in specs if spec.paper or not spec.shares_prompts)


def table(spec: TaskSpec) -> str:
    """The English prompts of a task, those of the suite first."""
    rows = [[f"`{n}`", prompt.source, ""] for n, prompt in load_prompts(spec, ENGLISH).items()]
    for number, declared in (spec.paper.prompts if spec.paper else {}).items():
        assert spec.paper
        how = f"refused: {declared.refused}" if declared.refused else "; ".join(changes(spec, number)) or "nothing"
        rows.append([f"`paper{number}`", f"{spec.paper.name} prompt {number}", how])
    lines = "".join(f"| {' | '.join(row)} |\n" for row in [*HEAD, *rows])
    return f"\n### {spec.title}\n\n{lines}"


def changes(spec: TaskSpec, number: int) -> list[str]:
    paths = (harness_file(spec, code, number) for code in (ENGLISH, *spec.languages) if code in spec.languages)
    path = next(filter(None, paths), None)
    assert path and spec.paper, f"{spec.name} has no prompt {number} of its paper in any language"
    text = read_harness_prompt(spec, path, number).template.removesuffix("\n")
    stray = ["stray blanks are removed"] if clean(text) != text else []
    return stray + [correction.what for correction in spec.paper.prompts[number].corrections]


def test_the_page_has_the_tables() -> None:
    before, begin, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    shown, end, after = rest.partition(END)
    assert begin and end, f"{PAGE.name} lacks the marker lines {BEGIN}{END}"
    expected = f"{page()}\n"
    if REWRITE and shown != expected:
        PAGE.write_text(f"{before}{BEGIN}{expected}{END}{after}", encoding="utf-8", newline="")
        shown = expected
    assert shown == expected, "AFRIEVAL_REWRITE_GOLDEN=1 python -m pytest tests/test_prompts_page.py writes it"


def test_every_english_prompt_says_where_it_is_from() -> None:
    prompts = [prompt for task in TEMPLATED for prompt in load_prompts(spec_of(task), ENGLISH).values()]
    assert not [prompt.title for prompt in prompts if not prompt.source]


@pytest.mark.parametrize("task", PAPERS)
def test_texts_of_the_paper_are_said_to_be_and_others_are_not(task: str) -> None:
    """A source that names a prompt of the paper alone, or without its blanks, means the same text."""
    spec = spec_of(task)
    item = placeholder(spec, 4)
    theirs = {render(p, item, ENGLISH): number for number, p in paper_prompts(spec, ENGLISH).items()}
    for prompt in load_prompts(spec, ENGLISH).values():
        number = theirs.get(render(prompt, item, ENGLISH))
        claimed = "after" not in prompt.source and "case" not in prompt.source and "prompt " in prompt.source
        assert claimed == (number is not None), prompt.title
        assert number is None or f"prompt {number}" in prompt.source


def test_the_suite_s_first_prompt_of_chains_of_thought_differs_in_case_alone() -> None:
    spec = spec_of("afrimgsm_cot")
    item = placeholder(spec, 0)
    ours, theirs = (render(of[1], item, ENGLISH) for of in (load_prompts(spec, ENGLISH), paper_prompts(spec, ENGLISH)))
    assert ours != theirs and ours.casefold() == theirs.casefold()
