"""A run that is killed at fifty moments has the numbers of one that was not, and loses one pack of work each time."""

import os
import random
import shutil
import signal
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.faults.kinds import KINDS, Kind, kind_named
from tests.faults.notes import Notes, parsed
from tests.faults.same import check_same
from tests.faults.summary import reported
from tests.faults.zygote import Zygote
from tests.models.faulty import Faulty, faulty

pytestmark = pytest.mark.faults
KILLS = int(os.environ.get("AFRIEVAL_KILLS", "50"))  # of each kind
SEED = int(os.environ.get("AFRIEVAL_SEED", "19"))
IN_ONE_FOLDER = 4
START = 0.4  # of a run's time, in which nothing is answered


class Session(NamedTuple):
    """How a session to a folder has ended, and what it had noted."""

    status: int
    notes: Notes
    seconds: float


def session(zygote: Zygote, kind: Kind, folder: Path, after: float = 0, at: Sequence[object] = ()) -> Session:
    """Runs a kind in a folder, and kills it after some seconds, or at an event; not at all without both."""
    notes, begun = folder.with_suffix(".notes"), time.monotonic()
    words = [*kind.words, "--run_dir", folder]
    child = zygote.start(words, notes=str(notes), place=str(folder), at=at, **kind.spec)
    status = child.wait(*([(after, signal.SIGKILL)] if after else []))
    assert status in (0, -signal.SIGKILL), child.log.read_text()
    return Session(status, parsed(notes), time.monotonic() - begun)


def aimed(draw: random.Random, whole: Session, left: float) -> dict[str, Any]:
    """Returns when to kill a session: at a random time, or at a random change of a random kind of file.

    Args:
        draw: random numbers.
        whole: a session that was not killed.
        left: share of the answers that are still to be found.
    """
    if draw.random() < 0.5:
        return {"after": draw.uniform(0, whole.seconds * (START + (1 - START) * left))}
    what, of = draw.choice(sorted(whole.notes.events))
    most = whole.notes.events[what, of] * (left if of in ("answers", "samples", "harness") else 1)
    return {"at": [what, of, draw.randint(1, max(1, round(most)))]}


@pytest.mark.parametrize("name", KINDS)
def test_kills(
    name: str, zygote: Zygote, collection: Path, tmp_path: Path, record_property: Callable[[str, Any], None]
) -> None:
    draw, folders, equal, moments, lost, packs = random.Random(f"{SEED}{name}"), 0, 0, Counter[str](), list[int](), [0]
    with faulty(()) as server:
        kind = kind_named(name, collection, server)
        whole = session(zygote, kind, tmp_path / "whole")
        packs += whole.notes.packs
        while moments.total() < KILLS:
            folder, answered = tmp_path / f"killed-{folders}", Counter[str]()
            server.answered.clear()
            kills = min(IN_ONE_FOLDER, KILLS - moments.total())
            for _ in range(kills):
                left = 1 - len(answered) / max(1, len(whole.notes.answers))
                killed = session(zygote, kind, folder, **aimed(draw, whole, left))
                answered.update(killed.notes.answers)
                packs += killed.notes.packs
                if killed.status:
                    moments[killed.notes.moment] += 1
                    lost.append(killed.notes.lost)
            last = session(zygote, kind, folder)
            answered.update(last.notes.answers)
            packs += last.notes.packs
            equal += check_same(folder, tmp_path / "whole")
            check_asked(answered, kills, server)
            shutil.rmtree(folder)
            folders += 1
    assert max(lost) <= max(packs), "more than a pack is lost"
    tokens = sum(whole.notes.packs)  # none of an API
    again = f"{sum(lost) / len(lost) / tokens:.1%}" if tokens else ""
    reported(record_property, "Kills", name, moments.total(), f"{equal} of {folders} runs equal byte by byte", again)
    for moment, times in moments.items():
        reported(record_property, "Moments of kills", moment, times, "")


def check_asked(answered: Counter[str], kills: int, server: Faulty) -> None:
    """Asserts that a kill cost one answer at most; of a server, those on their way."""
    twice = answered.total() - len(answered)
    assert twice <= kills * (server.most or 1)
    assert server.answered.total() - len(server.answered) <= kills * server.most
