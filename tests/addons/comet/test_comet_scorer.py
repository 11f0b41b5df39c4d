"""score --metric comet: translations get COMET next to chrF++, and a stopped or a later command loses none of it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.addons.comet.tiny_comet import tiny_comet
from tests.conftest import Cli
from tests.run.test_rescore import plausible

from afrieval.models.backends.hf import HF
from afrieval.results.run_files import cell_names, read_run, sample_path
from afrieval.results.samples import read_samples

Copy = Callable[..., Path]
NAME = "comet_tiny"
WORDS = ("--task.task_name", "mafand_from_eng", "--task.languages", "yor,hau", "--task.prompts", "1")
FEW = (*WORDS, "--eval.limit", "4")


@pytest.fixture(scope="module")
def comet(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    folder = tiny_comet(tmp_path_factory.mktemp("comet") / "tiny")
    return ("--metric", "comet", "--comet.model", str(folder), "--comet.device", "cpu")


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != ".lock"}


def scores(folder: Path) -> list[float | None]:
    return [line.get(NAME) for name in cell_names(folder) for line in read_samples(sample_path(folder, name))]


def test_runs_are_compared_by_comet(
    run_demo: Cli, demo_copy: Copy, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, comet: tuple[str, ...]
) -> None:
    first = demo_copy(*FEW, name="first")
    monkeypatch.setattr(HF, "generate_until", plausible)
    assert run_demo(*FEW).code == 0
    second = tmp_path / "run"
    before = content(first)
    done = cli("score", first, second, *comet, "--dry-run")
    assert done.code == 0 and f"{NAME} for 8 translations; nothing is written" in done.err
    assert content(first) == before
    done = cli("score", first, second, *comet, "--csv", "-").ok()
    assert f"{NAME},interval low,interval high,n,chrf++" in done.out
    assert len(set(scores(second))) > 4
    signature = read_run(first)["declared"]["mafand_from_eng"]["signatures"][NAME]
    assert all(part in signature for part in ("tiny|weights:", "with reference", "batch:any", "version:1"))
    (second / "run.yaml").write_text((second / "run.yaml").read_text().replace("model_name: demo", "model_name: other"))
    done = cli("compare", first, second, "--metric", NAME, "--csv", "-", "--contrast", "model").ok()
    columns, row = (line.split(",") for line in done.out.splitlines()[:2])
    cell = dict(zip(columns, row, strict=False))
    assert cell["metric"] == NAME and 0 < float(cell["p_adjusted"]) <= 1
    assert float(cell["interval low"]) <= float(cell["difference"]) <= float(cell["interval high"])
    tiny_comet(tmp_path / "tiny", shift=3)
    assert cli("score", second, *comet[:3], str(tmp_path / "tiny")).code == 0
    done = cli("compare", first, second, "--metric", NAME)
    assert done.code == 2 and f"{NAME} is not the same in" in done.err


def test_documents_are_translations_too(demo_copy: Copy, cli: Cli, comet: tuple[str, ...]) -> None:
    words = ("--task.task_name", "afridocmt_from_eng", "--task.languages", "yor", "--task.prompts", "1")
    run = demo_copy(*words, "--eval.limit", "2", "--eval.max_gen_toks", "8")
    done = cli("score", run, *comet)
    assert done.code == 0 and "chrf++" in done.out, done.err
    assert None not in scores(run)


def test_scoring_again_keeps_it_with_the_answer_that_it_is_of(
    demo_copy: Copy, cli: Cli, monkeypatch: pytest.MonkeyPatch, comet: tuple[str, ...]
) -> None:
    run = demo_copy(*FEW)
    assert cli("score", run, *comet).code == 0
    before = content(run)
    assert cli("score", run).code == 0
    assert content(run) == before
    name = sample_path(run, cell_names(run)[0])
    lines = name.read_text(encoding="utf-8").splitlines()
    name.write_text("\n".join([lines[0].replace('"answer": "', '"answer": "x'), *lines[1:]]) + "\n", encoding="utf-8")
    monkeypatch.setattr("afrieval.run.rescore.Rescored.check_versions", lambda found: None)
    cli("score", run).ok()
    assert [score is None for score in scores(run)] == [True] * 4 + [False] * 4
    assert cli("score", run, *comet).code == 0
    assert content(run)[name.name] == before[name.name]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ((*FEW, "--eval.log_samples", "false"), "was stored without its texts"),
        (("--task.task_name", "afrixnli", "--task.languages", "yor", "--eval.limit", "2"), "no translations"),
    ],
)
def test_runs_without_translations_are_refused(
    demo_copy: Copy, cli: Cli, comet: tuple[str, ...], words: tuple[str, ...], problem: str
) -> None:
    run = demo_copy(*words)
    before = content(run)
    done = cli("score", run, *comet)
    assert done.code == 2 and problem in done.err
    assert content(run) == before


def test_what_is_missing_is_named(demo_copy: Copy, cli: Cli, tmp_path: Path, comet: tuple[str, ...]) -> None:
    run = demo_copy(*FEW)
    done = cli("score", run, *comet[2:])
    assert done.code == 2 and "--comet is for --metric comet" in done.err
    done = cli("score", run, *comet[:3], str(tmp_path))
    assert done.code == 2 and "is not a COMET model: it has no hparams.yaml" in done.err
    path = sample_path(run, cell_names(run)[0])
    path.write_text(
        path.read_text(encoding="utf-8").replace('"source": "', '"source": "", "note": "'), encoding="utf-8"
    )
    done = cli("score", run, *comet)
    assert done.code == 2 and "document 0 has no source text" in done.err
