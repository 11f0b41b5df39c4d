"""Tasks of the harness behind an OpenAI-compatible server: what they took is all requests, each counted once."""

from csv import DictReader
from pathlib import Path

import pytest
from tests.harness_collection import Run
from tests.models.loopback import Loopback

TOKENS = {"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11}
ASKED: dict[str, tuple[tuple[object, ...], int]] = {
    "two_filters": ((), 8),
    "drawn": ((), 8 * 3),
    "mc_yor_1": (("--model.api.endpoint", "completions"), 8 * (4 + 1)),
}


@pytest.mark.parametrize("name", ASKED)
def test_all_requests_are_counted(harness: Run, tmp_path: Path, server: Loopback, name: str) -> None:
    words, requests = ASKED[name]
    _, server.usage = server.options, TOKENS
    done = harness(*server.api_options, *words, "--task.harness_tasks", name)
    assert done.code == 0, done.err
    with (tmp_path / "run/usage.csv").open() as lines:
        (row,) = DictReader(lines)
    assert len(server.asked) == requests == int(row["requests"]) == int(row["completion_tokens"])
