"""The wheel is complete: installed alone, in an empty folder, it does what the checkout does."""

import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest
import yaml

from afrieval._util.resources import FOLDERS
from tests.conftest import ROOT

CONFIGS = ["--model-config-yaml", "configs/models/demo.yaml", "--task-config-yaml", "configs/tasks/demo.yaml"]
# Answers from a file, since a model takes seconds to start, and what it takes is not in the wheel.
MODEL = ["--model.model_name", "x", "--model.model_type", "recorded", "--model.backend_args.file", "answers.jsonl"]
TASK = ["--task.task_name", "afrimgsm", "--task.languages", "yor", "--task.prompts", "1"]
SMALL = ["--task.prompt_language", "eng", "--data.source", "samples", "--eval.limit", "2", "--run_dir", "run"]
COMMANDS = [
    ["run", *CONFIGS, *MODEL, "--model.backend_args.column", "text", *TASK, *SMALL],
    ["list", "afrimmlu"],
    ["review", "sheet", "--language", "yor", "-o", "yor.html"],
    ["show", "run"],
]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a folder with the wheel, and the source archive."""
    return build(ROOT, tmp_path_factory.mktemp("dist"), "sdist", "wheel")


def build(source: Path, folder: Path, *targets: str) -> Path:
    words = [word for target in targets for word in ("-t", target)]
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-d", folder, *words], cwd=source, check=True)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    """Returns the files of the wheel in a folder."""
    (path,) = folder.glob("*.whl")
    with zipfile.ZipFile(path) as wheel:
        return {name: wheel.read(name) for name in wheel.namelist()}


def files(folder: Path) -> set[str]:
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_the_wheel_holds_the_package_and_the_files_that_come_with_it(built: Path) -> None:
    expected = {f"afrieval/{name}" for name in files(ROOT / "src/afrieval")}
    assert "afrieval/py.typed" in expected
    for folder in FOLDERS:
        expected |= {f"afrieval/_data/{folder}/{name}" for name in files(ROOT / folder)}
    assert {name for name in contents(built) if ".dist-info/" not in name} == expected


def test_a_wheel_built_from_the_source_archive_is_the_same(built: Path, tmp_path: Path) -> None:
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path, filter="data")
    source = tmp_path / archive.name.removesuffix(".tar.gz")
    assert contents(build(source, tmp_path / "dist", "wheel")) == contents(built)
    assert files(ROOT / "tests") == files(source / "tests") and files(ROOT / "docs") == files(source / "docs")


def test_the_citation_names_this_version(built: Path) -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"]
    assert (built / f"afrieval-{cited}.tar.gz").is_file()


@pytest.fixture(scope="module")
def environment(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns an environment with the wheel, which borrows all else from that of the tests."""
    folder = tmp_path_factory.mktemp("bare") / "env"
    venv.create(folder)
    python, (wheel,) = folder / "bin/python", built.glob("*.whl")
    pip = [sys.executable, "-m", "pip", "--python", str(python)]
    subprocess.run([*pip, "install", "--quiet", "--no-compile", "--no-index", "--no-deps", str(wheel)], check=True)
    (packages,) = folder.glob("lib/*/site-packages")
    borrowed = [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
    (packages / "borrowed.pth").write_text("\n".join(borrowed))
    return folder


def test_an_installed_wheel_runs_in_an_empty_folder(environment: Path, tmp_path: Path) -> None:
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "AFRIEVAL_DATA")}

    def run(program: str, *words: str) -> str:
        done = subprocess.run(
            [str(environment / "bin" / program), *words], cwd=tmp_path, env=kept, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    (tmp_path / "answers.jsonl").write_text('{"text": "The answer is 5."}\n' * 2)
    assert run("afrieval", "--version").startswith("afrieval ")
    each = f"print([*map(cli.main, {COMMANDS})], afrieval.__file__)"
    said = run("python", "-c", f"import afrieval, afrieval.cli.main as cli; {each}")
    assert said.splitlines()[-1].startswith(f"[0, 0, 0, 0] {environment}")
    assert "afrimgsm" in said and (tmp_path / "run/summary.csv").is_file()
    assert "git_commit: null" in (tmp_path / "run/run.yaml").read_text()
    assert "afrimmlu (version" in said and "strings to review" in said
    assert said.count("English 1 ") == 2
