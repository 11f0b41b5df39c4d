"""Runs of several processes: the same numbers in one folder, whoever began it and whoever goes on."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Cli
from tests.forks import Fork, afrieval, two_ranks

from afrieval.results.run_files import read_run, sample_files
from afrieval.results.samples import read_samples

DEMO = ("--model.model_name", "demo", "--data.source", "samples", "--task.task_name", "afrimmlu")
CELLS = ("--task.languages", "yor,hau", "--task.prompts", "1", "--eval.num_fewshot", "1")


def run_two(folder: Path, *words: str) -> tuple[int, str, str]:
    """Returns exit code and output of the first process, and what both said."""
    command = afrieval("run", *DEMO, "--run_dir", folder, *words)
    (code, out, err), (_, other, said) = (rank.wait() for rank in two_ranks(command, folder.parent / "said"))
    assert not other
    return code, out, err + said


def samples(folder: Path) -> dict[str, list[dict[str, Any]]]:
    return {path.name: read_samples(path) for path in sample_files(folder)}


def check_same(folder: Path, other: Path) -> None:
    """Checks that sample files hold the same, log-likelihoods to 1e-5 of their size, since batches differ."""
    ours, theirs = samples(folder), samples(other)
    assert ours and ours.keys() == theirs.keys()
    for a, b in ((a, b) for name in ours for a, b in zip(ours[name], theirs[name], strict=True)):
        answers, others = ([tuple(response[0]) for response in sample.pop("resps")] for sample in (a, b))
        assert [of[1:] for of in answers] == [of[1:] for of in others]
        assert [of[0] for of in answers] == pytest.approx([of[0] for of in others], rel=1e-5)
        del a["filtered_resps"], b["filtered_resps"]
        assert a == b


def stored(folder: Path) -> list[str]:
    return [line for p in folder.glob("answers_*.jsonl") for line in p.read_text().splitlines() if line.endswith("]")]


def test_two_processes_score_as_one_and_once(run_demo: Cli, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    words = (*CELLS, "--eval.write-out")
    alone = run_demo(*words, "--run_dir", one)
    code, out, err = run_two(two, *words)
    assert code == 0, err
    check_same(two, one)
    assert out == alone.out.replace(str(one), str(two)), "prompts and tables are printed once"
    assert len([line for line in err.splitlines() if line.strip()]) == 3, (
        "how much there is, two lines of progress and nothing else"
    )
    assert {p.name for p in two.iterdir()} == {p.name for p in one.iterdir()}
    assert len(stored(two)) == len(set(stored(two))) == len(stored(one))
    before = {p.name: (p.stat().st_mtime_ns, p.read_bytes()) for p in two.iterdir() if p.suffix in (".jsonl", ".yaml")}
    assert run_two(two, *words)[:2] == (0, out)
    assert {p.name: (p.stat().st_mtime_ns, p.read_bytes()) for p in two.iterdir() if p.name in before} == before


def test_torchrun_sets_what_the_processes_of_these_tests_have(tmp_path: Path) -> None:
    """Its processes write what they have; without libraries, they start at once."""
    names = ("WORLD_SIZE", "RANK", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")
    script = tmp_path / "script.py"
    script.write_text(
        f"import os, pathlib\nfound = [os.environ[name] for name in {names}]\n"
        "pathlib.Path(__file__).with_name('rank' + found[1]).write_text(' '.join(found))\n"
    )

    def torchrun() -> int:
        from torch.distributed.run import main

        main(["--standalone", "--nproc_per_node", "2", str(script)])
        return 0

    code, _, err = Fork(torchrun, tmp_path / "said").wait()
    assert code == 0, err
    found = [(tmp_path / f"rank{rank}").read_text().split() for rank in range(2)]
    assert [of[:3] for of in found] == [["2", "0", "0"], ["2", "1", "1"]]
    assert found[0][3:] == found[1][3:] and found[0][4].isdigit()


def test_after_a_stop_from_outside_one_goes_on(run_demo: Cli, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    words = ("--task.languages", "yor,hau,swa", "--eval.batch_size", "1")
    first, second = two_ranks(afrieval("run", *DEMO, "--run_dir", two, *words), tmp_path / "said")
    _, _, err = first.stop(signal.SIGTERM, lambda: len(stored(two)) >= 40)  # as a cluster does to all
    os.kill(second.pid, signal.SIGKILL)
    second.wait()
    kept = stored(two)
    assert len(kept) >= 40 and 0 < len(sample_files(two)) < 15, err
    for folder in (one, two):
        assert run_demo(*words, "--run_dir", folder).code == 0
    check_same(two, one)
    assert [{**visit}["processes"] for visit in read_run(two)["visits"]] == [2, 1]
    assert stored(two)[: len(kept)] == kept and len(set(stored(two))) == len(stored(two)) == len(stored(one))


def test_an_error_is_said_once(tmp_path: Path) -> None:
    code, out, err = run_two(tmp_path / "run", "--task.languages", "yorruba")
    assert code != 0 and not out and not (tmp_path / "run").exists()
    message = "error: afrimmlu has no language 'yorruba'"
    assert err.count(message) == err.count("error: ") == err.count("hint: ") == 1
    assert "afrieval/" not in err, "no traceback of ours"
