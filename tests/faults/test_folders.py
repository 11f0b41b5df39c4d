"""Sweeps, packing and scoring again: killed at each kind of change of a folder, the same command finishes the work."""

import itertools
import random
import shutil
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.conftest import ROOT
from tests.faults.notes import parsed
from tests.faults.same import check_same
from tests.faults.summary import Record, reported
from tests.faults.zygote import WORKER, Zygote
from tests.tools.jobs.files import planned, write_sweep

from afrieval.results.packed import PACKED

pytestmark = pytest.mark.faults
WORDS = "run --model.model_name demo --data.source samples --task.languages yor,hau --task.prompts 1,2"
IN_ONE_SWEEP = 8  # kills of its workers
AGAIN = 2  # kills at each kind of change


def killed(
    zygote: Zygote, words: Sequence[object], place: Path, at: Sequence[object], patches: Sequence[str] = ()
) -> bool:
    """Returns whether a command was killed; otherwise it has succeeded."""
    status, said = zygote.run(words, place=str(place), at=at, patches=patches)
    assert status in (0, -signal.SIGKILL), said
    return status != 0


def test_workers_of_a_sweep(zygote: Zygote, tmp_path: Path, record_property: Record) -> None:
    """Two shares of a run, whose workers are killed; the last one merges, and is killed while it does."""
    kills, at = 0, list[tuple[int, str, str]]()
    suite = {"task_name": "afrixnli", "languages": ["yor", "hau"], "prompt_language": "both", "prompts": [1, 2]}
    alone = f"{WORDS} --task.task_name afrixnli --task.prompt_language both --run_dir {tmp_path / 'whole'}"
    assert zygote.run(alone.split())[0] == 0
    for number in itertools.count():
        path = tmp_path / f"sweep-{number}" / "sweep.yaml"
        path.parent.mkdir()
        folder, jobs, _ = planned(write_sweep(path, suites=[suite], shares=2, common={"data.source": "samples"}))
        workers = [[WORKER, folder, job.name] for job in jobs]
        if number == 0:
            for share, words in enumerate(workers):
                assert zygote.run(words, notes=str(tmp_path / "notes"), place=str(folder))[0] == 0
                at += [(share, *change) for change in parsed(tmp_path / "notes").events]
            random.Random(19).shuffle(at)
        for _ in range(min(IN_ONE_SWEEP, len(at)) if number else 0):
            share, what, of = at.pop()
            kills += killed(zygote, workers[share], folder, [what, of, 1])
        for words in (*workers, *workers):  # a second time is harmless
            status, said = zygote.run(words)
            assert status == 0, said
        (run,) = (run.parent for run in folder.glob("runs/**/run.yaml"))
        check_same(run, tmp_path / "whole")
        assert not [*folder.glob("jobs/*/runs")], "nothing is left of shares"
        shutil.rmtree(path.parent)
        if not at:
            break
    result = f"same numbers as one process, in {number} sweeps"
    reported(record_property, "Sweeps, packing, scoring", "workers of a sweep: killed", kills, result)


def test_packing(zygote: Zygote, tmp_path: Path, record_property: Record) -> None:
    run, kills = tmp_path / "run", 0
    tasks = "--task.task_name afrixnli,afrimmlu --task.prompt_language both"
    assert zygote.run([*WORDS.split(), *tasks.split(), "--run_dir", run])[0] == 0
    before = contents(run)
    for words in (["pack", run], ["pack", "--unpack", run]):
        shutil.copytree(run, tmp_path / "as-it-was")
        assert zygote.run(words, notes=str(tmp_path / "notes"), place=str(run))[0] == 0
        for what, of in sorted(parsed(tmp_path / "notes").events):
            for number in range(1, AGAIN + 1):
                shutil.rmtree(run)
                shutil.copytree(tmp_path / "as-it-was", run)
                kills += killed(zygote, words, run, [what, of, number])
                unpacked = words[1] == "--unpack" and not (run / PACKED).exists()
                for again in (["show", run], *([] if unpacked else [words])):
                    status, said = zygote.run(again)
                    assert status == 0, (what, of, number, said)
        shutil.rmtree(tmp_path / "as-it-was")
    assert contents(run) == before
    what = "afrieval pack, and --unpack: killed"
    reported(record_property, "Sweeps, packing, scoring", what, kills, "readable at once; same samples")


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_scoring(zygote: Zygote, tmp_path: Path, record_property: Record) -> None:
    tasks, run, kills, patches = tmp_path / "tasks", tmp_path / "run", 0, ["other_extractor"]
    shutil.copytree(ROOT / "tasks", tasks)
    words = f"{WORDS} --task.folder {tasks} --task.task_name afrimgsm --eval.max_gen_toks 4 --run_dir {run}"
    assert zygote.run(words.split())[0] == 0
    task = tasks / "afrimgsm/task.yaml"
    task.write_text(task.read_text(encoding="utf-8").replace("version: 3", "version: 4"), encoding="utf-8")
    shutil.copytree(run, tmp_path / "as-it-was")
    status, said = zygote.run(["score", run], notes=str(tmp_path / "notes"), place=str(run), patches=patches)
    assert status == 0 and "new scores are written" in said, said
    shutil.copytree(run, tmp_path / "whole")
    for what, of in sorted(parsed(tmp_path / "notes").events):
        for number in range(1, AGAIN + 1):
            shutil.rmtree(run)
            shutil.copytree(tmp_path / "as-it-was", run)
            kills += killed(zygote, ["score", run], run, [what, of, number], patches)
            status, said = zygote.run(["score", run], patches=patches)
            assert status == 0, said
            check_same(run, tmp_path / "whole")
    reported(record_property, "Sweeps, packing, scoring", "afrieval score: killed", kills, "same scores")
