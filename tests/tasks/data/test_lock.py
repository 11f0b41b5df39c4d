"""data.lock: prefetch writes what it found, and a run takes that and nothing else."""

import hashlib
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import ROOT, Cli
from tests.fake_hub import FakeHub, fake_hub
from tests.tasks.data.test_splits import row, write_tsv

from afrieval._util.errors import UserError
from afrieval.tasks.data.files import SplitFiles, data_files
from afrieval.tasks.data.lock import DataLock, check_inside, check_repository, read_lock, write_lock
from afrieval.tasks.declaration.spec import load_task, task_names

HUB = "masakhane/afrimmlu"
WORDS = ("--task.task_name", "afrimmlu", "--task.languages", "yor", "--data.source", "hub")


@pytest.fixture
def hub(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeHub:
    monkeypatch.chdir(tmp_path)
    return fake_hub(tmp_path, monkeypatch)


def test_what_prefetch_locks_a_run_checks_and_stores(hub: FakeHub, cli: Cli, tmp_path: Path, small_tasks: Path) -> None:
    words = (*WORDS, "--task.folder", small_tasks)
    assert cli("prefetch", *words, "--lock").code == 0
    locked = yaml.safe_load((tmp_path / "data.lock").read_text())[HUB]
    test = (hub.remote / HUB / "data/yor/test.tsv").read_bytes()
    assert locked["commit"] == hub.commit and len(locked["files"]) == 3
    assert locked["files"]["data/yor/test.tsv"] == hashlib.sha256(test).hexdigest()
    run = ("run", *words, "--task.prompts", 1, "--model.model_name", "demo", "--run_dir", tmp_path / "run")
    calls = len(hub.calls)
    assert cli(*run).code == 0
    (visit,) = yaml.safe_load((tmp_path / "run/run.yaml").read_text())["visits"]
    assert visit["data_commits"] == {HUB: hub.commit}

    hub.commit = "newer"
    assert cli(*run, "--eval.limit", 1).code == 0 and len(hub.calls) == calls, "the locked commit is in the cache"
    cached = hub.cache / HUB / "snapshots" / locked["commit"] / "data/yor/test.tsv"
    cached.write_bytes(test + test.splitlines()[-1] + b"\n")
    refused = cli(*run)
    assert refused.code == 2 and f"{HUB}, data/yor/test.tsv: SHA-256 is" in refused.err
    assert "prefetch --lock" in refused.err


def test_a_folder_with_other_data_is_refused_too(hub: FakeHub, cli: Cli, tmp_path: Path) -> None:
    cli("prefetch", *WORDS, "--lock")
    write_tsv(tmp_path / "mirror", "yor", "test", [row(i) for i in range(4)])
    words = ("--data.source", tmp_path / "mirror", "--model.model_name", "demo", "--run_dir", tmp_path / "run")
    refused = cli("run", *WORDS, *words)
    assert refused.code == 2 and "data/yor/test.tsv" in refused.err
    assert cli("preview", *WORDS, "--data.source", "samples").code == 0, "sample rows are ours"


def test_locks_add_up_and_a_new_commit_replaces_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "data.lock"
    write_lock(DataLock({"a/b": "1"}, {"a/b": {"x": "11"}}), path)
    write_lock(DataLock({"c/d": "1"}, {"c/d": {"y": "22"}}), path)
    write_lock(DataLock({"a/b": "1"}, {"a/b": {"z": "33"}}), path)
    assert read_lock(path) == DataLock({"a/b": "1", "c/d": "1"}, {"a/b": {"x": "11", "z": "33"}, "c/d": {"y": "22"}})
    write_lock(DataLock({"a/b": "2"}, {"a/b": {"z": "44"}}), path)
    assert read_lock(path).files["a/b"] == {"z": "44"}


@pytest.mark.parametrize("text", ["a/b: 1\n", "a/b: {commit: x}\n", "a/b: {files: {}, revision: x}\n", "[1]\n"])
def test_a_file_that_is_no_lock(tmp_path: Path, text: str) -> None:
    (tmp_path / "data.lock").write_text(text)
    with pytest.raises(UserError, match=r"data\.lock"):
        read_lock(tmp_path / "data.lock")


def test_without_a_file_nothing_is_locked(tmp_path: Path) -> None:
    lock = read_lock(tmp_path / "data.lock")
    lock.check("a/b", "x", "11")
    assert lock == DataLock()


OUTSIDE = ["..", "../..", "../x", "x/../y", "x/../../y", "/etc/passwd", "//x", "~/x", "~", "C:/x", "C:\\x", "..\\x",
           "x\\y", "file:///etc/passwd", "https://x.org/y", "x\0y", "x\ny", "", " "]  # fmt: skip
KEYS = {
    "data.files.test": ("data", "files", "test"),
    "data.revision": ("data", "revision"),
    "translate.file": ("translate", "file"),
    "translate.revision": ("translate", "revision"),
    "languages.yor": ("languages", "yor"),
}


def changed(folder: Path, task: str, keys: tuple[str, ...], value: Any) -> Path:
    """The folder, with a copy of a task in which one more key has another value."""
    target = folder / task
    if not target.exists():
        shutil.copytree(load_task(task).folder, target)
    content = yaml.safe_load((target / "task.yaml").read_text(encoding="utf-8"))
    section = content
    for key in keys[:-1]:
        section = section[key]
    section[keys[-1]] = value
    (target / "task.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    return folder


@pytest.mark.parametrize("path", OUTSIDE)
def test_a_path_that_leads_out_is_refused(path: str) -> None:
    with pytest.raises(UserError, match="the key is "):
        check_inside(path, "the key")


@pytest.mark.parametrize("key", KEYS)
def test_a_key_with_a_path_that_leads_out_is_named(tmp_path: Path, key: str) -> None:
    for value in OUTSIDE[::6]:
        with pytest.raises(UserError) as caught:
            load_task("afrimmlu", changed(tmp_path, "afrimmlu", KEYS[key], value))
        assert f"afrimmlu/task.yaml: {key} is {value!r}" in caught.value.message


def test_a_join_and_what_a_code_makes_of_a_pattern(tmp_path: Path) -> None:
    for key in ("file", "revision"):
        with pytest.raises(UserError, match=rf"join\.{key} is '\.\./x'"):
            load_task("meta_math", changed(tmp_path, "meta_math", ("join", key), "../x"))
    folder = changed(tmp_path, "afrimmlu", ("languages", "yor"), ".")
    with pytest.raises(UserError, match=r"data\.files\.test is 'data/\.\./test\.tsv'"):
        load_task("afrimmlu", changed(folder, "afrimmlu", ("data", "files", "test"), "data/.{code}/test.tsv"))


NAMELESS = [
    *("../..", "/", "x", "a/b/c", "/a/b", "a/..", "../a", "./a", "a/.", "a/-b", "a/b-", "a/b.", "{evals}/..", "~/a"),
    *("a/b--c", "a/b..c", "a/b.git", "a/é", "a/{code}", "a/b c", "a/b\n", "a/" + "b" * 97, ""),
]


def test_repositories_are_named_as_on_the_hub(tmp_path: Path) -> None:
    for value in NAMELESS:
        with pytest.raises(UserError) as caught:
            check_repository(value, "here")
        assert f"here is {value!r}, but must be ORG/NAME" in caught.value.message
    for value in ("a/b", "A-1/b_c.d", "a/" + "b" * 96, "meta-llama/{evals}", "_a/b_"):
        check_repository(value, "here")
    with pytest.raises(UserError, match=r"translate\.hub is 'x', but must be ORG/NAME"):
        load_task("afrimmlu", changed(tmp_path, "afrimmlu", ("translate", "hub"), "x"))


@given(st.text(st.sampled_from("ab-_./é \n"), max_size=12))
def test_repositories_are_those_that_the_hubs_client_takes(name: str) -> None:
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils._validators import validate_repo_id

    try:
        check_repository(name, "here")
    except UserError:
        return
    try:
        validate_repo_id(name)
    except HFValidationError as e:
        raise AssertionError(name) from e
    assert name.isascii() and name.count("/") == 1


@given(st.lists(st.sampled_from(["..", ".", "", "a", "b*", "**"]), min_size=1, max_size=6))
def test_no_path_that_passes_leads_out(parts: list[str]) -> None:
    import os

    name = "/".join(parts)
    for below, root in ((0, "/r/task"), (1, "/r")):
        try:
            check_inside(name, "here", below)
        except UserError:
            continue
        assert os.path.normpath(f"/r/task/{name}").startswith(root)


def test_samples_may_lie_in_a_task_next_to_it(tmp_path: Path) -> None:
    for value in ("../afrimgsm/sample", "./sample", "sample", "../afrimmlu/sample/.."):
        load_task("afrimmlu", changed(tmp_path, "afrimmlu", ("data", "samples"), value))
    for value in ("../../x", "../afrimgsm/../../x"):
        with pytest.raises(UserError, match=r"data\.samples is"):
            load_task("afrimmlu", changed(tmp_path, "afrimmlu", ("data", "samples"), value))


@pytest.mark.parametrize("path", OUTSIDE)
def test_a_card_that_leads_out_is_refused(tmp_path: Path, path: Any) -> None:
    folder = tmp_path / "mirror/o/n"
    folder.mkdir(parents=True)
    (tmp_path / "x").write_text("secret")
    for files in (
        path,
        [path],
        [{"split": "train", "path": path}],
        [{"split": "train", "path": ["a", path]}],
        {"train": path},
    ):
        card = {"configs": [{"config_name": "c", "data_files": files}]}
        (folder / "README.md").write_text(f"---\n{yaml.safe_dump(card)}\n---\n")
        with pytest.raises(UserError) as caught:
            data_files(SplitFiles("o/n", "main", "config:c", "train"), str(tmp_path / "mirror"), DataLock())
        assert "o/n" in caught.value.message and "\n" not in caught.value.message


def test_links_in_a_mirror_are_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/x.tsv").write_text("a\tb\n")
    (tmp_path / "mirror/o").mkdir(parents=True)
    (tmp_path / "mirror/o/n").symlink_to(tmp_path / "elsewhere")
    assert len(data_files(SplitFiles("o/n", "main", "x.tsv", "test"), str(tmp_path / "mirror"), DataLock())) == 1


def test_a_commit_in_a_lock_is_no_path(tmp_path: Path) -> None:
    lock = tmp_path / "data.lock"
    lock.write_text("o/n: {commit: ../../x, files: {}}\n")
    with pytest.raises(UserError, match=r"data\.lock, o/n: commit is '\.\./\.\./x'"):
        read_lock(lock)


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ({"tset": 5}, "data.rows has an unknown split 'tset'"),
        ({"test": {"yor": 0}}, "data.rows.test.yor must be 1 or more, not 0"),
        ({"test": {"you": 5}}, "data.rows.test has an unknown language 'you'"),
    ],
)
def test_numbers_of_rows(tmp_path: Path, rows: Any, problem: str) -> None:
    with pytest.raises(UserError) as caught:
        load_task("afrimmlu", changed(tmp_path, "afrimmlu", ("data", "rows"), rows))
    assert problem in caught.value.message


def test_all_tasks_pass_and_the_command_line_says_it(cli: Cli, tmp_path: Path) -> None:
    assert all(load_task(name) for name in task_names(ROOT / "tasks"))
    folder = changed(tmp_path, "afrimmlu", ("data", "hub"), "../..")
    done = cli("run", "--task.folder", folder, "--task.task_name", "afrimmlu", "--model.model_name", "demo")
    assert done.code == 2 and "afrimmlu/task.yaml: data.hub is '../..', but must be ORG/NAME" in done.err
