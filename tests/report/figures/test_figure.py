"""Figures: their size, their fonts, the same file each time, and names from anywhere."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import matplotlib
import numpy as np
import pytest
from matplotlib import rc_context
from matplotlib.axes import Axes
from tests.hostile import HOSTILE

from afrieval._util.errors import UserError
from afrieval.analysis.inputs import Inputs
from afrieval.analysis.scores import by_language, over_prompts
from afrieval.report.figures import style
from afrieval.report.figures.drawing import KINDS, figure
from afrieval.report.figures.style import GREY, MARKS, SETTINGS
from afrieval.results.cell_scores import CellScores
from afrieval.results.schema import Declared
from afrieval.scoring.metrics import metric

Make = Callable[..., Inputs]


@pytest.fixture
def make() -> Make:
    """Returns a function that makes cells of a task: languages, two prompts, both languages of prompts."""

    def made(*models: str, languages: tuple[str, ...] = ("yor", "amh"), prompts: int = 2) -> Inputs:
        rng = np.random.default_rng(0)
        cells = [
            cell(f"t_{code}_{kind}_{prompt}", model, code, kind, prompt, rng)
            for model in models or ("demo",)
            for code in languages
            for kind in ("eng", "native")
            for prompt in range(1, prompts + 1)
        ]
        return Inputs(cells, [], [])

    return made


def cell(name: str, model: str, code: str, kind: str, prompt: int, rng: np.random.Generator) -> CellScores:
    acc, n = metric("acc"), 40
    right = (rng.random(n) < (0.3 if kind == "eng" else 0.8 if code == "yor" else 0.35)).astype(np.float64)
    return CellScores(
        name=name, task="t", language=code, prompt_language=kind, prompt=prompt, model=model,
        metrics={"acc": acc}, measures={"acc": right[:, None]}, ids=np.arange(n), golds=np.arange(n) % 4,
        picked=(np.arange(n) + (right == 0)) % 4, n_choices=np.full(n, 4), rows=n, comparable_on={"data": code},
        recorded_settings={},
        declared={"unreviewed": {"amh": True}},
    )  # fmt: skip


def texts(kind: str, given: Inputs) -> str:
    """All text of a figure, as an SVG that has it as text."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(SETTINGS, "svg.fonttype", "none")
        drawn = figure(kind, given, "one", "svg")[0].decode()
    return " | ".join(re.findall(r"<text[^>]*>(?:<!--.*?-->)?([^<]*)", drawn))


@pytest.mark.parametrize(("kind", "width", "inches"), [("languages", "one", 3.3), ("native", "two", 6.9)])
def test_a_figure_is_as_wide_as_a_column_and_its_fonts_are_in_it(
    kind: str, width: str, inches: float, make: Make
) -> None:
    drawn, missing = figure(kind, make(), width, "pdf")
    (box,) = re.findall(rb"/MediaBox \[ 0 0 ([\d.]+) ([\d.]+) \]", drawn)
    assert float(box[0]) == pytest.approx(72 * inches, abs=0.5) and 0 < float(box[1]) < 72 * 9
    assert b"/FontFile2" in drawn and b"/Type3" not in drawn and not missing


@pytest.mark.parametrize("form", ["pdf", "svg", "png"])
def test_the_same_scores_are_the_same_file(form: str, make: Make) -> None:
    first = figure("languages", make(), "one", form)[0]
    with rc_context({"font.size": 20, "pdf.fonttype": 3}):
        assert figure("languages", make(), "one", form)[0] == first, "whatever the user's settings are"
    assert b"Date" not in first and matplotlib.get_backend().lower() != "pdf"


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_figure_says(kind: str, make: Make) -> None:
    said = texts(kind, make("org/one", "org/two"))
    assert "Amharic*" in said and "Yoruba*" not in said and "not yet reviewed" in said and "acc (%)" in said
    assert "95% interval" in said
    wanted = {
        "languages": ["org/one, English prompts", "org/two, native prompts", "random guess"],
        "prompts": ["t, native prompts, org/one", "prompt 1", "prompt 2"],
        "native": ["t, org/two", "native prompts help", "neither", "difference (points)"],
    }
    assert all(text in said for text in wanted[kind])
    assert ("native prompts hurt" in said) is False, "what does not occur is not in the key"


def test_numbers_are_those_of_the_tables(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[float] = []
    plain = Axes.plot

    def plot(axes: Axes, x: Any, *rest: Any, **options: Any) -> Any:
        drawn.extend(np.ravel(x))
        return plain(axes, x, *rest, **options)

    monkeypatch.setattr(Axes, "plot", plot)
    given = make()
    figure("languages", given, "one", "svg")
    english = by_language([c for c in given.run_cells if c.prompt_language == "eng"])
    wanted = [100 * of for score in english for of in (score.score, *(score.interval or ()))]
    assert all(any(value == pytest.approx(of) for of in drawn) for value in wanted)
    assert pytest.approx(65.43) not in drawn
    drawn.clear()
    unread = Declared(baselines={"yor": {"majority": {"acc": 0.5}, "length": {"acc": 0.6543}}})
    figure("languages", Inputs([replace(c, declared=unread) for c in given.run_cells], [], []), "one", "svg")
    assert pytest.approx(65.43) in drawn
    drawn.clear()
    figure("prompts", given, "one", "svg")
    means = [100 * mean.score for mean in over_prompts(given.run_cells)]
    assert all(any(mean == pytest.approx(of) for of in drawn) for mean in means)


def test_every_mark_has_a_shape_and_a_colour_of_its_own() -> None:
    assert len({mark.shape for mark in MARKS}) == len({mark.colour for mark in MARKS}) == len(MARKS)
    assert GREY not in {mark.colour for mark in MARKS}


def test_any_name_is_drawn_as_text(make: Make) -> None:
    given = make(HOSTILE, "$x_1$ ^ \\frac", "x" * 100_000, languages=("yor",))
    for kind in ("languages", "native"):
        assert figure(kind, given, "one", "pdf")[0].startswith(b"%PDF")


def test_fonts_for_ethiopic_and_a_note_where_none_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert style.families(["Ẹ̀kọ́ ɓaƙi ŋ"]) == (["DejaVu Sans"], {})
    has = style._has
    monkeypatch.setattr(style, "_has", lambda name, sign: (name == "Noto Sans Ethiopic" and "\u1200" <= sign < "\u1380")
                        or (name == "DejaVu Sans" and has(name, sign)))  # fmt: skip
    assert style.families(["model ሀለ"]) == (["DejaVu Sans", "Noto Sans Ethiopic"], {})
    monkeypatch.setattr(style, "_has", lambda name, sign: name == "DejaVu Sans" and has(name, sign))
    found, missing = style.families(["model ሀለሐመሠረ ꔀ"])
    assert found == ["DejaVu Sans"] and len(missing) == 7
    assert list(style.notes(missing)) == [
        "no installed font has ሀ ለ ሐ መ ሠ and 1 more; install Noto Sans Ethiopic and write the figure again",
        "no installed font has ꔀ; install Noto Sans Vai and write the figure again",
    ]


def test_what_no_figure_shows(make: Make) -> None:
    english = Inputs([c for c in make().run_cells if c.prompt_language == "eng"], [], [])
    with pytest.raises(UserError, match="both English and native"):
        figure("native", english, "one", "pdf")
    with pytest.raises(UserError, match="several prompts"):
        figure("prompts", make(prompts=1), "one", "pdf")
    with pytest.raises(UserError, match="18 models and languages of prompts are too many"):
        figure("languages", make(*(f"m{at}" for at in range(9))), "one", "pdf")
    for kind in ("prompts", "native"):
        with pytest.raises(UserError, match="too many for one figure"):
            figure(kind, make(*(f"m{at}" for at in range(9))), "one", "pdf")


def test_a_metric_that_is_no_share(make: Make) -> None:
    given = make()
    own = [replace(c, metrics={"chrf": replace(c.metric, name="chrf", bounds=(0.0, 100.0))},
                   measures={"chrf": c.measures["acc"]}) for c in given.run_cells]  # fmt: skip
    assert "chrf (%)" not in texts("languages", given._replace(run_cells=own))
