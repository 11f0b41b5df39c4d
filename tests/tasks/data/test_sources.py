"""Whatever a task file or a card names lies in the data set's own folder."""

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import ROOT, Cli

from afrieval._util.errors import UserError
from afrieval.tasks.data.files import Wanted, data_files
from afrieval.tasks.data.lock import DataLock, check_inside, check_repository, read_lock
from afrieval.tasks.declaration.spec import load_task, task_names

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


@pytest.mark.parametrize("key", KEYS)
def test_a_path_that_leads_out_is_named(tmp_path: Path, key: str) -> None:
    for value in OUTSIDE:
        with pytest.raises(UserError) as caught:
            load_task("afrimmlu", changed(tmp_path, "afrimmlu", KEYS[key], value))
        assert f"afrimmlu/task.yaml: {key} is {value!r}" in caught.value.message
    for wrong in (None, 3, True if key == "data.files.test" else ["x"]):
        with pytest.raises(UserError, match=rf"afrimmlu/task.yaml, line \d+: {key} must be text"):
            load_task("afrimmlu", changed(tmp_path, "afrimmlu", KEYS[key], wrong))


def test_a_join_and_what_a_code_makes_of_a_pattern(tmp_path: Path) -> None:
    for key in ("file", "revision"):
        with pytest.raises(UserError, match=rf"join\.{key} is '\.\./x'"):
            load_task("meta_math", changed(tmp_path, "meta_math", ("join", key), "../x"))
    folder = changed(tmp_path, "afrimmlu", ("languages", "yor"), ".")
    with pytest.raises(UserError, match=r"data\.files\.test is 'data/\.\./test\.tsv'"):
        load_task("afrimmlu", changed(folder, "afrimmlu", ("data", "files", "test"), "data/.{code}/test.tsv"))


@pytest.mark.parametrize("section", ["data", "translate"])
def test_repositories_are_named_as_on_the_hub(tmp_path: Path, section: str) -> None:
    ends = [
        "../..",
        "/",
        "x",
        "a/b/c",
        "/a/b",
        "a/..",
        "../a",
        "./a",
        "a/.",
        "a/-b",
        "a/b-",
        "a/b.",
        "{evals}/..",
        "~/a",
    ]
    bad = [*ends, "a/b--c", "a/b..c", "a/b.git", "a/é", "a/{code}"]
    for value in [*bad, "a/b c", "a/b\n", "a/" + "b" * 97, ""]:
        with pytest.raises(UserError) as caught:
            load_task("afrimmlu", changed(tmp_path, "afrimmlu", (section, "hub"), value))
        assert f"{section}.hub is {value!r}, but must be ORG/NAME" in caught.value.message
    for value in ("a/b", "A-1/b_c.d", "a/" + "b" * 96, "meta-llama/{evals}", "_a/b_"):
        check_repository(value, "here")


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
    for value in ("../../x", "../afrimgsm/../../x", "/x", "~/x", "sample/../../../x", "a\\b"):
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
            data_files(Wanted("o/n", "main", "config:c", "train"), str(tmp_path / "mirror"), DataLock())
        assert "o/n" in caught.value.message and "\n" not in caught.value.message


def test_links_in_a_mirror_are_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/x.tsv").write_text("a\tb\n")
    (tmp_path / "mirror/o").mkdir(parents=True)
    (tmp_path / "mirror/o/n").symlink_to(tmp_path / "elsewhere")
    assert len(data_files(Wanted("o/n", "main", "x.tsv", "test"), str(tmp_path / "mirror"), DataLock())) == 1


def test_a_commit_in_a_lock_is_no_path(tmp_path: Path) -> None:
    lock = tmp_path / "data.lock"
    lock.write_text("o/n: {commit: ../../x, files: {}}\n")
    with pytest.raises(UserError, match=r"data\.lock, o/n: commit is '\.\./\.\./x'"):
        read_lock(lock)


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ({"tset": 5}, "data.rows has an unknown split 'tset'"),
        ({"test": 0}, "data.rows.test must be 1 or more or a map, not 0"),
        ({"test": -1}, "data.rows.test must be 1 or more or a map, not -1"),
        ({"test": True}, "data.rows.test must be a whole number or a map, not true"),
        ({"test": "500"}, 'data.rows.test must be a whole number or a map, not "500"'),
        ({"test": 1.5}, "data.rows.test must be a whole number or a map, not 1.5"),
        ({"test": {"yor": 0}}, "data.rows.test.yor must be 1 or more, not 0"),
        ({"test": {"you": 5}}, "data.rows.test has an unknown language 'you'"),
        (0, "data.rows must be 1 or more or a map, not 0"),
        ("many", 'data.rows must be a whole number or a map, not "many"'),
        ([500], "data.rows must be a whole number or a map, not [500]"),
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
