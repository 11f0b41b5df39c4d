"""Baselines: each against an independent computation, and where they are kept."""

import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml
from sklearn.metrics import balanced_accuracy_score, f1_score
from tests.conftest import ROOT, put

import afrieval
from afrieval._util.errors import UserError
from afrieval._util.yaml_files import read_map_file
from afrieval.results.cell_scores import CellScores
from afrieval.results.run_folder import RunFolder
from afrieval.tasks.data.baselines import FEWEST, FILE, baselines, computed, store_baselines, stored_baselines
from afrieval.tasks.data.document import Document
from afrieval.tasks.declaration.spec import TaskSpec, load_task

LABELS = ("negative", "positive")


def reviews(lengths: list[int], golds: list[int]) -> list[Document]:
    pairs = enumerate(zip(lengths, golds, strict=True))
    return [Document(number, {"review": "x" * length}, LABELS, gold) for number, (length, gold) in pairs]


@pytest.fixture
def spec(tmp_path: Path) -> TaskSpec:
    """Returns NollySenti in a folder of its own, without stored baselines."""
    shutil.copytree(ROOT / "tasks/nollysenti", tmp_path / "tasks/nollysenti")
    (tmp_path / "tasks/nollysenti" / FILE).unlink()
    return load_task("nollysenti", tmp_path / "tasks")


def test_the_majority_is_that_of_the_right_answers(spec: TaskSpec) -> None:
    golds = [1] * 7 + [0] * 3
    documents = [*reviews([5] * 10, golds), Document(10, {"review": "x"}, LABELS, None, "no gold answer")]
    found = computed(spec, documents)
    assert found and found.n == 10 and [*found.scores] == ["majority"]  # too few rows to learn from
    expected = [f1_score(golds, [1] * 10, average=average, zero_division=0) for average in ("macro", "weighted")]
    balanced = balanced_accuracy_score(golds, [1] * 10)
    assert [*found.scores["majority"].values()] == pytest.approx([0.7, *expected, balanced], abs=5e-5)
    assert [*found.scores["majority"]] == ["acc", "f1_macro", "f1_weighted", "balanced"]


def test_lengths_that_decide_everything_do(spec: TaskSpec) -> None:
    golds = [number % 3 // 2 for number in range(150)]
    found = computed(spec, reviews([20 + 30 * gold + number % 7 for number, gold in enumerate(golds)], golds))
    assert found and {*found.scores["length"].values()} == {1.0}


def test_lengths_that_say_nothing_stay_near_chance(spec: TaskSpec) -> None:
    scores = []
    for seed in range(20):
        random = Random(seed)
        golds = [int(random.random() < 0.8) for _ in range(300)]
        found = computed(spec, reviews([random.randint(5, 200) for _ in golds], golds))
        assert found
        scores.append(found.scores["length"]["balanced"])
        assert found.scores["length"]["acc"] <= found.scores["majority"]["acc"] + 0.02
    assert sum(scores) / len(scores) == pytest.approx(0.5, abs=0.03)


def test_pairs_of_texts_are_compared_by_length() -> None:
    """Which of the two is longer decides, and neither length alone does."""
    spec, random = load_task("afrixnli"), Random(1)
    sizes = [(random.randint(50, 150), difference) for difference in (-30, 0, 30) for _ in range(100)]
    documents = [
        Document(number, {"premise": "x" * size, "hypothesis": "x" * (size + more)}, tuple(spec.labels), number // 100)
        for number, (size, more) in enumerate(sizes)
    ]
    found = computed(spec, documents)
    assert found and found.scores["length"] == {"acc": 1.0, "balanced": 1.0}


def test_options_are_picked_by_place_and_length() -> None:
    spec, random = load_task("afrimmlu"), Random(2)
    documents = []
    for number in range(60):
        choices = tuple("x" * random.randint(1, 9) + str(at) for at in range(4))
        documents.append(Document(number, {"subject": "a", "question": "b"}, choices, random.choice((0, 2, 2, 3))))
    found = computed(spec, documents)
    right = [([*map(len, d.choices)], d.gold or 0) for d in documents]  # sizes of options, place of the right one
    longest = sum(sizes[gold] == max(sizes) and sizes[gold] not in sizes[:gold] for sizes, gold in right)
    shortest = sum(sizes[gold] == min(sizes) and sizes[gold] not in sizes[:gold] for sizes, gold in right)
    frequent = Counter(gold for _, gold in right).most_common(1)[0][1]
    expected = {"position": frequent, "longest": longest, "shortest": shortest}
    assert found and found.scores == {name: {"acc": pytest.approx(of / 60, abs=5e-5)} for name, of in expected.items()}


@pytest.mark.parametrize("task", ["afrimgsm", "masakhaner", "flores_from_eng"])
def test_answers_that_are_no_choices_have_none(task: str) -> None:
    assert computed(load_task(task), [Document(0, {}, (), "x")]) is None


def test_stored_baselines_are_of_their_rows_alone(spec: TaskSpec) -> None:
    documents = reviews([*range(FEWEST)], [number % 2 for number in range(FEWEST)])
    found = computed(spec, documents)
    assert found
    marked = replace(found, scores={"majority": {"acc": 0.1}})  # which nothing would compute
    store_baselines(spec, {"hau": marked, "yor": found})
    store_baselines(spec, {"yor": marked})
    assert stored_baselines(spec) == {"hau": marked, "yor": marked}
    assert baselines(spec, "hau", documents) == marked
    assert baselines(spec, "ibo", documents) == found
    other = [replace(documents[0], gold=1), *documents[1:]]
    assert baselines(spec, "hau", other) == computed(spec, other)
    assert baselines(replace(spec, breakdowns=["review"]), "hau", documents) != marked  # it is no text now


def test_a_stored_score_that_cannot_be_is_an_error(spec: TaskSpec) -> None:
    (spec.folder / FILE).write_text(
        "hau: {sha256: x, n: 5, chance: 0.5, p: {}, scores: {majority: {acc: 70}}}", encoding="utf-8"
    )
    with pytest.raises(UserError, match=r"line 1.*acc"):
        stored_baselines(spec)


def test_a_run_keeps_them_and_older_folders_are_continued(tmp_path: Path) -> None:
    rows = [f"{'x ' * (4 + 9 * (number % 2))}\t{LABELS[number % 2]}" for number in range(FEWEST)]
    path = tmp_path / "data/Davlan/nollysenti/data/ha/test.tsv"
    put(path, "\n".join(["ha_review\tsentiment", *rows]))
    run = tmp_path / "run"

    def evaluated(limit: int) -> CellScores:
        settings: Any = {"languages": "hau", "prompts": 1, "data_source": tmp_path / "data", "run_dir": run}
        afrieval.evaluate("demo", "nollysenti", limit=limit, **settings)
        folder = RunFolder(run)
        return folder.scores(*folder.names)

    assert evaluated(2).baselines["length"] == dict.fromkeys(("acc", "f1_macro", "f1_weighted", "balanced"), 1.0)
    record = read_map_file(run / "run.yaml").content
    older = {name: of for name, of in record["declared"]["nollysenti"].items() if name != "baselines"}
    content = yaml.safe_dump(record | {"declared": {"nollysenti": older}})
    (run / "run.yaml").write_text(content, encoding="utf-8")
    again = evaluated(4)
    assert (
        again.rows == 4
        and again.baselines
        and read_map_file(run / "run.yaml").content["identity"] == record["identity"]
    )
