"""Defects of published groups of tasks, looked for in our suites and in the groups of an export; numbered as found."""

import re
from functools import cache
from typing import Any

import lm_eval
import pytest
from tests.conftest import ROOT, spec_of

from afrieval.config.files import shipped_suites
from afrieval.config.settings import DataConfig, RunConfig, TaskConfig
from afrieval.exchange.lm_eval_export import definitions, task_manager
from afrieval.models.demo import demo_folder
from afrieval.tasks.declaration.spec import task_names

SUITES = {  # the harness keeps no likelihoods of tokens, so that suites with such tasks are not exported
    name: config
    for name, config in shipped_suites().items()
    if not any(spec_of(task).texts for members in config.groups.values() for task in members)
}
each_suite = pytest.mark.parametrize("suite", SUITES)


@cache
def exported() -> dict[str, dict[str, Any]]:
    return definitions(RunConfig(data=DataConfig("samples")))


def tasks_of(suite: str) -> list[str]:
    return [task for members in SUITES[suite].groups.values() for task in members]


@each_suite
def test_finding_29_a_group_has_all_members_of_its_suite(suite: str) -> None:
    """In the published AfroBench group, all members but translation are commented out."""
    members = exported()[suite]["task"]
    prefix = f"{suite}_" if SUITES[suite].languages else ""
    assert members == [f"{prefix}{task}" for task in tasks_of(suite)] and len(members) >= 4


def test_finding_29_afrobench_has_every_kind_of_task() -> None:
    kinds = {spec_of(task).kind for task in tasks_of("afrobench")}
    assert kinds >= {"classification", "spans", "tags", "multiple_choice", "number", "translation"}
    assert kinds >= {"question", "summary", "restoration"}
    assert set(tasks_of("afrobench-lite")) <= set(tasks_of("afrobench"))


def test_finding_30_afrobench_lite_is_what_its_authors_list() -> None:
    """Seven data sets, each in those of 14 languages that it has; the published group lacks one that it promises."""
    assert len(SUITES["afrobench-lite"].groups) == 7 == len(tasks_of("afrobench-lite"))
    languages = SUITES["afrobench-lite"].languages or []
    assert len(set(languages)) == 14
    for task in tasks_of("afrobench-lite"):
        has = [code for code in languages if code in spec_of(task).languages]
        assert exported()[f"afrobench-lite_{task}"]["task"] == [f"{task}_{code}" for code in has] and len(has) > 8, task


def test_finding_31_every_name_resolves() -> None:
    """A group is misspelled there, and names in its README are of no group."""
    found = exported()
    members = [member for definition in found.values() if "group" in definition for member in definition["task"]]
    assert set(members) <= set(found) and all(task in task_names() for suite in SUITES for task in tasks_of(suite))
    rows = re.findall(r"^\| (`.*?) \|", (ROOT / "docs/harness.md").read_text(), re.M)
    documented = {name for row in rows for name in re.findall("`([a-z0-9_-]+)`", row)}
    assert set(SUITES) <= documented and {name for name in documented if "meta" not in name} <= set(found)


def test_finding_32_members_do_not_depend_on_the_way_of_loading() -> None:
    """Tags of one name are merged in a folder of the harness, and replaced by another folder; groups are neither."""
    assert all("tag" not in definition for definition in exported().values())
    groups = [definition["group"] for definition in exported().values() if "group" in definition]
    assert len(groups) == len(set(groups))


def test_finding_14_each_mean_over_languages_has_all_metrics_of_its_task() -> None:
    """Published groups aggregate acc alone, which the tasks of nine of them do not have."""
    tasks = {task for suite in SUITES for task in tasks_of(suite) if f"{task}_african" in exported()}
    assert len(tasks) > 30
    for task in tasks:
        metrics = {each["metric"] for each in exported()[f"{task}_african"]["aggregate_metric_list"]}
        assert spec_of(task).scoring.metrics[0].name in metrics, task
        assert len(metrics) > 1 or spec_of(task).blank, task


def test_finding_14_the_row_of_a_group_has_a_score_that_is_not_acc() -> None:
    task = TaskConfig(task_name="flores_from_eng", languages=["swa", "yor"], prompts=[1])
    config = RunConfig(task=task, data=DataConfig("samples"))
    model = {"pretrained": str(demo_folder()), "dtype": "auto"}
    results: dict[str, Any] = lm_eval.simple_evaluate(
        "hf", model, ["flores_from_eng_african"], task_manager=task_manager(config), device="cpu", limit=2,
        bootstrap_iters=0, gen_kwargs="max_gen_toks=4",
    )  # fmt: skip
    row = results["groups"]["flores_from_eng_african"]
    cells = [results["results"][f"flores_from_eng_{code}_eng_1"]["chrf++,none"] for code in ("swa", "yor")]
    assert row["chrf++,none"] == pytest.approx(sum(cells) / 2)
