"""Shared by the tests of the engine."""

from pathlib import Path

import pytest
from tests.models.engine.both_ways import saved


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a random Llama."""
    return saved(tmp_path_factory.mktemp("llama"))
