"""The `.eval_results` of a model: an entry per language, a file per variant."""

import json
import shutil
from pathlib import Path
from typing import Any

import yaml
from huggingface_hub import parse_eval_result_entries
from tests.conftest import Cli, csv_rows
from tests.exchange.conftest import declared_as

from afrieval.addons.readers.every_eval_ever import READER
from afrieval.analysis.scores import by_language
from afrieval.analysis.verdicts import OWN
from afrieval.exchange.discovery import read_inputs
from afrieval.results.comparable_runs import read_runs
from afrieval.results.run_files import read_run, sample_files, stored_name, write_run, write_samples
from afrieval.results.samples import read_samples


def test_an_entry_per_language_and_a_file_per_variant(cli: Cli, choices: Path, texts: Path, tmp_path: Path) -> None:
    done = cli("export", "--to", "huggingface-eval-yaml", tmp_path / "out", "--run", choices, "--run", texts)
    folder = tmp_path / "out/demo/.eval_results"
    assert done.code == 0 and sorted(path.name for path in folder.iterdir()) == [
        "afrimgsm_eng_1shot_generate.yaml",
        "afrimmlu_eng_0shot_text.yaml",
        "afrimmlu_native_0shot_text.yaml",
        "afrixnli_eng_0shot_text.yaml",
        "afrixnli_native_0shot_text.yaml",
        "flores_to_eng_eng_1shot_generate.yaml",
        "masakhaner_eng_1shot_generate.yaml",
    ]
    entries = parse_eval_result_entries(yaml.safe_load((folder / "afrixnli_native_0shot_text.yaml").read_text()))
    assert [(entry.dataset_id, entry.task_id) for entry in entries] == [
        ("masakhane/afrixnli", "hau"),
        ("masakhane/afrixnli", "yor"),
    ]
    scores = [s for s in by_language(read_runs([choices])) if s.task == "afrixnli" and s.prompt_language == "native"]
    assert [entry.value for entry in entries] == [score.score for score in scores]
    unknown = ("dataset_revision", "source_url", "verify_token")  # what a run does not know is absent
    assert all(getattr(entry, key) is None for entry in entries for key in unknown)
    notes = str(entries[1].notes)
    for said in (
        "AfriXNLI, Yoruba, acc, scale 0 to 1",
        "mean over prompts 1-2 (native, unreviewed)",
        "0-shot",
        "n = 4",
        "95 %",
    ):
        assert said in notes
    flores = parse_eval_result_entries(yaml.safe_load((folder / "flores_to_eng_eng_1shot_generate.yaml").read_text()))
    assert flores[1].task_id == "yor_Latn" and "scale 0 to 100" in str(flores[1].notes)


def test_the_first_rows_are_no_result_and_a_sample_says_so(cli: Cli, choices: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(choices, tmp_path / "run"))
    record: dict[str, Any] = dict(read_run(run))
    record["declared"]["afrixnli"]["test_set"] = {"hau": 600, "yor": 600}
    write_run(run, record)
    assert cli("export", "--to", "huggingface-eval-yaml", tmp_path / "sample", "--run", run).code == 0
    entries = yaml.safe_load((tmp_path / "sample/demo/.eval_results/afrixnli_eng_0shot_text.yaml").read_text())
    assert all("sample of 4 of 600 rows" in entry["notes"] for entry in entries)
    for path in sample_files(run):  # as --limit writes them
        lines = [{k: v for k, v in line.items() if k != "sample_rank"} for line in read_samples(path)]
        write_samples(run, stored_name(path), [{**line, "doc_id": at} for at, line in enumerate(lines)])
    done = cli("export", "--to", "huggingface-eval-yaml", tmp_path / "first", "--run", run)
    assert "left out: afrixnli_eng_0shot_text of run: it is of the first 4 of 600 rows" in done.err
    assert not list(tmp_path.glob("first/demo/.eval_results/afrixnli*"))


def test_the_suite_s_own_rows_are_no_result_of_a_data_set(cli: Cli, choices: Path, tmp_path: Path) -> None:
    """The Hub ranks results; a record says what they are, and is read back without them."""
    run = declared_as(Path(shutil.copytree(choices, tmp_path / "run")), own_rows=True)
    done = cli("export", "--to", "huggingface-eval-yaml", tmp_path / "hub", "--run", run)
    assert not list(tmp_path.glob("hub/**/*.yaml"))
    assert "left out: afrixnli_eng_0shot_text of run: it is of the suite's own sample rows" in done.err
    assert cli("export", "--to", "every-eval-ever", tmp_path / "records", "--run", run).code == 0
    record = json.loads(next(tmp_path.glob("records/data/afrixnli/**/*.json")).read_text(encoding="utf-8"))
    for result in record["evaluation_results"]:
        data = result["source_data"]
        assert data["source_type"] == "other" and "hf_repo" not in data
        assert data["additional_details"]["sample_rows"] == OWN
    table = READER.read(tmp_path / "records")
    assert not table.rows and "whose rows are the suite's own samples" in " ".join(table.left_out)
    assert cli("export", "--to", "harness-results", tmp_path / "results", "--run", run).code == 0
    assert all(cell.own_rows for cell in read_inputs([tmp_path / "results/demo"]).foreign)
    assert cli("export", "--to", "csv", tmp_path / "tables", "--run", run).code == 0
    assert {row["sample_rows"] for row in csv_rows(next(tmp_path.glob("tables/*scores.csv")))} == {"True"}
