"""Which splits a data set has, and in which languages."""

from pathlib import Path

import pytest

from afrieval._util.errors import UserError
from afrieval.tasks.data.hub import CONVERTED
from afrieval.tools.new_task.layout import MAIN, Whereabouts, chosen, layout, parts_of

CARD = "---\nconfigs:\n{}---\n"


def config(name: str, *splits: str) -> str:
    files = "".join(f"  - split: {split}\n    path: {name}/{split}.csv\n" for split in splits)
    return f"- config_name: {name}\n  data_files:\n{files}"


@pytest.mark.parametrize(
    ("names", "split", "found"),
    [
        (["data/hau/test.tsv", "data/yor/test.tsv", "LICENSE"], "test", ("hau yor", "data/{code}/test.tsv", None)),
        (["x_sw.csv", "x_en.csv", "x_zh.csv"], "train", ("sw en", "x_{code}.csv", None)),
        (["yor/yor.en.dev.json", "fon/fon.fr.dev.json"], "dev", ("yor fon", ["f/{code}.fr", "f/{code}.en"], None)),
        (["a-Latn/test.csv", "hau_Latn.test.csv"], "test", ("hau_Latn", "{code}.test.csv", None)),
        (["hausa/test/0000.parquet", "hausa/test/0001.parquet"], "test", ("hausa", [], None)),
        (["default/validation/0000.parquet"], "validation", ("", [], "default/validation")),
        (["mood.csv"], "train", ("", "mood.csv", None)),
    ],
)
def test_files(tmp_path: Path, names: list[str], split: str, found: tuple[str, object, str | None]) -> None:
    for name in names:
        path = tmp_path / "our/data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    codes, files, converted = layout(parts_of("our/data", str(tmp_path)), split)
    assert (sorted(codes.values()), converted) == (sorted(found[0].split()), found[2])
    assert files == found[1] or (len(files) == 2 and all("{code}/{code}." in str(one) for one in files))


def test_a_card_on_the_hub_says_it_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    card = tmp_path / "README.md"
    card.write_text(CARD.format(config("yor-NG", "test", "train") + config("ha-NG", "test") + config("all", "test")))
    monkeypatch.setattr("afrieval.tasks.data.files.fetch", lambda *_: card)
    parts = parts_of("our/data", "hub")
    assert layout(parts, "test") == Whereabouts({"yor": "yor-NG", "hau": "ha-NG"}, "config:{code}", None)
    assert layout(chosen(parts, "all"), "test") == Whereabouts({}, "config:all", None)
    with pytest.raises(UserError, match="no configuration or file 'ha'"):
        chosen(parts, "ha")


def test_the_hubs_conversion_is_found_without_a_card(monkeypatch: pytest.MonkeyPatch) -> None:
    branches = {CONVERTED: ["yor/test/0000.parquet"], MAIN: ["loader.py", "yor_test.csv"]}
    monkeypatch.setattr("afrieval.tasks.data.files.fetch", lambda *_: None)
    monkeypatch.setattr("afrieval.tools.new_task.layout.listing", lambda _, branch: branches.pop(branch))
    assert layout(parts_of("our/data", "hub"), "test") == Whereabouts({"yor": "yor"}, [], None)
    branches[CONVERTED] = []
    assert layout(parts_of("our/data", "hub"), "test") == Whereabouts({"yor": "yor"}, "{code}_test.csv", None)
    branches |= {CONVERTED: [], MAIN: ["loader.py"]}
    with pytest.raises(UserError, match="has no tables"):
        parts_of("our/data", "hub")


def test_what_is_not_clear_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "our/data"
    folder.mkdir(parents=True)
    for name in ("hau_news_test.csv", "hau_law_test.csv"):
        (folder / name).touch()
    parts = parts_of("our/data", str(tmp_path))
    with pytest.raises(UserError, match=r"both hau_law_test.csv and hau_news_test.csv .* in Hausa \(hau\)"):
        layout(parts, "test")
    assert layout(chosen(parts, "law"), "test").files == "{code}_law_test.csv"
    with pytest.raises(UserError, match="does not contain our/other"):
        parts_of("our/other", str(tmp_path))
    with pytest.raises(UserError, match="must be ORG/NAME"):
        parts_of("../other", str(tmp_path))
