"""The pages of a leaderboard: links that lead somewhere, hostile names, names of files, numbers as files."""

import csv
import io
import json
import re
from html import unescape
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.hostile import NAMES
from tests.report.html.small_runs import small_run

from afrieval.analysis.leaderboard import leaderboard
from afrieval.exchange.discovery import gathered, paths_below
from afrieval.languages import LANGUAGES
from afrieval.report.html.board_pages import LONGEST, file_name, site


def links(page: bytes) -> list[str]:
    return [unescape(address) for address in re.findall(r'href="([^"]*)"', page.decode())]


def texts(page: bytes) -> list[str]:
    return [unescape(text).strip() for text in re.findall(r">([^<]*)<", page.decode())]


def built(folder: Path) -> dict[str, bytes]:
    return site(leaderboard(gathered(folder, paths_below(folder))))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("runs")
    small_run(folder / "a", "first", 0)
    small_run(folder / "b", "second/model", 1)
    small_run(folder / "c", "unfinished", 1).joinpath("samples_afrixnli_yor_eng_1.jsonl").unlink()
    (folder / "afrixnli-0shot.csv").write_text("model,prompt,hau,yor\nother,prompt_1,40,50\n")
    (folder / "sib-0shot.csv").write_text("model,prompt,hau\nother,prompt_1,70\n")
    return built(folder)


def test_there_is_a_page_for_each_task_language_and_model(files: dict[str, bytes]) -> None:
    names = [name for name in files if name.endswith(".html")]
    assert [re.sub("-[0-9a-f]{8}", "", name) for name in names] == [
        "index.html", "tasks/afrixnli.html", "tasks/sib200.html", "languages/hau.html", "languages/yor.html",
        "models/first.html", "models/other.html", "models/second-model.html",
    ]  # fmt: skip


def test_all_links_lead_to_files_and_all_files_are_reached(files: dict[str, bytes]) -> None:
    reached = {"index.html"}
    for name in [name for name in files if name.endswith(".html")]:
        for link in links(files[name]):
            if not link.startswith("#"):
                parts: list[str] = []
                for part in (PurePosixPath(name).parent / link).parts:
                    parts = parts[:-1] if part == ".." else [*parts, part]
                reached.add("/".join(parts))
    assert reached == set(files)


def test_published_scores_are_marked_wherever_they_are(files: dict[str, bytes]) -> None:
    for name in ("index.html", "languages/hau.html", "tasks/afrixnli.html"):
        text = files[name].decode()
        rows = [
            row for row in re.findall(r"<tr.*?</tr>", text, re.S) if ">other</a>" in row and '<th scope="row"' in row
        ]
        assert rows and all("published" in row for row in rows), name
    assert "afrixnli-0shot.csv" in texts(files["languages/hau.html"])


def test_the_page_of_a_language_says_which_model_is_best_and_how_sure(files: dict[str, bytes]) -> None:
    assert {"Hausa", "rank", "1-5", "95% CI"} <= {*texts(files["languages/hau.html"])}


def test_the_page_of_a_model_has_its_settings_versions_and_hashes(files: dict[str, bytes]) -> None:
    assert {"version of afrieval", "0.1.0", "revision", "main", "hau" * 20} <= {*texts(files["models/first.html"])}


def test_what_is_left_out_is_said(files: dict[str, bytes]) -> None:
    assert any("is not finished" in text for text in texts(files["index.html"]))


def test_everything_is_a_file_too(files: dict[str, bytes]) -> None:
    averages = json.loads(files["data/averages.json"])
    assert {table["rows"][0]["average"] for table in averages} == {"suite", "afrobench"}
    rows = list(csv.DictReader(io.StringIO(files["data/scores.csv"].decode())))
    assert {"task", "language", "model", "kind", "score", "interval low", "rank low", "rank high", "source"} <= {
        *rows[0]
    }
    assert {(row["model"], row["kind"]) for row in rows} == {
        ("first", "English"), ("first", "native"), ("second/model", "English"), ("second/model", "native"),
        ("other", "published"),
    }  # fmt: skip


def test_hostile_names_are_text(tmp_path: Path) -> None:
    for at, name in enumerate(NAMES):
        small_run(tmp_path / str(at), name)
    found = built(tmp_path)
    for name, content in found.items():
        assert re.fullmatch(r"[a-z]+/[a-z0-9_][a-z0-9._-]{0,80}|index\.html", name), name
        if name.endswith(".html"):
            text = content.decode()
            assert text.count("<script") == 1
            assert "\u202e" not in text and "onload='x" not in text
    assert {"<script>alert(1)</script>", "\\u202eevil"} <= {*texts(found["index.html"])}
    assert len([name for name in found if name.startswith("models/")]) == len(NAMES)


@pytest.mark.slow
def test_a_hundred_models_in_sixty_languages(tmp_path: Path) -> None:
    codes = [code for code in LANGUAGES if len(code) == 3][:60]
    lines = ["model,prompt," + ",".join(codes)]
    lines += [f"org/m{at}x,prompt_1,{','.join(f'{20 + at / 2 + n / 10:.1f}' for n in range(60))}" for at in range(100)]
    (tmp_path / "afrixnli-0shot.csv").write_text("\n".join(lines))
    found = built(tmp_path)
    assert len([name for name in found if name.endswith(".html")]) == 1 + 1 + 60 + 100
    assert max(len(content) for name, content in found.items() if name.endswith(".html")) < 2_000_000


@pytest.mark.parametrize("name", ["afrixnli", "hau", "masakhanews_headline", "7b"])
def test_plain_names_are_kept(name: str) -> None:
    assert file_name(name) == name


@pytest.mark.parametrize(
    ("name", "begin"),
    [
        ("meta-llama/Llama-3.1-8B", "meta-llama-llama-3.1-8b-"),
        ("../../etc/passwd", "etc-passwd-"),
        ("con", "con-"),
        ("<script>alert(1)</script>", "script-alert-1-script-"),
        ("Ọlá", "l-"),
        ("\udc80", ""),
        ("", ""),
    ],
)
def test_other_names_are_readable_and_end_in_a_hash(name: str, begin: str) -> None:
    assert re.fullmatch(f"{re.escape(begin)}[0-9a-f]{{8}}", file_name(name))


def test_names_that_differ_in_capital_letters_only_are_different_files_on_every_system() -> None:
    assert len({file_name(name).lower() for name in ("aya", "Aya", "AYA", "a-y-a", "a y a")}) == 5


@given(st.text())
def test_every_name_is_safe(name: str) -> None:
    found = file_name(name)
    assert re.fullmatch(r"[a-z0-9_][a-z0-9._-]*", found)
    assert ".." not in found and len(found) <= LONGEST + 9


@given(st.lists(st.text(), unique=True, max_size=8))
def test_different_names_are_different_files(names: list[str]) -> None:
    assert len({file_name(name) for name in names}) == len(names)
