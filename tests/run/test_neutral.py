"""Likelihoods of labels after neutral prompts: asked once for all documents, stored, and subtracted."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.conftest import Cli, only_samples, read_config
from transformers import AutoModelForCausalLM, AutoTokenizer

from afrieval.models.demo import demo_folder
from afrieval.results.run_files import sample_files
from afrieval.results.run_folder import RunFolder
from afrieval.results.samples import Sample
from afrieval.tasks.cells.plan import declared_cells

WORDS = ["--model.model_name", "demo", "--task.task_name", "afrixnli", "--task.languages", "yor", "--task.prompts", "1",
         "--data.source", "samples"]  # fmt: skip
Run = Callable[..., tuple[Path, list[Sample]]]


@pytest.fixture
def run(cli: Cli, tmp_path: Path) -> Run:
    def done(*words: str) -> tuple[Path, list[Sample]]:
        cli("run", *WORDS, "--run_dir", str(tmp_path / "run"), *words).ok()
        return tmp_path / "run", only_samples(tmp_path / "run")

    return done


def n_requests(*words: str) -> int:
    (questions,), _ = declared_cells(read_config([*WORDS, *words], command="run", needs_model=True))
    return questions.n_requests


def answered(folder: Path) -> int:
    (file,) = folder.glob("answers_*.jsonl")
    return len(file.read_text(encoding="utf-8").splitlines())


def after(context: str, answers: list[str]) -> list[float]:
    """Log-likelihoods by one forward pass of transformers each."""
    tokenizer, model = (kind.from_pretrained(demo_folder()) for kind in (AutoTokenizer, AutoModelForCausalLM))
    totals = []
    for answer in answers:
        tokens = tokenizer(context + answer, return_tensors="pt").input_ids
        start = len(tokenizer(context).input_ids)
        with torch.inference_mode():
            logprobs = torch.log_softmax(model(tokens).logits[0].double(), dim=-1)
        totals.append(sum(logprobs[at - 1, tokens[0, at]].item() for at in range(start, tokens.shape[1])))
    return totals


NEUTRAL = """\
Sentence 1: {text}
Sentence 2: {text}
Question: Given sentence 1, is sentence 2 True, False, or Neither?
Answer:"""


@pytest.mark.parametrize("engine", ["tree", "plain"])
def test_the_numbers_are_those_of_transformers(run: Run, engine: str) -> None:
    _, lines = run("--model.engine", engine, "--eval.num_fewshot", "1")
    answers = [pair[1] for pair in lines[0]["arguments"]]
    example = lines[0]["arguments"][0][0].rpartition("Sentence 1:")[0]
    assert answers == [" True", " Neither", " False"] and example.count("Sentence 1:") == 1
    wanted = [after(example + NEUTRAL.format(text=text), answers) for text in ("", "N/A")]
    for line in lines:
        assert line["neutral"] == [pytest.approx(of_text, abs=1e-3) for of_text in wanted]
        gains = [answer[0][0] - (e + n) / 2 for answer, e, n in zip(line["resps"], *line["neutral"], strict=True)]
        assert line["acc_pmi"] == float(gains.index(max(gains)) == line["gold"])


def test_they_are_asked_once_for_all_documents_with_the_same_examples(run: Run) -> None:
    folder, lines = run("--eval.num_fewshot", "2")
    assert answered(folder) == n_requests("--eval.num_fewshot", "2") == 3 * len(lines) + 6


def test_or_once_for_each_document_with_its_own_examples(run: Run) -> None:
    own = ["--eval.num_fewshot", "2", "--eval.fewshot_selection", "per_document"]
    folder, lines = run(*own)
    n_examples = len({tuple(line["fewshot_ids"]) for line in lines})
    assert n_examples > 1 and answered(folder) == n_requests(*own) == 3 * len(lines) + 6 * n_examples
    assert len({json.dumps(line["neutral"]) for line in lines}) == n_examples


def test_generated_answers_have_none(run: Run) -> None:
    _, lines = run("--task.answer_form", "generate")
    assert not any("neutral" in line or "acc_pmi" in line for line in lines)
    assert n_requests("--task.answer_form", "generate") == len(lines)


def test_a_run_without_them_can_be_read(run: Run) -> None:
    folder, lines = run()
    (path,) = sample_files(folder)
    new = ("acc_pmi", "acc_matched")

    def older(line: dict[str, Any]) -> dict[str, Any]:
        kept = {key: value for key, value in line.items() if key not in ("neutral", *new)}
        return kept | {
            "metrics": [name for name in line["metrics"] if name not in new],
            "measures": {name: measure for name, measure in line["measures"].items() if name not in new},
        }

    path.write_text("".join(json.dumps(older(line)) + "\n" for line in lines), encoding="utf-8")
    cell = RunFolder(folder).scores("afrixnli_yor_eng_1")
    assert list(cell.metrics) == ["acc", "acc_norm", "acc_bytes", "acc_tokens"] and not cell.contrast
