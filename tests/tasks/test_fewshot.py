"""The same examples whatever the limit, batch size, order of cells, earlier calls and number of processes."""

import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afrieval._util.errors import UserError
from afrieval.config.arguments import read_config
from afrieval.tasks.cells.examples import examples, ranking
from afrieval.tasks.cells.plan import declared_cells
from afrieval.tasks.cells.templated import TemplateCell
from afrieval.tasks.data.documents import Document


def pool(n: int, defective: frozenset[int] = frozenset()) -> list[Document]:
    return [Document(i, {"q": f"row {i}"}, ("a", "b"), 0, "bad" if i in defective else "") for i in range(n)]


def ids(rows: list[Document]) -> list[int]:
    return [row.id for row in rows]


OTHER = Document(0, {"q": "a test row"}, ("a", "b"), 0)


def test_known_choice() -> None:
    """A change of this list changes every few-shot score: raise the tasks' versions with it."""
    assert ids(ranking(pool(25), 42, "afrimmlu", "dev"))[:5] == [21, 19, 6, 3, 24]


def test_seed_task_and_split_decide_and_nothing_else() -> None:
    first = ids(ranking(pool(25), 42, "t", "dev"))
    random.seed(0)
    assert ids(ranking(pool(25)[::-1], 42, "t", "dev")) == first
    others = [(43, "t", "dev"), (42, "u", "dev"), (42, "t", "validation")]
    assert all(ids(ranking(pool(25), *other)) != first for other in others)
    assert sorted(first) == list(range(25))


@given(st.integers(1, 40), st.integers(0, 39))
def test_a_shorter_pool_ranks_its_rows_the_same(n: int, cut: int) -> None:
    whole = ids(ranking(pool(n), 42, "t", "dev"))
    kept = n - min(cut, n)
    assert ids(ranking(pool(kept), 42, "t", "dev")) == [i for i in whole if i < kept]


def test_defective_rows_and_the_document_itself_never_serve() -> None:
    ranked = ranking(pool(6, frozenset({2, 4})), 1, "t", "test")
    assert set(ids(ranked)) == {0, 1, 3, 5}
    own = ranked[0]
    assert ids(examples(ranked, 3, own)) == ids(ranked[1:])
    copy = Document(99, own.fields, own.choices, own.gold)
    assert own not in examples(ranked, 3, copy)


def test_too_many_shots_is_an_error_that_says_how_many_there_are() -> None:
    ranked = ranking(pool(3), 1, "t", "dev")
    with pytest.raises(UserError, match="only 3 examples are usable") as caught:
        examples(ranked, 4, OTHER)
    assert caught.value.hint == "give 3 or fewer"
    with pytest.raises(UserError, match="only 0 examples are usable") as caught:
        examples([], 1, OTHER)
    assert caught.value.hint == "give 0"


def cells(*words: str) -> dict[str, TemplateCell]:
    base = ["--task.task_name", "afrimmlu,afrixnli", "--data.source", "samples", "--eval.num_fewshot", "3"]
    config = read_config([*base, "--task.prompt_language", "both", *words], command="run", needs_model=False)
    return {cell.name: cell for cell in declared_cells(config)[0]}


def chosen(cell: TemplateCell, document: int = 0) -> list[int]:
    return ids(cell.examples(cell.data.documents[document]))


def test_the_same_rows_in_every_language_and_prompt() -> None:
    for task in ("afrimmlu", "afrixnli"):
        rows = {tuple(chosen(c)) for name, c in cells().items() if name.startswith(task)}
        assert len(rows) == 1, rows


def test_neither_limit_nor_order_nor_earlier_calls_matter() -> None:
    first = cells()
    again = cells("--eval.limit", "1", "--task.languages", "zul,eng", "--eval.batch_size", "3")
    for name, cell in reversed(again.items()):
        chosen(cell, 0)
        assert chosen(cell, 0) == chosen(first[name], 0) == chosen(first[name], 5)


def test_per_document_follows_the_document_and_nothing_else() -> None:
    whole, limited = (
        cells("--eval.fewshot_selection", "per_document"),
        cells("--eval.fewshot_selection=per_document", "--eval.limit=3"),
    )
    cell, same = whole["afrixnli_yor_eng_1"], limited["afrixnli_yor_eng_1"]
    rows = [chosen(cell, i) for i in range(9)]
    assert len({tuple(r) for r in rows}) > 1
    assert [chosen(same, i) for i in (2, 0)] == [rows[2], rows[0]]
    assert chosen(whole["afrixnli_swa_native_2"], 4) == rows[4]


def test_another_process_chooses_the_same() -> None:
    """Hashes of Python's own differ between processes; ours must not."""
    code = "from tests.tasks.test_fewshot import *\nprint(ids(ranking(pool(25), 42, 'afrimmlu', 'dev'))[:5])"
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[21, 19, 6, 3, 24]"
