"""spBLEU without its tokenizer, with a damaged one, and with one that is downloaded."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import constants
from sacrebleu.tokenizers import tokenizer_spm
from tests.conftest import Cli
from tests.scoring.kinds import write_task

from afrieval._util.errors import UserError
from afrieval.scoring.base import Question, Response
from afrieval.scoring.metrics import metric
from afrieval.scoring.metrics.translation import _problem, _with_tokenizer

ASKED = Response("Musa went to Kano."), Question("Musa went to the market.")


@pytest.fixture(autouse=True)
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Returns where the tokenizer would be."""
    monkeypatch.setattr(tokenizer_spm, "SACREBLEU_DIR", str(tmp_path / "sacrebleu"))
    _problem.cache_clear()
    _with_tokenizer.cache_clear()
    yield tmp_path / "sacrebleu/models/flores200sacrebleuspm"
    _problem.cache_clear()
    _with_tokenizer.cache_clear()


def test_without_a_network_it_is_missing() -> None:
    found = metric("spbleu")
    assert "is not on this machine" in found.missing("yor")
    with pytest.raises(UserError, match="cannot be downloaded: HF_HUB_OFFLINE is set"):
        found.fetch()
    with pytest.raises(UserError, match="is not on this machine"):
        found.measure(*ASKED)


def test_it_is_downloaded_once(model: Path, monkeypatch: pytest.MonkeyPatch, _small_tokenizer: Path) -> None:
    calls = []

    def download(url: str, path: str) -> None:
        calls.append(url)
        Path(path).parent.mkdir(parents=True)
        shutil.copy(_small_tokenizer / "models" / model.name, path)

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr("sacrebleu.utils.download_file", download)
    found = metric("spbleu")
    for _ in range(2):
        found.fetch()
    assert calls == [tokenizer_spm.SPM_MODELS["flores200"]["url"]] and not found.missing("")
    assert found.measure(*ASKED)


@pytest.mark.parametrize("fault", [OSError("timed out"), SystemExit(1), ValueError("unknown url type")])
def test_a_download_that_fails_is_an_error_and_not_repeated(
    fault: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def download(url: str, path: str) -> None:
        calls.append(url)
        raise fault

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr("sacrebleu.utils.download_file", download)
    for _ in range(2):
        with pytest.raises(UserError, match="cannot be downloaded") as caught:
            metric("spbleu").fetch()
        assert str(fault) in caught.value.message and "from another machine" in caught.value.hint
    assert len(calls) == 1


@pytest.mark.parametrize(("content", "why"), [(b"", "is not on this machine"), (b"<html>not found", "is damaged")])
def test_a_damaged_tokenizer_is_not_used(model: Path, content: bytes, why: str) -> None:
    model.parent.mkdir(parents=True)
    model.write_bytes(content)
    assert why in metric("spbleu").missing("")


def test_a_run_without_it_says_so_and_has_the_other_scores(cli: Cli, tmp_path: Path) -> None:
    write_task(tmp_path / "tasks", "translation")
    words: list[Any] = ["--task.folder", tmp_path / "tasks", "--data.source", "samples", "--run_dir", tmp_path / "run"]
    done = cli(
        "run", "--model.model_name", "demo", "--task.task_name", "translation", "--eval.max_gen_toks", 4, *words
    ).ok()
    assert "translation: spbleu is left out, sacrebleu's tokenizer flores200 is not on this machine" in done.err
    head = (tmp_path / "run/summary.csv").read_text(encoding="utf-8").splitlines()[0].split(",")
    assert {"bleu", "empty", "copied"} <= set(head) and "spbleu" not in head
