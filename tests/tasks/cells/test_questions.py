"""What a cell asks, of documents that are written here: rows, examples, requests, identity and scores."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.tasks.small_task import declaration, write_declaration

from afrieval._util.errors import UserError
from afrieval.tasks.cells.cell import CellSettings
from afrieval.tasks.cells.questions import UNENDED
from afrieval.tasks.cells.task_cell import TaskCell
from afrieval.tasks.data.document import Document
from afrieval.tasks.data.splits import Split
from afrieval.tasks.declaration.spec import load_task
from afrieval.tasks.prompts.prompts import PromptFiles

PROMPT = {"template": "{{ text }} Is it good?", "labels": {"yes": "Yes", "no": "Not at all"}}
KEYS: dict[str, Any] = {
    "kind": "classification", "labels": ["yes", "no"], "fields": {"text": "text", "topic": "topic"},
    "answer": "label", "examples": {"same": ["topic"], "order": "file"}, "prompts": {1: PROMPT},
}  # fmt: skip


def document(number: int, text: str, topic: str = "tea", gold: int | None = 0, defect: str = "") -> Document:
    return Document(number, {"text": text, "topic": topic}, ("yes", "no"), gold, defect)


ROWS = [document(0, "a"), document(1, "b", "milk", 1), document(2, "c", gold=None, defect="no gold"), document(3, "d")]
POOL = [document(0, "e"), document(1, "f", defect="odd"), document(2, "a"), document(3, "g", "milk"), document(4, "h")]


def cell(folder: Path, form: str = "text", keys: dict[str, Any] | None = None, **settings: Any) -> TaskCell:
    """Returns the cell of a small task, with these settings."""
    content = declaration("good", **(KEYS | (keys or {})))
    content["data"] |= {"files": {"test": "{code}.jsonl", "dev": "{code}.dev.jsonl"}, "fewshot": "dev"}
    spec = load_task("good", write_declaration(folder, content).parents[1])
    files = PromptFiles(spec)
    splits = Split(ROWS, "of test", {}), Split(POOL, "of dev", {})
    return TaskCell(spec, "eng", files.load("eng")[1], "eng", form, *splits, CellSettings(**settings), files)


@pytest.mark.parametrize(
    ("settings", "rows", "ranked"),
    [({}, [0, 1, 2, 3], False), ({"limit": 2}, [0, 1], False), ({"limit": 9}, [0, 1, 2, 3], False)],
)
def test_rows(tmp_path: Path, settings: dict[str, Any], rows: list[int], ranked: bool) -> None:
    found = cell(tmp_path, **settings)
    assert [d.id for d in found.documents] == rows and bool(found.rows.ranks) == ranked and found.n == len(rows)
    assert [d.id for d in found.scorable] == [n for n in rows if n != 2]


def test_a_sample_has_ranks_and_names_its_seed(tmp_path: Path) -> None:
    found = cell(tmp_path, sample=3, sample_seed=7)
    assert found.n == 3 and sorted(found.rows.ranks.values()) == [0, 1, 2]
    assert found.identity["selection"] == {"by": "eval.sample", "seed": 7}


def test_examples_share_a_field_are_sound_and_not_the_question(tmp_path: Path) -> None:
    found = cell(tmp_path, shots=2)
    assert [e.id for e in found.examples(ROWS[0])] == [0, 4] and [e.id for e in found.examples(ROWS[3])] == [0, 2]
    with pytest.raises(UserError, match="only 1 examples are usable for milk"):
        found.examples(ROWS[1])
    assert {d.id for d in found.of_each_kind} == {0, 1}
    every = cell(tmp_path, keys={"examples": {"all": True}})
    assert every.shots == 4 and [e.id for e in every.examples(ROWS[0])] != [e.id for e in every.examples(ROWS[1])]


def test_requests(tmp_path: Path) -> None:
    chosen, written = cell(tmp_path), cell(tmp_path, "generate")
    assert (chosen.request, written.request) == ("loglikelihood", "generate_until")
    assert chosen.n_neutral == 4 and (chosen.n_requests, written.n_requests) == (3 * 2 + 4, 3)
    assert chosen.shares == "good_1" and not written.shares
    assert chosen.name == "good_eng_eng_1" and (chosen.key.shots, chosen.key.answer_form) == (0, "text")


def test_a_server_that_returns_first_tokens_has_metrics_of_its_own(tmp_path: Path) -> None:
    names = [m.name for m in cell(tmp_path).metrics]
    served = cell(tmp_path, "letter", served=True, first_tokens=True)
    assert [m.name for m in served.metrics] == [n for n in names if n not in ("acc_pmi", "acc_matched")] + ["unparsed"]
    assert [m.name for m in cell(tmp_path, "generate", served=True).metrics][-1] == "refused"


def test_scores(tmp_path: Path) -> None:
    likelihoods = [(-2.0, False, 1), (-1.0, True, 4)]
    score = cell(tmp_path).scorer(UNENDED)(ROWS[1], likelihoods, [[-1.0, -5.0]])
    assert score.answer == 1 and score.measures["acc"] == [1.0] and score.measures["acc_pmi"] == [1.0]
    assert score.measures["f1_macro"] == [1.0, 1.0] and score.measures["acc_norm"] == [1.0]
    written = cell(tmp_path, "generate").scorer(UNENDED)
    assert [written(ROWS[1], [text]).answer for text in ("Not at all.", "Yes", "Perhaps")] == [1, 0, None]


def test_what_is_stored_of_a_cell(tmp_path: Path) -> None:
    found = cell(tmp_path, shots=1, fewshot_seed=3)
    task = found.identity["tasks"]["good"]
    assert found.identity["fewshot"] == {"num_fewshot": 1, "selection": "fixed", "seed": 3}
    assert task["data"] == {"eng": {"test": "of test", "dev": "of dev"}} and task["no_examples"] == {"eng": [1]}
    assert found.facts["fewshot_ids"] == {"good_eng_eng_1": "per topic, in the sample file"}
    assert found.facts["declared"]["good"]["labels"] == ["yes", "no"]
    other = replace(found, settings=replace(found.settings, log_samples=False))
    assert other.identity == found.identity, "what is stored of samples changes no score"
