"""A request whose answer is in the answer file never reaches the model again, wherever a run was stopped."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Cli
from tests.harness_collection import Run

from afrieval.models.answer_file import AnswerFile, request_key
from afrieval.models.backends.hf import HF
from afrieval.models.engine import packs

WORDS = ["--task.languages", "yor", "--task.prompts", "1", "--eval.limit", "4", "--eval.batch_size", "2"]


class Killed(BaseException):
    """Stands for a kill: the file is as it is, nothing else is written."""


class Watch:
    """Which requests reached the model, and when the run is killed next."""

    def __init__(self) -> None:
        self.reached: list[str] = []
        self.left = -1  # answers until it is killed

    def until_it_ends(self, run: Any, folder: Path, draw: random.Random) -> int:
        """Runs, killed again and again, until there is nothing left to ask; returns the number of kills."""
        for kills in range(100):
            before, self.reached, self.left = kept(folder), [], draw.randrange(2, 7)
            try:
                done = run()
            except Killed:
                done = None
            assert not set(self.reached) & set(before), "stored answers were asked for again"
            if done is not None:
                assert done.code == 0, done.err
                assert sorted(kept(folder)) == sorted(set(kept(folder)))
                return kills
        raise AssertionError("it never ends")


def kept(folder: Path) -> list[str]:
    lines = [line for p in folder.glob("answers_*.jsonl") for line in p.read_text().splitlines()]
    return [json.loads(line)[0] for line in lines]


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watch]:
    watched, put = Watch(), AnswerFile.put

    def put_or_die(answers: AnswerFile, key: str, answer: Any) -> None:
        watched.left -= answers.get(key) is None
        if watched.left == 0:
            raise Killed
        put(answers, key, answer)

    def watched_method(name: str) -> Any:
        method = getattr(HF, name)

        def ask(lm: Any, requests: list[Any], disable_tqdm: bool = False) -> Any:
            watched.reached += [request_key(name, r.args) for r in requests]
            return method(lm, requests, disable_tqdm)

        return ask

    monkeypatch.setitem(packs.PACK, "cpu", 64)
    monkeypatch.setattr(AnswerFile, "put", put_or_die)
    for name in ("loglikelihood", "loglikelihood_rolling", "generate_until"):
        monkeypatch.setattr(HF, name, watched_method(name))
    yield watched


@pytest.mark.parametrize(
    ("engine", "form", "shots"),
    [("tree", "text", 0), ("tree", "generate", 2), ("plain", "letter", 0)],
)
def test_a_run_killed_again_and_again(
    run_demo: Cli, tmp_path: Path, watch: Watch, engine: str, form: str, shots: int
) -> None:
    words = [*WORDS, "--model.engine", engine, "--task.answer_form", form, "--eval.num_fewshot", shots]
    assert watch.until_it_ends(lambda: run_demo(*words), tmp_path / "run", random.Random(1)) > 0


@pytest.mark.parametrize("task", ["drawn", "perplexity"])
def test_a_harness_task_killed_again_and_again(harness: Run, tmp_path: Path, watch: Watch, task: str) -> None:
    words = ["--task.harness_tasks", task, "--eval.limit", 4, "--eval.batch_size", 2]
    assert watch.until_it_ends(lambda: harness(*words), tmp_path / "run", random.Random(1)) > 0
