"""Signals at random moments: one line, the exit code of shells, nothing lost; and two processes on one folder."""

import random
import signal
from pathlib import Path

import pytest
from tests.faults.kinds import KINDS, kind_named
from tests.faults.same import check_same
from tests.faults.summary import Record, reported
from tests.faults.zygote import Zygote, check_error
from tests.models.faulty import faulty

pytestmark = pytest.mark.faults
SIGNALS = {
    "SIGINT": [signal.SIGINT],
    "SIGTERM": [signal.SIGTERM],
    "SIGHUP": [signal.SIGHUP],
    "SIGINT twice": [signal.SIGINT, signal.SIGINT],
    "SIGTERM, then SIGINT": [signal.SIGTERM, signal.SIGINT],
}
TIMES = 2
LATEST = 0.5  # seconds; runs take about as long
BETWEEN = 0.02


@pytest.mark.parametrize("name", KINDS)
def test_signals(name: str, zygote: Zygote, collection: Path, tmp_path: Path, record_property: Record) -> None:
    draw = random.Random(f"19{name}")
    with faulty(()) as server:
        kind = kind_named(name, collection, server)
        assert kind.run(zygote, tmp_path / "whole")[0] == 0
        words = [*kind.words, "--run_dir", tmp_path / "run"]
        for what, numbers in SIGNALS.items():
            hit = 0
            for _ in range(TIMES):
                child = zygote.start(words, **kind.spec)
                begin = draw.uniform(0.05, LATEST)
                status = child.wait(*((begin + i * BETWEEN, number) for i, number in enumerate(numbers)))
                said = child.log.read_text(encoding="utf-8")
                assert status in (0, 128 + numbers[0]), (what, status, said)
                lines = [line for line in said.splitlines() if line.startswith("stopped")]
                assert "Traceback" not in said and len(lines) == (status != 0), said
                hit += status != 0
            result = f"one line, exit code {128 + numbers[0]}; then same numbers"
            reported(record_property, "Signals", what, hit, result)
        assert kind.run(zygote, tmp_path / "run")[0] == 0
        check_same(tmp_path / "run", tmp_path / "whole")


def test_two_processes(zygote: Zygote, collection: Path, tmp_path: Path, record_property: Record) -> None:
    (tmp_path / "second").mkdir()
    other, refused = Zygote(tmp_path / "second"), 0
    with faulty(()) as server:
        for name in ("likelihoods of texts", "generated answers", "a suite"):
            kind = kind_named(name, collection, server)
            assert kind.run(zygote, tmp_path / "whole" / name)[0] == 0
            words = [*kind.words, "--run_dir", tmp_path / name]
            children = [each.start(words, **kind.spec) for each in (zygote, other)]
            ends = [(child.wait(), child.log.read_text(encoding="utf-8")) for child in children]
            assert 0 in [status for status, _ in ends], ends
            for status, said in ends:
                if status:
                    check_error(status, said, "is in use by another process")
                    refused += 1
            check_same(tmp_path / name, tmp_path / "whole" / name)
    other.close()
    reported(record_property, "Signals", "two processes in one run folder", refused, "the second has exit code 2")
