"""Shared by all tests: a place for the demo model, and a command line that runs in this process."""

import atexit
import csv
import gc
import hashlib
import os
import re
import shutil
import sys
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from importlib import metadata
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple, cast

import pytest
from hypothesis import settings

from afrieval.config.arguments import read_given
from afrieval.config.files import run_config
from afrieval.config.options import RunOptions
from afrieval.config.settings import RunConfig
from afrieval.results.run_files import sample_files
from afrieval.results.samples import Sample, read_samples
from afrieval.tasks.declaration.spec import load_task, task_names

pytest_plugins = ["tests.harness_collection", "tests.faults.summary"]

ROOT = Path(__file__).parents[1]


def check_entry_points() -> None:
    """Refuses an installation that lacks entry points of pyproject.toml, by which add-ons are found."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    installed = {(point.group, point.name, point.value) for point in metadata.distribution("afrieval").entry_points}
    wanted = {(group, name, value) for group, points in declared.items() for name, value in points.items()}
    if wanted - installed:
        pytest.exit(
            "entry points have changed; run: .venv/bin/python -m pip install --no-deps --no-build-isolation -e ."
        )


check_entry_points()  # tasks, which are loaded below, have metrics of add-ons
spec_of = cache(load_task)
TEMPLATED = [name for name in task_names() if spec_of(name).prompted]  # tasks with prompt files
PAPERS = [name for name in TEMPLATED if spec_of(name).paper]  # tasks with prompts of their paper
REAL_DATA = os.environ.get("AFRIEVAL_DATA")
LONG = ("slow", "cluster", "faults", "models", "real", "alldata")  # each has a target of the Makefile

CHECKED: dict[Any, str | None] = {}  # what the check of the engine says, by weights and settings
MEMORY: dict[Any, dict[Any, int]] = {}  # bytes that work of the demo model takes, by kind of work, dtype and sizes
# Words of runs that several tests read.
TWO_TASKS = (
    *("--task.task_name", "afrixnli,afrimmlu", "--task.languages", "yor,amh", "--task.prompts", "1,2"),
    *("--task.prompt_language", "both", "--eval.limit", "4"),
)
TOFU = ("--task-config-yaml", "configs/suites/tofu.yaml", "--eval.max_gen_toks", "4", "--eval.limit", "4")

settings.register_profile("untimed", deadline=None, max_examples=50)  # of each run; speed is for benchmarks
settings.load_profile("untimed")
os.environ.setdefault("OMP_NUM_THREADS", "1")  # several tests run at once, and the models are tiny
os.environ["HF_HUB_OFFLINE"] = "1"  # a test that would need the network fails at once


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out what needs real data where there is none, and what takes long unless it is asked for."""
    left_out = {name for name in LONG if name not in (config.option.markexpr or "")}
    if not REAL_DATA:
        left_out |= {"data", "alldata"}
    # `keywords` also has the names of folders, such as data
    unwanted = {item.nodeid for item in items if left_out & {mark.name for mark in item.iter_markers()}}
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in unwanted])
    items[:] = [item for item in items if item.nodeid not in unwanted]


def pytest_collection_finish() -> None:
    """Leaves modules and collected tests out of garbage collection, which would visit them again and again."""
    gc.collect()
    gc.freeze()
    atexit.register(gc.unfreeze)  # libraries complain at the end of what is not freed


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Says once that cases on real data were left out."""
    if not REAL_DATA:
        terminalreporter.write_line("AFRIEVAL_DATA names no folder: cases on real benchmark data were not collected")


class Outcome(NamedTuple):
    """What a command left: exit code, standard output and standard error."""

    code: int
    out: str
    err: str

    def ok(self) -> "Outcome":
        """Asserts that it succeeded."""
        assert self.code == 0, self.out + self.err
        return self


Cli = Callable[..., Outcome]
Refusal = Callable[..., str]


@pytest.fixture(scope="session", autouse=True)
def _demo_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Builds the demo model into a folder of this test session, so that the build is tested as well."""
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.getbasetemp() / "cache")


@pytest.fixture(autouse=True)
def _models_are_checked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scores the probes of the engine's check once per process for equal files, such as the demo's, as settings are."""
    if of_engine := sys.modules.get("afrieval.models.engine.tree_lm"):
        check = of_engine.objection

        def objection(lm: Any) -> str | None:
            files = sorted(Path(lm.pretrained).glob("*.safetensors")) if isinstance(lm.pretrained, str) else []
            if not files:
                return cast(str | None, check(lm))
            config = lm.model.config.to_dict() | {"_name_or_path": ""}
            made = hashlib.sha256(b"".join(path.read_bytes() for path in files)).digest(), str(config)
            key = (made, type(lm.model), len(lm.tokenizer), lm.model.dtype, lm.mixed_precision_dtype, lm.attention)
            if key not in CHECKED:
                CHECKED[key] = check(lm)
            return CHECKED[key]

        monkeypatch.setattr(of_engine, "objection", objection)


@pytest.fixture(autouse=True)
def _memory_of_demo_is_estimated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Estimates what work of a size takes once per process for the demo model, whose requests plans count."""
    if of_plans := sys.modules.get("afrieval.tools.plan.token_counts"):

        def kept(estimate: Callable[..., Any]) -> Callable[..., Any]:
            def asked(lm: Any, *sizes: int) -> Any:
                if Path(str(lm.pretrained)).parent.name != "afrieval":
                    return estimate(lm, *sizes)
                key = (estimate, lm.model.dtype, lm.device, lm.attention, *sizes)
                if key not in MEMORY:
                    MEMORY[key] = estimate(lm, *sizes)
                return MEMORY[key]

            return asked

        for name in ("pack_bytes", "slots_bytes", "generated_bytes"):
            monkeypatch.setattr(of_plans, name, kept(getattr(of_plans, name)))


@pytest.fixture(scope="session", autouse=True)
def _harness_describes_no_machine() -> None:
    """Leaves out what the harness says of the machine with each result: it asks several programs, for a second."""
    sys.modules["torch.utils.collect_env"] = cast(ModuleType, SimpleNamespace(get_pretty_env_info=str))


@pytest.fixture(scope="session", autouse=True)
def _sacrebleu_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Leaves sacrebleu without downloads, whatever this machine has; `tokenizer` gives it a small one."""
    from sacrebleu.tokenizers import tokenizer_spm

    tokenizer_spm.SACREBLEU_DIR = str(tmp_path_factory.mktemp("sacrebleu"))


@pytest.fixture(scope="session")
def _small_tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a folder like sacrebleu's, with a small model in the place of flores200."""
    from sentencepiece import SentencePieceTrainer

    folder = tmp_path_factory.mktemp("sacrebleu")
    (folder / "models").mkdir()
    lines = iter(["Musa went to the market in Kano.", "ሙሳ ወደ ገበያ ሄደ።", "Ó lọ sí ọjà ní Kánò."] * 4)
    model = folder / "models/flores200sacrebleuspm"
    with model.open("wb") as file:
        SentencePieceTrainer.train(
            sentence_iterator=lines, model_writer=file, vocab_size=90, hard_vocab_limit=False, minloglevel=2
        )
    return folder


@pytest.fixture(scope="module")
def flores200(_small_tokenizer: Path) -> Iterator[None]:
    """Provides spBLEU with a small tokenizer."""
    from sacrebleu.tokenizers import tokenizer_spm

    before = tokenizer_spm.SACREBLEU_DIR
    tokenizer_spm.SACREBLEU_DIR = str(_small_tokenizer)
    yield
    tokenizer_spm.SACREBLEU_DIR = before


@pytest.fixture(scope="session")
def small_tasks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a copy of the task folders in which no numbers of rows are declared, for data of a few rows."""
    folder = tmp_path_factory.mktemp("small") / "tasks"
    shutil.copytree(ROOT / "tasks", folder)
    for path in folder.glob("**/task.yaml"):
        text = path.read_text(encoding="utf-8")
        path.write_text(re.sub(r"(?m)^  rows:.*\n(    .*\n)*", "", text), encoding="utf-8")
    return folder


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Returns a function that runs `afrieval` with words and gives its outcome; AFRIEVAL_DATA is not set for it."""
    from afrieval.cli.main import main

    monkeypatch.delenv("AFRIEVAL_DATA", raising=False)
    monkeypatch.chdir(ROOT)

    def run(*words: object) -> Outcome:
        capsys.readouterr()
        code = main([str(w) for w in words])
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return run


@pytest.fixture
def refusal(cli: Cli) -> Refusal:
    """Returns a function that runs `afrieval` with words that it refuses, and gives what it says: error and cure."""

    def run(*words: object) -> str:
        done = cli(*words)
        assert done.code == 2 and "Traceback" not in done.err, done
        assert [line.partition(": ")[0] for line in done.err.splitlines()[-2:]] == ["error", "hint"]
        return done.err

    return run


def read_config(argv: list[str], *, command: str, needs_model: bool, kind: type = RunOptions) -> RunConfig:
    """Returns the config that a command makes of its words."""
    return run_config(read_given(kind, argv, command)[1], needs_model=needs_model)


def content(*folders: Path | str) -> dict[str, bytes]:
    """Returns what files in folders hold; the lock of a run is none of them."""
    paths = [path for folder in folders for path in Path(folder).iterdir() if path.is_file() and path.name != ".lock"]
    return {path.name if len(folders) == 1 else str(path): path.read_bytes() for path in paths}


def only_samples(folder: Path) -> list[Sample]:
    """Returns the samples of a run's only cell."""
    (path,) = sample_files(folder)
    return read_samples(path)


def put(path: Path, text: str) -> Path:
    """Writes a text file, and the folders that it needs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def csv_rows(path: Path) -> list[dict[str, str]]:
    """Returns the rows of a CSV file by column."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def of_demo(*words: object, folder: Path) -> list[str]:
    """Returns the words of a run of the demo model on the sample rows, where they name no others."""
    given = [str(w) for w in words]
    defaults = {
        "--model.model_name": "demo",
        "--data.source": "samples",
        "--run_dir": str(folder),
        "--task.task_name": "afrimmlu",
    }
    if "--task-config-yaml" in given:
        del defaults["--task.task_name"]
    missing = [flag for flag in defaults if not any(w.split("=")[0] == flag for w in given)]
    return [*given, *(word for flag in missing for word in (flag, defaults[flag]))]


@pytest.fixture
def run_demo(cli: Cli, tmp_path: Path) -> Cli:
    """Returns a function that runs the demo model on the sample rows in a folder of this test."""
    return lambda *words: cli("run", *of_demo(*words, folder=tmp_path / "run"))


@pytest.fixture(scope="session")
def demo_run(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Returns a function that runs the demo model and returns the folder; the same words run once."""
    from afrieval.cli.main import main

    made = tmp_path_factory.mktemp("runs")

    @cache
    def run(*words: str) -> Path:
        folder = made / f"{len(list(made.iterdir()))}"
        assert main(["run", *of_demo(*words, folder=folder)]) == 0
        return folder

    return run


@pytest.fixture
def demo_copy(demo_run: Callable[..., Path], cli: Cli, tmp_path: Path) -> Callable[..., Path]:
    """Returns a function that gives `run_demo` its folder, or another name, as a run with some words left it."""

    def copy(*words: object, name: str = "run") -> Path:
        return Path(shutil.copytree(demo_run(*map(str, words)), tmp_path / name))

    return copy
