"""`afrieval review answers` and `ratings`: blind sheets, and what people say of answers, stored with them."""

import csv
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from openpyxl import load_workbook
from tests.conftest import Cli, content, csv_rows
from tests.tasks.small_task import declaration, write_declaration
from tests.tools.review.test_forms import body, needs_browser

from afrieval._util.whole_files import write_whole
from afrieval.results.run_files import cell_names, read_run, sample_path, write_run, write_samples
from afrieval.results.run_folder import RunFolder
from afrieval.results.samples import Sample, read_samples
from afrieval.scoring.learned import with_learned
from afrieval.scoring.statistics.corrected import FEWEST

N, SAME = 30, 10  # documents, and how many of them have the same answer by both models
JUDGE = {
    "version": 1,
    "asks": "How good is the answer?",
    "levels": {"1": "wrong", "2": "in part right", "3": "right"},
    "shows": ["question"],
    "shows_right": True,
}
Levels = Callable[[dict[str, str]], str]


def write_task(folder: Path, **changes: Any) -> None:
    keys = {"kind": "text", "extract": "whole", "metrics": ["exact_match"], "answer": "right"}
    fields, prompts = {"question": "question"}, {1: {"template": "{{ question }}"}}
    content = declaration("said", fields=fields, languages={"hau": "ha"}, prompts=prompts, **keys)
    write_declaration(folder, content | {"judge": {**JUDGE, **changes}})


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a task, and runs of it: of two models, and a third that says what one of them says."""
    from afrieval.cli.main import main

    folder = tmp_path_factory.mktemp("made")
    write_task(folder / "mine")
    (folder / "mine/said/data").mkdir()
    rows = [{"question": f"=Me ya sa {n}?", "right": f"amsa {n}"} for n in range(N)]
    (folder / "mine/said/data/ha.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    for model in ("wise", "quick", "third"):
        answers = [f"- {model if n >= SAME else 'iri daya'}\n\x07 {n}" for n in range(N)]
        text = "\n".join(json.dumps({"said": of}) for of in answers)
        (folder / f"{model}.jsonl").write_text(text, encoding="utf-8")
        assert main(run_words(folder, model, model)) == 0
    return folder


def run_words(folder: Path, model: str, run: str) -> list[str]:
    words = ["run", "--model.model_type", "recorded", "--model.model_name", model, "--run_dir", str(folder / run)]
    words += ["--model.backend_args.column", "said", "--model.backend_args.file", str(folder / f"{model}.jsonl")]
    return [*words, "--task.folder", str(folder / "mine"), "--task.task_name", "said"]


@pytest.fixture
def place(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli) -> Path:
    """The same, to change; the present folder."""
    shutil.copytree(made, tmp_path / "made")
    monkeypatch.chdir(tmp_path / "made")
    return tmp_path / "made"


def answers(cli: Cli, *words: object, output: str = "sheet.csv") -> Path:
    """Writes a sheet for the first two runs, unless words say otherwise."""
    runs = () if words and not str(words[0]).startswith("-") else ("wise", "quick")
    cli("review", "answers", *runs, *words, "--language", "hausa", "--task.folder", "mine", "-o", output).ok()
    return Path(output)


def parts_of(path: Path) -> tuple[list[list[str]], list[dict[str, str]]]:
    """Returns the lines of a sheet to its header, and its rows by column."""
    cells = list(csv.reader(path.open(encoding="utf-8-sig", newline="")))
    header = next(n for n, row in enumerate(cells) if row[0] == "id")
    return cells[: header + 1], [dict(zip(cells[header], row, strict=True)) for row in cells[header + 1 :]]


def rate(sheet: Path, rater: str, level: Levels, output: str = "") -> str:
    """Fills in a sheet, and returns the name of the new file."""
    head, rows = parts_of(sheet)
    head[1] = ["your name", rater]
    rated = [[*(row | {"level": level(row)}).values()] for row in reversed(rows)]
    with Path(output or f"{rater}.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=";").writerows([*head, *rated])
    return output or f"{rater}.csv"


def ratings(cli: Cli, *words: object) -> Any:
    return cli("review", "ratings", *words, "--task.folder", "mine")


def lines(run: str) -> list[Sample]:
    (name,) = cell_names(Path(run))
    return read_samples(sample_path(Path(run), name))


def by_number(row: dict[str, str]) -> str:
    return str(1 + int(row["answer"].split()[-1]) % 3)


def test_a_sheet_is_blind_and_has_the_same_questions_of_all_runs(place: Path, cli: Cli) -> None:
    sheet = answers(cli, "--n", 12)
    text = sheet.read_text(encoding="utf-8-sig")
    assert not any(name in text.replace("- wise", "").replace("- quick", "") for name in ("wise", "quick"))
    _, rows = parts_of(sheet)
    of_question: dict[str, list[str]] = {}
    for row in rows:
        of_question.setdefault(row["question"], []).append(row["answer"])
    assert len(of_question) == 12
    assert all(len(of) == (1 if "iri daya" in of[0] else 2) for of in of_question.values())
    assert all(row["right answer"] == f"amsa {row['answer'].split()[-1]}" for row in rows)
    assert sorted(row["id"] for row in rows) != [row["id"] for row in rows]
    assert answers(cli, "--n", 12, output="again.csv").read_bytes() == sheet.read_bytes()
    assert answers(cli, "--n", 12, "--seed", 7, output="again.csv").read_bytes() != sheet.read_bytes()
    book = load_workbook(answers(cli, output="sheet.xlsx")).worksheets[0]
    assert book.data_validations.dataValidation[0].formula1 == '"1,2,3"'
    assert book.max_row == 11 + 2 * N - SAME


def test_ratings_are_stored_with_the_answers_that_they_are_of(place: Path, cli: Cli) -> None:
    amina = rate(answers(cli), "Amina", by_number)
    bello = rate(answers(cli), "Bello", lambda row: "3" if row["answer"].endswith("4") else "")
    before = content("wise", "quick")
    done = ratings(cli, amina, bello, "wise", "quick", "--dry-run").ok()
    assert "said, Hausa: 30 answers rated (Amina 30, Bello 3); dry run, nothing is written" in done.out
    assert content("wise", "quick") == before
    assert ratings(cli, amina, bello, "wise", "quick").code == 0
    for run in ("wise", "quick"):
        for number, line in enumerate(lines(run)):
            given = {"Amina": str(1 + number % 3)} | ({"Bello": "3"} if number % 10 == 4 else {})
            assert line["ratings"] == given
            assert line["people"] == sum((int(of) - 1) / 2 for of in given.values()) / len(given)
    declared = read_run(Path("wise"))["declared"]["said"]
    assert declared["rubric"]["levels"] == JUDGE["levels"] and declared["signatures"]["people"].endswith("|version:1")
    after = content("wise", "quick")
    assert ratings(cli, bello, amina, "wise", "quick").code == 0
    assert content("wise", "quick") == after
    done = cli("show", "wise", "--csv", "-")
    assert done.code == 0 and "people" in done.out


IN_THE_BROWSER = """
heads[0].value = "Amina";
for (const card of cards) {
  const p = parts(card), level = String(1 + Number(p.text.trim().split(" ").pop()) % 3);
  for (const radio of p.radios) radio.checked = radio.value === level;
  p.typed[0].value = "=1";
}
keep(); save();
"""


@needs_browser
def test_ratings_in_a_browser(place: Path, cli: Cli) -> None:
    saved = body(place / answers(cli, output="sheet.html"), IN_THE_BROWSER)
    Path("saved.csv").write_text(saved, encoding="utf-8")
    assert ratings(cli, "saved.csv", "wise", "quick").code == 0
    assert [line["ratings"] for line in lines("quick")] == [{"Amina": str(1 + number % 3)} for number in range(N)]


@pytest.mark.parametrize("level", ["2", 2, 2.0])
def test_levels_in_a_workbook_may_be_numbers(place: Path, cli: Cli, level: Any) -> None:
    sheet = answers(cli, "wise", output="sheet.xlsx")
    book = load_workbook(sheet)
    page = book.worksheets[0]
    page["B2"] = "Amina  Bello"
    page.cell(page.max_row, 5).value = level
    book.save(sheet)
    assert ratings(cli, sheet, "wise").code == 0
    assert [line["ratings"] for line in lines("wise") if "ratings" in line] == [{"Amina Bello": "2"}]


def test_a_corrected_sheet_replaces_what_its_rater_said(place: Path, cli: Cli) -> None:
    sheet = answers(cli)
    given = [rate(sheet, name, lambda row: "2") for name in ("Amina", "Bello")]
    assert ratings(cli, *given, "wise", "quick").code == 0
    first = {"amsa 3": "1", "amsa 4": ""}
    amina = rate(sheet, "Amina", lambda row: first.get(row["right answer"], "2"))
    assert ratings(cli, amina, "quick", "wise").code == 0
    assert [lines("wise")[n]["ratings"] for n in (3, 4, 5)] == [
        {"Amina": "1", "Bello": "2"},
        {"Bello": "2"},
        {"Amina": "2", "Bello": "2"},
    ]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda text: text.replace("your name;Amina", "your name; "), "names no rater"),
        (lambda text: text.replace(";2;\r\n", ";4;\r\n", 1), "column level: '4' is not a level"),
        (lambda text: text.replace("comment\r\na", "comment\r\nb"), "column id: 'b"),
        (lambda text: text.replace("iri daya", "iri", 1), "column answer: it is not the answer of a"),
        (lambda text: text.replace("in part right", "nearly right"), "level 2 is not what it is in the task's rubric"),
        (lambda text: text.replace("\r\nid;", "\r\nnumber;"), "is not a review sheet"),
    ],
)
def test_what_is_wrong_with_a_sheet_is_named(place: Path, cli: Cli, change: Callable[[str], str], problem: str) -> None:
    path = Path(rate(answers(cli), "Amina", lambda row: "2"))
    text = path.read_bytes().decode()
    assert change(text) != text
    path.write_bytes(change(text).encode())
    before = content("wise", "quick")
    done = ratings(cli, path, "wise", "quick")
    assert done.code == 2 and problem in done.err and "hint: " in done.err
    assert content("wise", "quick") == before


def test_two_raters_of_one_name(place: Path, cli: Cli) -> None:
    sheet = answers(cli)
    one, other = (rate(sheet, "Amina", lambda row, of=level: of, f"{level}.csv") for level in "12")  # type: ignore[misc]
    done = ratings(cli, one, other, "wise", "quick")
    assert done.code == 2 and "2.csv, row " in done.err and "'1' in 1.csv, row " in done.err
    assert "two raters need two names" in done.err
    same = rate(sheet, "amina", lambda row: "1", "3.csv")
    for given in ((one, same), (one,), (same,)):  # in one call, and in a later one
        done = ratings(cli, *given, "wise", "quick")
        assert done.code == (0 if given == (one,) else 2), done.err
    assert "3.csv is by amina, and there is a rater Amina" in done.err


def test_runs_that_were_not_on_the_sheet_are_not_rated_where_they_say_the_same(place: Path, cli: Cli) -> None:
    amina = rate(answers(cli), "Amina", by_number)
    done = ratings(cli, amina, "wise")
    assert done.code == 2 and "has answers of 2 runs, and 1 of them are not given" in done.err
    assert ratings(cli, amina, "wise", "quick", "third").code == 0
    assert not any("ratings" in line for line in lines("third"))


def test_answers_are_chosen_with_equal_probability_and_spread_over_the_judged_scores(place: Path, cli: Cli) -> None:
    (name,) = cell_names(place / "wise")
    scored = lines("wise")
    for line in scored:
        line.update(judge_x=line["doc_id"] / N, metrics=[*line["metrics"], "judge_x"])
        line["measures"]["judge_x"] = [line["doc_id"] / N]
    write_samples(place / "wise", name, scored)
    times = [0] * N
    for seed in range(60):
        _, rows = parts_of(answers(cli, "wise", "--n", 5, "--seed", seed))
        numbers = sorted(int(row["answer"].split()[-1]) for row in rows)
        assert [number // 6 for number in numbers] == [0, 1, 2, 3, 4]
        for number in numbers:
            times[number] += 1
    assert min(times) >= 2 and max(times) <= 22  # 10 are expected


def test_another_rubric_removes_ratings_and_the_sheet_brings_them_back(place: Path, cli: Cli) -> None:
    amina = rate(answers(cli), "Amina", by_number)
    assert ratings(cli, amina, "wise", "quick").code == 0
    (name,) = cell_names(place / "wise")
    told = [{**line, "judged": {"judge_x": {"level": "1", "reason": ""}}} for line in lines("wise")]
    write_samples(place / "wise", name, [{**line, "ratings": {**line["ratings"], "Bello": "2"}} for line in told])
    write_task(place / "mine", version=2)
    done = ratings(cli, amina, "wise", "quick")
    assert "judgements and ratings of said are by another rubric; they are removed" in done.err
    assert all(line["ratings"].keys() == {"Amina"} and "judged" not in line for line in lines("wise"))
    assert read_run(place / "wise")["declared"]["said"]["rubric"]["version"] == 2


def test_scoring_again_keeps_ratings_of_answers_that_stay(
    place: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ratings(cli, rate(answers(cli), "Amina", by_number), "wise", "quick").code == 0
    before = content("wise")
    done = cli("score", "wise", "--task.folder", "mine")
    assert done.code == 0 and content("wise") == before, done.err
    (name,) = cell_names(place / "wise")
    judged = [{**line, "judged": {"judge_x": {"level": "1", "reason": ""}}} for line in lines("wise")]
    write_samples(place / "wise", name, [{**judged[0], "answer": "another"}, *judged[1:]])
    monkeypatch.setattr("afrieval.run.rescore.Rescored.check_versions", lambda found: None)
    done = cli("score", "wise", "--task.folder", "mine")
    assert done.code == 0 and "new scores are written" in done.err, done.err
    first, *rest = lines("wise")
    assert "ratings" not in first and "people" not in first["metrics"]
    assert [line["people"] for line in rest] == [number % 3 / 2 for number in range(1, N)]
    assert not any("judged" in line for line in [first, *rest])
    assert read_run(place / "wise")["declared"]["said"]["rubric"]["levels"] == JUDGE["levels"]


def test_packing_and_exports_keep_ratings_and_copies_for_boards_no_names(place: Path, cli: Cli) -> None:
    sheet = answers(cli, "--n", FEWEST - 1)
    given = [rate(sheet, name, by_number) for name in ("Amina", "Bello")]
    (name,) = cell_names(place / "wise")
    reason = {"level": "1", "reason": "Me ya sa?"}
    write_samples(place / "wise", name, [{**line, "judged": {"judge_x": reason}} for line in lines("wise")])
    assert cli("pack", "wise", "quick").code == 0
    done = ratings(cli, *given, "wise", "quick")
    assert done.code == 0 and f"judges are corrected from {FEWEST} rated answers per prompt on" in done.out
    assert cli("pack", "wise").code == 0
    at, rated = next((n, line) for n, line in enumerate(lines("wise")) if "ratings" in line)
    assert rated["ratings"] == {"Amina": str(1 + at % 3), "Bello": str(1 + at % 3)}
    assert cli("export", "--to", "csv", "tables", "--run", "wise").code == 0
    exported = csv_rows(Path("tables/samples.csv"))[at]
    assert json.loads(exported["ratings"]) == rated["ratings"] and exported["measure people"] == str(rated["people"])
    assert json.loads(exported["judged"]) == {"judge_x": "1"}
    cli("check-runs", ".", "-o", "copies")
    for run in ("wise", "quick"):
        copied = lines(f"copies/{run}")[at]
        assert copied["ratings"] == {"rater1": str(1 + at % 3), "rater2": str(1 + at % 3)}
        assert copied["people"] == rated["people"]
    assert lines("copies/wise")[at]["judged"] == {"judge_x": {"level": "1"}}
    assert not any(b"Amina" in of or b"Me ya sa" in of for of in content("copies/wise", "copies/quick").values())
    assert cli("show", "copies/wise").code == 0


def test_people_correct_a_judge(place: Path, cli: Cli) -> None:
    for run in ("wise", "quick"):
        (name,) = cell_names(place / run)
        judged = []
        for line in lines(run):
            worth = 0.4 + line["doc_id"] % 2 / 2 + (0.1 if line["doc_id"] % 5 == 0 else 0)
            said = {"judge_x": {"level": "3", "reason": ""}}
            judged.append({**with_learned(line, {"judge_x": [worth]}), "judged": said})
        write_samples(place / run, name, judged)
        record = read_run(place / run)
        record["declared"]["said"]["signatures"] = {"judge_x": "x|0.1"}
        write_run(place / run, record)
    sheet = answers(cli, "--n", FEWEST)
    amina = rate(sheet, "Amina", lambda row: str(1 + int(row["answer"].split()[-1]) % 2))
    assert ratings(cli, amina, "wise", "quick").code == 0
    cell = RunFolder(place / "wise").scores(name)
    corrected = cell.with_metric("corrected_x")
    assert corrected.n == N and corrected.interval is not None
    assert corrected.interval[0] < 0.25 < corrected.interval[1] < 0.4 < cell.with_metric("judge_x").score
    assert read_run(place / "wise")["declared"]["said"]["signatures"]["corrected_x"] == "x|0.1|people"
    done = cli("compare", "wise", "quick", "--metric", "corrected_x")
    assert done.code == 0 and "corrected_x" in done.out, done.err


def test_a_run_that_goes_on_keeps_ratings(place: Path, cli: Cli) -> None:
    assert cli(*run_words(place, "wise", "short"), "--eval.limit", SAME + 2).code == 0
    amina = rate(answers(cli, "short"), "Amina", by_number)
    assert ratings(cli, amina, "short").code == 0
    before = lines("short")
    assert cli(*run_words(place, "wise", "short")).code == 0
    after = lines("short")
    assert [line.get("people") for line in after] == [line["people"] for line in before] + [None] * (N - SAME - 2)
    assert ratings(cli, amina, "short").code == 0 and lines("short") == after


def test_a_stopped_command_goes_on(place: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    amina = rate(answers(cli), "Amina", by_number)
    old = rate(Path("sheet.csv"), "Bello", by_number)
    assert ratings(cli, old, "wise", "quick").code == 0
    write_task(place / "mine", version=2)
    shutil.copytree(place, place.with_name("whole"))
    assert ratings(cli, amina, "wise", "quick").code == 0
    wanted, codes = content("wise", "quick"), []
    for stop in range(1, 12):
        shutil.rmtree(place / "wise")
        shutil.copytree(place.with_name("whole") / "wise", place / "wise")
        left = [stop]

        def stopping(path: Path, text: str, left: list[int] = left) -> None:
            left[0] -= 1
            if not left[0]:
                raise KeyboardInterrupt
            write_whole(path, text.encode())

        monkeypatch.setattr("afrieval.results.run_files.write_atomically", stopping)
        codes.append(ratings(cli, amina, "wise", "quick").code)
        monkeypatch.undo()
        monkeypatch.chdir(place)
        assert ratings(cli, amina, "wise", "quick").code == 0
        assert content("wise", "quick") == wanted
    assert codes[0] == 130 and codes[-1] == 0
