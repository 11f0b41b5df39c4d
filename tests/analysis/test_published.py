"""Published tables: what is read, AfroBench's average, best and mean over prompts, and what is no table."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.analysis.cells import scored
from tests.conftest import REAL_DATA, put
from tests.results.test_derived import DECLARED

from afrieval._util.errors import UserError
from afrieval.analysis.published import (
    OverPrompts,
    check_published,
    differing,
    over_prompts,
    published_for,
    with_english_prompts,
)
from afrieval.analysis.published_files import PublishedRow, read_published
from afrieval.analysis.subgroups import ScoreTree, trees
from afrieval.exchange.discovery import read_inputs
from afrieval.results.cell_scores import CellScores
from afrieval.results.derived import with_groups
from afrieval.results.document_columns import Labels
from afrieval.tasks.declaration.known_facts import published_scores

TABLE = """model,prompt,eng,fra,yor,hau,por,avg_score
a,prompt_1,90,80,50,30.5,40,40.2
a,prompt_2,90,80,70,10,,40
b,prompt_1,0,0,20,20,20,25.0
b,prompt_2,,,30,30,30,
"""


def written(folder: Path, text: str, name: str = "afrimmlu-0shot.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def rows_of(folder: Path, text: str, name: str = "afrimmlu-0shot.csv") -> list[PublishedRow]:
    return read_published(written(folder, text, name)).rows


def means(rows: list[PublishedRow], *languages: str) -> list[OverPrompts]:
    return over_prompts(with_english_prompts([], rows), languages)


def test_rows(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, TABLE)
    scores = {"eng": 90, "fra": 80, "yor": 50, "hau": 30.5, "por": 40}
    assert rows[0] == PublishedRow("afrimmlu", "a", "1", 0, scores, 40.2, 2)
    assert "por" not in rows[1].scores and rows[3].average is None
    assert rows[3].scores == {"yor": 30, "hau": 30, "por": 30}


def test_shots_and_task_of_the_name_and_a_table_from_a_spreadsheet_program(tmp_path: Path) -> None:
    text = '\ufeffmodel,prompt,yor\r\n"a, tuned",native, 12.5 \r\n,,\r\n'
    (row,) = rows_of(tmp_path, text, "uhura-arc-easy-5shot.csv")
    assert row == PublishedRow("uhura-arc-easy", "a, tuned", "native", 5, {"yor": 12.5}, None, 2)
    (row,) = rows_of(tmp_path, text, "mine.csv")
    assert (row.task, row.shots) == ("mine", None)


def test_average_is_over_all_but_english_and_french(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, TABLE)
    assert [round(row.recomputed, 3) for row in rows] == [40.167, 40, 20, 30]
    assert rows[0].averaged == ["yor", "hau", "por"] and rows[1].averaged == ["yor", "hau"]
    assert [row.line for row in rows if not row.is_consistent] == [4]


def test_a_tenth_is_consistent_and_more_is_not(tmp_path: Path) -> None:
    text = "model,prompt,eng,yor,avg\na,1,1,20.1,20.2\na,2,1,20.1,20.0\na,3,1,20.1,20.21\na,4,1,,\n"
    rows = rows_of(tmp_path, text)
    assert [bool(row.averaged) for row in rows] == [True, True, True, False], "English alone has no average"
    assert [row.prompt for row in rows if not row.is_consistent] == ["3"]


def test_best_and_mean_are_over_the_same_languages(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, TABLE)
    one, other = means(rows, "yor", "hau")
    assert (one.model, one.shots, len(one.scores)) == ("a", 0, 2)
    assert (one.best, one.mean) == pytest.approx((0.4025, 0.40125))
    assert (other.best, other.mean) == pytest.approx((0.3, 0.25))
    one, other = means(rows, "yor", "por")
    assert len(one.scores) == 1, "prompt 2 has no Portuguese"
    assert means(rows, "yor", "zul") == [] == means(rows)


def test_names_that_a_spreadsheet_counted_up_are_read_as_the_first(tmp_path: Path) -> None:
    text = "model,prompt,yor\nv-1,prompt_1,5\npro-009,prompt_1,10\npro-010,prompt_2,30\npro-011,prompt_3,20\n"
    rows, (said,) = read_published(written(tmp_path, text))
    assert [row.model for row in rows] == ["v-1", "pro-009", "pro-009", "pro-009"]
    assert said.startswith("names of lines 3-5 that count up with the prompts to pro-011, as if a spreadsheet")
    assert "all are read as pro-009" in said
    counted = means(rows_of(tmp_path, text), "yor")
    for number in ("010", "011"):
        text = text.replace(f"pro-{number}", "pro-009")
    pro, v1 = means(rows_of(tmp_path, text), "yor")
    assert [pro, v1] == counted
    assert (v1.model, pro.model, len(pro.scores), pro.best) == ("v-1", "pro-009", 3, 0.3)


@pytest.mark.parametrize("prompts", [("1", "1"), ("1", "3"), ("one", "two")])
def test_versions_of_a_model_stay_apart(tmp_path: Path, prompts: tuple[str, str]) -> None:
    text = f"model,prompt,yor\nv-1,{prompts[0]},10\nv-2,{prompts[1]},30\n"
    assert [s.model for s in means(rows_of(tmp_path, text), "yor")] == ["v-2", "v-1"]
    text = "model,prompt,yor\nv-1,1,10\nv-1,2,10\nv-2,2,30\nv-2,3,30\n"
    assert len(means(rows_of(tmp_path, text), "yor")) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("system,prompt,yor\n", "line 1: the header begins with 'system,prompt'"),
        ("model,prompt,avg\n", "line 1: the header has no language"),
        ("model,prompt,yor,yor\n", "line 1: the header has no language"),
        ("model,prompt,yor\na,1,2,3\n", "has no row that can be read: line 2: "),
    ],
)
def test_what_is_no_table(tmp_path: Path, text: str, message: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(UserError) as caught:
        read_published(path)
    assert message in caught.value.message and str(path) in caught.value.message and caught.value.hint


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("b,1,x,5", "line 3: yor is 'x', not a number from 0 to 100"),
        ("b,1,1_0,5", "line 3: yor is '1_0', not a number"),
        ("b,1,100.1,5", "line 3: yor is '100.1', not a number"),
        ("b,1,5,-", "line 3: the average is '-', not a number"),
        ("b,1,2,3,4", "line 3: 5 columns, the header has 4"),
        (",,1,5", "line 3: model or prompt is empty"),
        ("a,1,5,5", "line 3: a, prompt 1, is already in line 2"),
        ("b,1,6,5\nb,prompt_1,5,5", "2 of 4 rows that cannot be read: lines 3-4: different scores of b, prompt 1"),
        (f"{'b' * 30_000},1,{'9' * 30_000},5", "characters are not shown"),
    ],
)
def test_rows_that_cannot_be_read_are_named_and_the_rest_is_used(tmp_path: Path, row: str, said: str) -> None:
    rows, (line,) = read_published(written(tmp_path, f"model,prompt,yor,avg\na,1,5,5\n{row}\n\n,,,\nc,1,7,7\n"))
    assert [of.model for of in rows] == ["a", "c"] and said in line and "of 3 rows" in line.replace("4", "3")
    assert len(line) < 400


def test_columns_that_cannot_be_read_are_named_and_averages_with_them_are_not_checked(tmp_path: Path) -> None:
    """Real tables have empty columns at their ends, averages in the middle, and languages of two tasks."""
    rows, said = read_published(written(tmp_path, "model,prompt,avg,yor,hau,yor,,\na,1,20,10,30,5,,\nb,1,9,,9,,,\n"))
    assert [(row.scores, row.average) for row in rows] == [({"hau": 30}, None), ({"hau": 9}, 9)]
    assert said == [
        "columns that have no name, or one that another has: yor; averages of rows with them are not checked"
    ]
    rows, said = read_published(written(tmp_path, "Model,Prompt,yor,swa,swh,\na,1,10,20,30,7\n"))
    assert rows[0].scores == {"yor": 10, "swa": 20}
    assert "column 6, without a name" in said[0] and said[1].startswith("second columns of languages: swh")


def test_languages_have_the_codes_of_any_standard(tmp_path: Path) -> None:
    """AfroBench's own tables have en, eng and eng_Latn; what is English is in no average."""
    for english, others in {
        "en": ("am", "ha", "sw"),
        "eng": ("amh", "hau", "swh"),
        "English": ("Amharic", "hausa", "Kiswahili"),
        "eng_Latn": ("amh_Ethi", "hau_Latn", "swh_Latn"),
        "en-US": ("am-ET", "ha-NG", "sw-KE"),
    }.items():
        text = f"model,prompt,{english},{','.join(others)},avg_score\na,prompt_1,90,20,30,40,30.0\n"
        rows, said = read_published(written(tmp_path, text, "mine-5shot.csv"))
        assert rows[0].scores == {"eng": 90, "amh": 20, "hau": 30, "swa": 40} and not said
        assert rows[0].recomputed == 30 and rows[0].averaged == ["amh", "hau", "swa"] and rows[0].is_consistent
    rows, said = read_published(written(tmp_path, "model,prompt,yor,vai,en-yo\na,1,1,2,3\n"))
    assert rows[0].scores == {"yor": 1, "vai": 2, "en-yo": 3}
    assert said == ["from means over African languages, since the suite does not have them: vai, en-yo"]


@pytest.mark.parametrize(
    "name", ["sib-2shot", "sib - 2-shot", "sib_2-shots", "sib 2shot"]
)  # as in AfroBench's repository, and in its paper
def test_task_and_shots_are_those_of_the_file_s_name(tmp_path: Path, name: str) -> None:
    (row,) = rows_of(tmp_path, "model,prompt,yor\na,1,5\n", f"{name}.csv")
    assert (row.task, row.shots) == ("sib200", 2)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no file"):
        read_published(tmp_path / "afrimmlu-0shot.csv")
    path = tmp_path / "x.csv"
    path.write_bytes(b"model,prompt,yor\na\xff,1,5\n")
    with pytest.raises(UserError, match="line 2, is not UTF-8"):
        read_published(path)


@pytest.mark.data
def test_real_tables(tmp_path: Path) -> None:
    """All 207 printed averages are the recomputed ones; belebele prints 12 and leaves 53 out, of 18 languages each.

    A spreadsheet counted up two names in SIB's table: these rows are read under the first.
    """
    folder = Path(str(REAL_DATA)) / "afrobench_results"
    found, said = read_published(folder / "sib-0shot.csv")
    assert len(found) == 65
    assert said[0].startswith("names of lines 57-61") and said[0].endswith(
        "gemini-1.5-pro-002; if they are other models, leave them out"
    )
    assert said[1].startswith("names of lines 62-66") and "all are read as gpt-4o-2024-08-06" in said[1]
    assert {row.model for row in found} & {"gpt-4o-2024-08-07", "gemini-1.5-pro-003"} == set()
    rows = {}
    for path in sorted(folder.glob("*.csv")):
        text = re.sub(
            r"^gemini-1.5-pro-\d+", "gemini-1.5-pro-002", path.read_text(encoding="utf-8"), flags=re.MULTILINE
        )
        text = re.sub(r"^gpt-4o-2024-08-\d+", "gpt-4o-2024-08-06", text, flags=re.MULTILINE)
        rows[path.stem] = rows_of(tmp_path, text, path.name)
    assert {name: len(of_file) for name, of_file in rows.items()} == dict.fromkeys(
        ("afrimmlu-0shot", "afrixnli-0shot", "belebele-0shot", "sib-0shot"), 65
    )
    printed = {name: sum(row.average is not None for row in of_file) for name, of_file in rows.items()}
    assert printed == {"afrimmlu-0shot": 65, "afrixnli-0shot": 65, "belebele-0shot": 12, "sib-0shot": 65}
    assert all(row.averaged and row.is_consistent for of_file in rows.values() for row in of_file)
    assert {(len(row.averaged), row.average is None) for row in rows["belebele-0shot"]} == {(29, False), (18, True)}
    models = [score.model for score in means(rows["sib-0shot"], "yor", "hau")]
    assert len(models) == 13 and {"gemini-1.5-pro-002", "gpt-4o-2024-08-06"} <= set(models)


def test_quotation_marks_swallow_no_row(tmp_path: Path) -> None:
    file = tmp_path / "afrimmlu-0shot.csv"
    for rows, models in {
        '"a,1,5\nb",1,6\nc,1,7\n': ['"a', 'b"', "c"],
        '"a"b,1,5\nc,1,7\n': ['"a"b', "c"],
        '"a\nb",1,5\nc,1,7\n': ["a\nb", "c"],
        '"a, ""b""",1,5\n': ['a, "b"'],
    }.items():
        file.write_text(f"model,prompt,yor\n{rows}")
        assert [row.model for row in read_published(file).rows] == models


def test_tasks_and_languages_have_the_suite_s_names(tmp_path: Path) -> None:
    (row,) = rows_of(tmp_path, "model,prompt,eng,gaz,xyz\na,prompt_1,1,2,3\n", "sib-0shot.csv")
    assert (row.task, row.scores) == ("sib200", {"eng": 1, "orm": 2, "xyz": 3})


def test_two_tables_with_the_same_score_are_refused(tmp_path: Path) -> None:
    """Else it would count twice in the mean over prompts."""
    for name, score in (("a", 50), ("b", 90)):
        put(tmp_path / name / "afrixnli-0shot.csv", f"model,prompt,yor\nx,prompt_1,{score}\n")
    one, other = (tmp_path / name / "afrixnli-0shot.csv" for name in "ab")
    assert len(read_inputs([one, one]).published) == 1
    with pytest.raises(UserError, match="both have a score of x, afrixnli, yor, prompt 1"):
        read_inputs([one, other])


LLAMA, PHI = published_scores("mmlu")["Llama-3-8B"], published_scores("mmlu")["Phi-3-3.8B-4K"]


def cell(**changes: Any) -> CellScores:
    fields = with_groups({"subject": Labels(np.array([0, 1]), ("maths", "music"))}, DECLARED, None)
    given = {"task": "mmlu", "language": "eng", "shots": 5, "answer_form": "letter", "prompt": 1, **changes}
    return scored([1.0, 0.0], declared=DECLARED, fields=fields, **given)


def tree(**changes: Any) -> ScoreTree:
    (found,) = trees([cell(**changes)], "subject")
    return found


@pytest.mark.parametrize(
    ("model", "names"),
    [
        ("meta-llama/Meta-Llama-3-8B", ["Llama-3-8B"]),
        ("Meta-Llama-3-8B (runs/a)", ["Llama-3-8B"]),
        ("/models/Meta-Llama-3-8B/", ["Llama-3-8B"]),
        ("meta-llama/Meta-Llama-3-8B-Instruct", []),
        ("demo", []),
    ],
)
def test_a_model_has_its_own_published_scores_but_for_doubtful_ones(model: str, names: list[str]) -> None:
    assert list(published_for(tree(model=model), [])) == names


def test_others_are_shown_if_they_are_asked_for() -> None:
    found = published_for(tree(model="demo"), ["Phi-3-3.8B-4K", "Llama-3-8B-deepeval"])
    assert found["Phi-3-3.8B-4K"] is PHI and found["Llama-3-8B-deepeval"].doubt
    check_published([cell()], ["Phi-3-3.8B-4K"])
    with pytest.raises(UserError) as caught:
        check_published([cell()], ["Phi-3"])
    assert "'Phi-3'" in caught.value.message and "did you mean Phi-3" in caught.value.hint
    with pytest.raises(UserError, match="--published"):
        check_published([scored([1.0])], ["Phi-3"])


def test_another_metric_and_another_task_have_none() -> None:
    assert published_for(tree(of="acc_norm"), ["Llama-3-8B"]) == {}
    assert published_for(tree(task="afrimmlu"), ["Llama-3-8B"]) == {}


def test_what_differs_is_named() -> None:
    as_published = replace(LLAMA, n=2)
    assert differing(tree(), as_published) == []
    other = tree(shots=0, answer_form="generate", prompt=2, recorded_settings={"chat_template": True})
    assert differing(other, LLAMA) == [
        "0-shot", "answers by generate", "prompt 2", "a chat template", "2 of 14,042 questions",
    ]  # fmt: skip
    assert differing(tree(shots=3, answer_form="generate"), published_scores("mmlu")["Llama-3-8B-deepeval"]) == []


def test_options_of_the_extractor_that_differ_are_named() -> None:
    scores = replace(published_scores("mmlu")["Llama-3-8B"], extract={"lone": True, "guess": True})
    known = tree()
    other = [replace(c, declared={**c.declared, "extract": {"lone": True, "bare": True}}) for c in known.cells]
    words = differing(replace(known, cells=other), scores)
    assert {"without guess", "with bare"} <= {*words} and not {"with lone", "without lone"} & {*words}


def test_scores_of_groups() -> None:
    assert LLAMA.score({}) == 0.65 and LLAMA.score({"category": "STEM"}) == 0.558
    assert LLAMA.score({"category": "STEM", "subcategory": "math"}) == 0.444
    assert published_scores("mmlu")["Llama-2-7B"].score({"subcategory": "math"}) is None
