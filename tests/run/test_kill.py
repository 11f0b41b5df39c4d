"""A run that is stopped, wherever that is, loses one pack of work at most, and what it has is not asked again."""

import json
import os
import random
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.conftest import Cli
from tests.forks import Fork, afrieval
from tests.harness_collection import Run

from afrieval.models.answer_file import AnswerFile, request_key
from afrieval.models.backends.hf import HF
from afrieval.models.engine import packs
from afrieval.models.engine.forward import Forward
from afrieval.models.engine.lm import TreeLM
from afrieval.models.engine.tree import Ints, build_tree
from afrieval.results.run_files import sample_files
from afrieval.results.samples import read_samples

DEMO = ("run", "--model.model_name", "demo", "--data.source", "samples")
ONE = (*DEMO, "--task.task_name", "afrimmlu", "--task.languages", "yor", "--task.prompts", "1")
PACK = 256


class Dying:
    """Notes which requests the engine was asked, counts the tokens of its passes, and ends the process at one of them.

    Args:
        notes: file for the requests, and for those of them that were complete before the last pass.
        at: number of the last pass, from 1; 0 for none.
    """

    def __init__(self, notes: Path, at: int):
        self._notes, self._at = notes, at
        self._score, self._pass = TreeLM._loglikelihood_tokens, Forward.__call__
        self._keys: list[str] = []  # of the requests at hand; none while the engine is checked
        self._last: Ints
        self._passes = self._tokens = 0

    def run(self) -> int:
        packs.PACK["cpu"] = PACK
        TreeLM._loglikelihood_tokens = lambda *args: self._scored(*args)  # type: ignore[method-assign]
        Forward.__call__ = lambda *args: self._passed(*args)  # type: ignore[method-assign]
        return afrieval(*ONE, "--run_dir", self._notes.parent / "run")()

    def _scored(self, lm: Any, requests: list[Any], *args: Any) -> Any:
        self._keys = [request_key("loglikelihood", texts) for texts, _, _ in requests]
        tree = build_tree([(c + a)[:-1] for _, c, a in requests], [a for _, _, a in requests])
        self._last = tree.scored[tree.starts[1:] - 1]
        self._note([])
        return self._score(lm, requests, *args)

    def _passed(self, forward: Forward, tokens: torch.Tensor, *args: Any) -> torch.Tensor:
        if self._keys:
            self._passes += 1
            if self._passes == self._at:
                self._note([k for k, last in zip(self._keys, self._last, strict=True) if last < self._tokens])
                os.kill(os.getpid(), signal.SIGKILL)
            self._tokens += len(tokens)
        return self._pass(forward, tokens, *args)

    def _note(self, complete: list[str]) -> None:
        self._notes.write_text(json.dumps({"asked": self._keys, "complete": complete}))


def dying_at_answer(left: int, *words: object, number: int = signal.SIGKILL) -> Callable[[], int]:
    """Returns a run that sends itself a signal in place of keeping an answer, counted from 1."""

    def run() -> int:
        put = AnswerFile.put

        def put_or_die(answers: AnswerFile, key: str, answer: Any) -> None:
            nonlocal left
            left -= answers.get(key) is None
            if left == 0:
                os.kill(os.getpid(), number)
            put(answers, key, answer)

        AnswerFile.put = put_or_die  # type: ignore[method-assign, assignment]
        return afrieval(*words)()

    return run


def kept(folder: Path) -> list[str]:
    """Returns the keys of the whole lines of answers."""
    lines = [line for p in folder.glob("answers_*.jsonl") for line in p.read_text().splitlines() if line.endswith("]")]
    return [json.loads(line)[0] for line in lines]


def test_answers_of_every_pack_that_was_done_are_kept(tmp_path: Path) -> None:
    folder, notes = tmp_path / "run", tmp_path / "notes.json"
    assert Fork(Dying(notes, at=4).run, tmp_path / "said").wait()[0] == -signal.SIGKILL
    before = json.loads(notes.read_text())
    assert sorted(kept(folder)) == sorted(before["complete"])
    assert 0 < len(before["complete"]) < len(before["asked"])
    assert Fork(Dying(notes, at=0).run, tmp_path / "said").wait()[0] == 0
    assert set(json.loads(notes.read_text())["asked"]) == set(before["asked"]) - set(before["complete"])
    assert sorted(kept(folder)) == sorted(before["asked"])


def test_a_killed_group_of_metas_tasks_goes_on(cli: Cli, tmp_path: Path) -> None:
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    group = ("--task.task_name", "meta_pretrain", "--task.evals_dataset", "meta-llama/Llama-3.2-1B-evals")
    words = (*DEMO, "--eval.max_gen_toks", 8, *group, "--run_dir")
    died = Fork(dying_at_answer(4, *words, killed), tmp_path / "said")
    assert died.wait()[0] == -signal.SIGKILL
    before, done = kept(killed), {p.name: p.read_bytes() for p in sample_files(killed)}
    assert len(before) == 3
    for folder in (killed, whole):
        assert cli(*words, folder).code == 0
    after = kept(killed)
    assert after[: len(before)] == before and len(set(after)) == len(after), "no request is asked twice"
    samples = {p.name: p.read_bytes() for p in sample_files(killed)}
    assert samples == {p.name: p.read_bytes() for p in sample_files(whole)}
    assert done.items() <= samples.items() and len(done) < len(samples)


def test_an_interrupted_run_ends_as_if_it_had_not_been(cli: Cli, tmp_path: Path) -> None:
    words = (*ONE, "--task.prompts", "1,3", "--eval.limit", 4, "--eval.batch_size", "1", "--run_dir")
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    run = Fork(dying_at_answer(20, *words, killed, number=signal.SIGINT), tmp_path / "said")
    code, _, err = run.wait()
    assert code == 130 and "Traceback" not in err, err
    before = kept(killed)
    assert len(before) >= 19 and len(sample_files(killed)) == 1
    for folder in (killed, whole):
        assert cli(*words, folder).code == 0
    after = kept(killed)
    assert after[: len(before)] == before, "what was answered was kept"
    assert len(set(after)) == len(after) == len(kept(whole)), "nothing was asked twice"
    assert {p.name for p in sample_files(killed)} == {p.name for p in sample_files(whole)}
    for path in sample_files(whole):
        assert stable(read_samples(killed / path.name)) == stable(read_samples(path))
    assert (killed / "summary.csv").read_text() == (whole / "summary.csv").read_text()


def stable(samples: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rounds what another order of a batch may change in its last digits."""
    rounded = [[[round(r[0][0], 3), *r[0][1:]] for r in s["resps"]] for s in samples]
    return [{**s, "resps": r, "filtered_resps": None} for s, r in zip(samples, rounded, strict=True)]


FOUR = ["--task.languages", "yor", "--task.prompts", "1", "--eval.limit", "4", "--eval.batch_size", "2"]


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
    words = [*FOUR, "--model.engine", engine, "--task.answer_form", form, "--eval.num_fewshot", shots]
    assert watch.until_it_ends(lambda: run_demo(*words), tmp_path / "run", random.Random(1)) > 0


@pytest.mark.parametrize("task", ["drawn", "perplexity"])
def test_a_harness_task_killed_again_and_again(harness: Run, tmp_path: Path, watch: Watch, task: str) -> None:
    words = ["--task.harness_tasks", task, "--eval.limit", 4, "--eval.batch_size", 2]
    assert watch.until_it_ends(lambda: harness(*words), tmp_path / "run", random.Random(1)) > 0
