"""The `.eval_results` of a model: an entry per language, a file per variant."""

from pathlib import Path

import pytest
import yaml
from huggingface_hub import parse_eval_result_entries
from tests.conftest import Cli

from afrieval.analysis.scores import by_language
from afrieval.results.runs import read_runs


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


@pytest.mark.parametrize("key", ["dataset_revision", "source_url", "verify_token"])
def test_what_a_run_does_not_know_is_absent(cli: Cli, choices: Path, tmp_path: Path, key: str) -> None:
    assert cli("export", "--to", "huggingface-eval-yaml", tmp_path / "out", "--run", choices).code == 0
    path = tmp_path / "out/demo/.eval_results/afrixnli_eng_0shot_text.yaml"
    assert all(getattr(entry, key) is None for entry in parse_eval_result_entries(yaml.safe_load(path.read_text())))
