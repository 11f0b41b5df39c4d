"""What a user sees of a run: tables, write-out, lines about what was left out, and errors of every kind."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cells import FakeCell
from tests.conftest import ROOT, Cli, only_samples, read_config

from afrieval.results.cell_key import CellKey
from afrieval.results.run_files import read_run
from afrieval.run.manifest import default_folder
from afrieval.run.session import plan
from afrieval.tasks.cells.task_cell import TaskCell

ONE = ("--task.languages", "yor", "--task.prompts", "1", "--eval.limit", "1")


def test_the_tables(run_demo: Cli) -> None:
    done = run_demo("--task.languages", "eng,yor,hau", "--task.prompt_language", "both", "--task.prompts", "1,2")
    lines = done.out.splitlines()
    assert max(map(len, lines)) <= 80
    assert [line.split()[0] for line in lines if "English 1-2" in line] == ["English", "Yoruba", "Hausa"]
    assert len([line for line in lines if "native 1-2*" in line]) == 2
    assert "A random guess scores 25.0%" in done.out and "not yet reviewed by two speakers" in done.out
    assert "native prompts against English prompts" in done.out
    assert "Likelihoods are from the tree engine." in " ".join(done.out.split())
    assert "The demo model is random" in done.out and "Run folder: " in done.out


def test_write_out_shows_prompt_examples_and_likelihoods(run_demo: Cli) -> None:
    done = run_demo(*ONE, "--eval.write-out", "--eval.num-fewshot", "1")
    head, prompt, tail = done.out.split("-" * 80 + "\n", 2)
    assert "afrimmlu Yoruba, English prompt 1, document 0, few-shot rows [" in head
    assert prompt.count("Question: ") == 2 and prompt.endswith("Answer:\n")
    choices = tail.split("\n\n")[0].splitlines()
    assert len(choices) == 4 and sum("gold" in c for c in choices) == 1 and sum("picked" in c for c in choices) == 1
    assert all(float(c.split()[0]) < 0 for c in choices)
    again = run_demo(*ONE, "--eval.write-out", "--eval.num-fewshot", "1")
    assert again.out == done.out


def test_a_prompt_without_native_twin_is_left_out_unless_its_language_was_named(run_demo: Cli) -> None:
    done = run_demo("--task.prompt_language", "both", "--task.prompts", "4", "--eval.limit", "1")
    assert done.code == 0 and "no native prompts for amh, hau, swa, yor, zul" in done.err


def test_what_is_left_out_is_said(run_demo: Cli) -> None:
    done = run_demo("--task.prompt_language", "native", "--task.prompts", "1", "--eval.limit", "1")
    assert "left out: afrimmlu: no test rows for ewe, fra, ibo" in done.err


def test_folders_of_harness_tasks() -> None:
    def folder(*words: str, shots: int = 0) -> str:
        config = read_config(["--model.model_name", "org/m", *words], command="run", needs_model=True)
        cell = FakeCell("t", key=CellKey("t", shots=shots))
        return str(default_folder(config, [cell]))

    assert folder("--task.harness_tasks", "a,b") == "runs/a+b/org__m/own-shots"
    assert folder("--task.harness_tasks", "a", "--model.model_name", "m:8b") == "runs/a/m__8b/own-shots"
    assert folder("--task.harness_tasks", "a", shots=5) == "runs/a/org__m/own-shots-seed42"
    assert folder("--task.harness_tasks", "a", "--eval.num_fewshot", "2", shots=2) == "runs/a/org__m/2shot-seed42"
    assert folder("--task.harness_tasks", "a", "--task.clean_prompts") == "runs/a/org__m/own-shots-clean"
    template = ("--task.task_template", "x_{{ language }}_1,y_{{language}}", "--task.languages")
    assert folder(*template, "yor") == folder(*template, "hau,yor") == "runs/x_LANG_1+y_LANG/org__m/own-shots"
    long = folder("--task.harness_tasks", ",".join(f"a_long_name_of_a_task_{i}" for i in range(20)))
    assert len(long.split("/")[1]) < 100


def test_runs_of_other_settings_have_folders_of_their_own() -> None:
    def folder(*words: str) -> Path:
        base = "--model.model_name org/m --task.task_name afrimmlu --task.languages yor,hau --data.source samples"
        config = read_config([*base.split(), *words], command="run", needs_model=True)
        return default_folder(config, plan(config).cells)

    assert folder() == Path("runs/afrimmlu/org__m/text-0shot-samples")
    others = [
        folder(),
        folder("--eval.num_fewshot", "2"),
        folder("--eval.num_fewshot", "2", "--eval.fewshot_random_seed", "7"),
        folder("--eval.num_fewshot", "2", "--eval.fewshot_selection", "per_document"),
        folder("--task.answer_form", "letter"),
        folder("--model.chat_template"),
        folder("--model.dtype", "float16"),
        folder("--model.revision", "v2"),
        folder("--model.backend_args.max_length", "512"),
        folder("--eval.sample", "5"),
        folder("--eval.sample", "5", "--eval.random_seed", "7"),
    ]
    assert len(set(others)) == len(others)
    assert others[8].name == "text-0shot-max-length-512-samples"
    assert folder("--eval.sample", "9") == folder("--eval.sample", "5")
    assert folder("--eval.limit", "1") == folder("--task.languages", "yor") == folder()
    system = folder("--model.chat_template", "--model.chat_system", "You answer in Hausa, in one word.").name
    assert "-system-You-answer-in-Hausa-in-o-" in system


def test_folders_of_local_models(tmp_path: Path) -> None:
    def name(path: str) -> str:
        (tmp_path / path).mkdir(parents=True)
        words = ["--model.model_name", str(tmp_path / path), "--task.harness_tasks", "a"]
        return default_folder(read_config(words, command="run", needs_model=True)).parts[2]

    assert name("mine/hausa-7b") == "hausa-7b" and name("mine/checkpoint-500") == "mine__checkpoint-500"
    assert name("models--org--m/snapshots/0a1b") == "org__m"


def test_no_native_prompts_for_a_language_that_was_named(cli: Cli, tmp_path: Path, small_tasks: Path) -> None:
    folder = tmp_path / "facebook/belebele/data"
    folder.mkdir(parents=True)
    sample = (ROOT / "tasks/belebele/sample/eng.jsonl").read_text()
    (folder / "fuv_Latn.jsonl").write_text(sample)
    words = ("--task.task_name", "belebele", "--data.source", tmp_path, "--task.prompt_language", "native")
    done = cli("preview", *words, "--task.folder", small_tasks, "--task.languages", "fuv")
    assert done.code == 2 and "no prompts in Nigerian Fulfulde (fuv)" in done.err
    assert all(said in done.err for said in ("it has prompts in", "bam, eng, fra, hau", "'Native prompts' in the"))


def test_a_run_folder_that_is_a_file(run_demo: Cli, tmp_path: Path) -> None:
    (tmp_path / "run").write_text("")
    done = run_demo(*ONE)
    assert done.code == 2 and "cannot be written" in done.err


def test_belebele_says_where_its_examples_come_from_and_keeps_passages_apart(
    run_demo: Cli, tmp_path: Path, small_tasks: Path
) -> None:
    """Rows 0 to 3 share one passage: none of them is an example for another."""
    data = tmp_path / "facebook/belebele/data"
    data.mkdir(parents=True)
    row = {f"mc_answer{i}": f"answer {i}" for i in (1, 2, 3, 4)} | {"correct_answer_num": "2"}
    rows = [row | {"flores_passage": f"passage {i // 4}", "question": f"question {i}"} for i in range(8)]
    (data / "yor_Latn.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    where = ("--task.task_name", "belebele", "--data.source", tmp_path, "--task.folder", small_tasks)
    words = (*where, "--task.languages", "yor", "--task.prompts", 1)
    done = run_demo(*words, "--eval.num_fewshot", 4).ok()
    assert "belebele: letter, 4-shot" in done.out
    assert "Examples come from the test split itself" in " ".join(done.out.split())
    for sample in only_samples(tmp_path / "run"):
        assert {i // 4 for i in sample["fewshot_ids"]} == {1 - sample["doc_id"] // 4}
    assert "only 4 examples are usable" in run_demo(*words, "--eval.num_fewshot", 5, "--run_dir", tmp_path / "five").err


def test_a_sample_that_grows_by_hand_names_looks(run_demo: Cli) -> None:
    words = ("--task.prompts", 1, "--task.languages", "yor", "--eval.sample")
    said = [run_demo(*words, *more).err for more in ((2,), (4,), (5, "--eval.looks", 3), (6,))]
    assert ["--eval.looks" in err for err in said] == [False, True, False, False]
    assert "the sample grows from 2 to 4 questions; if you looked at its scores" in said[1]


def test_a_suite_runs_all_its_tasks_and_ends_with_one_table(cli: Cli, tmp_path: Path) -> None:
    suite = ("--task-config-yaml", ROOT / "configs/suites/irokobench.yaml", "--task.languages", "yor,swa,eng")
    some = ("--task.prompts", 1, "--eval.limit", 1, "--eval.max_gen_toks", 4, "--data.source", "samples")
    done = cli("run", *suite, *some, "--model.model_name", "demo", "--run_dir", tmp_path)
    assert done.code == 0 and "left out" not in done.err, done.err
    assert "to run: 20 cells, 20 documents, 65 likelihoods (30 of neutral prompts, 12 of which repeat" in done.err
    assert "and 10 generated answers" in done.err
    overview = done.out.rpartition("Average of irokobench")[2].partition("Unparsed")[0]
    rows = [words[1:3] for line in overview.splitlines() if (words := line.split())[1:] and "afri" in words[1]]
    tasks = ("afrimmlu", "afrixnli", "afrimgsm", "afrimgsm_cot")
    assert rows == [[task, kind] for kind in ("English", "native*") for task in tasks], overview
    assert overview.count("average   ") == 2


def test_an_interrupted_run_shows_what_is_done(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, calls = TaskCell.run, list[int]()

    def run_cell(*given: Any) -> Any:
        calls.append(1)
        if len(calls) > 1:
            raise KeyboardInterrupt
        return run(*given)

    monkeypatch.setattr(TaskCell, "run", run_cell)
    words = ("afrixnli", "--languages", "hausa,yoruba", "--prompts", 1, "--data", "samples", "--out", tmp_path / "run")
    done = cli("run", "demo", *words)
    assert done.code == 130 and "\nHausa " in done.out and "\nYoruba " not in done.out, done.out
    (session,) = map(dict[str, Any], read_run(tmp_path / "run")["visits"])
    assert session["work"]["likelihoods"]["computed"] > 0
