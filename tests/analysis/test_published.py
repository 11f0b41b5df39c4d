"""Published tables: what is read, AfroBench's average, best and mean over prompts, and what is no table."""

import re
from pathlib import Path

import pytest
from tests.conftest import REAL_DATA

from afrieval.analysis.inputs import read_inputs
from afrieval.analysis.published import PublishedRow, averages, published_scores, read_published
from afrieval.errors import UserError

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


def test_rows(tmp_path: Path) -> None:
    rows = read_published(written(tmp_path, TABLE))
    scores = {"eng": 90, "fra": 80, "yor": 50, "hau": 30.5, "por": 40}
    assert rows[0] == PublishedRow("afrimmlu", "a", "1", 0, scores, 40.2, 2)
    assert "por" not in rows[1].scores and rows[3].average is None
    assert rows[3].scores == {"yor": 30, "hau": 30, "por": 30}


def test_shots_and_task_of_the_name_and_a_table_from_a_spreadsheet_program(tmp_path: Path) -> None:
    text = '\ufeffmodel,prompt,yor\r\n"a, tuned",native, 12.5 \r\n,,\r\n'
    (row,) = read_published(written(tmp_path, text, "uhura-arc-easy-5shot.csv"))
    assert row == PublishedRow("uhura-arc-easy", "a, tuned", "native", 5, {"yor": 12.5}, None, 2)
    (row,) = read_published(written(tmp_path, text, "mine.csv"))
    assert (row.task, row.shots) == ("mine", None)


def test_average_is_over_all_but_english_and_french(tmp_path: Path) -> None:
    found, inconsistent = averages(read_published(written(tmp_path, TABLE)))
    assert [round(a.value, 3) for a in found] == [40.167, 40, 20, 30]
    assert found[0].languages == ["yor", "hau", "por"] and found[1].languages == ["yor", "hau"]
    assert {a.name for a in found} == {"AfroBench"}
    assert [(a.row.line, a.row.average, a.value) for a in inconsistent] == [(4, 25.0, 20.0)]


def test_a_tenth_is_consistent_and_more_is_not(tmp_path: Path) -> None:
    text = "model,prompt,eng,yor,avg\na,1,1,20.1,20.2\na,2,1,20.1,20.0\na,3,1,20.1,20.21\na,4,1,,\n"
    found, inconsistent = averages(read_published(written(tmp_path, text)))
    assert [a.row.prompt for a in found] == ["1", "2", "3"], "English alone has no average"
    assert [a.row.prompt for a in inconsistent] == ["3"]


def test_best_and_mean_are_over_the_same_languages(tmp_path: Path) -> None:
    rows = read_published(written(tmp_path, TABLE))
    one, other = published_scores(rows, "afrimmlu", ["yor", "hau"])
    assert (one.model, one.shots, one.prompts) == ("a", 0, 2)
    assert (one.best, one.mean) == pytest.approx((0.4025, 0.40125))
    assert (other.best, other.mean) == (0.3, 0.25)
    one, other = published_scores(rows, "afrimmlu", ["yor", "por"])
    assert one.prompts == 1, "prompt 2 has no Portuguese"
    assert published_scores(rows, "afrimmlu", ["yor", "zul"]) == []
    assert published_scores(rows, "afrixnli", ["yor"]) == [] == published_scores(rows, "afrimmlu", [])


def test_names_that_a_spreadsheet_counted_up_are_refused(tmp_path: Path) -> None:
    text = "model,prompt,yor\nv-1,prompt_1,5\npro-009,prompt_1,10\npro-010,prompt_2,30\npro-011,prompt_3,20\n"
    with pytest.raises(UserError, match=r"count up .*: pro-009 to pro-011 in lines 3 to 5") as caught:
        read_published(written(tmp_path, text))
    assert "such as pro-009" in caught.value.hint
    for number in ("010", "011"):
        text = text.replace(f"pro-{number}", "pro-009")
    v1, pro = published_scores(read_published(written(tmp_path, text)), "afrimmlu", ["yor"])
    assert (v1.model, pro.model, pro.prompts, pro.best) == ("v-1", "pro-009", 3, 0.3)


@pytest.mark.parametrize("prompts", [("1", "1"), ("1", "3"), ("one", "two")])
def test_versions_of_a_model_stay_apart(tmp_path: Path, prompts: tuple[str, str]) -> None:
    text = f"model,prompt,yor\nv-1,{prompts[0]},10\nv-2,{prompts[1]},30\n"
    assert [s.model for s in published_scores(read_published(written(tmp_path, text)), "afrimmlu", ["yor"])] == [
        "v-1",
        "v-2",
    ]
    text = "model,prompt,yor\nv-1,1,10\nv-1,2,10\nv-2,2,30\nv-2,3,30\n"
    assert len(published_scores(read_published(written(tmp_path, text)), "afrimmlu", ["yor"])) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: the header begins with ''"),
        ("system,prompt,yor\n", "line 1: the header begins with 'system,prompt'"),
        ("a,prompt_1,20\n", "line 1: the header begins"),
        ("model,prompt,avg\n", "line 1: the header has no language"),
        ("model,prompt,yor,\n", "line 1: column 4 of the header has no name"),
        ("model,prompt,yor,yor\n", "line 1: the header has yor twice"),
        ("model,prompt,avg,yor\n", "line 1: the average avg is not the last column"),
        ("model,prompt,yor\na,1,2\nb,1,x\n", "line 3: yor is 'x', but must be a number"),
        ("model,prompt,yor\na,1,nan\n", "line 2: yor is 'nan', but must be a number"),
        ("model,prompt,yor\na,1,1_0\n", "line 2: yor is '1_0', but must be a number"),
        ("model,prompt,yor\na,1,100.1\n", "line 2: yor is '100.1', but must be a number from 0 to 100"),
        ("model,prompt,yor,avg\na,1,5,-\n", "line 2: avg is '-', but must be a number"),
        ("model,prompt,yor\na,1\n", "line 2: 2 columns, the header has 3"),
        ("model,prompt,yor\n\n,1,5\n", "line 3: model or prompt is empty"),
        ("model,prompt,yor\na,1,5\na,prompt_1,6\n", "line 3: a, prompt 1, is already in line 2"),
        ('model,prompt,yor\n"a,b\nc\n', "line 2: "),
    ],
)
def test_what_is_no_table(tmp_path: Path, text: str, message: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(UserError) as caught:
        read_published(path)
    assert message in caught.value.message and str(path) in caught.value.message and caught.value.hint


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

    A spreadsheet counted up two names in SIB's table, so they have to be corrected first.
    """
    folder = Path(str(REAL_DATA)) / "afrobench_results"
    with pytest.raises(
        UserError, match=r"gemini-1.5-pro-002 to .* in lines 57 to 61, gpt-4o-2024-08-06 to .* 62 to 66"
    ):
        read_published(folder / "sib-0shot.csv")
    rows = {}
    for path in sorted(folder.glob("*.csv")):
        text = re.sub(
            r"^gemini-1.5-pro-\d+", "gemini-1.5-pro-002", path.read_text(encoding="utf-8"), flags=re.MULTILINE
        )
        text = re.sub(r"^gpt-4o-2024-08-\d+", "gpt-4o-2024-08-06", text, flags=re.MULTILINE)
        rows[path.stem] = read_published(written(tmp_path, text, path.name))
    assert {name: len(of_file) for name, of_file in rows.items()} == dict.fromkeys(
        ("afrimmlu-0shot", "afrixnli-0shot", "belebele-0shot", "sib-0shot"), 65
    )
    printed = {name: sum(row.average is not None for row in of_file) for name, of_file in rows.items()}
    assert printed == {"afrimmlu-0shot": 65, "afrixnli-0shot": 65, "belebele-0shot": 12, "sib-0shot": 65}
    for of_file in rows.values():
        found, inconsistent = averages(of_file)
        assert len(found) == 65 and inconsistent == []
    found, _ = averages(rows["belebele-0shot"])
    assert {(len(a.languages), a.row.average is None) for a in found} == {(29, False), (18, True)}
    models = [score.model for score in published_scores(rows["sib-0shot"], "sib200", ["yor", "hau"])]
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
        assert [row.model for row in read_published(file)] == models


def test_tasks_and_languages_have_the_suite_s_names(tmp_path: Path) -> None:
    (row,) = read_published(written(tmp_path, "model,prompt,eng,gaz,xyz\na,prompt_1,1,2,3\n", "sib-0shot.csv"))
    assert (row.task, row.scores) == ("sib200", {"eng": 1, "orm": 2, "xyz": 3})


def test_two_tables_with_the_same_score_are_refused(tmp_path: Path) -> None:
    """Else it would count twice in the mean over prompts."""
    for name, score in (("a", 50), ("b", 90)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "afrixnli-0shot.csv").write_text(f"model,prompt,yor\nx,prompt_1,{score}\n")
    one, other = (tmp_path / name / "afrixnli-0shot.csv" for name in "ab")
    assert len(read_inputs([one, one]).published) == 1
    with pytest.raises(UserError, match="both have a score of x, afrixnli, yor, prompt 1"):
        read_inputs([one, other])
