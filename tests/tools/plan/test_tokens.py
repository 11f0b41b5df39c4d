"""Tokens counted from token ids are those that the model computes; memory, fertility and hours by hand."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.conftest import ROOT
from tests.models.engine.asked import shared_requests
from tests.models.engine.written import shared_prompts, strange_prompts
from tests.models.shapes import decoder, encoder_decoder
from tests.models.tiny import tiny_llama, tiny_t5

from afrieval.config.settings import EvalConfig, ModelConfig
from afrieval.models.demo import byte_tokenizer
from afrieval.models.engine.memory_estimate import generated_bytes
from afrieval.models.registry import load_model
from afrieval.models.work import Amount
from afrieval.tools.plan.counting import Size, total
from afrieval.tools.plan.plan import Texts, _fertility, memory_table
from afrieval.tools.plan.rates import Rate, hours, rate_of
from afrieval.tools.plan.token_counts import token_counter

MOST = 6


def counted(lm: Any, prompts: list[str]) -> dict[str, dict[str, int]]:
    """Returns what likelihoods and answers take; how long answers are is left out."""
    requests = [SimpleNamespace(args=(prompt, {"until": [], "max_gen_toks": MOST})) for prompt in prompts]
    asked = shared_requests()
    with lm.work.answering("loglikelihood", len(asked), lm.model):
        lm._loglikelihood_tokens(asked, disable_tqdm=True)
    with lm.work.answering("generate_until", len(requests), lm.model):
        lm.generate_until(requests, disable_tqdm=True)
    found: dict[str, dict[str, int]] = lm.work.stored()
    for amount in found.values():
        amount["computed"] -= amount.pop("written", 0)
        del amount["seconds"]
    return found


@pytest.mark.parametrize("name", ["llama", "gemma3", "gpt2", "bloom", "MT5"])
def test_architectures(tmp_path: Path, name: str) -> None:
    model = encoder_decoder(name) if name == "MT5" else decoder(name)
    model.save_pretrained(tmp_path)
    byte_tokenizer().save_pretrained(tmp_path)
    config, evaluation = ModelConfig(model_name=str(tmp_path)), EvalConfig(batch_size=4)
    real: Any = load_model(config, evaluation)
    empty = token_counter(config, evaluation)
    assert empty.engine == real.engine == ("plain" if name == "bloom" else "tree")
    for prompts in (shared_prompts(), strange_prompts()):
        for lm in (empty, real):
            for amount in lm.work.kinds.values():
                amount.clear()
        assert counted(empty, prompts) == counted(real, prompts)


def test_fertility_by_hand() -> None:
    yoruba: Texts = {0: ["Ọkọ̀ dé."], 1: ["Ó lọ"], 2: ["kò sí ní èdè Gẹ̀ẹ́sì"]}
    english: Texts = {0: ["The bus came."], 1: ["She left"]}
    (found,) = _fertility("t", "yor", "m", yoruba, english, lambda texts: [len(text.encode()) for text in texts])
    assert found.n == 2, "rows that English has"
    assert (found.words, found.characters, found.bytes) == (4, 12, 21)
    assert found.per_word == 21 / 4 and found.per_character == 21 / 12
    assert found.premium == 21 / (13 + 8)
    (alone,) = _fertility("t", "yor", "m", yoruba, {}, lambda texts: [1 for _ in texts])
    assert alone.n == 3 and alone.premium is None and alone.tokens == 3
    assert not list(_fertility("t", "yor", "m", {0: ["..."]}, {}, lambda texts: [3]))


def test_fertility_of_sample_rows(cli, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """The demo model has a token for each byte."""
    words = ("--model.model_name", "demo", "--data.source", "samples", "--task.task_name", "afrimgsm,flores_from_eng")
    done = cli("plan", *words, "--task.languages", "yor", "--task.prompts", 1, "--json", "-")
    (table,) = [table for table in json.loads(done.out) if table["rows"][0]["table"] == "fertility"]
    found = {row["task"]: row for row in table["rows"]}
    folder = ROOT / "tasks/afrimgsm/sample"
    yoruba, english = (
        [row["question"] for line in (folder / f"{code}.jsonl").open() if (row := json.loads(line))["split"] == "test"]
        for code in ("yor", "eng")
    )
    in_bytes = [sum(len(text.encode()) for text in texts) for texts in (yoruba, english)]
    assert found["afrimgsm"]["n"] == len(yoruba)
    assert found["afrimgsm"]["per_byte"] == pytest.approx(1, abs=0.01)
    assert found["afrimgsm"]["premium"] == pytest.approx(in_bytes[0] / in_bytes[1], abs=0.01)
    assert found["flores_from_eng"]["premium"] > 1, "both sides are in a row"


def test_weights_are_exact(tmp_path: Path) -> None:
    lm = token_counter(ModelConfig(model_name=str(tiny_llama(tmp_path / "llama"))), EvalConfig())
    vocabulary, hidden, inner = 259, 32, 48
    layer = 4 * hidden * hidden + 3 * hidden * inner + 2 * hidden
    assert lm.weights == 4 * (2 * vocabulary * hidden + layer + hidden)
    assert next(lm.model.parameters()).is_meta
    half = token_counter(ModelConfig(model_name=str(tmp_path / "llama"), dtype="bfloat16"), EvalConfig())
    assert half.weights == lm.weights / 2


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_weights_are_those_of_the_checkpoint(tmp_path: Path, dtype: str) -> None:
    from transformers import AutoModelForSeq2SeqLM

    folder = tiny_t5(tmp_path / "t5")
    loaded = AutoModelForSeq2SeqLM.from_pretrained(folder, dtype=dtype)
    lm = token_counter(ModelConfig(model_name=str(folder), dtype=dtype), EvalConfig())  # type: ignore[arg-type]
    assert lm.weights == sum(p.numel() * p.element_size() for p in loaded.parameters())


def test_memory_grows_with_what_is_asked(tmp_path: Path) -> None:
    lm = token_counter(ModelConfig(model_name=str(tiny_llama(tmp_path / "llama"))), EvalConfig())
    assert lm.passes == 0, "nothing was counted"
    taken = []
    for length in (50, 200):
        lm._loglikelihood_tokens([(None, [1] * length, [2, 3])])
        taken.append(lm.passes or 0)
    lm._keep_largest(generated_bytes, 1, 64, 200, 50)
    assert 0 < taken[0] < taken[1] < (lm.passes or 0)
    table = memory_table(lm, "m")
    assert [row[1] for row in table.rows[:3]] == [lm.weights, lm.passes, lm.weights + (lm.passes or 0)]
    assert table.notes == [table.notes[0]] and table.notes[0].startswith("Weights are float32;")


def test_hours_are_tokens_over_rates() -> None:
    size = Size("t", "yor", 1, 1, Amount(10, 900, 720), Amount(4, 300, 1_300, 1_000, 1_100))
    likelihoods, answers = Rate(2.0, True, 1.0, "x"), Rate(1.0, True, 0.5, "x")
    assert hours(size, {"likelihoods": likelihoods, "answers": answers}) == (720 / 2 + 300 + 550) / 3600
    assert hours(size, {"likelihoods": likelihoods}) is None
    assert hours(size, {"likelihoods": likelihoods, "answers": Rate(2.0, False, 1.0, "x")}) == (360 + 2) / 3600


def test_rates_are_measured_over_a_second() -> None:
    assert rate_of({"requests": 1, "computed": 100, "seconds": 0.5}, "x") is None
    assert rate_of({"requests": 9, "computed": 100, "seconds": 2.0}, "x") == Rate(50.0, True, 1.0, "x")
    answers = {"requests": 9, "computed": 100, "written": 20, "most": 80, "seconds": 2.0}
    assert rate_of(answers, "x") == Rate(50.0, True, 0.25, "x")
    assert rate_of({"requests": 9, "seconds": 2.0}, "x") == Rate(4.5, False, 1.0, "x")


def test_sizes_add_up() -> None:
    one = Size("t", "yor", 1, 5, Amount(2, 20, 10), truncated=1)
    both = total([one, Size("t", "yor", 2, 6, answers=Amount(1, 7, 9, 4, 5), fewer_examples=2)])
    assert (both.cells, both.documents, both.requests, both.plain, both.computed, both.most) == (3, 11, 3, 27, 15, 5)
    assert (both.truncated, both.fewer_examples) == (1, 2)
