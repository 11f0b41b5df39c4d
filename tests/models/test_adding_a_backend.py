"""Follows docs/adding-a-backend.md: a package with a backend, which enters by its entry point."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conftest import ROOT, Cli, only_samples, put

from afrieval.models.registry import BACKENDS

PAGE = (ROOT / "docs/adding-a-backend.md").read_text(encoding="utf-8")
(CODE,) = re.findall(r"^`echo_backend.py`:\n\n```python\n(.*?)```", PAGE, re.M | re.S)
((GROUP, ENTRY),) = re.findall(r'\[project.entry-points."(.*?)"\]\n(.*?)\n```', PAGE, re.S)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yields the page's module, in an installed package."""
    folder = tmp_path / "packages/echo_backend-1.dist-info"
    put(folder / "METADATA", "Name: echo_backend\nVersion: 1\n")
    (folder / "entry_points.txt").write_text(f"[{GROUP}]\n{ENTRY}\n".replace('"', ""))
    (path := folder.parent / "echo_backend.py").write_text(CODE)
    monkeypatch.syspath_prepend(folder.parent)
    monkeypatch.setattr(BACKENDS, "_points", None)
    monkeypatch.setattr(BACKENDS, "_entries", {**BACKENDS._entries})
    yield path
    sys.modules.pop("echo_backend", None)


def words(folder: Path, *further: str) -> list[str]:
    task = ["afrimgsm", "--languages", "yoruba", "--prompts", "1", "--data", "samples", "--out", str(folder)]
    return ["run", "any-name", *task, "--model.model_type", "echo", *further]


@pytest.mark.usefixtures("package")
def test_a_run(cli: Cli, tmp_path: Path) -> None:
    cli(*words(tmp_path / "run")).ok()
    for sample in only_samples(tmp_path / "run"):
        assert sample["resps"] == [[sample["arguments"][0][0].splitlines()[-1]]]
    refused = cli(*words(tmp_path / "other", "--model.device", "cpu"))
    assert "model.device ('cpu') is not supported by echo" in refused.err
    refused = cli(*words(tmp_path / "other", "--task.answer_form", "text"))
    assert refused.code == 2 and not (tmp_path / "other").exists()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("CAN = Capabilities(", "CAN = 1 / 0 or Capabilities(", "echo_backend.py, line 12: ZeroDivisionError"),
        ("class EchoBackend", "class OtherBackend", "echo_backend.py has no EchoBackend"),
        ("EchoBackend(Backend)", "EchoBackend", "echo of the package echo_backend has no check"),
        ("return Echo(", "return 1 / 0 or Echo(", "echo_backend.py, line 50: ZeroDivisionError"),
    ],
)
def test_what_is_wrong_with_a_backend(
    cli: Cli, package: Path, tmp_path: Path, old: str, new: str, message: str
) -> None:
    package.write_text(CODE.replace(old, new, 1))
    done = cli(*words(tmp_path / "run"))
    assert message in done.err and done.code == 2, done.err
