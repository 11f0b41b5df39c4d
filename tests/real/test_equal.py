"""Two small real models: the engine's answers, those of lm_eval's hf backend, and those of plain PyTorch are the same.

`make test-real` runs these; the models come from the package index, the rows from AFRIEVAL_DATA.
"""

import functools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.conftest import REAL_DATA, Cli
from tests.scripts.test_models_exist import script
from transformers import AutoModelForCausalLM, AutoTokenizer

from afrieval.models.gguf import converted

pytestmark = [pytest.mark.real, pytest.mark.data]
TASKS = {
    "afrimmlu --shots 5": ("english,yoruba", 3),
    "afrixnli": ("english,hausa", 4),
    "belebele": ("english,igbo", 3),
    "sib200": ("english,amharic", 3),
    "mmlu": ("english", 4),
}
GENERATED = ("afrimgsm", "swahili", 3)
MODELS: dict[str, Any] = script("real_model").MODELS
FOLDER: Path = script("real_model").FOLDER


@functools.cache
def loaded(name: str) -> tuple[Any, Any]:
    """Returns a converted model of transformers, and its tokenizer."""
    folder = converted(FOLDER / MODELS[name].file)
    return AutoModelForCausalLM.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)


def samples(cli: Cli, folder: Path, name: str, task: str, languages: str, n: int, *words: str) -> list[dict[str, Any]]:
    """Returns the sample lines of a run on real rows."""
    file, source = str(FOLDER / MODELS[name].file), ("--data", str(REAL_DATA))
    done = cli(
        *("run", file, *task.split(), "--languages", languages, "--prompts", "1", "--sample", str(n), *source),
        *("--all-metrics", "--out", str(folder), *words),
    )
    assert done.code == 0, done.err
    paths = sorted(folder.glob("samples_*.jsonl"))
    return [json.loads(line) for path in paths for line in path.read_text(encoding="utf-8").splitlines()]


def likelihoods(lines: list[dict[str, Any]]) -> np.ndarray[Any, Any]:
    """Returns the log-likelihoods of all choices of all lines."""
    return np.array([answer[0][0] for line in lines for answer in line["resps"]])


def by_definition(name: str, lines: list[dict[str, Any]]) -> Iterator[float]:
    """Yields the log-likelihood of each choice, from one forward pass over its text."""
    model, tokenizer = loaded(name)
    for line in lines:
        for context, continuation in line["arguments"]:
            special = not (tokenizer.bos_token and context.startswith(tokenizer.bos_token))
            whole = tokenizer(context + continuation, add_special_tokens=special).input_ids
            start = len(tokenizer(context.rstrip(), add_special_tokens=special).input_ids)
            with torch.inference_mode():
                logits = model(torch.tensor([whole])).logits[0, start - 1 : -1].log_softmax(-1)
            yield float(logits.gather(1, torch.tensor(whole[start:])[:, None]).sum())


def written(name: str, lines: list[dict[str, Any]]) -> Iterator[str]:
    """Yields the greedy answers of transformers' own loop, up to the first empty line."""
    model, tokenizer = loaded(name)
    for line in lines:
        context, settings = line["arguments"][0]
        special = not (tokenizer.bos_token and context.startswith(tokenizer.bos_token))
        ids = tokenizer(context, add_special_tokens=special, return_tensors="pt").input_ids
        with torch.inference_mode():
            ended = model.generate(ids, max_new_tokens=settings["max_gen_toks"], do_sample=False)[0, ids.shape[1] :]
        text = tokenizer.decode(ended, skip_special_tokens=True)
        yield functools.reduce(lambda part, stop: part.split(stop)[0], settings["until"], text)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", MODELS)
def test_likelihoods(name: str, task: str, cli: Cli, tmp_path: Path) -> None:
    languages, n = TASKS[task]
    words = (name, task, languages, n if name == "smollm2" else 1)  # hf takes half a minute for one with Gemma's tokens
    tree = samples(cli, tmp_path / "tree", *words, "--model.engine", "tree")
    plain = samples(cli, tmp_path / "plain", *words, "--model.engine", "plain")
    expected = np.array([*by_definition(name, tree)])
    np.testing.assert_allclose(likelihoods(tree), expected, atol=1e-4, rtol=1e-6)
    np.testing.assert_allclose(likelihoods(plain), expected, atol=1e-4, rtol=1e-6)
    error = {}
    for engine in ("tree", "plain"):
        lines = samples(cli, tmp_path / f"{engine} 16", *words, "--model.engine", engine, "--dtype", "bfloat16")
        error[engine] = np.abs(likelihoods(lines) - expected).mean()
    assert error["tree"] <= 1.5 * error["plain"], "as close in 16 bits as lm_eval's way"


@pytest.mark.parametrize("name", MODELS)
def test_greedy_answers(name: str, cli: Cli, tmp_path: Path) -> None:
    words = (name, *GENERATED, "--max-gen-toks", "64")
    tree, plain = (samples(cli, tmp_path / engine, *words, "--model.engine", engine) for engine in ("tree", "plain"))
    answers = [line["resps"][0][0] for line in tree]
    assert answers == [line["resps"][0][0] for line in plain] == [*written(name, tree)]


def test_chats_of_a_model_with_a_template(cli: Cli, tmp_path: Path) -> None:
    words = ("smollm2", "afrixnli", "english,swahili", 3, "--chat", "--answer-form", "generate")
    tree, plain = (samples(cli, tmp_path / engine, *words, "--model.engine", engine) for engine in ("tree", "plain"))
    answers = [line["resps"][0][0] for line in tree]
    assert all(line["arguments"][0][0].startswith("<|im_start|>system\n") for line in tree)
    assert answers == [line["resps"][0][0] for line in plain]
    assert [a.strip() for a in answers] == [text.strip() for text in written("smollm2", tree)]
