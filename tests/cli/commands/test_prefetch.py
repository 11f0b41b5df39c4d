"""Data is fetched once from a hub that answers from a folder; after that nothing asks the network."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import httpx2 as httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from huggingface_hub.errors import (
    GatedRepoError,
    LocalEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from tests.conftest import Cli, Outcome, Refusal
from tests.fake_hub import FakeHub, fake_hub, response
from tests.tasks.meta_rows import Row, on_evals, write_mirror

from afrieval._util.errors import UserError
from afrieval.tasks.data.hub import fetch, snapshot


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    yield fake_hub(tmp_path, monkeypatch)


def test_after_prefetch_a_run_makes_no_call(cli: Cli, run_demo: Cli, hub: FakeHub, small_tasks: Path) -> None:
    asked = ("--task.task_name", "afrimmlu", "--data.source", "hub", "--task.languages", "yor")
    words = (*asked, "--task.folder", small_tasks)
    done = cli("prefetch", *words)
    assert done.code == 0 and done.out == "afrimmlu: 3 files\n", done.err
    assert len(hub.calls) == 3
    hub.error = AssertionError("the network was asked")
    done = run_demo(*words, "--task.prompts", 1, "--eval.num_fewshot", 2)
    assert done.code == 0 and len(hub.calls) == 3, done.err


def test_what_the_hub_lacks_is_said(cli: Cli, hub: FakeHub) -> None:
    done = cli("prefetch", "--task.task_name", "afrimmlu", "--data.source", "hub", "--task.languages", "yor,hau")
    assert "3 files; the hub has no hau test, hau validation, hau dev" in done.out


def test_a_mirror_has_what_the_tasks_read_and_needs_no_network(
    cli: Cli, hub: FakeHub, small_tasks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files of a repository, and those of a conversion, which the hub keeps in another branch."""
    monkeypatch.chdir(tmp_path)
    converted = hub.remote / "masakhane/masakhaner2@refs/convert/parquet/swa"
    for split in ("test", "validation"):
        (converted / split).mkdir(parents=True)
        rows = [{"tokens": ["Juma", "yuko", split], "ner_tags": [1, 0, 5]}] * 2
        pq.write_table(pa.Table.from_pylist(rows), converted / split / "0000.parquet")
    tasks = ("--task.folder", small_tasks, "--task.task_name", "afrimmlu,masakhaner", "--task.languages", "yor,swa")
    done = cli("prefetch", *tasks, "--data.source", "hub", "--to", tmp_path / "mirror", "--lock")
    assert done.code == 0 and f"--data.source {tmp_path}/mirror" in done.out, done.err
    files = {path.relative_to(tmp_path / "mirror").as_posix() for path in (tmp_path / "mirror").rglob("*.*")}
    assert files == {f"masakhane/afrimmlu/data/yor/{split}.tsv" for split in ("test", "val", "dev")} | {
        f"masakhane/masakhaner2/swa/{split}/0000.parquet" for split in ("test", "validation")
    }
    branch = yaml.safe_load((tmp_path / "data.lock").read_text())["masakhane/masakhaner2@refs/convert/parquet"]
    assert branch["commit"] == "refs-convert-parquet" != hub.commit
    assert [*branch["files"]] == ["swa/test/0000.parquet", "swa/validation/0000.parquet"]
    hub.error = AssertionError("the network was asked")
    for task, language in (("afrimmlu", "yor"), ("masakhaner", "swa")):
        of_task = ("--task.folder", small_tasks, "--task.task_name", task, "--task.languages", language)
        shown = cli("preview", *of_task, "--data.source", tmp_path / "mirror", "--eval.num_fewshot", 1)
        assert shown.code == 0 and "few-shot rows" in shown.out, shown.err
    (tmp_path / "mirror/masakhane/afrimmlu/data/yor/dev.tsv").write_text("mine")
    refused = cli("prefetch", *tasks, "--data.source", "hub", "--to", tmp_path / "mirror")
    assert refused.code == 2 and "dev.tsv is there, and differs from the hub's" in refused.err
    assert cli("prefetch", *tasks, "--data.source", "hub", "--to", "/proc/x").code == 2


@pytest.mark.parametrize(
    ("error", "message", "hint"),
    [
        (GatedRepoError("gated", response=response(403)), "no access to o/n", "hf auth login"),
        (RepositoryNotFoundError("404", response=response(404)), "the hub has no dataset o/n", "data.hub"),
        (RevisionNotFoundError("404", response=response(404)), "no revision 'main'", "data.revision"),
        (LocalEntryNotFoundError("no network"), "cannot be reached", "prefetch"),
        (httpx.ConnectError("no route"), "cannot be reached", "--data.source FOLDER"),
        (TimeoutError("slow"), "cannot be reached", "prefetch"),
        (OSError(30, "Read-only file system", "/cache/x"), "/cache/x cannot be written: Read-only", "HF_HOME"),
        (OSError(28, "No space left on device"), "the hub's cache cannot be written: No space", "free some space"),
    ],
)
def test_what_can_go_wrong(hub: FakeHub, error: Exception, message: str, hint: str) -> None:
    hub.error = error
    with pytest.raises(UserError, match=message) as caught:
        fetch("o/n", "data/yor/test.tsv", "main")
    assert hint in caught.value.hint
    with pytest.raises(UserError, match=message) as caught:
        snapshot("o/n", ["data/*"], "main")
    assert hint in caught.value.hint


def test_a_bug_stays_a_bug(hub: FakeHub) -> None:
    hub.error = ZeroDivisionError()
    with pytest.raises(ZeroDivisionError):
        fetch("o/n", "f", "main")
    with pytest.raises(ZeroDivisionError):
        snapshot("o/n", ["*"], "main")


MATH, IFEVAL = on_evals("meta_math"), on_evals("meta_ifeval")
LOST = 17  # the row that has no counterpart


@pytest.fixture
def llama_hub(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeHub:
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


def put_math(llama_hub: FakeHub, n: int = 5000) -> None:
    rows = meta_rows([row["problem"] for row in problems(n)][::-1])
    rows[LOST]["input_question"] = "What is this?"
    write_mirror(llama_hub.remote, MATH, rows, problems())


def put_ifeval(llama_hub: FakeHub) -> None:
    prompts = [f"Say {i} without a comma." for i in range(541)]
    asked = [json.dumps({"dialog": [{"body": prompt, "role": "user", "media": None}]}) for prompt in prompts]
    instruction = {"instruction_id_list": ["punctuation:no_comma"], "kwargs": [{"num_words": None}]}
    write_mirror(
        llama_hub.remote,
        IFEVAL,
        meta_rows(asked),
        [{"key": i, "prompt": p, **instruction} for i, p in enumerate(prompts)],
    )


def words(command: str, task: str) -> tuple[str, ...]:
    evals = (MATH if task == "meta_math" else IFEVAL).data.hub
    return (command, "--task.task_name", task, "--task.evals_dataset", evals, "--data.source", "hub")


def prefetch(cli: Cli, task: str, *more: str) -> Outcome:
    return cli(*words("prefetch", task), *more)


def test_counts_and_rows_without_counterpart_are_told(llama_hub: FakeHub, cli: Cli) -> None:
    put_math(llama_hub)
    done = prefetch(cli, "meta_math").ok()
    assert done.out.splitlines() == [
        "meta_math: 4 files",
        "meta_math: 5000 rows, of which 1 cannot be scored",
        f"  row {LOST}: no row of DigitalLearningGmbH/MATH-lighteval has its text",
    ]
    assert len(llama_hub.calls) == 2 * len(["README.md", "listing", "part 0", "part 1"])
    llama_hub.error, llama_hub.calls = AssertionError("the network was asked"), []
    assert prefetch(cli, "meta_math") == done and llama_hub.calls == []


def test_every_file_is_locked_and_checked(llama_hub: FakeHub, cli: Cli, refusal: Refusal, tmp_path: Path) -> None:
    put_math(llama_hub)
    assert prefetch(cli, "meta_math", "--lock").code == 0
    assert MATH.join
    locked = yaml.safe_load((tmp_path / "data.lock").read_text())
    assert set(locked) == {MATH.data.hub, MATH.join.hub}
    for repository, entry in locked.items():
        parts = {
            p.relative_to(llama_hub.remote / repository): p for p in (llama_hub.remote / repository).rglob("part-*")
        }
        assert entry["commit"] == llama_hub.commit and len(parts) == 2
        assert entry["files"] == {
            name.as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for name, path in parts.items()
        }
        name = next(iter(parts))
        cached = llama_hub.cache / repository / "snapshots" / llama_hub.commit / name
        whole = cached.read_bytes()
        cached.write_bytes(whole + b" ")
        assert f"{repository}, {name.as_posix()}: SHA-256 is" in refusal(*words("preview", "meta_math"))
        cached.write_bytes(whole)
    assert cli(*words("preview", "meta_math"), "--eval.limit", 1).code == 0


def test_a_table_that_is_cut_short_is_refused(llama_hub: FakeHub, cli: Cli) -> None:
    put_math(llama_hub, 4999)
    done = prefetch(cli, "meta_math")
    assert done.code == 2 and "4999 rows instead of 5000" in done.err
    assert "rows" not in done.out


def test_instructions_need_no_model_of_sentences(llama_hub: FakeHub, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    import nltk

    monkeypatch.setattr(nltk, "download", lambda *_, **__: pytest.fail("a download"))
    put_ifeval(llama_hub)
    done = prefetch(cli, "meta_ifeval").ok()
    assert done.out == "meta_ifeval: 4 files\nmeta_ifeval: 541 rows, of which 0 cannot be scored\n"
