"""A run that is killed loses one pack of work at most, and what it has is not asked again."""

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.conftest import Cli
from tests.forks import Fork, afrieval

from afrieval.models.answer_file import AnswerFile, request_key
from afrieval.models.backends.hf import HF
from afrieval.models.engine import packs
from afrieval.models.engine.forward import Forward
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
        self._score, self._pass = HF._tree, Forward.__call__
        self._keys: list[str] = []  # of the requests at hand; none while the engine is checked
        self._last: Ints
        self._passes = self._tokens = 0

    def run(self) -> int:
        packs.PACK["cpu"] = PACK
        HF._tree = lambda lm, requests: self._scored(lm, requests)  # type: ignore[method-assign, assignment]
        Forward.__call__ = lambda *args: self._passed(*args)  # type: ignore[method-assign]
        return afrieval(*ONE, "--run_dir", self._notes.parent / "run")()

    def _scored(self, lm: Any, requests: list[Any]) -> Any:
        self._keys = [request_key("loglikelihood", texts) for texts, _, _ in requests]
        tree = build_tree([(c + a)[:-1] for _, c, a in requests], [a for _, _, a in requests])
        self._last = tree.scored[tree.starts[1:] - 1]
        self._note([])
        return self._score(lm, requests)

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


def dying_at_answer(left: int, *words: object) -> Callable[[], int]:
    """Returns a run that kills itself in place of keeping an answer, counted from 1."""

    def run() -> int:
        put = AnswerFile.put

        def put_or_die(answers: AnswerFile, key: str, answer: Any) -> None:
            nonlocal left
            left -= answers.get(key) is None
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
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


@pytest.mark.parametrize(
    ("group", "evals", "dies_at"),
    [
        ("meta_instruct", "meta-llama/Llama-3.1-8B-Instruct-evals", 15),
        pytest.param("meta_instruct", "meta-llama/Llama-3.2-1B-Instruct-evals", 9, marks=pytest.mark.slow),
        pytest.param("meta_pretrain", "meta-llama/Llama-3.1-8B-evals", 8, marks=pytest.mark.slow),
        ("meta_pretrain", "meta-llama/Llama-3.2-1B-evals", 4),
    ],
)
def test_a_killed_group_of_metas_tasks_goes_on(cli: Cli, tmp_path: Path, group: str, evals: str, dies_at: int) -> None:
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    words = (*DEMO, "--eval.max_gen_toks", 8, "--task.task_name", group, "--task.evals_dataset", evals, "--run_dir")
    died = Fork(dying_at_answer(dies_at, *words, killed), tmp_path / "said")
    assert died.wait()[0] == -signal.SIGKILL
    before, done = kept(killed), {p.name: p.read_bytes() for p in sample_files(killed)}
    assert len(before) == dies_at - 1
    for folder in (killed, whole):
        assert cli(*words, folder).code == 0
    after = kept(killed)
    assert after[: len(before)] == before and len(set(after)) == len(after), "no request is asked twice"
    samples = {p.name: p.read_bytes() for p in sample_files(killed)}
    assert samples == {p.name: p.read_bytes() for p in sample_files(whole)}
    assert done.items() <= samples.items() and len(done) < len(samples)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_stopped_run_ends_as_if_it_had_not_been(cli: Cli, tmp_path: Path, how: signal.Signals) -> None:
    # the slow way and several cells, so that the run is not over before it is killed
    slow = ("--model.engine", "plain", "--eval.batch_size", "1")
    words = (*ONE, "--task.languages", "yor,hau,swa,zul", "--task.prompts", "1,3", *slow, "--run_dir")
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    code, _, err = Fork(afrieval(*words, killed), tmp_path / "said").stop(how, lambda: len(kept(killed)) >= 10)
    assert code == (130 if how == signal.SIGINT else -how), err
    assert "Traceback" not in err
    before = kept(killed)
    assert len(before) >= 10 and len(sample_files(killed)) < 8
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
