"""Whatever a server does wrong, nothing is lost and nothing invented: the numbers are those of a faultless server."""

from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Cli
from tests.models.faulty import FAULTS, faulty
from tests.models.openai.conftest import DOCUMENTS, WRITES, asked

from afrieval._util.errors import UserError
from afrieval.results.run_files import sample_files
from afrieval.results.samples import read_samples

PATIENT = ("--model.api.max_retries", 100, "--model.api.timeout", 0.3)


def results(folder: Path) -> list[dict[str, Any]]:
    (path,) = sample_files(folder)
    return [{k: v for k, v in line.items() if k != "details"} for line in read_samples(path)]


def tables(out: str) -> str:
    """Returns the scores; requests differ, since those that failed count."""
    return out.partition("Requests and tokens")[0]


def test_all_faults_together(
    run_demo: Cli, tmp_path: Path, waited: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    with faulty(()) as faultless:
        expected = run_demo(*faultless.options, *WRITES, "--run_dir", tmp_path / "faultless")
    with faulty(FAULTS, 1) as server:
        done = run_demo(*server.options, *WRITES, *PATIENT, "--run_dir", tmp_path / "faulty")
    assert (expected.code, done.code) == (0, 0), done.err
    assert results(tmp_path / "faulty") == results(tmp_path / "faultless")
    assert tables(done.out) == tables(expected.out)
    assert {server.met[fault] for fault in FAULTS} == {DOCUMENTS}
    assert len(server.answered) == DOCUMENTS
    assert caplog.text.count("and is repeated") == 1


WAITS = {
    "busy": (0, 1),
    "busy, seconds": (20, 21),
    "busy, date": (37, 41),
    "busy, milliseconds": (7, 8),
    "broken": (0, 1),
}


@pytest.mark.parametrize("fault", WAITS)
def test_waits_are_those_that_the_server_asks_for(waited: list[float], fault: str) -> None:
    least, most = WAITS[fault]
    with faulty([fault]) as server:
        asked(server.url, 2, max_retries=1)
    assert len(waited) == 2 and all(least <= seconds <= most for seconds in waited), waited


def test_waits_grow_beyond_those_that_the_server_asks_for(waited: list[float]) -> None:
    with faulty(["busy, seconds"] * 8) as server:
        asked(server.url, 1, max_retries=8)
    assert len(waited) == 8 and min(waited) >= 20 and max(waited) > 25, waited


def test_what_fails_to_the_end_stops_the_run_which_goes_on_later(run_demo: Cli, waited: list[float]) -> None:
    with faulty(["broken"] * 3) as server:
        words = (*server.options, *WRITES, "--model.api.max_concurrency", 1)
        stopped = run_demo(*words, "--model.api.max_retries", 2)
        assert stopped.code == 2 and "returned status 500: out of order" in stopped.err, stopped.err
        assert "run the same command again" in stopped.err and len(server.asked) == 3 and len(waited) == 2
        assert max(waited) <= 2 and stopped.err.count("error:") == 1
        assert run_demo(*words, "--model.api.max_retries", 3).code == 0
    assert set(server.answered.values()) == {1}


def test_waiting_times_double_up_to_a_minute(waited: list[float]) -> None:
    with faulty(["broken"] * 20) as server:
        asked(server.url, 1, max_retries=20)
    assert all(seconds <= min(2**number, 60) for number, seconds in enumerate(waited))
    assert max(waited[:4]) <= 8 and max(waited) > 30 and len({*waited}) > 15


def test_no_wait_is_longer_than_ten_minutes(waited: list[float]) -> None:
    with faulty(["quota of a day"]) as server, pytest.raises(UserError) as caught:
        asked(server.url, max_retries=3)
    assert "wait 7200 seconds, as the server asks" in caught.value.hint and not waited
