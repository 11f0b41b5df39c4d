"""list tells what there is."""

import json

import pytest
from tests.conftest import Cli, spec_of

from afrieval.config.files import shipped_suites
from afrieval.languages import LANGUAGES
from afrieval.tasks.declaration.known_facts import known_defects
from afrieval.tasks.declaration.spec import task_names


def test_every_task_by_kind(cli: Cli) -> None:
    tables = [row for table in json.loads(cli("list", "--json", "-").out) for row in table["rows"]]
    tasks = {row["task"]: row for row in tables if row["table"] == "tasks"}
    assert sorted(tasks) == task_names()
    for name, row in tasks.items():
        spec = spec_of(name)
        assert (row["kind"], row["title"]) == (spec.kind, spec.title)
    assert {row["suite"] for row in tables if row["table"] == "suites"} == {*shipped_suites()}
    out = cli("list").out
    assert max(map(len, out.splitlines())) <= 80 and out.startswith("Multiple choice\n")
    assert ["afrimmlu", "AfriMMLU", "16", "African,", "English,", "500", "17"] in map(str.split, out.splitlines())


def test_all_that_is_known_of_a_task(cli: Cli) -> None:
    out = " ".join(cli("list", "afrixnli").out.split())
    assert "data masakhane/afrixnli, test split" in out and "licence Apache-2.0 on the hub; the English source" in out
    assert "variants direct; translate (masakhane/afrixnli-translate-test)" in out
    assert "rows 600 in each language" in out and "kind multiple_choice; acc, " in out
    assert "18 languages Amharic (amh), English (eng)" in out and "prompts English 1, 2, 3, 4, 5" in out
    assert "native 1, 2, 3, 6, machine-written, not reviewed yet: amh ewe fra" in out
    assert "defects texts are in another order than the right answers: rows of lin test (all)" in out
    out = " ".join(cli("list", "meta_gpqa").out.split())
    assert "data meta-llama/MODEL-evals, latest split" in out and "1 language English (eng)" in out
    assert "except the question itself" in cli("list", "belebele").out
    out = " ".join(cli("list", "nollysenti").out.split())
    assert "baselines majority (%): 50.0 in each length (%): eng 67.6 hau 71.2" in out


@pytest.mark.parametrize("language", ["hau", "lin"])
def test_what_there_is_in_a_language(cli: Cli, language: str) -> None:
    (table,) = json.loads(cli("list", "--language", LANGUAGES[language].name.lower(), "--json", "-").out)
    rows = table["rows"]
    assert [row["task"] for row in rows] == [name for name in task_names() if language in spec_of(name).languages]
    for row in rows:
        spec = spec_of(row["task"])
        defects = [d for d in known_defects(spec) if (d.language, d.split) == (language, spec.data.evaluate)]
        assert bool(row["defects"]) == bool(defects), row["task"]
        assert row["rows"] == spec.data.rows_of(spec.data.evaluate, language)
    one = {row["task"]: row for row in rows}["afrixnli"]
    assert one["native prompts"] == "1-3,6*" and one["published"] == "IrokoBench"
    assert (one["defects"] == "all rows") == (language == "lin")


def test_a_suite_and_the_models(cli: Cli) -> None:
    out = cli("list", "afrobench-lite", "models").out
    assert "7 tasks in 7 groups, in 14 languages:\nAmharic, Hausa, Igbo" in out
    assert ["maths", "afrimgsm_cot", "AfriMGSM,", "chain", "of", "thought", "14", "African"] in [
        line.split() for line in out.splitlines()
    ]
    assert ["aya_101", "CohereForAI/aya-101", "hf", "9"] in [line.split() for line in out.splitlines()]


def test_languages_and_a_language_by_its_name(cli: Cli) -> None:
    (table,) = json.loads(cli("list", "languages", "--json", "-").out)
    counts = {row["code"]: row["tasks"] for row in table["rows"]}
    assert counts["hau"] == sum("hau" in spec_of(name).languages for name in task_names())
    assert cli("list", "hausa").out == cli("list", "--language", "hau").out


def test_every_task_fits_80_columns(cli: Cli) -> None:
    out = cli("list", *task_names()).out
    assert all(f"\n{name} (version " in f"\n{out}" for name in task_names())
    assert max(map(len, out.splitlines())) <= 80
