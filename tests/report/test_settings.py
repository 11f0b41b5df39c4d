"""Settings of runs are shown whole, and what differs between runs is marked."""

from pathlib import Path

import yaml
from tests.report.html.small_runs import small_run, two_models

from afrieval.exchange.discovery import read_inputs
from afrieval.report.settings import Setting, differences, run_settings


def named(settings: list[Setting], name: str) -> Setting:
    return next(one for one in settings if one.name == name)


def test_everything_in_run_yaml_is_shown(tmp_path: Path) -> None:
    folder = small_run(tmp_path / "a", extra={"deep": [1, None, True]}, empty={})
    [run] = run_settings(read_inputs([folder]).own)
    model = named(run.parts["What the run is"], "model").value
    assert isinstance(model, list)
    assert named(model, "model_name") == Setting("model_name", "small")
    assert named(model, "extra").value == [Setting("deep", "1, not given, true")]
    assert named(model, "empty").value == "none"
    assert named(run.parts["Last visit"], "device").value == "cpu"
    hashes = [yaml.safe_load((folder / "run.yaml").read_text())["identity"]["tasks"]["afrixnli"]["data"]]
    tasks = str(run.parts["What the run is"])
    assert all(digest in tasks for of_languages in hashes for of in of_languages.values() for digest in of.values())


def test_zero_and_one_are_numbers(tmp_path: Path) -> None:
    [run] = run_settings(read_inputs([small_run(tmp_path / "a", zero=0, one=1, no=False)]).own)
    model = named(run.parts["What the run is"], "model").value
    assert [one.value for one in model if isinstance(one, Setting)][-3:] == ["0", "1", "false"]


def test_what_differs_is_marked_with_all_that_it_is_part_of(tmp_path: Path) -> None:
    first, second = run_settings(two_models(tmp_path).own)
    for run in (first, second):
        model = named(run.parts["What the run is"], "model")
        assert model.differs and isinstance(model.value, list)
        assert [one.name for one in model.value if one.differs] == ["model_name"]
        assert not named(run.parts["What the run is"], "variant").differs


def test_differences_are_a_table_with_a_column_for_each_run(tmp_path: Path) -> None:
    [table] = differences(run_settings(two_models(tmp_path).own))
    assert table.heads == ["setting", "a", "b"]
    assert table.rows == [["model.model_name", "first", "second"]]


def test_one_run_differs_from_nothing(tmp_path: Path) -> None:
    assert differences(run_settings(read_inputs([small_run(tmp_path / "a")]).own)) == []
