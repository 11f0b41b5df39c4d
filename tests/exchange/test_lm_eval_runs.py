"""Folders that the harness' own command writes, read as runs, against runs of ours."""

import json
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import yaml
from tests.conftest import ROOT
from tests.harness_yaml import UTILS, Function, lm_eval_without_its_tasks, tasks, write_data

from afrieval._util.errors import UserError
from afrieval.analysis.contrasts import contrasts
from afrieval.analysis.means import means
from afrieval.analysis.run_contrasts import contrasts_with_lm_eval
from afrieval.analysis.scores import over_prompts
from afrieval.analysis.unparsed import share
from afrieval.cli.main import main
from afrieval.exchange.foreign_cells import TaskName, named
from afrieval.exchange.lm_eval_runs import READER
from afrieval.models.demo import demo_folder
from afrieval.results.cell_scores import DIMENSIONS, CellScores
from afrieval.results.comparable_runs import read_runs

SOME = ("--task.task_name", "afrimmlu,afrimgsm", "--task.languages", "yor,eng,hau", "--task.prompts", "1,2")
HOW = ("--task.prompt_language", "both", "--eval.num_fewshot", "1", "--eval.max_gen_toks", "4")
GROUPS = "afrimmlu,afrimmlu_native,afrimgsm,afrimgsm_native"
PAIRS = {"metric": "f1", "aggregation": Function("utils.weighted_f1_score"), "hf_evaluate": True, "average": "weighted"}


class Runs(NamedTuple):
    own: Path
    foreign: Path


def harness_own(folder: Path, data: Path) -> list[str]:
    """Adds tasks that are named as the harness names its own, and returns the names."""
    known = tasks(str(write_data(data) / "org" / "rows"))
    choice, letters = known["mc_yor_1"], {"doc_to_choice": ["A", "B", "C", "D"]}
    made = {
        "afrimmlu_direct_yor_prompt_3": {**choice, "metric_list": [PAIRS, *choice["metric_list"][:1]]},
        "belebele_hau_Latn": {**choice, **letters, "dataset_name": "hau", "num_fewshot": 2},
        "afrixnli_native_direct_hau": {**choice, "dataset_name": "hau"},
        "afrixnli_en_direct_hau": {**choice, "dataset_name": "hau"},
        "afrixnli_native_direct_eng": choice,
        "two_filters_yor": known["two_filters"],
        "mafand_yor": known["translation"],
        "no_language": choice,
    }
    (folder / "utils.py").write_text(UTILS)
    for name, config in made.items():
        config = {k: v for k, v in config.items() if k != "tag"}
        (folder / f"{name}.yaml").write_text(yaml.safe_dump({"task": name, **config}, sort_keys=False))
    return list(made)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """The demo model on the same cells by `afrieval run` and by lm_eval, which also gets tasks of its own."""
    folder = tmp_path_factory.mktemp("foreign")
    words = (*SOME, *HOW, "--data.source", "samples")
    assert main(["run", "--model.model_name=demo", "--eval.limit=4", f"--run_dir={folder / 'run'}", *words]) == 0
    assert main(["export", "--to", "harness", str(folder / "tasks"), *words]) == 0
    names = ",".join([GROUPS, *harness_own(folder / "tasks", folder / "data")])
    model = f"--model hf --model_args pretrained={demo_folder()} --device cpu --batch_size 8 --limit 4".split()
    where = ("--include_path", folder / "tasks", "--tasks", names, "--output_path", folder / "out", "--log_samples")
    lm_eval_without_its_tasks(*where, *model, cwd=ROOT)
    return Runs(folder / "run", folder / "out")


def by_cell(units: list[CellScores]) -> dict[tuple[Any, ...], CellScores]:
    cells = {(u.task, *(u.dimensions[d] for d in DIMENSIONS if d != "model")): u for u in units}
    assert len(cells) == len(units)
    return cells


def test_exported_tasks_give_the_units_of_our_own_run(runs: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    own, foreign = by_cell(read_runs([runs.own], sent=True)), by_cell(READER.read(runs.foreign))
    assert len(own) == 20 and own.keys() <= foreign.keys()
    for cell, unit in own.items():
        other = foreign[cell]
        assert (unit.ids == other.ids).all() and (unit.values == other.values).all(), cell
        assert (unit.golds == other.golds).all() and unit.main == other.main
        assert unit.comparable_on["task version"] == other.comparable_on["task version"]
        assert (
            unit.recorded_settings["dtype"] == other.recorded_settings["dtype"]
            and unit.recorded_settings["device"] == other.recorded_settings["device"]
        )
        declared = {
            k: v
            for k, v in unit.declared.items()
            if k not in ("unreviewed", "metrics", "contrast", "defective", "data", "sample_rows", "test_set")
        } | {"labels": []}
        assert other.declared == declared
    assert any(u.values.any() for u in own.values())
    left_out = capsys.readouterr().err.splitlines()
    assert [line.split(" of ")[0] for line in left_out] == [
        "left out: afrixnli_native_direct_eng",
        "left out: mafand_yor",
        "left out: no_language",
        "two_filters_yor",
    ]


def test_our_run_and_theirs_show_no_difference_in_any_language(runs: Runs) -> None:
    found = contrasts_with_lm_eval(read_runs([runs.own], sent=True), READER.read(runs.foreign), 1)
    assert sorted((c.task, sorted(r.language for r in c.rows)) for c in found) == [
        ("afrimgsm", ["eng", "hau", "yor"]),
        ("afrimgsm", ["hau", "yor"]),
        ("afrimmlu", ["eng", "hau", "yor"]),
        ("afrimmlu", ["hau", "yor"]),
    ]
    for contrast in found:
        assert not contrast.refused and not contrast.settings
        assert all((r.difference, r.p, r.dropped, r.verdict) == (0.0, 1.0, 0, 0) for r in contrast.rows)
        assert all(r.prompts == [1, 2] and r.n > 0 for r in contrast.rows)


def test_without_beside_the_two_are_refused_and_never_mixed(runs: Runs) -> None:
    units = [*read_runs([runs.own], sent=True), *READER.read(runs.foreign)]
    for contrast in contrasts([u for u in units if u.task == "afrimmlu"], "model", 1):
        assert contrast.refused and not contrast.rows
    assert {s.dimensions["model"] for s in over_prompts(units)} == {"demo", "demo-2 (lm_eval)"}


@pytest.mark.parametrize(
    ("key", "reason"),
    [("doc_hash", "data differs"), ("prompt_hash", "prompt text differs"), ("arguments", "answers asked for differs")],
)
def test_what_was_sent_has_to_be_the_same(runs: Runs, tmp_path: Path, key: str, reason: str) -> None:
    folder = copied(runs, tmp_path)
    (path,) = folder.glob("*/samples_afrimmlu_yor_eng_1_*")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    changed = {"gen_args_0": {"arg_0": "", "arg_1": " other"}} if key == "arguments" else "0" * 64
    path.write_text("".join(json.dumps({**line, key: changed}) + "\n" for line in lines))
    refused = [
        line
        for c in contrasts_with_lm_eval(read_runs([runs.own], sent=True), READER.read(folder), 1)
        for line in c.refused
    ]
    assert len(refused) == 1 and refused[0].startswith(f"Yoruba (yor), prompt 1: {reason}")


def test_answers_in_which_a_filter_finds_nothing_are_unparsed(runs: Runs, tmp_path: Path) -> None:
    folder = copied(runs, tmp_path)
    (path,) = folder.glob("*/samples_afrimgsm_yor_eng_1_*")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[0]["filtered_resps"], lines[1]["filtered_resps"] = ["[invalid]"], [["[invalid]"]]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    shares = {cell.name: share([cell]) for cell in READER.read(folder)}
    known = {"afrimgsm_yor_eng_1": 2 / len(lines), "two_filters_yor": 1.0}
    assert {name: of for name, of in shares.items() if of} == known


def test_a_shorter_run_is_compared_on_the_documents_that_both_have(runs: Runs, tmp_path: Path) -> None:
    folder = copied(runs, tmp_path)
    for path in folder.glob("*/samples_afrimmlu_*"):
        path.write_text("".join(f"{line}\n" for line in path.read_text().splitlines()[:3]))
    found = [
        c
        for c in contrasts_with_lm_eval(read_runs([runs.own], sent=True), READER.read(folder), 1)
        if c.task == "afrimmlu"
    ]
    assert found and not any(c.refused for c in found)
    assert all(r.n == 3 and r.dropped > 0 and r.difference == 0 for c in found for r in c.rows)


def test_within_a_foreign_folder_prompts_and_languages_are_compared(runs: Runs) -> None:
    units = READER.read(runs.foreign)
    native = {c.task: c for c in contrasts(units, "prompt_language", 1)}
    assert {r.language for r in native["afrimmlu"].rows} == {"hau", "yor"} and not native["afrimmlu"].refused
    assert [r.language for r in native["afrixnli_direct"].rows] == ["hau"], "en and native in the harness' own words"
    by_language = [c for c in contrasts(units, "language", 1) if c.task == "afrimmlu"]
    assert any(r.language in ("hau", "yor") for c in by_language for r in c.rows)
    assert {m.task for m in means(units, ["Africa"])} >= {"afrimmlu", "afrimgsm"}


def test_tasks_of_the_harness_keep_apart_from_ours(runs: Runs) -> None:
    found = {u.task: u for u in READER.read(runs.foreign) if u.dimensions["model"]}
    mmlu, belebele, filters = found["afrimmlu_direct"], found["belebele (lm_eval)"], found["two_filters"]
    assert mmlu.main == "acc", "f1 has pairs, no scores"
    assert (mmlu.dimensions["prompt"], mmlu.dimensions["answer_form"], mmlu.dimensions["shots"]) == (3, "text", 0)
    assert (belebele.dimensions["prompt"], belebele.dimensions["answer_form"]) == (0, "letter")
    assert (belebele.language, belebele.dimensions["shots"]) == ("hau", 2)
    assert set(mmlu.golds) <= {0, 1, 2, 3} and not mmlu.declared
    assert (filters.dimensions["answer_form"], filters.main, set(filters.golds)) == ("generate", "exact_match", {-1})
    lines = [json.loads(x) for x in filters.path.read_text().splitlines()] if filters.path else []
    assert filters.values.tolist() == [x["exact_match"] for x in lines if x["filter"] == "strict"]
    assert (
        mmlu.comparable_on["prompt text"] != filters.comparable_on["prompt text"]
        and mmlu.comparable_on["data"] != belebele.comparable_on["data"]
    )


def test_of_two_filters_one_is_read_and_named(runs: Runs, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Older versions do not write the filter of a sample: a document is there as often as there are filters."""
    folder = copied(runs, tmp_path)
    (path,) = folder.glob("*/samples_two_filters_yor_*")
    named = by_cell(READER.read(folder))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("\n".join(json.dumps({k: v for k, v in line.items() if k != "filter"}) for line in lines))
    capsys.readouterr()
    unnamed = by_cell(READER.read(folder))
    assert f"two_filters_yor of {folder}: the filter strict is read, not anything" in capsys.readouterr().err.split(
        "\n"
    )
    assert unnamed.keys() == named.keys()
    assert all((unnamed[cell].values == named[cell].values).all() for cell in named)
    path.write_text("\n".join(path.read_text().split("\n")[:-1]))
    with pytest.raises(UserError, match="filters strict, anything have different documents"):
        READER.read(folder)


def copied(runs: Runs, to: Path) -> Path:
    return Path(shutil.copytree(runs.foreign, to / "out"))


def test_the_newest_date_counts(runs: Runs, tmp_path: Path) -> None:
    folder = copied(runs, tmp_path)
    for path in list(folder.glob("*/*afrimmlu_yor_eng_1_*")) + list(folder.glob("*/results_*")):
        stem = path.name.rsplit("_", 1)[0]
        older, newer = (path.with_name(f"{stem}_{date}{path.suffix}") for date in ("2000-01-01T01-01-01.5", DATE))
        shutil.copy(path, older)
        text = path.read_text()
        newer.write_text(text.replace('"acc": 0.0', '"acc": 1.0').replace('"n-shot": {', '"n-shot": {"x": 0,'))
    found = {u.path: u for u in READER.read(folder)}
    (unit,) = [u for p, u in found.items() if p and p.name == f"samples_afrimmlu_yor_eng_1_{DATE}.jsonl"]
    assert unit.score == 1.0 and len(found) == len(READER.read(runs.foreign))


DATE = "2999-01-01T01-01-01"


def test_which_folder_is_foreign(runs: Runs, tmp_path: Path) -> None:
    inner = next(runs.foreign.iterdir())
    assert READER.wrote(runs.foreign) and READER.wrote(inner)
    assert not READER.wrote(runs.own) and not READER.wrote(tmp_path) and not READER.wrote(tmp_path / "nothing")
    one, other = READER.read(runs.foreign), READER.read(inner)
    assert [(u.task, u.dimensions) for u in one] == [(u.task, u.dimensions) for u in other]


def test_two_models_of_one_last_name_are_told_apart(runs: Runs, tmp_path: Path) -> None:
    folder = copied(runs, tmp_path)
    inner = next(folder.iterdir())
    other = Path(shutil.copytree(inner, folder / "other"))
    (results,) = other.glob("results_*")
    results.write_text(results.read_text().replace(str(demo_folder()), "/elsewhere/demo-2"))
    labels = {u.dimensions["model"] for u in READER.read(folder)}
    assert labels == {f"{demo_folder()} (lm_eval)", "/elsewhere/demo-2 (lm_eval)"}


def spoil(folder: Path, line: int, text: str) -> None:
    (path,) = folder.glob("*/samples_afrimmlu_yor_eng_1_*")
    lines = path.read_text().splitlines()
    lines[line - 1] = text or lines[0]
    path.write_text("\n".join(lines))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"doc_id": 2, "do', "line 3 is not valid JSON"),
        ('{"doc_id": 2}', "line 3: the key 'doc' is missing"),
        ("[]", "line 3: the content must be a map"),
        ("", "line 3: document 0 is repeated"),
    ],
)
def test_a_damaged_line_is_named(runs: Runs, tmp_path: Path, text: str, message: str) -> None:
    folder = copied(runs, tmp_path)
    spoil(folder, 3, text)
    with pytest.raises(UserError, match=message) as caught:
        READER.read(folder)
    assert "lm_eval" in caught.value.hint


def test_missing_and_damaged_files(runs: Runs, tmp_path: Path) -> None:
    folder = copied(runs, tmp_path)
    (results,) = folder.glob("*/results_*")
    whole = json.loads(results.read_text())
    for content, message in (
        ("{", "is not valid JSON"),
        ("[]", "the content must be a map"),
        (json.dumps({**whole, "configs": {}}), "have no configs of"),
    ):
        results.write_text(content)
        with pytest.raises(UserError, match=message):
            READER.read(folder)
    results.unlink()
    assert READER.wrote(folder)
    with pytest.raises(UserError, match="no results file of the same date"):
        READER.read(folder)
    for path in folder.glob("*/samples_*"):
        path.unlink()
    with pytest.raises(UserError, match="has no samples"):
        READER.read(folder)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("afrimmlu_yor_eng_1", TaskName("afrimmlu", "yor", 1, "eng", ours=True)),
        ("afrimmlu_yor_native_12", TaskName("afrimmlu", "yor", 12, "native", ours=True)),
        ("afrimgsm_cot_swa_eng_2", TaskName("afrimgsm_cot", "swa", 2, "eng", ours=True)),
        ("afrixnli_yor_eng_paper3_uncleaned", TaskName("afrixnli", "yor", "paper3_uncleaned", "eng", ours=True)),
        ("afrixnli_translate_yor_eng_paper3", TaskName("afrixnli_translate", "yor", "paper3", "eng", ours=True)),
        ("afrimmlu_direct_yor_prompt_1", TaskName("afrimmlu_direct", "yor", 1, "eng")),
        ("afrixnli_yor_prompt_5", TaskName("afrixnli", "yor", 5, "eng")),
        ("afrimgsm_cot_translate_yor_prompt_2", TaskName("afrimgsm_cot_translate", "yor", 2, "eng")),
        ("afrixnli_en_direct_yor", TaskName("afrixnli_direct", "yor", 0, "eng")),
        ("afrixnli_native_direct_yor", TaskName("afrixnli_direct", "yor", 0, "native")),
        ("belebele_gaz_Latn", TaskName("belebele", "orm", 0, "eng")),
        ("belebele_swh_Latn", TaskName("belebele", "swa", 0, "eng")),
        ("sib_yor_Latn_prompt_1", TaskName("sib", "yor", 1, "eng")),
        ("xlsum_hausa_prompt_3", TaskName("xlsum", "hau", 3, "eng")),
        ("flores_yor_Latn-eng_Latn_prompt_1", TaskName("flores_yor_Latn-eng_Latn_prompt_1", "", 0, "eng")),
        ("mafand_en-yor_prompt_1", TaskName("mafand_en-yor_prompt_1", "", 0, "eng")),
        ("belebele_acm_Arab", TaskName("belebele_acm_Arab", "", 0, "eng")),
        ("gsm8k", TaskName("gsm8k", "", 0, "eng")),
    ],
)
def test_what_names_tell(name: str, expected: TaskName) -> None:
    assert named(name) == expected


def test_values_are_sorted_by_row(runs: Runs, tmp_path: Path) -> None:
    folder = copied(runs, tmp_path)
    for path in folder.glob("*/samples_*"):
        path.write_text("".join(f"{line}\n" for line in reversed(path.read_text().splitlines())))
    for one, other in zip(READER.read(runs.foreign), READER.read(folder), strict=True):
        if one.task != "two_filters":  # whose first filter is another now
            assert (one.ids == other.ids).all() and (one.values == other.values).all()
            assert (np.diff(other.ids) > 0).all() and one.comparable_on == other.comparable_on
