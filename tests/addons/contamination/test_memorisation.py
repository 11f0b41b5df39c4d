"""What a model was trained on is found, and what it was not is not: from the command line, on a model trained here."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Cli, Outcome, csv_rows, put
from tests.models.trained import learnt

from afrieval.addons.contamination.findings import memorisation_tables
from afrieval.addons.contamination.order import exchangeability_p
from afrieval.results.comparable_runs import read_runs
from afrieval.results.run_folder import RunFolder
from afrieval.results.samples import read_samples

SEEN, OTHER = "yor", "hau"  # the languages of the two halves of the file
ROWS = 60  # of each
TASK = """
name: rows
version: 1
title: Rows
description: Invented rows.
citation: none
licence: none
kind: multiple_choice
data: {hub: ours/rows, revision: main, files: {test: "{code}.jsonl"}, evaluate: test}
languages: {yor: yor, hau: hau}
parallel: {}
fields: {question: question}
choices: choices
answer: answer
"""
Row = dict[str, Any]
Ask = Callable[..., Outcome]


def invented(n: int, seed: int) -> list[Row]:
    """Questions of five words that no language has."""
    drawn = random.Random(seed)

    def word() -> str:
        return "".join(drawn.choice("bdfgklmnrst") + drawn.choice("aeiou") for _ in range(drawn.randint(2, 3)))

    questions = [" ".join(word() for _ in range(5)).capitalize() + "?" for _ in range(n)]
    return [{"question": q, "choices": [word() for _ in range(4)], "answer": drawn.choice("ABCD")} for q in questions]


def text(row: Row) -> str:
    return f"{row['question']}\n{row['choices']['ABCD'.index(row['answer'])]}\n\n"


def write(path: Path, rows: list[Row]) -> None:
    put(path, "".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a folder with a task, its data, unseen rows, and a model that has seen one half of the data."""
    folder = tmp_path_factory.mktemp("memorisation")
    rows = invented(2 * ROWS, 1)
    write(folder / f"data/ours/rows/{SEEN}.jsonl", rows[:ROWS])
    write(folder / f"data/ours/rows/{OTHER}.jsonl", rows[ROWS:])
    unseen = [row["question"] for row in invented(40, 2)]
    write(folder / "unseen.jsonl", [{"text": q, "language": code} for q in unseen for code in (SEEN, OTHER)])
    (folder / "tasks/rows/prompts").mkdir(parents=True)
    (folder / "tasks/rows/task.yaml").write_text(TASK, encoding="utf-8")
    learnt(folder / "model", "".join(map(text, rows[:ROWS])), [text(row) for row in rows])
    return folder


@pytest.fixture
def ask(cli: Cli, place: Path) -> Ask:
    def asked(*words: object) -> Outcome:
        given = ["--task.task_name", "memorisation", "--of", "rows", "--task.folder", place / "tasks"]
        return cli("run", *given, "--data.source", place / "data", "--model.model_name", place / "model", *words)

    return asked


def unseen(place: Path) -> list[object]:
    return ["--task.unseen", place / "unseen.jsonl"]


def test_the_half_that_was_seen_is_found_and_the_other_is_not(ask: Ask, place: Path, tmp_path: Path) -> None:
    done = ask(*unseen(place), "--run_dir", tmp_path / "run")
    assert done.code == 0, done.err
    cells = read_runs([tmp_path / "run"])
    rows, orders = ({row["language"]: row for row in table.records()} for table in memorisation_tables(cells))
    assert orders[SEEN]["p_adjusted"] < 0.001 and orders[SEEN]["gain"] > orders[SEEN]["detectable"]
    assert orders[SEEN]["verdict"] == "evidence" and orders[OTHER]["verdict"] == "no evidence"
    assert orders[OTHER]["p_adjusted"] > 0.05 and orders[SEEN]["alike"] > 0.2
    assert rows[SEEN]["auc"] > 0.95 and rows[SEEN]["completed"] > 0.8
    assert 0.35 < rows[OTHER]["auc"] < 0.65 and rows[OTHER]["completed"] < 0.2
    low, high = rows[OTHER]["auc_interval"]
    assert low < 0.5 < high
    assert rows[SEEN]["verdict"] == "likelier" and rows[OTHER]["verdict"] == "no evidence"
    assert "rows: the order of its rows" in done.out and "Average over tasks" not in done.out
    of_order = {
        row["language"]: row
        for row in csv_rows(tmp_path / "run/summary.csv")
        if row["task"] == "memorisation_rows_order"
    }
    assert float(of_order[SEEN]["order_p"]) < 0.001 < float(of_order[OTHER]["order_p"])


@pytest.mark.slow
def test_the_other_half_is_found_at_the_rate_of_the_level(ask: Ask, tmp_path: Path) -> None:
    """Each seed has other orders of the same rows, which are exchangeable with the published one."""
    found = []
    for seed in range(20):
        ask("--task.languages", OTHER, "--eval.random_seed", seed, "--run_dir", tmp_path / str(seed))
        (cell,) = [c for c in read_runs([tmp_path / str(seed)]) if c.task.endswith("_order")]
        found += [exchangeability_p(cell.measures["order_gain"][:, 1:])]
        for other in range(1, 6):  # as if another order had been published
            measures = cell.measures["order_gain"][:, 1:]
            found.append(exchangeability_p(measures[:, [other, *(i for i in range(16) if i != other)]]))
    assert sum(p < 0.05 for p in found) / len(found) < 0.15


@pytest.mark.parametrize(("option", "kind"), [("--eval.limit", "first"), ("--eval.sample", "sample")])
def test_more_rows_ask_for_what_is_missing(ask: Ask, place: Path, tmp_path: Path, option: str, kind: str) -> None:
    run = ["--task.languages", OTHER, *unseen(place), "--run_dir", tmp_path / "run"]
    assert ask(*run, option, 2).code == 0
    folder = RunFolder(tmp_path / "run")
    kept = {name: folder.scores(name).ids.tolist() for name in folder.names}
    (answers,) = (tmp_path / "run").glob("answers_*.jsonl")
    first = answers.read_text(encoding="utf-8").splitlines()
    assert ask(*run, option, 3).code == 0
    second = answers.read_text(encoding="utf-8").splitlines()
    assert second[: len(first)] == first and len(second) - len(first) <= 1 + 1 + 16
    found = [folder.scores(name) for name in folder.names]
    assert all({*kept[cell.name]} < {*cell.ids.tolist()} for cell in found)
    assert [(cell.selection.kind, cell.rows) for cell in found] == [(kind, 43), (kind, 43), (kind, 3)]
    assert ask(*run, option, 3, "--dry-run").out.startswith("Nothing is left to run")


def test_a_sample_of_the_order_has_rows_orders_and_likelihoods(ask: Ask, tmp_path: Path) -> None:
    done = ask("--task.languages", SEEN, "--eval.limit", 1, "--run_dir", tmp_path / "run", "--eval.write_out")
    assert done.code == 0 and "shuffled 15" in done.out
    (path,) = (tmp_path / "run").glob("samples_*_order_*")
    (sample,) = read_samples(path)
    orders = sample["doc"]["orders"]
    assert sample["doc"]["rows"] == list(range(10)) and len(orders) == 16 and orders[0] == list(range(10))
    assert all(sorted(order) == orders[0] for order in orders) and len({*map(tuple, orders)}) == 16
    assert sample["measures"]["order_gain"][1:] == [likelihood for ((likelihood, *_),) in sample["resps"]]
    json.loads((tmp_path / "run/results.json").read_text(), parse_constant=lambda name: pytest.fail(name))


@pytest.mark.parametrize(("column", "value"), [("language", "hausa"), ("language", 5), ("task", "no_such_task")])
def test_unseen_rows_of_an_unknown_language_or_task_do_not_vanish(
    ask: Ask, place: Path, tmp_path: Path, column: str, value: object
) -> None:
    write(tmp_path / "odd.jsonl", [{"text": "a", "language": SEEN}, {"text": "b", "language": SEEN, column: value}])
    done = ask("--task.unseen", tmp_path / "odd.jsonl", "--task.languages", SEEN, "--run_dir", tmp_path / "run")
    assert done.code == 2 and ("odd.jsonl, row 2: there is no" in done.err or "does not say" in done.err), done.err


def test_another_file_of_unseen_rows_is_another_run(ask: Ask, place: Path, tmp_path: Path) -> None:
    run = ["--task.languages", OTHER, "--eval.limit", 1, "--run_dir", tmp_path / "run"]
    assert ask(*run, *unseen(place)).code == 0
    write(tmp_path / "other.jsonl", [{"text": row["question"]} for row in invented(40, 3)])
    again = ask(*run, "--task.unseen", tmp_path / "other.jsonl")
    assert again.code == 2 and "holds another run" in again.err
