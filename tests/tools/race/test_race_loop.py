"""Who is asked at each look, with answers that are made up."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.analysis.test_looks import LOOKS, contest

from afrieval.tools.race import race_loop
from afrieval.tools.race.setup import Course, RaceModel, RaceSetup

RATES = {"hau": [0.50, 0.49, 0.20], "yor": [0.20, 0.50, 0.49]}  # of right answers of three models
NAMES = ("first", "second", "third")


def setup() -> RaceSetup:
    cells = cast(Any, [SimpleNamespace(task=SimpleNamespace(name="t"), language=code) for code in RATES])
    models = [RaceModel(name, cells, {}, {}, cast(Any, None)) for name in NAMES]
    courses = [Course(code, [("t", code)], {"t": 1.0}) for code in RATES]
    return RaceSetup(Path("nowhere"), models, courses, [50, 100, 200, 400, 600], 600, 1.0)


@pytest.mark.parametrize(("slow", "looks"), [(False, [50, 100, 200]), (True, [50, 200, 600])])
def test_a_model_is_asked_where_it_may_be_the_best(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], slow: bool, looks: list[int]
) -> None:
    """And after a look at which loading took longer than answering, the next one is skipped, but never the last."""
    asked: dict[int, dict[str, list[str]]] = {}

    def ask(setup: RaceSetup, wanted: Any, size: int) -> bool:
        asked[size] = {model.name: [cell.language for cell in cells] for model, cells in wanted.items()}
        return slow

    def contests(setup: RaceSetup, course: Course, race: object, size: int) -> list[Any]:
        return [contest(RATES[course.language], LOOKS, size, codes="abcd")]

    monkeypatch.setattr(race_loop, "ask", ask)
    monkeypatch.setattr(race_loop, "too_much", lambda *_: "")
    monkeypatch.setattr(race_loop, "contests", contests)
    (hausa, yoruba), _ = race_loop.run_race(setup(), None, None)
    assert list(asked)[:3] == looks and asked[50] == {name: ["hau", "yor"] for name in NAMES}
    assert asked[looks[1]] == {"first": ["hau"], "second": ["hau", "yor"], "third": ["yor"]}
    assert hausa.left[2] == yoruba.left[0] == 50
    assert ("look 2 is skipped" in capsys.readouterr().err) == slow
