"""Pairs of whole sentences without a prompt: requests, likelihoods and choices are those of lm_eval's MultiBLiMP."""

import json
from pathlib import Path
from typing import Any

import lm_eval
import pytest
import yaml
from lm_eval.api.instance import Instance
from lm_eval.models.huggingface import HFLM
from tests.conftest import Cli
from tests.tasks.small_task import declaration, write_declaration

from afrieval._util.errors import UserError
from afrieval.models.demo import demo_folder
from afrieval.results.run_files import sample_path
from afrieval.results.samples import read_samples
from afrieval.tasks.cells.cell import CellSettings
from afrieval.tasks.cells.harness_tasks import InMemoryTask, task_config
from afrieval.tasks.cells.task_cell import TaskCell
from afrieval.tasks.data.documents import documents
from afrieval.tasks.data.splits import Split
from afrieval.tasks.declaration.spec import TASKS, load_task
from afrieval.tasks.prompts.prompts import PromptFiles


def test_sentences_follow_the_token_that_begins_a_text(run_demo: Cli, tmp_path: Path) -> None:
    done = run_demo("--task.task_name", "multiblimp")
    assert done.code == 0, done.err
    theirs = yaml.safe_load((Path(lm_eval.__file__).parent / "tasks/multiblimp/_template_yaml").read_text())
    assert (theirs["doc_to_text"], theirs["target_delimiter"], theirs["doc_to_target"]) == ("", "", 0)
    rows = [json.loads(line) for line in (TASKS / "multiblimp/sample/eng.jsonl").read_text().splitlines()]
    lm, golds = HFLM(pretrained=str(demo_folder()), device="cpu"), set()
    for row, sample in zip(rows, read_samples(sample_path(tmp_path / "run", "multiblimp_eng_eng_1")), strict=True):
        pair = [("", row["sen"]), ("", row["wrong_sen"])]
        asked = [tuple(arguments) for arguments in sample["arguments"]]
        assert sorted(asked) == sorted(pair) and asked[sample["gold"]] == pair[0]
        expected = [of for of, _ in lm.loglikelihood([Instance("loglikelihood", {}, args, 0) for args in asked], True)]
        assert [answers[0][0] for answers in sample["resps"]] == pytest.approx(expected, abs=1e-3)
        assert sample["acc"] == (expected[sample["gold"]] == max(expected))
        golds.add(sample["gold"])
    assert golds == {0, 1}


def test_neither_a_chat_template_nor_a_system_text_goes_before_a_whole_sentence() -> None:
    spec = load_task("multiblimp")
    rows = documents(spec, [{"sen": "He runs.", "wrong_sen": "He run.", "feature_vals": "SG"}], "rows", "train")
    files, split = PromptFiles(spec), Split(rows, "", {})
    cell = TaskCell(spec, "eng", files.load("eng")[1], "eng", "text", split, None, CellSettings(), files)
    made = InMemoryTask(task_config(cell), rows, lambda document, shots: [])
    for chat in (False, True):
        template = lambda turns, **_: f"<chat> {turns}"  # noqa: E731
        made.build_all_requests(apply_chat_template=chat, chat_template=template, system_instruction="Be kind.")
        assert {request.args for request in made.instances} == {("", "He runs."), ("", "He run.")}


@pytest.mark.parametrize(
    ("keys", "fault"),
    [
        ({"answer_forms": ["text", "letter"]}, "answer form of whole texts"),
        ({"prompts": {1: {"template": "{{ kind }}"}}}, "no prompts"),
    ],
)
def test_whole_sentences_have_neither_letters_nor_prompts(tmp_path: Path, keys: dict[str, Any], fault: str) -> None:
    pairs = {"kind": "multiple_choice", "request": "rolling", "choices": ["good", "bad"], "answer": "good"}
    write_declaration(tmp_path, declaration("pairs", **{"fields": {"kind": "kind"}, **pairs, **keys}))
    with pytest.raises(UserError, match=fault):
        load_task("pairs", tmp_path)
