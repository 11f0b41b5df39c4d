"""What a command under fire has noted: passes, answers, changes of its folder."""

from collections import Counter
from pathlib import Path
from typing import NamedTuple

STORING, SUMMING = ("samples", "harness"), ("results.json", "derived.json", "summary.csv", "usage.csv")


class Notes(NamedTuple):
    """What was noted.

    Attributes:
        lines: all of it.
        answers: keys of the answers that were computed.
        packs: tokens of all passes between two deliveries of answers.
        lost: tokens of passes after the last delivery.
        events: number of changes by what they change, and how.
    """

    lines: list[str]
    answers: list[str]
    packs: list[int]
    lost: int
    events: Counter[tuple[str, str]]

    @property
    def moment(self) -> str:
        """What the process was at when it ended."""
        of_folder = [line.split() for line in self.lines if line.startswith("event")]
        place = of_folder[-1][-1] if of_folder else ""
        if place in (*SUMMING,):
            return "summing up"
        if place in STORING:
            return "storing a cell"
        asked = any(line.startswith(("pass", "answer")) for line in self.lines)
        return "answering" if asked else "before the first request"


def parsed(path: Path) -> Notes:
    """Returns the notes in a file, and removes it."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    path.unlink(missing_ok=True)
    packs, now = [0], 0
    for line in lines:
        kind, _, value = line.partition(" ")
        if kind == "pass":
            now += int(value)
        elif kind in ("answer", "stored"):
            packs, now = [*packs, now], 0
    events = Counter((what, of) for kind, what, of in (line.split(" ") for line in lines if line.startswith("event")))
    answers = [line.partition(" ")[2] for line in lines if line.startswith("answer")]
    return Notes(lines, answers, packs, now, events)
