"""What Linux has and Windows lacks is not needed for what users do first."""

import subprocess
import sys

import pytest

from tests.conftest import ROOT


@pytest.mark.slow
def test_the_smoke_passes_without_what_windows_lacks() -> None:
    words = [sys.executable, "tests/without_posix.py", "scripts/smoke.py"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, encoding="utf-8")
    assert (done.returncode, done.stdout[-15:].strip()) == (0, "smoke: passed"), done.stderr
