"""Recorded answers as a model: row n of a file answers document n, and nothing is mixed up."""

import json
from pathlib import Path
from typing import Any

import pytest

from afrieval._util.errors import UserError
from afrieval.config.checks import check
from afrieval.config.settings import DataConfig, EvalConfig, ModelConfig, RunConfig, TaskConfig
from afrieval.models.model_identity import identity_of_model
from afrieval.models.registry import check_backend_args, load_model
from afrieval.run.evaluate import evaluate
from afrieval.run.finish import finish
from afrieval.run.session import open_run, plan

Row = dict[str, Any]
TASK = """
name: pick
version: 1
title: Pick
description: Which letter?
citation: none
licence: CC0
kind: multiple_choice
answer_forms: [text, generate]
data: {hub: ours/pick, revision: main, files: {test: "{code}.jsonl"}, evaluate: test}
languages: {eng: en, hau: ha}
parallel: {}
fields: {question: question}
choices: options
answer: answer
prompts:
  1: {template: "{{ question }}\\n{{ choices | lettered(\\". \\") }}\\nAnswer:"}
"""
GOLDS = ["A", "B", "", "B", "A", "B"]  # the third row has no right answer; four rows have the same text


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tasks/pick").mkdir(parents=True)
    (tmp_path / "tasks/pick/task.yaml").write_text(TASK)
    (tmp_path / "data/ours/pick").mkdir(parents=True)
    rows = [{"question": "Which?", "options": ["x", "y"], "answer": gold} for gold in GOLDS]
    for code in ("en", "ha"):
        (tmp_path / f"data/ours/pick/{code}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def _recorded(folder: Path, texts: list[Any], name: str = "answers.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    return path


def _config(folder: Path, file: Path, column: str = "text", limit: int | None = None, **task: Any) -> RunConfig:
    return RunConfig(
        ModelConfig("somebody/model", "recorded", backend_args={"file": str(file), "column": column}),
        TaskConfig(**{"task_name": "pick", "folder": str(folder / "tasks"), "languages": ["eng"], **task}),
        EvalConfig(limit=limit),
        DataConfig(str(folder / "data")),
        str(folder / "run"),
    )


def _run(config: RunConfig) -> list[Row]:
    with open_run(config) as session:
        evaluate(session)
        finish(session)
    return session.stored.samples("pick_eng_eng_1")


def _picked(samples: list[Row]) -> list[Any]:
    return [(s["doc_id"], s["resps"][0][0] if s["resps"] else None, s.get("picked")) for s in samples]


def test_each_document_has_the_answer_of_its_row(folder: Path) -> None:
    """Although all documents have the same text, and one of them is not scored."""
    samples = _run(_config(folder, _recorded(folder, ["A", "B", None, "A", "nothing", "B"])))
    expected = [(0, "A", 0), (1, "B", 1), (2, None, None), (3, "A", 0), (4, "nothing", None), (5, "B", 1)]
    assert _picked(samples) == expected


def test_a_limit_changes_no_answer(folder: Path) -> None:
    file = _recorded(folder, ["A", "B", "A", "A", "B", "B"])
    assert _picked(_run(_config(folder, file, limit=4)))[-1] == (3, "A", 0)
    assert [picked for _, picked, _ in _picked(_run(_config(folder, file)))] == ["A", "B", None, "A", "B", "B"]


def test_a_table_with_columns(folder: Path) -> None:
    path = folder / "answers.csv"
    path.write_text("row,text\n" + "".join(f'{n},"{text}"\n' for n, text in enumerate("ABABAB")))
    assert [text for _, text, _ in _picked(_run(_config(folder, path)))] == ["A", "B", None, "B", "A", "B"]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["A"] * 5, "has 5 rows, but document 5 needs one"),
        (["A", None, "A", "A", "A", "A"], "answers.jsonl, row 1 .* must be a text, not null"),
        (["A", "A", "A", 5, "A", "A"], "row 3 .* must be a text, not 5"),
        ([], "has no rows|is empty|no rows"),
    ],
)
def test_an_answer_that_is_missing(folder: Path, texts: list[Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        _run(_config(folder, _recorded(folder, texts)))


@pytest.mark.parametrize("last", ["Which? ", "Another?"])
def test_the_file_may_show_what_an_answer_is_to(folder: Path, last: str) -> None:
    rows = [{"text": "A", "question": question} for question in ["Which?"] * 5 + [last]]
    path = folder / "answers.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    if last == "Which? ":
        assert len(_run(_config(folder, path))) == 6
        return
    with pytest.raises(UserError, match=r"row 5 .* column 'question' is not the question of document 5"):
        _run(_config(folder, path))


def test_a_column_that_is_missing(folder: Path) -> None:
    with pytest.raises(UserError, match=r"row 0 .* has no column 'answer'") as error:
        _run(_config(folder, _recorded(folder, ["A"] * 6), "answer"))
    assert error.value.hint == "it has text"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "backend_args.file, the file with the answers, is missing"),
        ({"file": "x.jsonl"}, "backend_args.column, its column with the answers, is missing"),
        ({"file": 5, "column": "text"}, "backend_args.file, .* is 5, which is not a text"),
        ({"file": "x.jsonl", "column": "text", "rows": 3}, "backend_args.rows is not an argument"),
    ],
)
def test_settings_that_are_missing_or_unknown(given: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        check_backend_args(ModelConfig("m", "recorded", backend_args=given))


def test_settings_that_answers_do_not_have() -> None:
    config = ModelConfig("m", "recorded", device="cpu", backend_args={"file": "x", "column": "y"})
    with pytest.raises(UserError, match=r"model.device .* is not supported by recorded"):
        check_backend_args(config)


@pytest.mark.parametrize("name", ["gone.jsonl", "answers.xml"])
def test_a_file_that_cannot_be_parsed(tmp_path: Path, name: str) -> None:
    (tmp_path / "answers.xml").write_text("<a/>")
    config = ModelConfig("m", "recorded", backend_args={"file": str(tmp_path / name), "column": "text"})
    with pytest.raises(UserError, match=name):
        load_model(config, EvalConfig())


def test_the_answers_are_of_one_cell(folder: Path) -> None:
    config = _config(folder, _recorded(folder, ["A"] * 6), languages=None)
    with pytest.raises(UserError, match="answers of one cell, but there are 2"):
        plan(config)


def test_there_are_no_likelihoods(folder: Path) -> None:
    config = _config(folder, _recorded(folder, ["A"] * 6), answer_form="text")
    with pytest.raises(UserError, match="needs likelihoods, which recorded does not support"):
        plan(config)


def test_there_is_no_chat_template(folder: Path) -> None:
    config = _config(folder, _recorded(folder, ["A"] * 6))
    chat = ModelConfig("m", "recorded", chat_template=True, backend_args=config.model.backend_args)
    with pytest.raises(UserError, match="chat_template is true"):
        plan(RunConfig(chat, config.task, config.eval, config.data))


def test_the_identity_has_a_hash_of_the_file_wherever_it_is(folder: Path) -> None:
    one, same = _recorded(folder, ["A"] * 6), _recorded(folder, ["A"] * 6, "moved.jsonl")
    other = _recorded(folder, ["B"] * 6, "other.jsonl")
    first, moved, changed = (_config(folder, path).model for path in (one, same, other))
    assert identity_of_model(first) == identity_of_model(moved) != identity_of_model(changed)
    prints = [load_model(config, EvalConfig()).fingerprint() for config in (first, moved, changed)]
    assert prints[0] == prints[1] != prints[2]


def test_options_of_the_extractor_need_a_task_of_the_suite() -> None:
    config = RunConfig(ModelConfig("demo"), TaskConfig(harness_tasks="arc_easy", extract={"lone": True}))
    with pytest.raises(UserError, match=r"task\.extract has no effect"):
        check(config, needs_model=True)
