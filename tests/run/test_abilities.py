"""Tasks that ask for what a model cannot do are refused with the cure, tasks of the harness too."""

from pathlib import Path

import pytest
from tests.cells import FakeCell
from tests.harness_collection import Run
from tests.models.loopback import serving

from afrieval._util.errors import UserError
from afrieval.config.settings import DataConfig, ModelConfig, RunConfig, TaskConfig
from afrieval.models.base import Capabilities
from afrieval.results.cell_key import CellKey
from afrieval.results.run_files import read_harness
from afrieval.run.session import check_chat, check_requests, length_notes, plan

MODEL = ModelConfig("m", "local-completions")


def planned(task: str, answer_form: str | None = None) -> RunConfig:
    wanted = TaskConfig(task, ["eng"], prompts=None, answer_form=answer_form)  # type: ignore[arg-type]
    return RunConfig(task=wanted, data=DataConfig("samples"))


def test_the_form_that_fits_is_named() -> None:
    cells = plan(planned("afrixnli")).cells
    with pytest.raises(UserError) as caught:
        check_requests(MODEL, Capabilities(loglikelihood=False), cells)
    assert caught.value.message == "afrixnli needs likelihoods, which local-completions does not support"
    assert caught.value.hint == "give --task.answer_form generate"
    check_requests(MODEL, Capabilities(loglikelihood=False), plan(planned("afrixnli", "generate")).cells)


def test_likelihoods_of_each_token() -> None:
    cells = [FakeCell(key=CellKey("afrixnli"), asks=frozenset({"loglikelihood"}), needs=frozenset({"tokens"}))]
    with pytest.raises(UserError) as caught:
        check_requests(MODEL, Capabilities(), cells)
    assert (
        caught.value.message == "afrixnli needs the likelihood of each token, which local-completions does not return"
    )
    assert caught.value.hint == "give --model.model_type hf, or remove afrixnli"
    check_requests(MODEL, Capabilities(tokens=True), cells)


def test_a_model_that_does_not_write() -> None:
    cells = plan(planned("afrimgsm")).cells
    with pytest.raises(UserError, match="afrimgsm needs generated answers"):
        check_requests(MODEL, Capabilities(generate=False), cells)
    check_requests(MODEL, Capabilities(rolling=False, loglikelihood=False), cells)


def test_chats_and_templates() -> None:
    chat, none = Capabilities(chat="messages"), Capabilities(chat=None)
    wanted = ModelConfig("m", "local-completions", chat_template=True)
    check_chat(wanted, chat, [])
    check_chat(MODEL, none, [])
    with pytest.raises(UserError, match="accepts only chats"):
        check_chat(MODEL, chat, [])
    with pytest.raises(UserError, match="no chat template here"):
        check_chat(wanted, none, [])


def test_lengths_are_said_only_where_they_are_assumed() -> None:
    written, scored = plan(planned("afrimgsm")).cells, plan(planned("afrixnli")).cells
    assert not length_notes(MODEL, Capabilities(), written)
    assert "2047 tokens" in length_notes(MODEL, Capabilities(max_length=2047, assumed=True), scored)[0]
    unknown = Capabilities(count_tokens=False)
    assert "one token per byte" in length_notes(MODEL, unknown, written)[0]
    assert not length_notes(MODEL, unknown, scored)


@pytest.mark.parametrize(
    ("task", "words"), [("mc_yor_1", "needs likelihoods,"), ("perplexity", "needs likelihoods of whole texts")]
)
def test_tasks_of_the_harness_that_a_chat_cannot_answer(harness: Run, task: str, words: str) -> None:
    with serving() as server:
        refused = harness("--task.harness_tasks", task, *server.chat_options)
        assert refused.code == 2 and f"{task} {words}" in refused.err and "remove " in refused.err, refused.err
        assert not server.asked


def test_a_task_of_the_harness_is_asked_as_a_chat(harness: Run, tmp_path: Path) -> None:
    with serving() as server:
        harness("--task.harness_tasks", "translation", *server.chat_options).ok()
        assert server.asked[0]["messages"][-1]["role"] == "user"
    assert read_harness(tmp_path / "run", "translation")["n"] == len(server.asked)


def test_a_task_of_the_harness_gets_pairs_from_a_server(harness: Run, tmp_path: Path) -> None:
    with serving() as server:
        harness("--task.harness_tasks", "mc_yor_1,perplexity", *server.options).ok()
    assert harness("--task.harness_tasks", "mc_yor_1,perplexity", "--run_dir", tmp_path / "hf").code == 0
    for task in ("mc_yor_1", "perplexity"):
        ours, served = (read_harness(tmp_path / name, task)["metrics"] for name in ("hf", "run"))
        assert [m["value"] for m in served] == pytest.approx([m["value"] for m in ours], rel=1e-3)
