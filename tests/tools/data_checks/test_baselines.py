"""Which baselines are above chance, and docs/tables/baselines.md; AFRIEVAL_REWRITE_GOLDEN=1 writes it."""

import os
from collections.abc import Iterator

import pytest
from tests.conftest import ROOT

from afrieval.analysis.verdicts import LanguageBaselines, above_chance
from afrieval.report.verdict_words import baseline_table
from afrieval.tasks.data.baselines import Baselines, computed, stored_baselines
from afrieval.tasks.data.lock import read_lock
from afrieval.tasks.data.splits import load_split
from afrieval.tasks.declaration.spec import load_task, task_names

PAGE = ROOT / "docs/tables/baselines.md"
BEGIN, END = "<!-- baselines: written by tests/tools/data_checks/test_baselines.py -->\n", "<!-- end of baselines -->\n"
REWRITE = os.environ.get("AFRIEVAL_REWRITE_GOLDEN") == "1"
COLUMNS = ("n", "chance", "majority", "length", "length, balanced", "position", "longest", "shortest")
STORED = {name: found for name in task_names() if (found := stored_baselines(load_task(name)))}


def known(task: str) -> list[LanguageBaselines]:
    above = above_chance(STORED[task])
    return [LanguageBaselines(code, of, above[code], True) for code, of in STORED[task].items()]


def lines() -> Iterator[str]:
    yield f"| task | language | {' | '.join(COLUMNS)} |"
    yield f"| --- | --- |{' ---: |' * len(COLUMNS)}"
    for task in STORED:
        table = baseline_table(task, known(task))
        for cells in table.cells():
            named = dict(zip(table.heads, cells, strict=True))
            yield f"| {task} | {named['language']} | {' | '.join(named.get(name, '') for name in COLUMNS)} |"


def test_the_page_has_what_is_stored() -> None:
    before, begin, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    shown, end, after = rest.partition(END)
    expected = "\n".join(["", *lines(), "", ""])
    if REWRITE and shown != expected:
        PAGE.write_text(f"{before}{begin}{expected}{end}{after}", encoding="utf-8", newline="")
        shown = expected
    assert end and shown == expected, (
        "AFRIEVAL_REWRITE_GOLDEN=1 python -m pytest tests/tools/data_checks/test_baselines.py writes"
    )


def test_what_is_above_chance_is_so_among_all_languages() -> None:
    def of(**p: float) -> Baselines:
        return Baselines("x", 500, 0.25, {name: {"acc": 0.3} for name in p}, p)

    assert above_chance({"hau": of(position=0.02, longest=0.01)}) == {"hau": {"position", "longest"}}
    assert above_chance({"hau": of(position=0.02, longest=0.6), "yor": of(position=0.03, longest=0.01)}) == {
        "hau": set(),
        "yor": {"longest"},
    }


@pytest.mark.alldata
@pytest.mark.parametrize("task", sorted(STORED))
def test_what_is_stored_follows_from_the_data(task: str) -> None:
    """Numbers of a classifier may move a little with the version of scikit-learn."""
    spec = load_task(task)
    source = os.environ["AFRIEVAL_DATA"]
    there = {code: load_split(spec, code, spec.data.evaluate, source, read_lock()) for code in STORED[task]}
    for code, stored in STORED[task].items():
        split = there[code]
        assert split
        found = computed(spec, split.documents)
        assert found and (found.sha256, found.n, found.chance) == (stored.sha256, stored.n, stored.chance)
        for name, scores in found.scores.items():
            assert stored.scores[name] == pytest.approx(scores, abs=0.02 if name == "length" else 1e-9)
