"""Generated answers: asked once, read, and counted; with a chat template and without."""

import csv
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sacrebleu import corpus_bleu, corpus_chrf
from tests.conftest import Cli, csv_rows, only_samples
from tests.models.tiny import CHAT, tiny_llama, tiny_t5
from tests.scoring.kinds import KINDS, write_task

from afrieval.config.settings import DataConfig, ModelConfig, RunConfig, TaskConfig
from afrieval.models.registry import load_model
from afrieval.results.run_files import sample_files
from afrieval.results.samples import read_samples
from afrieval.tasks.cells.limits import generation
from afrieval.tasks.cells.plan import declared_cells

WORDS = ("--task.answer_form", "generate", "--task.languages", "yor,amh", "--task.prompts", "1")


def test_each_document_is_asked_once_and_unparsed_answers_are_counted(run_demo: Cli, tmp_path: Path) -> None:
    done = run_demo(*WORDS, "--task.task_name", "afrixnli", "--eval.limit", 2, "--eval.write-out").ok()
    for path in sample_files(tmp_path / "run"):
        for sample in read_samples(path):
            ((context, options),) = sample["arguments"]
            assert context.endswith("Answer:") and options["until"] == ["\n\n"] and not options["do_sample"]
            assert (sample["acc"], sample["unparsed"]) == (0.0, 1.0), "a random model writes no label"
    rows = csv_rows(tmp_path / "run/summary.csv")
    assert [r["unparsed"] for r in rows] == ["1.0"] * len(rows) and "acc_norm" not in rows[0]
    assert "A random guess scores 33.3%" in " ".join(done.out.split()) and "  unparsed\n" in done.out


def test_what_a_model_writes_is_scored(run_demo: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model is replaced by one that answers C to every question, in one of three ways."""
    ways = ("C", "C. p = 8\n\nQuestion", "is C")

    def write(lm: object, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
        return [ways[request.doc["id"] % 3] for request in requests]

    monkeypatch.setattr("afrieval.models.backends.hf.HF.generate_until", write)
    assert run_demo(*WORDS, "--task.languages", "yor").code == 0
    samples = only_samples(tmp_path / "run")
    assert {s["doc_id"] % 3 for s in samples if s["target"] == "C"} & {0, 1}, "some answer is right"
    for sample in samples:
        unparsed = sample["doc_id"] % 3 == 2
        assert sample["unparsed"] == float(unparsed)
        assert sample["acc"] == float(sample["target"] == "C" and not unparsed)


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

    from afrieval.config.settings import EvalConfig

    run_demo(*WORDS, "--eval.limit", 1)
    (sample,) = read_samples(sample_files(tmp_path / "run")[0])
    context, options = sample["arguments"][0]
    lm: Any = load_model(ModelConfig(model_name="demo"), EvalConfig())
    tokens = torch.tensor([lm.tokenizer.encode(context)])
    with torch.no_grad():
        out = lm.model.generate(tokens, max_new_tokens=options["max_gen_toks"], do_sample=False)[0, tokens.shape[1] :]
    assert lm.tokenizer.decode(out, skip_special_tokens=True).split("\n\n")[0] == sample["resps"][0][0]


@pytest.mark.parametrize(("kind", "task"), [("T5", "afrimgsm_cot"), ("MT5", "afrixnli")])
def test_encoder_decoders_generate_alike_in_any_batch(run_demo: Cli, tmp_path: Path, kind: str, task: str) -> None:
    """The stored answers equal transformers' own greedy generation for one prompt at a time."""
    import torch

    from afrieval.config.settings import EvalConfig

    model = tiny_t5(tmp_path / "model", kind)
    words = ("--task.task_name", task, "--task.languages", "yor", "--task.prompts", 1, "--task.answer_form", "generate")
    limits = ("--eval.limit", 3, "--eval.batch_size", 3, "--eval.max_gen_toks", 12)
    run_demo(*words, *limits, "--model.model_name", model).ok()
    lm: Any = load_model(ModelConfig(model_name=str(model)), EvalConfig())
    for sample in read_samples(sample_files(tmp_path / "run")[0]):
        tokens, mask = lm.tok_batch_encode([sample["arguments"][0][0]])
        with torch.no_grad():
            out = lm.model.generate(tokens, attention_mask=mask, max_new_tokens=12, do_sample=False)[0]
        own = lm.tokenizer.decode(out, skip_special_tokens=True)
        for stop in sample["arguments"][0][1]["until"]:
            own = own.split(stop)[0]
        assert own == sample["resps"][0][0] != ""


@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_twice_as_long_fits_and_ends_where_examples_end(tmp_path: Path, kind: str) -> None:
    write_task(tmp_path, kind)
    config = RunConfig(data=DataConfig("samples"), task=TaskConfig(kind, folder=str(tmp_path)))
    ((asked,), _) = declared_cells(config)
    shown = [asked.task.scoring.answer.shown(document.gold) for document in asked.documents]
    stop = "\n" if kind in ("translation", "summary", "restoration") else "\n\n"
    is_open = kind == "open"  # right answers do not say how long others are, nor without examples how they end
    for per_letter in (1, 5):
        lm: Any = SimpleNamespace(max_length=10_000, count_tokens=lambda text, n=per_letter: n * len(text))
        ends = generation(asked, lm)
        assert ends.max_tokens == (2048 if is_open else 2 * per_letter * max(map(len, shown)) + 32)
        assert ends.stop == (() if is_open else (stop,))
        assert not any(stop in text for text in shown)
    chat = replace(asked, settings=replace(asked.settings, chat_template=True))
    assert generation(chat, lm).stop == () and generation(chat, lm).max_tokens == ends.max_tokens


GIVEN = [" Soko hufunguliwa asubuhi.", "", " Dada yangu alinunua mkate.\nEnglish: The", " How much does it cost?"]


def test_scores_of_a_run_are_sacrebleus_on_the_stored_answers(
    run_demo: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model is replaced by one that writes these four answers in turn."""

    def write(lm: object, requests: list[object], disable_tqdm: bool = False) -> list[str]:
        return [GIVEN[i % len(GIVEN)] for i in range(len(requests))]

    monkeypatch.setattr("afrieval.models.backends.hf.HF.generate_until", write)
    run_demo("--task.task_name", "flores_from_eng", "--task.languages", "swa", "--task.prompts", "1").ok()
    samples = only_samples(tmp_path / "run")
    assert all(s["arguments"][0][1]["until"] == ["\n"] for s in samples)
    assert all(s["arguments"][0][0].endswith("\nSwahili:") for s in samples)
    given, right = [s["filtered_resps"][0] for s in samples], [s["target"] for s in samples]
    (row,) = csv.DictReader((tmp_path / "run/summary.csv").open(encoding="utf-8"))
    assert row["metric"] == "chrf++" and float(row["empty"]) == 0.25
    assert 0 < float(row["score"]) == pytest.approx(corpus_chrf(given, [right], word_order=2).score)
    assert float(row["bleu"]) == pytest.approx(corpus_bleu(given, [right], force=True).score)
    assert "nw:2" in (tmp_path / "run/run.yaml").read_text(encoding="utf-8")


def test_copies_are_counted(run_demo: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model is replaced by one that repeats the source."""

    def write(lm: object, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
        return [" " + request.args[0].split("\n")[-2].partition(": ")[2].upper() for request in requests]

    monkeypatch.setattr("afrieval.models.backends.hf.HF.generate_until", write)
    assert run_demo("--task.task_name", "flores_to_eng", "--task.languages", "hau,amh", "--task.prompts", "1").code == 0
    for row in csv.DictReader((tmp_path / "run/summary.csv").open(encoding="utf-8")):
        assert (float(row["copied"]), float(row["empty"])) == (1.0, 0.0) and float(row["output_language"]) < 0.2


def test_answers_at_their_limit_are_scored_counted_and_shown(
    run_demo: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model is replaced by one that writes documents of two paragraphs, half of which never end."""

    def write(lm: object, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
        most = requests[0].args[1]["max_gen_toks"]
        return ["x" * most if request.doc["id"] % 2 else f" {request.doc.document.gold}" for request in requests]

    monkeypatch.setattr("afrieval.models.backends.hf.HF.generate_until", write)
    words = ("--task.task_name", "afridocmt_from_eng", "--task.languages", "hau", "--task.prompts", "1,2")
    done = run_demo(*words, "--eval.max_gen_toks", 900).ok()
    assert "  cut" in done.out and "cut: answers that ended at their limit of tokens" in " ".join(done.out.split())
    for path, starts in zip(sample_files(tmp_path / "run"), (["\nEnglish:"], ["\nYou are", "\nEnglish:"]), strict=True):
        samples = read_samples(path)
        until = samples[0]["arguments"][0][1]["until"]
        assert [stop[: len(start)] for stop, start in zip(until, starts, strict=True)] == starts
        assert [s["cut"] for s in samples] == [float(s["doc_id"] % 2) for s in samples]
        assert all("\n\n" in s["answer"] for s in samples if "\n\n" in s["target"] and not s["cut"])
    before = (tmp_path / "run/summary.csv").read_text(encoding="utf-8")
    assert not (tmp_path / "run/usage.csv").exists() and "refused" not in before
    assert {row["cut"] for row in csv.DictReader(before.splitlines())} == {"0.5"}
