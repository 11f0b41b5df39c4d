"""Random commands on one run folder: some are killed, run out of disk, or find a file gone. Nothing is asked for twice.

AFRIEVAL_SEED and AFRIEVAL_SEQUENCES choose other sequences, and more of them.
"""

import os
import random
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.faults.disks import Disk, disk
from tests.faults.same import check_same
from tests.faults.summary import Record, reported
from tests.faults.zygote import Zygote, check_error
from tests.models.faulty import Faulty, faulty

from afrieval.results.run_files import sample_files

pytestmark = pytest.mark.faults
SEED, SEQUENCES = int(os.environ.get("AFRIEVAL_SEED", "7")), int(os.environ.get("AFRIEVAL_SEQUENCES", "6"))
AT_A_TIME = 2  # requests; those in flight when a command is killed are asked for again
ENDS = (0, 130, -signal.SIGINT, -signal.SIGKILL)
OPEN, CHOICE = "tukabench", "afrimmlu"
GROWS = {
    "prompts": {CHOICE: ("--task.prompts", "1,2")},
    "native": {CHOICE: ("--task.prompt_language", "both")},
    "languages": {OPEN: ("--task.languages", "swa,hau")},
    "sample": {OPEN: ("--eval.sample", "6")},
}
READS = ("show", "compare", "report", "export", "leaderboard", "answers", "samples")
CHANGES = ("score", "judge", "pack")
Words = Sequence[object]


class Step(NamedTuple):
    """A command, and what happens to it: a signal, a full disk, or a file that is removed or cut before."""

    name: str
    fault: str


def sequence(draw: random.Random) -> list[Step]:
    """Returns 4 to 8 commands after a first run; one of three is stopped, one has no disk, one lacks a file."""
    names = [draw.choice([*GROWS, *READS, *CHANGES]) for _ in range(draw.randint(4, 8))]
    faults = [draw.choice(["SIGKILL", "SIGINT"]) if draw.random() < 1 / 3 else "" for _ in names]
    for fault in ("full", draw.choice(["removed", "cut"])):
        faults[draw.randrange(len(names))] = fault
    return [Step("begin", draw.choice(["", "SIGKILL"])), *map(Step, names, faults)]


class Folder:
    """A run folder, and the settings that its run has by now."""

    def __init__(self, path: Path, server: Faulty, judge: Path):
        self.path, self._server, self._judge, self._n = path, server, judge, 0
        self._judged = False
        start = {"--task.prompts": "1", "--task.languages": "swa", "--eval.sample": "3"}
        self._settings: dict[str, dict[str, str]] = {OPEN: start, CHOICE: dict(start)}

    def words(self, name: str) -> list[Words]:
        """Returns the commands of a step."""
        for task, (option, value) in GROWS.get(name, {}).items():
            self._settings[task][option] = value
        self._n += 1
        self._judged |= name == "judge"
        out = self.path.parent / f"{self._n}-{name}"
        known: dict[str, list[Words]] = {
            "show": [("show", self.path)],
            "compare": [("compare", self.path, "--contrast", "prompt")],
            "report": [("report", self.path, "-o", f"{out}.html")],
            "export": [("export", "--to", "csv", out, "--run", self.path)],
            "leaderboard": [("leaderboard", self.path, "-o", out)],
            "answers": [("review", "answers", self.path, "--language", "swa", "-o", f"{out}.csv")],
            "samples": [("samples", self.path, "--tasks", OPEN, "--languages", "swa", "--n", 2)],
            "score": [("score", self.path)],
            "judge": [self._judging()],
            "pack": [("pack", self.path), ("show", self.path), ("pack", "--unpack", self.path)],
        }
        return known.get(name) or self.runs()

    def redone(self) -> list[Words]:
        """Returns the commands that restore a file: a cell, and its judgements if it had any."""
        return [*self.runs(), *([self._judging()] if self._judged else [])]

    def _judging(self) -> Words:
        return ("score", self.path, "--metric", "judge", "--judge.model", self._judge)

    def runs(self) -> list[Words]:
        """Returns the commands that complete the run."""
        settings = ("--task.answer_form", "generate", "--data.source", "samples", "--run_dir", self.path)
        fixed = ("run", *self._server.options, "--model.api.max_concurrency", AT_A_TIME, *settings)
        given = {task: [word for pair in of.items() for word in pair] for task, of in self._settings.items()}
        return [[*fixed, "--task.task_name", task, *own] for task, own in given.items()]


def stopped(zygote: Zygote, words: Words, number: signal.Signals, after: float) -> None:
    """Runs a command, and sends it a signal after some seconds, if it still runs."""
    child = zygote.start(words)
    status = child.wait((after, number))
    said = child.log.read_text(encoding="utf-8", errors="replace")
    assert status in ENDS or (status == 2 and words[0] == "compare"), (words, said)


def damaged(draw: random.Random, folder: Path, how: str) -> bool:
    """Removes or cuts a file of samples; returns whether readers may now refuse the folder."""
    path = draw.choice(sample_files(folder))
    if how == "removed":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[: draw.randrange(path.stat().st_size)])
    return how == "cut"


def done(zygote: Zygote, words: Words) -> None:
    """Runs a command to its end; a comparison may have nothing to compare."""
    status, said = zygote.run(words)
    assert status == 0 or (status == 2 and words[0] in ("compare", "review", "score")), (words, said)
    if status:
        check_error(status, said)


def under_fire(zygote: Zygote, draw: random.Random, folder: Folder, small: Disk, step: Step) -> int:
    """Runs a step with its fault, then what cures it; returns how many answers may have been lost on their way."""
    every = folder.words(step.name)
    if step.fault in ("removed", "cut") and damaged(draw, folder.path, step.fault):
        status, said = zygote.run(("show", folder.path))
        if status:  # a file that is cut at the end of a line is a shorter one
            check_error(status, said)
            (path,) = (path for path in sample_files(folder.path) if str(path.name) in said)
            path.unlink()
    if step.fault in ("removed", "cut"):
        for words in folder.redone():
            done(zygote, words)
    if step.fault.startswith("SIG"):
        stopped(zygote, draw.choice(every[:2]), signal.Signals[step.fault], draw.uniform(0.02, 1.5))
    if step.fault == "full":
        used = sum(path.stat().st_size // 4096 * 4 + 4 for path in small.path.rglob("*") if path.is_file())
        small.change(f"size={used + 8 + draw.choice([0, 4, 16])}k")
        status, said = zygote.run(every[0])
        assert status in (0, 2) and "Traceback" not in said, (every[0], said)
        small.change("size=64m")
    for words in folder.words(step.name):  # into new files
        done(zygote, words)
    done(zygote, ("show", folder.path))
    return AT_A_TIME * (step.fault.startswith("SIG") or step.fault == "full")


@pytest.mark.parametrize("number", range(SEQUENCES))
def test_sequences(number: int, zygote: Zygote, tmp_path: Path, record_property: Record) -> None:
    draw = random.Random(f"{SEED} {number}")
    steps = sequence(draw)
    judge = tmp_path / "judge.yaml"
    with faulty(()) as server, disk(tmp_path / "disk") as small:
        served = f"model_name: served\nmodel_type: openai\napi: {{base_url: {server.url}/v1}}\n"
        judge.write_text(served, encoding="utf-8")
        folder, whole = Folder(small.path / "run", server, judge), Folder(tmp_path / "whole", server, judge)
        lost = sum(under_fire(zygote, draw, folder, small, step) for step in steps)
        for words in folder.redone():  # a judge judges all cells that there are at the end
            done(zygote, words)
        again = sum(times - 1 for times in server.answered.values())
        assert again <= lost, (steps, again)
        asked = set(server.answered)
        server.answered.clear()
        for words in [*(words for step in steps for words in whole.words(step.name)), *whole.redone()]:
            done(zygote, words)
        assert set(server.answered) == asked, "other questions were asked"
        check_same(folder.path, whole.path)
    faults = sum(bool(step.fault) for step in steps)
    reported(record_property, "Sequences", "commands on one folder", faults, "same numbers, nothing asked for again")
