"""samples shows what was asked and answered, and only the documents asked for."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.conftest import Cli

from afrieval.results.run_files import sample_path, write_samples
from afrieval.results.samples import read_samples


@pytest.fixture(scope="module")
def folder(demo_run: Callable[..., Path]) -> Path:
    words = ("--task.languages", "yor,swa", "--task.prompts", "1,3", "--task.prompt_language", "both")
    return demo_run("--task.task_name", "afrixnli", *words)


def test_english_beside_native(cli: Cli, folder: Path) -> None:
    out = cli("samples", folder, "--language", "yor", "--n", 1).out
    assert out.startswith("9 of 9 documents, afrixnli_yor_eng_1 and afrixnli_yor_native_1")
    assert "Question: Given sentence 1" in out and "Ìbéèrè:" in out and out.count("gold") == out.count("picked") == 2
    assert "... and 8 more" in out


@pytest.mark.parametrize("only", ["flips", "wrong"])
def test_only_some(cli: Cli, folder: Path, only: str) -> None:
    cells = [read_samples(sample_path(folder, f"afrixnli_yor_{name}")) for name in ("eng_1", "native_3")]
    scores = list(zip(*([s["acc"] for s in cell] for cell in cells), strict=True))
    expected = sum(a != b if only == "flips" else 0.0 in (a, b) for a, b in scores)
    out = cli("samples", folder, "--language", "yor", "--prompts", "eng1,native3", "--only", only).out
    assert out.startswith(f"{expected} of 9 documents") and expected > 0


def test_the_marks_are_those_of_the_samples(cli: Cli, folder: Path) -> None:
    sample = read_samples(sample_path(folder, "afrixnli_yor_eng_3"))[0]
    out = cli("samples", folder, "--language", "yor", "--prompts", "eng3", "--n", 1).out
    (gold,) = [line for line in out.splitlines() if "gold" in line]
    assert (
        repr(sample["arguments"][sample["gold"]][1]) in gold and f"{sample['resps'][sample['gold']][0][0]:.4f}" in gold
    )


def test_chats_are_turns_and_long_texts_are_cut(cli: Cli, folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "run")
    sample = read_samples(sample_path(folder, "afrixnli_yor_eng_1"))[0]
    turns = [{"role": "system", "content": "Dáhùn."}, {"role": "user", "content": "Ìbéèrè 1\n" + "x" * 9000 + " end"}]
    sample |= {"arguments": [[json.dumps(turns, ensure_ascii=False), {}]], "resps": [["First,\n" + "y" * 9000]]}
    write_samples(tmp_path / "run", "afrixnli_yor_eng_1", [sample])
    words = ("samples", tmp_path / "run", "--languages", "yoruba", "--prompts", "eng1")
    short, whole = cli(*words).out, cli(*words, "--whole").out
    assert "\n[system]\nDáhùn.\n\n[user]\nÌbéèrè 1\nxxx" in short and "xx end\n---" in short
    assert "  answer:\n    First,\n    yyy" in short and len(short) < 4000
    assert "x" * 9000 in whole and "y" * 9000 in whole
