"""The Llama tasks read from a folder as the hub has them, parquet and cards, what they read from their samples."""

from pathlib import Path

import pytest
from tests.conftest import Cli
from tests.scoring.ifeval.sentence_model import sentence_model
from tests.tasks.meta_mirror import fitting, on_evals, sample_rows, write_mirror
from tests.tasks.meta_rows import PARTNERS, TASKS

from afrieval._util.errors import UserError
from afrieval.tasks.data.files import SAMPLES
from afrieval.tasks.data.splits import Split, check_source, load_split
from afrieval.tasks.declaration.spec import TaskSpec


def load(spec: TaskSpec, source: object) -> Split:
    split = load_split(spec, "eng", "latest", str(source))
    assert split
    return split


@pytest.fixture(autouse=True)
def _sentences(tmp_path_factory: pytest.TempPathFactory) -> object:
    with sentence_model(tmp_path_factory.mktemp("nltk")):
        yield


@pytest.mark.parametrize("task", TASKS)
def test_parquet_files_give_the_documents_of_the_samples(task: str, tmp_path: Path) -> None:
    rows, others = sample_rows(task)
    spec = fitting(on_evals(task), len(rows), len(others))
    write_mirror(tmp_path, spec, rows, others)
    check_source(spec, str(tmp_path))
    assert load(spec, tmp_path).documents == load(on_evals(task), SAMPLES).documents
    assert [d.prompt for d in load(spec, tmp_path).documents] == [
        r["input_final_prompts"][0][: -2 if spec.answer_in_prompt else None] for r in rows
    ]


@pytest.mark.parametrize("task", TASKS)
def test_too_few_or_too_many_rows_are_refused(task: str, tmp_path: Path) -> None:
    rows, others = sample_rows(task)
    spec = on_evals(task)
    write_mirror(tmp_path, spec, rows, others)
    declared = spec.data.rows_of("latest")
    assert declared and declared > len(rows)
    for wanted in (declared, len(rows) + 1, len(rows) - 1):
        message = rf"{task} eng latest \(part-00000-of-00002\S*\) has {len(rows)} rows instead of {wanted}\b"
        with pytest.raises(UserError, match=message):
            load(fitting(spec, wanted, len(others)), tmp_path)


def test_a_file_that_the_card_names_and_the_folder_lacks(cli: Cli, tmp_path: Path) -> None:
    spec = on_evals("meta_gpqa")
    write_mirror(tmp_path, spec, *sample_rows("meta_gpqa"))
    for path in tmp_path.rglob("part-*"):
        path.unlink()
    evals = ("--task.evals_dataset", spec.data.hub)
    done = cli("preview", "--task.task_name", "meta_gpqa", *evals, "--data.source", tmp_path)
    assert done.code == 2 and f"{tmp_path} lacks the latest rows of meta_gpqa" in done.err and "README.md" in done.err


@pytest.mark.parametrize("task", PARTNERS)
def test_the_other_data_set_is_whole_and_there(task: str, tmp_path: Path) -> None:
    rows, others = sample_rows(task)
    spec = on_evals(task)
    write_mirror(tmp_path, spec, rows, others)
    assert spec.join and spec.join.rows
    with pytest.raises(UserError, match=rf"{spec.join.hub} .* has {len(others)} rows instead of {len(others) + 1}"):
        load(fitting(spec, len(rows), len(others) + 1), tmp_path)
    for path in (tmp_path / spec.join.hub).rglob("part-*"):
        path.unlink()
    with pytest.raises(UserError, match=f"has no {spec.join.split} rows of {spec.join.hub}"):
        load(fitting(spec, len(rows), len(others)), tmp_path)
    (tmp_path / spec.join.hub).rename(tmp_path / "elsewhere")
    with pytest.raises(UserError, match=f"does not contain {spec.join.hub}"):
        check_source(spec, str(tmp_path))


def test_the_hash_changes_with_either_data_set(tmp_path: Path) -> None:
    rows, others = sample_rows("meta_math")
    hashes = []
    for number, (some, more) in enumerate(((rows, others), (rows[1:], others), (rows, others[1:]), (rows, others))):
        spec = fitting(on_evals("meta_math"), len(some), len(more))
        write_mirror(tmp_path / str(number), spec, some, more)
        hashes.append(load(spec, tmp_path / str(number)).sha256)
    assert len(set(hashes)) == 3 and hashes[0] == hashes[3]
