"""The views of a report: what a reader finds on the page, and the example of docs/report.md."""

import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from tests.analysis.cells import scored
from tests.conftest import ROOT, Cli
from tests.report.html.small_runs import text, two_models

from afrieval.analysis.inputs import Inputs
from afrieval.analysis.published_files import PublishedRow
from afrieval.report.comparison import contrast_tables
from afrieval.report.html.prompt_views import native, native_contrasts, prompts
from afrieval.report.html.report import cite, overview, report, runs
from afrieval.results.cell_scores import CellScores

GOOD, WEAK = [1.0] * 90 + [0.0] * 10, [0.0] * 60 + [1.0] * 40


def given(*cells: CellScores, published: list[PublishedRow] | None = None) -> Inputs:
    return Inputs([], list(cells), published or [])


def cell(values: list[float], model: str = "m", kind: str = "eng", **changes: object) -> CellScores:
    made = replace(scored(values, model=model, language="hau", prompt_language=kind), **changes)  # type: ignore[arg-type]
    return replace(made, comparable_on={**made.comparable_on, "prompt text": kind})


def test_the_best_model_of_a_language_is_marked_and_so_is_doubt() -> None:
    found = overview(given(cell(WEAK, "weak"), cell(GOOD, "good"), cell(GOOD, "twin")))
    heat = found.split('class="matrix sortable"')[1].split("</table>")[0]
    assert re.findall(r'class="heat h\d ?(\w*)"[^>]*data-model="(\w+)"', heat) == [
        ("best", "good"), ("best", "twin"), ("", "weak")
    ]  # fmt: skip
    assert "cannot be told apart" in text(found) and "n = 100" in heat and "82.6-94.5" in heat


def test_a_score_that_is_not_defined_comes_last_without_a_colour() -> None:
    """Such as the AUC of rows that are all of one class."""
    found = overview(given(cell([float("nan")] * 100, "undefined"), cell(WEAK, "weak"), cell(GOOD, "good")))
    heat = found.split('class="matrix sortable"')[1].split("</table>")[0]
    shown = re.findall(r'<td(?: class="([^"]*)")? data-model="(\w+)"', heat)
    assert shown == [("heat h9 best", "good"), ("heat h2 alike", "weak"), ("", "undefined")]


def test_columns_are_prompt_languages_where_there_is_one_model() -> None:
    found = overview(given(cell(WEAK), cell(GOOD, kind="native")))
    assert re.search("English prompts native prompts", text(found)) and "★" not in found


def test_prompts_that_nobody_has_reviewed_have_a_star_in_means_and_heat_maps() -> None:
    declared = {"unreviewed": {"hau": "machine"}}
    one = text(overview(given(cell(WEAK), cell(GOOD, kind="native", declared=declared))))
    assert "English prompts native prompts*" in one and one.count("*: machine-written prompts") == 3
    two = text(overview(given(*(cell(GOOD, model, "native", declared=declared) for model in "ab"))))
    assert two.count("a*") >= 3 and "*: machine-written prompts" in two


def test_a_language_with_defective_data_is_marked_and_in_no_mean() -> None:
    bad = replace(cell(WEAK), declared={"defective": {"hau": "shuffled"}})
    found = text(overview(given(bad, replace(scored(GOOD), language="yor"))))
    assert "Hausa†" in found and "known defect of its data: shuffled" in found and "(1 language)" in found


def test_a_model_that_lacks_languages_is_said_to() -> None:
    other = replace(scored(WEAK, model="b"), language="yor")
    found = text(overview(given(cell(GOOD, "a"), replace(other, language="hau"), other)))
    assert "a lacks Yoruba in afrixnli: do not compare its mean with the others." in found
    assert "1 of 2 languages" in found


def test_several_tasks_have_an_average() -> None:
    cells = [cell(values, model, task=task) for task in ("a", "b") for values, model in ((GOOD, "g"), (WEAK, "w"))]
    assert "average" in overview(given(*cells)) and "average: of the means" in overview(given(*cells))


def test_published_scores_are_a_table_apart() -> None:
    row = PublishedRow("afrixnli", "gpt", "prompt_1", 0, {"hau": 50.0}, 50.0, 2)
    assert "gpt" in overview(given(cell(GOOD), published=[row]))
    assert "gpt" in report(given(published=[row])).decode()


def test_native_prompts_are_sorted_by_what_they_change() -> None:
    cells = [
        replace(cell(values, kind=kind), language=code)
        for code, eng, own in (("hau", GOOD, WEAK), ("yor", WEAK, GOOD), ("amh", GOOD, GOOD))
        for values, kind in ((eng, "eng"), (own, "native"))
    ]
    cells = [replace(c, declared={"unreviewed": {"yor": True}, "english_system": {"yor": True}}) for c in cells]
    found = native(given(*cells), native_contrasts(given(*cells)))
    note = "System text in English, for lack of a native one: Yoruba."
    (table,) = contrast_tables(cells, native_contrasts(given(*cells)))
    assert note in found and note in table.notes
    assert re.findall(r'<tr data-task="afrixnli" data-language="(\w+)"', found) == ["yor", "amh", "hau"]
    assert "▲ help" in found and "▼ hurt" in found and "Yoruba*" in found and found.count("<svg role") == 3
    assert "afrixnli. Native prompts help in Yoruba, hurt in Hausa, no detectable difference in Amharic." in found
    assert 'aria-label="Yoruba*: English 40.0 (95% CI 30.9-49.8), native 90.0 (95% CI 82.6-94.5)"' in found


def test_of_several_models_all_differences_are_in_one_table() -> None:
    cells = [cell(values, m, kind) for m in ("a", "b") for values, kind in ((WEAK, "eng"), (GOOD, "native"))]
    found = native(given(*cells), native_contrasts(given(*cells)))
    assert "what native prompts change" in found and found.count("+50.0") == 4
    assert "they help in 2" in found


def test_each_prompt_has_a_line_in_the_chart() -> None:
    found = prompts(given(cell(GOOD), cell(WEAK, prompt=2), cell(WEAK, prompt=3)))
    assert found.count("<circle") == 3 and "prompt 2: 40.0 (95% CI 30.9-49.8)" in found
    assert "differ by 50.0 (median), at most by 50.0: Hausa." in found


def test_views_without_content_are_left_out() -> None:
    page = report(given(cell(GOOD))).decode()
    assert 'data-view="overview"' in page and 'data-view="prompts"' not in page and 'data-view="native"' not in page


def test_published_scores_alone_are_counted_and_filtered() -> None:
    rows = [PublishedRow("afrixnli", model, "1", None, {"yor": 40.0, "hau": 30.0}, None, 0) for model in ("a", "b")]
    page = report(given(published=rows)).decode()
    assert "2 models, 1 task, 2 languages" in page and '<option value="b">' in page


def test_one_language_is_found_out_about_once() -> None:
    found = text(overview(given(cell(GOOD, "good"), cell(WEAK, "weak"))))
    assert found.count("Hausa, accuracy, n = 100") == 2 and "mean of 1 language" not in found
    assert "Hausa : good is best, 82.6-94.5; all others are significantly worse." in found


def test_notes_are_not_repeated_below_native_prompts() -> None:
    cells = [cell(values, model, kind) for kind in ("eng", "native") for values, model in ((GOOD, "g"), (WEAK, "w"))]
    assert text(overview(given(*cells))).count("Small: 95% interval") == 1


def test_settings_are_nested_lists(tmp_path: Path) -> None:
    page = runs(two_models(tmp_path))
    assert '<section class="run" data-model="first">' in page
    assert '<dt>model_name <span class="differs">differs</span></dt>\n<dd><code>first</code></dd>' in page
    assert "What differs between runs" in page
    assert "<summary>Options of the last visit</summary>" not in page  # these runs have none
    assert "<summary>What its tasks declare</summary>" in page


def test_benchmarks_have_licence_citation_and_bibtex(tmp_path: Path) -> None:
    page = cite(two_models(tmp_path))
    assert "We evaluated first and second with afrieval 0.1.0." in page
    assert "IrokoBench: A New Benchmark" in page
    assert "@misc{adelani2024irokobench" in page
    assert "Licence of the data: Apache-2.0" in page
    assert 'data-task="afrixnli"' in page


def test_the_example_of_the_page_is_built_and_has_all_views(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (ROOT / "docs/report.md").read_text(encoding="utf-8")
    (block, *_) = re.findall(r"(?m)(?:^    .*\n)+", text)
    commands = [shlex.split(line, comments=True) for line in block.replace("\\\n", " ").splitlines()]
    monkeypatch.chdir(tmp_path)
    for program, name, *words in commands:
        assert program == "afrieval"
        cli(name, *words, *(["--eval.limit", "1"] if name == "run" else [])).ok()
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    nav = page.partition("<nav")[2].partition("</nav>")[0]
    described = re.findall(r"(?m)^\| (\w[\w ]*) \| ", text)
    assert re.findall("<a[^>]*>([^<]+)</a>", nav) == [title for title in described if title != "view"]
    assert min(map(len, page.split('class="view"')[1:])) > 500
