"""An API that fails in every way: numbers are those of one that does not, and each request and its cost is counted."""

import csv
import signal
from pathlib import Path

import pytest
from tests.faults.kinds import kind_named
from tests.faults.same import check_same
from tests.faults.summary import Record, reported
from tests.faults.zygote import Zygote
from tests.models.faulty import FAULTS, Faulty, faulty

pytestmark = pytest.mark.faults
PRICES = "--model.api.prices.input 10 --model.api.prices.output 20 --model.api.max_retries 100 --model.api.timeout 3"
CASES = {**{fault: (fault,) for fault in FAULTS}, "all of them": FAULTS}


def words_of(server: Faulty, collection: Path, folder: Path) -> list[str]:
    return [*kind_named("an API", collection, server).words, *PRICES.split(), "--run_dir", str(folder)]


def usage(folder: Path) -> dict[str, float]:
    """Returns the sums of the columns of usage.csv."""
    with (folder / "usage.csv").open(encoding="utf-8") as file:
        rows = [*csv.DictReader(file)]
    columns = [name for name in rows[0] if name not in ("task", "language")]
    return {name: sum(float(row[name] or 0) for row in rows) for name in columns}


@pytest.mark.parametrize("name", CASES)
def test_faults_of_a_server(
    name: str, zygote: Zygote, collection: Path, tmp_path: Path, record_property: Record
) -> None:
    with faulty(()) as server:
        status, said = zygote.run(words_of(server, collection, tmp_path / "whole"))
        assert status == 0, said
    with faulty(CASES[name], seed=19) as server:
        patches = ["no_waits", *(["jumping_clock:31536000"] if "date" in name else [])]  # waits are the server's
        status, said = zygote.run(words_of(server, collection, tmp_path / "run"), patches=patches)
        assert status == 0, said
    check_same(tmp_path / "run", tmp_path / "whole")
    found, expected, failed = (
        usage(tmp_path / "run"),
        usage(tmp_path / "whole"),
        len(server.asked) - len(server.answered),
    )
    assert set(server.answered.values()) == {1}
    assert failed == len(server.answered) * len(CASES[name])
    assert found == {**expected, "requests": len(server.asked)}, "each request is counted, and the cost of each answer"
    share = f"{failed / len(server.asked):.0%} of requests failed; same numbers"
    reported(record_property, "Servers", f"an API: {name}", failed, share)


def test_killed_while_a_server_fails(zygote: Zygote, collection: Path, tmp_path: Path, record_property: Record) -> None:
    kills = 0
    with faulty(()) as server:
        assert zygote.run(words_of(server, collection, tmp_path / "whole"))[0] == 0
    with faulty(FAULTS, seed=19) as server:
        words = words_of(server, collection, tmp_path / "run")
        for number in range(1, 30, 2):
            at = ["was-put", "answers", number % 4 + 1]
            status, _ = zygote.run(words, place=str(tmp_path / "run"), at=at, patches=["no_waits"])
            kills += status == -signal.SIGKILL
        assert zygote.run(words, patches=["no_waits"])[0] == 0
    check_same(tmp_path / "run", tmp_path / "whole")
    again = server.answered.total() - len(server.answered)
    assert again <= kills * server.most
    reported(record_property, "Servers", "an API: killed while it fails", kills, f"{again} answers paid twice")
