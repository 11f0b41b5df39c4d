"""`afrieval check-data`: what it prints, its files and its exit code."""

import json
import shutil
from pathlib import Path

import pytest
from tests.conftest import ROOT, Cli, Refusal, put

from afrieval._util.yaml_files import read_map_file

SAMPLES = ROOT / "tasks/afrixnli/sample"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Returns a folder with 40 invented rows of five languages; two rows of Hausa have changed places."""
    from tests.tools.data_checks.rows import documents

    for code, rows in documents(40).items():
        if code == "hau":
            rows[3], rows[4] = rows[4], rows[3]
        lines = ["premise\thypothesis\tlabel"]
        lines += [f"{d.fields['premise']}\t{d.fields['hypothesis']}\t{d.gold}" for d in rows]
        for name in ("test", "dev"):
            path = tmp_path / f"data/masakhane/afrixnli/data/{code}/{name}.tsv"
            put(path, "\n".join(lines))
    return tmp_path / "data"


def test_samples_have_no_new_finding(cli: Cli) -> None:
    """A task may be named as for other commands."""
    done = cli("check-data", "afrixnli", "--data.source", "samples")
    assert done.code == 0 and "rows are too few to check their order" in done.err
    assert done.out.strip() == "afrixnli: nothing found in its data"
    assert cli("check-data", "--task.task_name", "afrixnli", "--data.source", "samples") == done


def test_findings_are_printed_and_written_and_the_exit_code_is_one(cli: Cli, data: Path, tmp_path: Path) -> None:
    done = cli("check-data", "afrixnli", "--data.source", data, "--rows", 1, "--json", tmp_path / "found.json")
    assert done.code == 1
    assert "Hausa" in done.out and "another row's text" in done.out and "3 ..." in done.out
    (table,) = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))
    (row,) = [row for row in table["rows"] if (row["kind"], row["split"]) == ("order", "test")]
    assert row["row_numbers"] == [3, 4] and row["known"] == 0 and row["new"] and len(row["witnesses"][0]) == 12


def test_other_languages_are_compared_but_not_shown(cli: Cli, data: Path) -> None:
    done = cli("check-data", "afrixnli", "--data.source", data, "--task.languages", "eng,fra")
    assert "Hausa" not in done.out and "order" not in done.out


def test_without_a_task_those_are_checked_that_the_source_has(cli: Cli, data: Path) -> None:
    done = cli("check-data", "--data.source", data, "--task.languages", "hau")
    assert done.code == 1 and "does not contain facebook/belebele" in done.err and "afrimmlu:" not in done.out


def test_a_named_language_without_rows_is_an_error(refusal: Refusal, data: Path) -> None:
    assert f"{data} has no rows of afrixnli for lin" in refusal(
        "check-data", "afrixnli", "--data.source", data, "--task.languages", "hau,lin"
    )


def test_what_is_known_is_no_error(cli: Cli, data: Path, tmp_path: Path) -> None:
    tasks = tmp_path / "tasks"
    shutil.copytree(ROOT / "tasks/afrixnli", tasks / "afrixnli")
    (tasks / "afrixnli/known_defects.yaml").unlink()
    words = ("check-data", "afrixnli", "--data.source", data, "--task.folder", tasks, "--task.languages", "hau")
    found = json.loads(cli(*words, "--json", "-").out)[0]["rows"]
    lines = ["defects:"]
    for row in (row for row in found if row["new"]):
        pairs = zip(row["row_numbers"], row["witnesses"], strict=True)
        witnesses = ", ".join(f'{number}: "{text}"' for number, text in pairs)
        lines += [f"  - {{language: hau, split: {row['split']}, what: x, evidence: x, source: x,"]
        rows = ", rows: all" if row["whole"] else ""
        lines += [f"     witnesses: {{{witnesses}}}{rows}}}"]
    (tasks / "afrixnli/known_defects.yaml").write_text("\n".join(lines), encoding="utf-8")
    assert cli(*words).code == 0


def test_baselines_are_printed_and_stored_with_the_task(cli: Cli, tmp_path: Path) -> None:
    rows = [f"{'x ' * (4 + 9 * (number % 2))}\t{('negative', 'positive')[number % 2]}" for number in range(500)]
    for code, some in {"ha": rows, "ig": rows[:101]}.items():  # the second is an excerpt
        path = tmp_path / f"data/Davlan/nollysenti/data/{code}/test.tsv"
        put(path, "\n".join([f"{code}_review\tsentiment", *some]))
    tasks = tmp_path / "tasks"
    shutil.copytree(ROOT / "tasks/nollysenti", tasks / "nollysenti")
    before = read_map_file(tasks / "nollysenti/baselines.yaml").content
    words = ("check-data", "--data.source", tmp_path / "data", "--task.folder", tasks)
    done = cli(*words, "nollysenti", "--task.languages", "hau,ibo", "--baselines", "--json", tmp_path / "found.json")
    assert done.code == 0 and "too few rows to store: ibo" in done.err
    assert "Hausa     500    50.0  50.0      100.0   100.0*" in done.out
    after = read_map_file(tasks / "nollysenti/baselines.yaml").content
    assert after["hau"]["scores"]["length"]["acc"] == 1 and after["ibo"] == before["ibo"]
    (table,) = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))
    assert table["rows"][0]["length"] == 1 and table["title"] == "nollysenti: without reading"
    done = cli(*words, "nollysenti")
    assert "nollysenti: without reading" in done.out
