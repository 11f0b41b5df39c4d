"""The page on rubrics has all of them, made from the declarations; AFRIEVAL_REWRITE_GOLDEN=1 writes it."""

from collections.abc import Iterator

from afrieval._util.grouping import grouped
from afrieval.tasks.declaration.spec import TaskSpec, rubrics, task_names
from afrieval.tools.catalogue import KINDS
from tests.conftest import ROOT, spec_of
from tests.test_prompts_page import REWRITE

PAGE = ROOT / "docs/tables/rubrics.md"
HEAD = """\
# All rubrics

What judges and people are asked about answers. [Write a rubric](../adding-a-task.md#rubrics) of
your own for a task of your own.
"""
HEADS = ["request", "answer", "level", "reason"]


def heading_of(spec: TaskSpec) -> str:
    own, of_kind = spec.judge, rubrics().get(spec.kind)
    same = own and of_kind and (own.asks, own.levels) == (of_kind.asks, of_kind.levels)
    return KINDS[spec.kind] if same else spec.title


def lines(heading: str, specs: list[TaskSpec]) -> Iterator[str]:
    rubric = specs[0].judge
    assert rubric
    yield from (
        f"\n## {heading}\n",
        f"Version {rubric.version}, for {', '.join(f'`{spec.name}`' for spec in specs)}.\n",
    )
    yield from (f"> {rubric.asks}\n", "| level | meaning |", "| --- | --- |")
    yield from (f"| {name} | {meaning} |" for name, meaning in rubric.levels.items())
    worth = "equal steps" if rubric.is_scale else "kinds: the one that is wanted is worth 1, others 0"
    right = ", the right answer" if rubric.shows_right else ""
    yield f"\nShown: {', '.join(rubric.shows)}{right} and the answer. Levels are {worth}."
    if rubric.examples:
        yield from ("\n| " + " | ".join(HEADS) + " |", "| --- | --- | --- | --- |")
    for example in rubric.examples:
        yield f"| {'; '.join(example.fields.values())} | {example.answer} | {example.level} | {example.reason} |"


def test_the_page_has_all_rubrics() -> None:
    judged = grouped([spec for spec in map(spec_of, task_names()) if spec.judge], heading_of)
    expected = HEAD + "".join(f"{line}\n" for heading, specs in judged.items() for line in lines(heading, specs))
    if REWRITE:
        PAGE.write_text(expected, encoding="utf-8", newline="")
    assert PAGE.read_text(encoding="utf-8") == expected, "AFRIEVAL_REWRITE_GOLDEN=1 writes it"
