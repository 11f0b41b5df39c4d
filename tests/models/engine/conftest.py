"""What holds for all tests of the engine."""

import pytest


@pytest.fixture(autouse=True)
def every_batch_is_generated_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also batches of prompts that share too little for it to pay: they are the harder ones."""
    monkeypatch.setattr("afrieval.models.backends.generating.side_by_side", len)
