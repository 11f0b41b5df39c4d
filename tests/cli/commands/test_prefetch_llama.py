"""Prefetch of Meta's evaluation data: both data sets are fetched, counted, joined and locked before a run."""

import hashlib
import json
from pathlib import Path

import pytest
import yaml
from huggingface_hub.errors import GatedRepoError
from tests.conftest import Cli, Outcome
from tests.fake_hub import FakeHub, fake_hub, response
from tests.tasks.meta_rows import Row, on_evals, write_mirror

from afrieval.scoring.ifeval import checkers

MATH, IFEVAL = on_evals("meta_math"), on_evals("meta_ifeval")
LOST = 17  # the row that has no counterpart


@pytest.fixture
def hub(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeHub:
    monkeypatch.chdir(tmp_path)
    return fake_hub(tmp_path, monkeypatch)


def problems(n: int = 5000) -> list[Row]:
    return [
        {"problem": f"What is ${i}+1$?", "level": "Level 1", "solution": rf"It is $\boxed{{{i + 1}}}$."}
        for i in range(n)
    ]


def meta_rows(texts: list[str]) -> list[Row]:
    return [
        {"input_question": text, "input_final_prompts": [f"{text}\n"], "is_correct": True, "input_choice_list": None}
        for text in texts
    ]


def put_math(hub: FakeHub, n: int = 5000) -> None:
    rows = meta_rows([row["problem"] for row in problems(n)][::-1])
    rows[LOST]["input_question"] = "What is this?"
    write_mirror(hub.remote, MATH, rows, problems())


def put_ifeval(hub: FakeHub) -> None:
    prompts = [f"Say {i} without a comma." for i in range(541)]
    asked = [json.dumps({"dialog": [{"body": prompt, "role": "user", "media": None}]}) for prompt in prompts]
    instruction = {"instruction_id_list": ["punctuation:no_comma"], "kwargs": [{"num_words": None}]}
    write_mirror(
        hub.remote, IFEVAL, meta_rows(asked), [{"key": i, "prompt": p, **instruction} for i, p in enumerate(prompts)]
    )


def words(command: str, task: str) -> tuple[str, ...]:
    evals = (MATH if task == "meta_math" else IFEVAL).data.hub
    return (command, "--task.task_name", task, "--task.evals_dataset", evals, "--data.source", "hub")


def prefetch(cli: Cli, task: str, *more: str) -> Outcome:
    return cli(*words("prefetch", task), *more)


def test_counts_and_rows_without_counterpart_are_told(hub: FakeHub, cli: Cli) -> None:
    put_math(hub)
    done = prefetch(cli, "meta_math")
    assert done.code == 0, done.err
    assert done.out.splitlines() == [
        "meta_math: 4 files",
        "meta_math: 5000 rows, of which 1 cannot be scored",
        f"  row {LOST}: no row of DigitalLearningGmbH/MATH-lighteval has its text",
    ]
    assert len(hub.calls) == 2 * len(["README.md", "listing", "part 0", "part 1"])
    hub.error, hub.calls = AssertionError("the network was asked"), []
    assert prefetch(cli, "meta_math") == done and hub.calls == []


def test_a_run_after_it_asks_no_network(hub: FakeHub, cli: Cli, tmp_path: Path) -> None:
    put_math(hub)
    prefetch(cli, "meta_math")
    hub.error, hub.calls = AssertionError("the network was asked"), []
    shown = cli(*words("preview", "meta_math"), "--eval.limit", 1)
    assert shown.code == 0 and "What is $4999+1$?" in shown.out and hub.calls == [], shown.err


def test_every_file_is_locked_and_checked(hub: FakeHub, cli: Cli, tmp_path: Path) -> None:
    put_math(hub)
    assert prefetch(cli, "meta_math", "--lock").code == 0
    assert MATH.join
    locked = yaml.safe_load((tmp_path / "data.lock").read_text())
    assert set(locked) == {MATH.data.hub, MATH.join.hub}
    for repository, entry in locked.items():
        parts = sorted((hub.remote / repository).rglob("part-*"))
        assert entry["commit"] == hub.commit and len(parts) == 2
        hashes = {p.relative_to(hub.remote / repository).as_posix(): hash_of(p) for p in parts}
        assert entry["files"] == hashes
        for part in parts:
            cached = hub.cache / repository / "snapshots" / hub.commit / part.relative_to(hub.remote / repository)
            cached.write_bytes(part.read_bytes() + b" ")
            refused = cli(*words("preview", "meta_math"))
            assert refused.code == 2 and f"{repository}, {part.parent.name}/{part.name}: SHA-256 is" in refused.err
            cached.write_bytes(part.read_bytes())
    assert cli(*words("preview", "meta_math"), "--eval.limit", 1).code == 0


def hash_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_table_that_is_cut_short_is_refused(hub: FakeHub, cli: Cli) -> None:
    put_math(hub, 4999)
    done = prefetch(cli, "meta_math")
    assert done.code == 2 and "4999 rows instead of 5000" in done.err
    assert "rows" not in done.out


def test_terms_that_were_not_accepted(hub: FakeHub, cli: Cli) -> None:
    hub.error = GatedRepoError("gated", response=response(403))
    done = prefetch(cli, "meta_math")
    assert done.code == 2 and f"no access to {MATH.data.hub}" in done.err and "accept its terms" in done.err


def test_instructions_need_a_sentence_model(hub: FakeHub, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    fetched = []
    monkeypatch.setattr(checkers, "fetch_sentence_model", lambda: fetched.append("punkt"))
    put_ifeval(hub)
    done = prefetch(cli, "meta_ifeval")
    assert done.code == 0, done.err
    assert done.out == "meta_ifeval: 4 files\nmeta_ifeval: 541 rows, of which 0 cannot be scored\n"
    assert fetched == ["punkt"]
    put_math(hub)
    assert prefetch(cli, "meta_math").code == 0 and fetched == ["punkt"]
