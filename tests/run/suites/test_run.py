"""A suite with derived metrics, from the command to derived.json, with and without reference runs."""

import json
import shutil
from pathlib import Path

import pytest
from tests.conftest import Cli, Outcome
from tests.models.tiny import tiny_llama

from afrieval.results.run_files import read_run

SUITE = """
suite: small
groups: {a: [afrixnli], b: [belebele]}
languages: [yor]
prompts: [1]
derived:
  attack: {how: auc, of: [afrixnli.acc_norm, belebele.acc_norm]}
  leak: {how: privleak, of: attack, reference: retain}
  quality: {how: ks_test, of: belebele.acc, reference: retain}
"""
TAGS = ("--model.chat_template", "true", "--model.chat_tags.user_start", "Q: ")


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    path = tmp_path / "suite.yaml"
    path.write_text(SUITE)
    return path


@pytest.fixture(scope="module")
def retain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of another model."""
    from afrieval.cli.main import main

    folder = tmp_path_factory.mktemp("retain")
    (folder / "suite.yaml").write_text(SUITE)
    words = ["--model.model_name", tiny_llama(folder / "model", seed=3), "--task-config-yaml", folder / "suite.yaml"]
    assert main(["run", *map(str, [*words, "--data.source", "samples", "--run_dir", folder / "run"])]) == 0
    return folder / "run"


def run(cli: Cli, suite: Path, *words: object) -> Outcome:
    given = ["--model.model_name", "demo", "--task-config-yaml", suite, "--data.source", "samples"]
    return cli("run", *given, "--run_dir", suite.parent / "run", *words)


def stored(folder: Path) -> dict[str, dict[str, object]]:
    return {found["name"]: found for found in json.loads((folder / "derived.json").read_text())}


def test_a_reference_that_is_given_later_is_all_that_is_computed(
    cli: Cli, suite: Path, retain: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = suite.parent / "run"
    assert "needs --reference retain=RUN" in " ".join(run(cli, suite).out.split()).replace("it needs", "needs")
    before = stored(folder)
    assert before["attack"]["value"] is not None and before["leak"]["value"] is None
    assert "retain" in str(before["leak"]["reason"]) and read_run(folder)["suite"]["derived"]["attack"]["how"] == "auc"

    monkeypatch.setattr("afrieval.run.evaluate.load_model", lambda *args: pytest.fail("the model was loaded"))
    done = run(cli, suite, "--reference", f"retain={retain}")
    assert done.code == 0 and "needs --reference" not in done.out
    after = stored(folder)
    assert after["attack"] == before["attack"] and after["quality"]["value"] is not None
    fingerprint = read_run(retain)["identity"]["model"]["fingerprint"]  # type: ignore[typeddict-item]
    identity = after["leak"]["identity"]
    assert isinstance(identity, dict) and identity["model"]["fingerprint"] != fingerprint
    assert identity["references"] == {"retain": {"path": str(retain), "fingerprint": fingerprint}}
    assert identity["rows"] == {"afrixnli_yor_eng_1": 9, "belebele_yor_eng_1": 12}
    own, other = auc_of(folder), auc_of(retain)
    assert after["leak"]["value"] == pytest.approx(100 * (other - own) / (1 - other))
    run(cli, suite)
    assert stored(folder)["leak"]["value"] is None  # nothing stale stays


def auc_of(folder: Path) -> float:
    return float(str(stored(folder)["attack"]["value"]))


def test_compare_reads_the_folders_alone(cli: Cli, suite: Path, retain: Path, tmp_path: Path) -> None:
    run(cli, suite)
    suite.unlink()
    words = ("--json", tmp_path / "tables.json")
    alone = cli("compare", tmp_path / "run", *words)
    assert alone.code == 0 and "it needs --reference" in " ".join(alone.out.split())
    cli("compare", tmp_path / "run", retain, "--reference", f"retain={retain}", *words).ok()
    tables = json.loads((tmp_path / "tables.json").read_text())
    rows = next(table["rows"] for table in tables if table["title"] == "small")
    found = {(row["metric"], row["model"]): row["score"] for row in rows}
    assert found["leak", "model"] == 0 and found["quality", "model"] == 1 and len(found) == 6
    assert {row["references"] for row in rows if row["metric"] == "leak"} == {"retain"}
    assert stored(retain)["leak"]["value"] == 0
    assert stored(retain)["leak"]["notes"] == ["the reference retain has the same model as the run"]
    assert not stored(tmp_path / "run")["leak"]["notes"]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--reference", "retained={retain}"), "no derived metric uses the reference 'retained'"),
        (("--reference", "retain=x", "--reference", "retain={retain}"), "--reference retain is given twice"),
        (("--reference", "retain={retain}/missing"), "the reference retain: there is no run folder"),
        (("--reference", "retain={retain}/.."), "is not a run folder"),
        (("--reference", "retain={retain}", "--eval.limit", "3"), "rows there and 3 in this run"),
        (("--reference", "retain={retain}", "--eval.num_fewshot", "1"), "num_fewshot was 0 and is 1 in this run"),
        (("--reference", "retain={retain}", *TAGS), "does not fit: chat_template was False and is True in this run"),
        (("--reference", "retain={retain}", "--task.prompts", "2"), ""),
        (("--reference", "retain={retain}", "--task.answer_form", "generate"), "of afrixnli, answer_form was 'text'"),
    ],
)
def test_a_reference_must_fit(cli: Cli, suite: Path, retain: Path, words: tuple[str, ...], problem: str) -> None:
    done = run(cli, suite, *(word.format(retain=retain) for word in words))
    if problem:
        assert done.code == 2 and problem in done.err and "hint: " in done.err
    else:  # it lacks the cell
        assert done.code == 0 and "the reference retain has no afrixnli" in str(stored(suite.parent / "run")["leak"])


def test_what_is_not_run_is_absent(cli: Cli, suite: Path, retain: Path) -> None:
    done = run(cli, suite, "--task.task_name", "belebele", "--reference", f"retain={retain}")
    found = stored(suite.parent / "run")
    assert (
        done.code == 0 and found["leak"]["reason"] == "afrixnli was not run" and found["quality"]["value"] is not None
    )


def test_a_folder_that_cannot_be_written_is_compared_all_the_same(
    cli: Cli, retain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(retain, tmp_path / "copy")

    def fail(*given: object, **options: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("afrieval.run.suites.run.write_json", fail)
    done = cli("compare", tmp_path / "copy", "--reference", f"retain={retain}")
    assert done.code == 0 and "derived.json cannot be written" in done.err
