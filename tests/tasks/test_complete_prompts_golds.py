"""Right answers are read in every way of writing them; a row that has none says why."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import REAL_DATA
from tests.scoring.ifeval.sentence_model import sentence_model
from tests.tasks.test_complete_prompts import BBH, GPQA, IFEVAL, MATH, document, row
from tests.tasks.test_dialogs import WAYS

from afrieval._util.errors import UserError
from afrieval._util.tables import DEFECT, Row
from afrieval.scoring.responses import Generation
from afrieval.tasks.cells.questions import scorer
from afrieval.tasks.data.complete_rows import recorded_documents
from afrieval.tasks.data.join import joined
from afrieval.tasks.prompts.prompts import load_prompts


@pytest.mark.parametrize("gold", ["B", "B.", " B ", "(B)", "(B).", "Answer: B", "The best answer is B."])
def test_letters_however_coded(gold: str) -> None:
    for cell in ([gold], gold, (gold, "D")):
        found = document(input_correct_responses=cell)
        assert (found.gold, found.defect, found.choices) == (1, "", ("A", "B", "C", "D"))


@pytest.mark.parametrize(
    "gold", [[], None, [None], "", "E", "J", "b", "None", "Answer:", "1", "AB", "Answer", "B1", "A, B"]
)
def test_rows_without_a_gold_that_is_offered(gold: Any) -> None:
    found = recorded_documents(GPQA, [row(), row(input_correct_responses=gold)], "file")
    assert [d.gold for d in found] == [1, None]
    assert [d.defect for d in found] == ["", "no gold answer among the choices"]
    with pytest.raises(UserError, match="no row can be scored: no gold answer among the choices"):
        document(input_correct_responses=gold)


@pytest.mark.parametrize("gold", ["No", "-24", "] )", "(B)", "e\u0301"])
def test_short_texts(gold: str) -> None:
    found = document(BBH, input_correct_responses=[f" {gold} "])
    assert (found.gold, found.choices, found.defect) == (gold.replace("e\u0301", "é"), (), "")


@pytest.mark.parametrize("gold", [[], None, [None], [""], "  "])
def test_short_texts_that_are_missing(gold: Any) -> None:
    found = recorded_documents(BBH, [row(), row(input_correct_responses=gold)], "file")
    assert [d.gold for d in found] == ["B", None] and found[1].defect == "no gold answer"


@pytest.mark.parametrize(
    ("solution", "gold"),
    [
        (r"So $\boxed{5}$.", "5"),
        (r"$\boxed{1}$, no: $\boxed{\frac{1}{\sqrt{2}}}$", r"\frac{1}{\sqrt{2}}"),
        (r"It is \fbox{7}.", "7"),
        (r"$\boxed 5$", "5"),
        (r"$\boxed{\{-3, 4\}}$", r"\{-3, 4\}"),
        ("no box", None),
        (r"$\boxed{5$", None),
        (r"\boxed{}", None),
        (None, None),
    ],
)
def test_golds_of_mathematics(solution: str | None, gold: str | None) -> None:
    found = recorded_documents(MATH, [row(solution=r"\boxed{0}"), row(solution=solution)], "file")
    assert found[0].gold == "0" and found[1].gold == gold
    assert found[1].defect == ("" if gold else "no gold answer")


@pytest.mark.parametrize("spec", [MATH, IFEVAL])
def test_a_row_without_counterpart_says_why(spec: Any) -> None:
    there = row(solution=r"\boxed{0}", key=1, instruction_id_list=["punctuation:no_comma"], kwargs=[{}])
    found = recorded_documents(spec, [row(**{DEFECT: "no such row"}), there], "file")
    assert [d.id for d in found] == [0, 1] and found[0].prompt == found[1].prompt
    assert (found[0].gold, found[0].defect) == (None, "no such row")
    assert found[1].gold not in (None, "None") and not found[1].defect
    with pytest.raises(UserError, match="no row can be scored: no such row"):
        recorded_documents(spec, [row(**{DEFECT: "no such row"})], "file")


def test_instructions_are_the_same_with_and_without_the_nulls_of_parquet() -> None:
    ids = ["punctuation:no_comma", "length_constraints:number_words"]
    bare = [{}, {"relation": "at least", "num_words": 30}]
    filled = [{"relation": None, "num_words": None}, {"num_words": 30.0, "keywords": None, "relation": "at least"}]
    golds = [document(IFEVAL, key=7, instruction_id_list=ids, kwargs=k).gold for k in (bare, filled, [None, filled[1]])]
    assert golds[0] == {"key": 7, "instruction_id_list": ids, "kwargs": bare}
    assert golds[0] == golds[1] == golds[2]
    with pytest.raises(UserError, match="row 7: length_constraints:number_words does not take"):
        document(IFEVAL, key=7, instruction_id_list=ids, kwargs=[{}, {}])


def real(repository: str, file: str) -> list[Row]:
    text = (Path(str(REAL_DATA)) / repository / file).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n") if line]


@pytest.mark.data
def test_every_solution_of_math_is_right() -> None:
    assert MATH.join
    problems = real(MATH.join.hub, "test.jsonl")
    asked = [row(input_question=p["problem"], input_correct_responses=["1e+0"]) for p in problems]
    found = recorded_documents(MATH, joined(asked, problems, MATH.join, "file"), "file")
    assert len(found) == 5000 and all(d.gold and not d.defect for d in found)
    score = scorer(MATH, load_prompts(MATH, "eng")[1], (), "generate", Generation(512))
    scores = [score(d, [f"Let us see.\n{p['solution']}"]) for d, p in zip(found, problems, strict=True)]
    assert [s.measures["exact_match"] for s in scores] == [[1.0]] * 5000


@pytest.mark.data
@pytest.mark.parametrize("way", WAYS)
def test_every_row_of_ifeval_has_instructions(way: Any, tmp_path: Path) -> None:
    assert IFEVAL.join
    prompts = real(IFEVAL.join.hub, "instruction_following_eval.jsonl")
    asked = [row(input_question=way(p["prompt"]), input_final_prompts=[p["prompt"]]) for p in prompts]
    with sentence_model(tmp_path):
        found = recorded_documents(IFEVAL, joined(asked, prompts, IFEVAL.join, "file"), "file")
    assert len(found) == 541
    for d, p in zip(found, prompts, strict=True):
        assert d.prompt == p["prompt"]
        assert d.gold == {key: p[key] for key in ("key", "instruction_id_list", "kwargs")}
