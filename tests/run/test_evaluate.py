"""Runs on the sample rows: right numbers, whole files, nothing done twice, nothing lost."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.conftest import Cli, csv_rows, only_samples, put
from tests.models.tiny import CHAT, tiny_llama, tiny_t5

from afrieval.models.demo import demo_folder
from afrieval.results.run_files import RUN, read_run, sample_files, sample_path, write_run
from afrieval.results.samples import read_samples


def names(folder: Path) -> set[str]:
    return {p.stem.removeprefix("samples_") for p in sample_files(folder)}


def slow_loglikelihood(lm: tuple[Any, Any], context: str, continuation: str) -> float:
    """Returns the sum of the log-probabilities of the continuation's tokens, one forward pass for each."""
    import torch

    model, tokenizer = lm
    whole = tokenizer.encode(context + continuation)
    total = 0.0
    for position in range(len(tokenizer.encode(context)), len(whole)):
        with torch.no_grad():
            logits = model(torch.tensor([whole[:position]])).logits[0, -1]
        total += torch.log_softmax(logits, dim=0)[whole[position]].item()
    return total


@pytest.mark.parametrize(
    "words", [("--task.answer_form=letter", "--eval.num_fewshot=2"), ("--task.task_name=afrixnli",)]
)
def test_stored_likelihoods_are_those_of_the_slow_way(run_demo: Cli, tmp_path: Path, words: tuple[str, ...]) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    lm = AutoModelForCausalLM.from_pretrained(demo_folder()).eval(), AutoTokenizer.from_pretrained(demo_folder())
    cells = ("--task.languages", "amh", "--task.prompts", 1, "--task.prompt_language", "both", "--eval.limit", 1)
    run_demo(*cells, *words).ok()
    samples = [sample for path in sample_files(tmp_path / "run") for sample in read_samples(path)]
    assert len(samples) == 2
    for sample in samples:
        for request, ((value, _, tokens),) in zip(sample["arguments"], sample["resps"], strict=True):
            assert value == pytest.approx(slow_loglikelihood(lm, *request), abs=1e-4)
            assert tokens == len(request[1].encode())


def test_the_run_folder_holds_what_it_should(run_demo: Cli, tmp_path: Path) -> None:
    done = run_demo(
        "--task.languages", "hau,eng", "--task.prompt_language", "both", "--eval.num_fewshot", 1, "--eval.limit", 2
    )
    folder = tmp_path / "run"
    assert done.code == 0 and str(folder) in done.out
    assert "[1/13] afrimmlu" in done.err and "warn" not in done.err.lower()
    assert names(folder) == {f"afrimmlu_eng_eng_{n}" for n in range(1, 6)} | {
        *(f"afrimmlu_hau_eng_{n}" for n in range(1, 6)),
        *(f"afrimmlu_hau_native_{n}" for n in range(1, 4)),
    }
    sample = read_samples(sample_path(folder, "afrimmlu_hau_native_2"))[1]
    harness = "doc_id doc target arguments resps filtered_resps doc_hash prompt_hash target_hash metrics"
    ours = "task language prompt prompt_language fewshot_ids defect"
    assert set(f"{harness} {ours}".split()) <= set(sample)
    assert sample["doc_id"] == 1 and sample["prompt_language"] == "native" and len(sample["fewshot_ids"]) == 1
    record = yaml.safe_load((folder / "run.yaml").read_text())
    assert record["fewshot_ids"]["afrimmlu_hau_native_2"] == sample["fewshot_ids"]
    assert set(record["identity"]["tasks"]["afrimmlu"]["data"]["hau"]) == {"test", "dev"}
    visit = record["visits"][0]
    assert len(visit["first_tokens"]["afrimmlu"]) == 8 and visit["first_tokens"]["afrimmlu"][0] == 0
    assert visit["device"] == "cpu" and visit["dtype"] == "torch.float32" and visit["versions"]["lm-eval"]
    results = json.loads((folder / "results.json").read_text())
    assert set(results["results"]) == names(folder) and results["n-shot"]["afrimmlu_eng_eng_1"] == 1


def test_the_row_without_gold_is_stored_marked_and_counted(run_demo: Cli, tmp_path: Path) -> None:
    run_demo("--task.languages", "hau", "--task.prompts", "1")
    folder = tmp_path / "run"
    samples = read_samples(sample_path(folder, "afrimmlu_hau_eng_1"))
    assert [s["doc_id"] for s in samples] == list(range(8))
    assert samples[7]["defect"] and samples[7]["resps"] == [] and "acc" not in samples[7]
    (row,) = csv_rows(folder / "summary.csv")
    assert (row["n"], row["n_defect"]) == ("7", "1")
    assert float(row["score"]) == pytest.approx(sum(s["acc"] for s in samples[:7]) / 7)


def stamps(folder: Path) -> dict[str, int]:
    return {p.name: p.stat().st_mtime_ns for p in sample_files(folder)}


TWO = ("--task.languages", "yor", "--task.prompts", "1,2")
ONE = ("--task.languages", "yor", "--task.prompts", "1", "--eval.limit", 1)


def test_the_same_command_again_does_nothing_and_loads_no_model(
    run_demo: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = run_demo(*TWO)
    before = stamps(tmp_path / "run")
    monkeypatch.setattr("afrieval.run.evaluate.load_model", lambda *args: pytest.fail("the model was loaded"))
    again = run_demo(*TWO)
    assert again.code == 0 and again.out == first.out
    assert stamps(tmp_path / "run") == before


def test_more_languages_prompts_and_documents_go_on_in_the_same_folder(run_demo: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    run_demo("--task.languages", "yor", "--task.prompts", "1", "--eval.limit", 2)
    before, small = stamps(folder), read_samples(sample_path(folder, "afrimmlu_yor_eng_1"))
    run_demo("--task.languages", "yor,swa", "--task.prompts", "1", "--eval.limit", 2)
    assert stamps(folder)["samples_afrimmlu_yor_eng_1.jsonl"] == before["samples_afrimmlu_yor_eng_1.jsonl"]
    assert names(folder) == {"afrimmlu_yor_eng_1", "afrimmlu_swa_eng_1"}
    run_demo("--task.languages", "yor", "--task.prompts", "1", "--eval.batch_size", 3)
    large = read_samples(sample_path(folder, "afrimmlu_yor_eng_1"))
    assert len(large) == 8 and large[:2] == small
    assert len(yaml.safe_load((folder / "run.yaml").read_text())["visits"]) == 3


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        (("--eval.num_fewshot", "2"), "fewshot.num_fewshot was 0 and is 2"),
        (("--task.answer_form", "letter"), "answer_form was 'text' and is 'letter'"),
        (("--model.dtype", "bfloat16"), "model.dtype was 'auto' and is 'bfloat16'"),
        (("--model.add_bos_token", "false"), "model.add_bos_token was not given and is False"),
        (("--model.backend_args.max_length", "40"), "model.backend_args"),
    ],
)
def test_another_config_in_the_same_folder_is_refused(
    run_demo: Cli, demo_copy: Callable[..., Path], changed: tuple[str, str], named: str
) -> None:
    folder = demo_copy(*ONE)
    before = stamps(folder)
    done = run_demo(*ONE, *changed)
    assert done.code == 2 and named in done.err and "--run_dir" in done.err
    assert stamps(folder) == before


@pytest.mark.parametrize(
    ("where", "named"),
    [
        ("afrieval.tasks.prompts.prompts.Prompt.hash", "tasks.afrimmlu.prompts.eng.1"),
        ("afrieval.tasks.declaration.spec.TaskSpec.declaration", "tasks.afrimmlu.declaration"),
    ],
)
def test_changed_prompts_and_readings_of_rows_are_refused(
    run_demo: Cli, demo_copy: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, where: str, named: str
) -> None:
    demo_copy(*ONE)
    monkeypatch.setattr(where, property(lambda self: "other"))
    done = run_demo(*ONE)
    assert done.code == 2 and named in done.err


def test_other_weights_under_the_same_name_are_refused(run_demo: Cli, tmp_path: Path) -> None:
    model = tiny_llama(tmp_path / "model", seed=0)
    words = ("--model.model_name", model, "--task.languages", "yor", "--eval.limit", 1)
    assert run_demo(*words, "--task.prompts", 1).code == 0
    tiny_llama(model, seed=1)
    done = run_demo(*words, "--task.prompts", 2)
    assert done.code == 2 and "model.size_and_time_of_files was" in done.err
    assert run_demo(*words, "--task.prompts", 1).code == 2, (
        "nor are they taken for the old ones where nothing is missing"
    )


def test_samples_without_run_yaml_are_nobodys(run_demo: Cli, demo_copy: Callable[..., Path]) -> None:
    folder = demo_copy(*ONE)
    for content in (None, "", "5", "identity: 5"):
        (folder / "run.yaml").unlink()
        if content is not None:
            (folder / "run.yaml").write_text(content)
        done = run_demo(*ONE)
        assert done.code == 2 and "run.yaml" in done.err and "Traceback" not in done.err, content
        (folder / "run.yaml").touch()


def test_a_damaged_sample_file_is_named_and_the_rest_is_kept(run_demo: Cli, demo_copy: Callable[..., Path]) -> None:
    folder = demo_copy(*TWO)
    path, other = (sample_path(folder, f"afrimmlu_yor_eng_{prompt}") for prompt in (1, 2))
    good = path.read_text()
    lines = good.splitlines(keepends=True)
    of_no_run = ([*lines[:3], *lines[4:]], [lines[0], *lines[:7]], [*lines[:7], "{}\n"], ["\n"], [other.read_text()])
    for content in ("".join(faulty) for faulty in of_no_run):
        path.write_text(content)
        done = run_demo(*TWO)
        assert done.code == 2 and "afrimmlu_yor_eng_1" in done.err and "Traceback" not in done.err, content[:80]
    path.write_text(good.replace("{", "", 1))
    done = run_demo(*TWO)
    assert done.code == 2 and f"{path}, line 1" in done.err
    path.unlink()
    assert run_demo(*TWO).code == 0 and path.read_text() == good


def test_a_model_that_gives_no_numbers_gets_no_score(run_demo: Cli, tmp_path: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM

    folder = tiny_llama(tmp_path / "nan")
    model = AutoModelForCausalLM.from_pretrained(folder)
    with torch.no_grad():
        model.lm_head.weight[5, 0] = float("nan")
    model.save_pretrained(folder)
    done = run_demo("--model.model_name", folder, "--task.languages", "yor", "--task.prompts", 1)
    assert done.code == 2 and "NaN" in done.err and "--model.dtype" in done.err
    assert not sample_files(tmp_path / "run")


def test_texts_are_left_out_if_asked(run_demo: Cli, tmp_path: Path) -> None:
    run_demo("--task.languages", "yor", "--task.prompts", 1, "--eval.log_samples", "false", "--eval.use_cache=false")
    samples = read_samples(sample_path(tmp_path / "run", "afrimmlu_yor_eng_1"))
    assert "doc" not in samples[0] and "arguments" not in samples[0] and samples[0]["acc"] in (0.0, 1.0)
    assert not list((tmp_path / "run").glob("answers_*"))


def test_an_encoder_decoder_runs(run_demo: Cli, tmp_path: Path) -> None:
    """Likelihoods are those of the labels, given the whole prompt to the encoder."""
    import torch
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    folder = tiny_t5(tmp_path / "model", "T5")
    some = ("--task.languages", "yor", "--task.prompts", 1, "--eval.limit", 2)
    done = run_demo("--model.model_name", folder, *some, "--eval.num_fewshot", 1)
    assert done.code == 0 and "WARNING" not in done.err
    model, tokenizer = AutoModelForSeq2SeqLM.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    for sample in only_samples(tmp_path / "run"):
        for (context, continuation), ((value, _, tokens),) in zip(sample["arguments"], sample["resps"], strict=True):
            labels = tokenizer(continuation, return_tensors="pt", add_special_tokens=False).input_ids
            with torch.no_grad():
                logits = model(**tokenizer(context, return_tensors="pt"), labels=labels).logits.double()
            chosen = logits.log_softmax(-1)[0].gather(1, labels[0][:, None])
            assert value == pytest.approx(float(chosen.sum()), rel=1e-5, abs=1e-4) and tokens == labels.shape[1]


def test_a_chat_model_gets_turns_and_the_system_text(run_demo: Cli, tmp_path: Path) -> None:
    model = tiny_llama(tmp_path / "chat", chat_template=CHAT)
    done = run_demo(
        "--model.model_name", model, "--model.chat_template", "--task.languages", "swa", "--task.prompts", 3,
        "--task.prompt_language", "native", "--eval.num_fewshot", 1, "--eval.limit", 1,
    ).ok()  # fmt: skip
    ((sample,),) = (read_samples(p) for p in sample_files(tmp_path / "run"))
    text, continuation = sample["arguments"][0]
    assert text.startswith("<user>Unajibu maswali ya kuchagua jibu. Jibu kwa chaguo sahihi pekee.\n\nMada: ")
    assert text.count("<user>") == 2 and text.count("<assistant>") == 2 and text.endswith("Jibu:\n<assistant>")
    assert not continuation.startswith(" ")
    assert "chat template" not in done.err
    words = ("--model.model_name", model, "--task.languages", "swa,yor", "--task.prompts", 3, "--eval.limit", 1)
    errors = [run_demo(*words, "--run_dir", tmp_path / "plain").err for _ in range(2)]
    assert [error.count("chat template is not used") for error in errors] == [1, 0]


def test_a_new_language_needs_one_line_and_no_code(run_demo: Cli, tmp_path: Path, small_tasks: Path) -> None:
    """Tswana is dropped into a data folder, and one line into a copy of the task file."""
    tasks, data = tmp_path / "tasks", tmp_path / "data/masakhane/afrimmlu/data/tsn"
    shutil.copytree(small_tasks, tasks)
    task = tasks / "afrimmlu/task.yaml"
    task.write_text(task.read_text().replace("  zul: zul\n", "  zul: zul\n  tsn: tsn\n", 1))
    put(data / "test.tsv", "question\tchoices\tanswer\tsubject\nPotso?\t['a', 'b', 'c', 'd']\tB\tglobal_facts\n")
    done = run_demo("--task.folder", tasks, "--data.source", tmp_path / "data", "--task.prompts", 1)
    assert done.code == 0 and "Tswana" in done.out, done.err


SOME = ("--task.task_name", "afrixnli", "--task.languages", "yor", "--task.prompts", 1)


def sessions(folder: Path) -> list[dict[str, Any]]:
    return [dict(session) for session in read_run(folder)["visits"]]


def test_a_session_says_what_it_took(run_demo: Cli, cli: Cli, tmp_path: Path) -> None:
    assert run_demo(*SOME).code == 0
    assert run_demo(*SOME[:-1], "1,2").code == 0
    first, second = (session["work"]["likelihoods"] for session in sessions(tmp_path / "run"))
    assert 0 < first["computed"] < first["plain"] and first["requests"] > 0
    assert 0.5 < second["plain"] / first["plain"] < 2, "the first prompt is not asked again"
    assert sessions(tmp_path / "run")[0]["device_name"].split()[-1] in ("thread", "threads")
    table = cli("show", tmp_path / "run", "--all-metrics").out.partition("Usage of each session")[2]
    assert f"{first['plain']:,}" in table and f"{second['computed']:,}" in table
    page = tmp_path / "report.html"
    assert cli("report", tmp_path / "run", "-o", page).code == 0
    assert f"{first['computed']:,}" in page.read_text()


def test_damaged_work_is_named(cli: Cli, demo_copy: Callable[..., Path]) -> None:
    folder = demo_copy(*ONE)
    record: Any = read_run(folder)
    record["visits"][0]["work"] = {"likelihoods": {"requests": "many"}}
    write_run(folder, record)
    done = cli("show", folder)
    assert done.code == 2 and RUN in done.err and "work.likelihoods" in done.err
