"""Generated answers: asked once, read, and counted; with a chat template and without."""

import csv
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Cli
from tests.models.tiny import CHAT, tiny_llama, tiny_t5

from afrieval.models.load import load_model
from afrieval.results.run_files import sample_files
from afrieval.results.samples import read_samples

WORDS = ("--task.answer_form", "generate", "--task.languages", "yor,amh", "--task.prompts", "1")


def test_each_document_is_asked_once_and_unparsed_answers_are_counted(run_demo: Cli, tmp_path: Path) -> None:
    done = run_demo(*WORDS, "--task.task_name", "afrixnli", "--eval.limit", 2, "--eval.write-out")
    assert done.code == 0, done.err
    for path in sample_files(tmp_path / "run"):
        for sample in read_samples(path):
            ((context, options),) = sample["arguments"]
            assert context.endswith("Answer:") and options["until"] == ["\n\n"] and not options["do_sample"]
            assert (sample["acc"], sample["unparsed"]) == (0.0, 1.0), "a random model writes no label"
    with (tmp_path / "run/summary.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [r["unparsed"] for r in rows] == ["1.0"] * len(rows) and "acc_norm" not in rows[0]
    assert "A random guess scores 33.3%" in " ".join(done.out.split()) and "  unparsed\n" in done.out


@pytest.mark.parametrize(("written", "reads"), [("{}", True), ("{}. p = 8\n\nQuestion", True), ("is {}", False)])
def test_what_a_model_writes_is_scored(
    run_demo: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: str, reads: bool
) -> None:
    """The model is replaced by one that always answers C."""

    def write(lm: object, requests: list[object], disable_tqdm: bool = False) -> list[str]:
        return [written.format("C") for _ in requests]

    monkeypatch.setattr("afrieval.models.backends.hf.HF.generate_until", write)
    assert run_demo(*WORDS, "--task.languages", "yor").code == 0
    (path,) = sample_files(tmp_path / "run")
    samples = read_samples(path)
    assert [s["acc"] for s in samples] == [float(reads and s["target"] == "C") for s in samples]
    assert sum(s["target"] == "C" for s in samples) == 2 and {s["unparsed"] for s in samples} == {float(not reads)}


def test_the_limit_in_tokens_follows_the_language(run_demo: Cli, tmp_path: Path) -> None:
    run_demo(*WORDS, "--task.task_name", "afrixnli", "--task.prompt_language", "native", "--eval.limit", 1)
    limits = {}
    for path in sample_files(tmp_path / "run"):
        (sample,) = read_samples(path)
        limits[sample["language"]] = sample["arguments"][0][1]["max_gen_toks"]
    assert limits["amh"] > limits["yor"] > 32


def test_examples_are_letters_and_a_chat_ends_with_the_assistants_turn(run_demo: Cli, tmp_path: Path) -> None:
    model = tiny_llama(tmp_path / "chat", chat_template=CHAT)
    chat = ("--model.model_name", model, "--model.chat_template", "--eval.num_fewshot", 2, "--eval.limit", 1)
    assert run_demo(*WORDS, *chat).code == 0
    context = read_samples(sample_files(tmp_path / "run")[0])[0]["arguments"][0][0]
    turns = context.split("<assistant>")
    assert len(turns) == 4 and turns[-1] == ""
    assert all(turn.split("\n")[0] in "ABCD" for turn in turns[1:3])
    options = read_samples(sample_files(tmp_path / "run")[0])[0]["arguments"][0][1]
    assert options["until"] == [], "a chat model may begin with empty lines and ends its turn itself"


def test_greedy_generation_is_the_models_own(run_demo: Cli, tmp_path: Path) -> None:
    """The stored answer equals transformers' greedy generation, cut at the stop text."""
    import torch

    from afrieval.config.settings import EvalConfig, ModelConfig

    run_demo(*WORDS, "--eval.limit", 1)
    (sample,) = read_samples(sample_files(tmp_path / "run")[0])
    context, options = sample["arguments"][0]
    lm: Any = load_model(ModelConfig(model_name="demo"), EvalConfig())
    tokens = torch.tensor([lm.tokenizer.encode(context)])
    with torch.no_grad():
        out = lm.model.generate(tokens, max_new_tokens=options["max_gen_toks"], do_sample=False)[0, tokens.shape[1] :]
    assert lm.tokenizer.decode(out, skip_special_tokens=True).split("\n\n")[0] == sample["resps"][0][0]


@pytest.mark.parametrize("kind", ["T5", "MT5"])
@pytest.mark.parametrize("task", ["afrimmlu", "afrixnli", "belebele", "afrimgsm", "afrimgsm_cot"])
def test_encoder_decoders_generate_alike_in_any_batch(run_demo: Cli, tmp_path: Path, kind: str, task: str) -> None:
    """The stored answers equal transformers' own greedy generation for one prompt at a time."""
    import torch

    from afrieval.config.settings import EvalConfig, ModelConfig

    model = tiny_t5(tmp_path / "model", kind)
    words = ("--task.task_name", task, "--task.languages", "yor", "--task.prompts", 1, "--task.answer_form", "generate")
    limits = ("--eval.limit", 3, "--eval.batch_size", 3, "--eval.max_gen_toks", 12)
    done = run_demo(*words, *limits, "--model.model_name", model)
    assert done.code == 0, done.err
    lm: Any = load_model(ModelConfig(model_name=str(model)), EvalConfig())
    for sample in read_samples(sample_files(tmp_path / "run")[0]):
        tokens, mask = lm.tok_batch_encode([sample["arguments"][0][0]])
        with torch.no_grad():
            out = lm.model.generate(tokens, attention_mask=mask, max_new_tokens=12, do_sample=False)[0]
        own = lm.tokenizer.decode(out, skip_special_tokens=True)
        for stop in sample["arguments"][0][1]["until"]:
            own = own.split(stop)[0]
        assert own == sample["resps"][0][0] != ""
