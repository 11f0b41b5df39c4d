"""Harness tasks give the numbers of the harness, are stored and resumed like ours, and are refused with a reason."""

import json
import math
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.conftest import Outcome, csv_rows
from tests.harness_collection import Run
from tests.harness_yaml import write_data, write_tasks
from tests.models.loopback import serving

from afrieval.models.demo import demo_folder
from afrieval.results.run_files import read_harness, read_run, sample_path
from afrieval.results.run_folder import RunFolder
from afrieval.results.samples import read_samples
from afrieval.run.harness.harness_cell import BOOTSTRAP

SEEDS = {"random_seed": 42, "numpy_random_seed": 42, "torch_random_seed": 42, "fewshot_random_seed": 42}
EVERY = "outer,translation,perplexity"


def simple(collection: Path, names: list[str], model: Path | None = None, **options: Any) -> dict[str, Any]:
    """Returns what the harness' own entry point says, with its own model class."""
    from lm_eval import simple_evaluate
    from lm_eval.models.huggingface import HFLM
    from lm_eval.tasks import TaskManager

    lm = HFLM(pretrained=str(model or demo_folder()), device="cpu", dtype="float32", batch_size=8)
    index = TaskManager(include_path=str(collection / "local"), include_defaults=False)
    options = {"bootstrap_iters": BOOTSTRAP, **SEEDS, **options}
    return dict(simple_evaluate(model=lm, tasks=names, task_manager=index, **options))


@pytest.fixture
def every(harness: Run, tmp_path_factory: pytest.TempPathFactory) -> tuple[Outcome, Path]:
    """Returns what a run of EVERY prints, and its folder; it is made once."""
    if not MADE:
        folder = tmp_path_factory.mktemp("every") / "run"
        MADE.append((harness("--task.harness_tasks", EVERY, "--run_dir", folder), folder))
    return MADE[0]


MADE: list[tuple[Outcome, Path]] = []


def results(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "results.json").read_text()))


def same(ours: Any, theirs: Any) -> bool:
    if isinstance(theirs, str) or theirs is None:
        return bool(ours == theirs)
    return bool(math.isclose(ours, theirs, rel_tol=1e-4, abs_tol=1e-6))


@pytest.mark.parametrize("words", [{}, {"limit": 3, "num_fewshot": 2}], ids=["own shots", "limit and shots"])
def test_scores_are_those_of_the_harness(
    harness: Run,
    every: tuple[Outcome, Path],
    collection: Path,
    tmp_path: Path,
    words: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = (w for k, v in words.items() for w in (f"--eval.{k}", v))
    done = harness("--task.harness_tasks", EVERY, *given) if words else every[0]
    assert done.code == 0, done.err
    monkeypatch.setenv("DISABLE_MULTIPROC", "1")
    theirs = simple(collection, EVERY.split(","), **words)
    ours = results(tmp_path / "run" if words else every[1])
    assert set(ours["results"]) == set(theirs["results"]) == {
        "mc_yor_1", "mc_hau_1", "two_filters", "translation", "perplexity", "by_size", "outer",
    }  # fmt: skip
    for name, row in theirs["results"].items():
        for key, value in row.items():
            if key != "sample_count":
                assert same(ours["results"][name][key], value), (name, key, ours["results"][name][key], value)
    assert set(ours["groups"]) == set(theirs["groups"]) == {"by_size", "outer"}
    for key in ("n-shot", "versions", "higher_is_better", "n-samples"):
        for name, value in ours[key].items():
            assert theirs[key][name] == value, (key, name)
    assert ours["n-shot"]["mc_hau_1"] == 0, "a task that says 0 takes no examples, as in the harness"


def test_each_number_follows_from_the_samples(every: tuple[Outcome, Path]) -> None:
    import sacrebleu
    from sklearn.metrics import f1_score

    done, folder = every
    assert done.code == 0
    rows, groups = results(folder)["results"], results(folder)["groups"]
    sizes = {}
    for name in ("mc_yor_1", "mc_hau_1"):
        samples = read_samples(sample_path(folder, name))
        picked = [max(range(4), key=lambda i, s=s: s["resps"][i][0][0]) for s in samples]  # type: ignore[misc]
        gold = [s["target"] for s in samples]
        assert rows[name]["acc,none"] == pytest.approx(sum(map(int.__eq__, picked, gold)) / len(gold))
        assert rows[name]["f1,none"] == pytest.approx(f1_score(gold, picked, average="weighted"))
        sizes[name] = len(gold)
    assert sizes == {"mc_yor_1": 7, "mc_hau_1": 5} or len(set(sizes.values())) == 2
    accuracies = [rows[name]["acc,none"] for name in sizes]
    weighted = sum(a * n for a, n in zip(accuracies, sizes.values(), strict=True)) / sum(sizes.values())
    assert groups["by_size"]["acc,none"] == pytest.approx(weighted)
    assert groups["outer"]["acc,none"] == pytest.approx(sum(accuracies) / 2)
    translated = read_samples(sample_path(folder, "translation"))
    said, wanted = [s["filtered_resps"][0] for s in translated], [s["target"] for s in translated]
    assert rows["translation"]["chrf,none"] == pytest.approx(sacrebleu.corpus_chrf(said, [wanted]).score)
    read = read_samples(sample_path(folder, "perplexity"))
    total, words = sum(s["resps"][0][0] for s in read), sum(len(s["target"].split()) for s in read)
    assert rows["perplexity"]["word_perplexity,none"] == pytest.approx(math.exp(-total / words))


def test_samples_of_two_filters_are_kept_apart(every: tuple[Outcome, Path]) -> None:
    samples = read_samples(sample_path(every[1], "two_filters"))
    cut = sum("cut" in sample.get("details", {}) for sample in samples) // 2
    assert cut and "answers were cut off at max_gen_toks" in " ".join(every[0].out.split())
    found = [(s["doc_id"], s["filter"]) for s in samples]
    assert found == [(i, f) for i in range(len(samples) // 2) for f in ("strict", "anything")]
    ours = {k: samples[0][k] for k in ("task", "language", "prompt", "prompt_language", "fewshot_ids", "defect")}
    assert ours == {
        "task": "two_filters", "language": "", "prompt": "", "prompt_language": "", "fewshot_ids": [], "defect": "",
    }  # fmt: skip
    record = read_harness(every[1], "two_filters")
    assert [(m["metric"], m["filter"]) for m in record["metrics"]] == [
        ("exact_match", "strict"), ("exact_match", "anything"),
    ]  # fmt: skip
    assert record["shots"] == 2 and samples[0]["arguments"][0][0].count("Question: ") == 3


def lines(out: str) -> dict[str, list[str]]:
    """Returns the words of each row of the table of harness tasks, by its first word or two."""
    table = [line for line in re.split("\nharness tasks.*\n", out)[-1].splitlines() if line.strip()]
    assert all(len(line) <= 80 for line in table if not line.startswith(("Run folder", "The demo model")))
    rows = [line.split() for line in table]
    return {" ".join(words[:2]) if words[0] == "=" else words[0]: words for words in rows}


def test_the_table_has_tasks_then_their_groups(every: tuple[Outcome, Path]) -> None:
    done, folder = every
    names = list(lines(done.out))
    order = ["mc_hau_1", "mc_yor_1", "= by_size", "two_filters", "= outer", "translation", "perplexity"]
    assert [n for n in names if n in order] == order
    assert lines(done.out)["perplexity"][1:3] == ["word_perplexity", "↓"]
    value, interval, n, shots = lines(done.out)["mc_yor_1"][-4:]
    samples = read_samples(sample_path(folder, "mc_yor_1"))
    right, count = sum(s["acc"] for s in samples), len(samples)
    z = 1.959963984540054
    middle = (right + z * z / 2) / (count + z * z)
    half = z / (count + z * z) * math.sqrt(right * (count - right) / count + z * z / 4)
    assert (value, n, shots) == (f"{right / count:.4f}", str(count), "0")
    assert tuple(map(float, interval.split("-"))) == pytest.approx((max(0, middle - half), middle + half), abs=6e-4)
    rows = {r["task"]: r for r in csv_rows(folder / "summary.csv")}
    assert set(rows) == {"mc_yor_1", "mc_hau_1", "two_filters", "translation", "perplexity"}
    assert float(rows["mc_yor_1"]["score"]) == right / count and rows["mc_yor_1"]["prompt"] == ""
    assert rows["two_filters"]["metric"] == "exact_match,strict" and rows["translation"]["metric"] == "bleu"


def test_the_same_command_again_asks_nothing_and_a_lost_cell_is_done_alone(
    harness: Run, every: tuple[Outcome, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("--task.harness_tasks", EVERY, "--eval.use_cache", "false")
    folder = Path(shutil.copytree(every[1], tmp_path / "run"))
    shown = every[0].out.replace(str(every[1]), str(folder))
    before = {p.name: p.read_bytes() for p in folder.glob("*s_*.json*")}
    asked: list[int] = []
    from afrieval.models.response_cache import CachedLM

    ask = CachedLM._ask

    def counting(self: CachedLM, method: str, requests: list[Any]) -> list[Any]:
        asked.append(len(requests))
        return ask(self, method, requests)

    monkeypatch.setattr(CachedLM, "_ask", counting)
    assert harness(*words).out == shown and asked == []
    sample_path(folder, "two_filters").unlink()
    assert harness(*words).out == shown and asked == [len(read_samples(sample_path(folder, "two_filters"))) // 2]
    assert {p.name: p.read_bytes() for p in folder.glob("*s_*.json*")} == before
    (folder / "harness_mc_yor_1.json").unlink()
    assert harness(*words).out == shown and len(asked) == 2
    assert {p.name: p.read_bytes() for p in folder.glob("*s_*.json*")} == before


def test_examples_do_not_depend_on_order_limit_or_what_ran_before(harness: Run, tmp_path: Path) -> None:
    def prompts(name: str, *words: object) -> list[str]:
        folder = tmp_path / name
        assert harness(*words, "--run_dir", folder, "--eval.num_fewshot", 2).code == 0
        return [s["arguments"][0][0] for s in read_samples(sample_path(folder, "two_filters"))]

    alone = prompts("alone", "--task.harness_tasks", "two_filters")
    assert prompts("after", "--task.harness_tasks", "mc_yor_1,two_filters") == alone
    assert prompts("short", "--task.harness_tasks", "two_filters", "--eval.limit", 2) == alone[:4]
    other = ("--eval.fewshot_random_seed", 7)
    assert prompts("seed", "--task.harness_tasks", "two_filters", *other) != alone


@pytest.mark.parametrize("end", ["</think>", "</so>"])
def test_filters_read_answers_without_thinking(harness: Run, tmp_path: Path, end: str) -> None:
    """The filter takes the first capital letter; samples keep the whole text."""
    with serving() as server:
        server.text = f"Why A?\nOr C?{end}\n\nB\nQuestion: A"
        words = ("--task.harness_tasks", "two_filters", "--eval.limit", 2, *server.api_options)
        known = ("--model.thinking_end", end) if end == "</so>" else ()
        harness(*words, *known).ok()
    for sample in read_samples(sample_path(tmp_path / "run", "two_filters")):
        assert sample["resps"] == [[f"Why A?\nOr C?{end}\n\nB"]] and "Why" not in str(sample["filtered_resps"])
        assert "B" in str(sample["filtered_resps"])


def test_drawn_answers_are_several_and_the_same_in_each_run(harness: Run, tmp_path: Path) -> None:
    answers = []
    for name, tasks in (("a", "drawn"), ("b", "two_filters,drawn")):
        assert harness("--task.harness_tasks", tasks, "--eval.limit", 3, "--run_dir", tmp_path / name).code == 0
        answers.append([s["resps"] for s in read_samples(sample_path(tmp_path / name, "drawn"))])
    assert answers[0] == answers[1]
    assert all(len(r[0]) == 3 for r in answers[0]) and any(len(set(r[0])) > 1 for r in answers[0])


def test_a_larger_limit_goes_on_and_other_settings_are_refused(harness: Run, tmp_path: Path) -> None:
    words = ("--task.harness_tasks", "mc_yor_1")
    assert harness(*words, "--eval.limit", 2).code == 0
    assert harness(*words, "--eval.limit", 4).code == 0
    assert read_harness(tmp_path / "run", "mc_yor_1")["n"] == 4
    sampled = ("--eval.sample", 3, "--run_dir", tmp_path / "sampled")
    assert harness(*words, *sampled).code == 0
    cell = RunFolder(tmp_path / "sampled").scores("mc_yor_1")
    rows = [sample["doc_id"] for sample in read_samples(sample_path(tmp_path / "sampled", "mc_yor_1"))]
    assert cell.harness is not None and cell.selection.kind == "sample"
    assert (cell.rows, cell.harness["n"]) == (3, 3) and rows == sorted({*rows})
    whole = read_harness(tmp_path / "run", "mc_yor_1")
    assert cell.selection.test_set == whole["test_set"] > 4
    assert harness("--task.harness_tasks", "by_size", "--eval.limit", 2).code == 0
    for changed, said in {
        ("--eval.num_fewshot", 1): "harness_tasks.mc_yor_1.num_fewshot was 0 and is 1",
        ("--task.clean_prompts", "true"): "clean_prompts was False and is True",
        ("--eval.fewshot_random_seed", 1): "fewshot_random_seed was 42 and is 1",
    }.items():
        done = harness(*words, *changed)
        assert done.code == 2 and said in done.err


def test_a_changed_task_file_or_row_is_another_run(
    harness: Run, tmp_path: Path, collection: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lm_eval.tasks import TaskManager

    words = ("--task.harness_tasks", "perplexity", "--eval.limit", 1)
    write_tasks(tmp_path / "tasks")
    write_data(tmp_path / "data")

    def run() -> Outcome:
        index = TaskManager(include_path=str(tmp_path / "tasks"), include_defaults=False)
        monkeypatch.setattr("afrieval.run.harness.index.task_manager", lambda: index)
        return harness(*words, "--data.source", tmp_path / "data")

    assert run().code == 0
    path = tmp_path / "tasks/perplexity.yaml"
    path.write_text(path.read_text().replace("{{question}}", "{{subject}}"))
    assert "harness_tasks.perplexity.config was" in run().err
    path.write_text(path.read_text().replace("{{subject}}", "{{question}}"))
    assert run().code == 0
    assert harness(*words).code == 0, "the same rows in another folder are the same run"
    # datasets' own cache knows a folder by its last name, and would give the old rows
    rows = tmp_path / "data/org/rows/data/yor/test.jsonl"
    rows.write_text(rows.read_text().replace("Amina", "Aisha"))
    assert "harness_tasks.perplexity.data.documents was" in run().err


def test_a_group_named_after_its_tasks_have_run_is_shown_and_kept(harness: Run, tmp_path: Path) -> None:
    assert "by_size" not in harness("--task.harness_tasks", "mc_yor_1,mc_hau_1").out
    assert "= by_size" in harness("--task.harness_tasks", "by_size").out
    assert "by_size" in results(tmp_path / "run")["groups"]


def test_a_task_written_out_in_its_group(harness: Run, tmp_path: Path) -> None:
    assert harness("--task.harness_tasks", "no_score", "--eval.limit", 2).code == 0
    assert set(results(tmp_path / "run")["results"]) == {"translation", "no_score::inline"}
    assert not any(":" in p.name for p in (tmp_path / "run").iterdir())


def test_ours_and_theirs_in_one_run(harness: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.tasks.data.test_splits import row, write_tsv

    from afrieval.models.registry import load_model

    loads: list[int] = []

    def counting(*args: Any) -> Any:
        loads.append(1)
        return load_model(*args)

    monkeypatch.setattr("afrieval.run.evaluate.load_model", counting)
    write_data(tmp_path / "data")
    write_tsv(tmp_path / "data", "yor", "test", [row(i) for i in range(500)])
    done = harness(
        "--task.task_name", "afrimmlu", "--task.languages", "yor", "--task.prompts", 1, "--eval.limit", 2,
        "--task.task_template", "mc_{{ language }}_1", "--task.harness_tasks", "perplexity",
        "--data.source", tmp_path / "data", "--eval.write-out",
    )  # fmt: skip
    assert done.code == 0 and loads == [1], done.err
    assert set(results(tmp_path / "run")["results"]) == {"afrimmlu_yor_eng_1", "mc_yor_1", "perplexity"}
    assert re.search(r"\nafrimmlu: text, 0-shot, first 2 of .*\nharness tasks, first 2 of ", done.out, re.S)
    assert lines(done.out)["mc_yor_1"][1] == "Yoruba"
    assert done.out.count("\n" + "-" * 80 + "\n") == 6
    record = yaml.safe_load((tmp_path / "run/run.yaml").read_text())["identity"]
    assert record["fewshot"]["num_fewshot"] == 0 and record["harness_tasks"]["mc_yor_1"]["num_fewshot"] == 0


def test_chat_templates_make_turns_of_examples(harness: Run, collection: Path, tmp_path: Path) -> None:
    from tests.models.tiny import CHAT, tiny_llama

    model = tiny_llama(tmp_path / "chat", chat_template=CHAT)
    words = ("--model.model_name", model, "--model.chat_template", "--task.harness_tasks", "two_filters,mc_yor_1")
    assert harness(*words, "--eval.limit", 1, "--eval.num_fewshot", 1).code == 0
    prompt = read_samples(sample_path(tmp_path / "run", "two_filters"))[0]["arguments"][0][0]
    assert prompt.count("<user>") == 2 and prompt.count("<assistant>") == 2
    chat = {"apply_chat_template": True, "fewshot_as_multiturn": True}
    theirs = simple(collection, ["two_filters", "mc_yor_1"], model=model, limit=1, num_fewshot=1, **chat)
    for name, of_task in theirs["samples"].items():
        ours = {(s["doc_id"], s["filter"]): s for s in read_samples(sample_path(tmp_path / "run", name))}
        for sample in of_task:
            stored = ours[sample["doc_id"], sample["filter"]]
            assert stored["arguments"] == json.loads(json.dumps(sample["arguments"]))
            assert stored["prompt_hash"] == sample["prompt_hash"] and stored["doc_hash"] == sample["doc_hash"]
    for name, row in theirs["results"].items():
        assert all(same(results(tmp_path / "run")["results"][name][k], v) for k, v in row.items())


def test_a_task_of_the_llama_recipe_without_chat_template_is_said_to_be_meant_for_one(
    harness: Run, tmp_path: Path
) -> None:
    from tests.models.tiny import CHAT, tiny_llama

    words = ("--task.harness_tasks", "begun_llama,translation", "--eval.limit", 1)
    note = "begun_llama is meant for a chat template: add --model.chat_template true\n"
    for command in ("run", "preview"):
        done = harness(*words, command=command)
        assert done.code == 0 and note in done.err and "left out" not in done.err
    model = tiny_llama(tmp_path / "chat", chat_template=CHAT)
    chat = (*words, "--model.chat_template", "--model.model_name", model, "--run_dir", tmp_path / "chat run")
    for command in ("run", "preview"):
        assert "chat template" not in harness(*chat, command=command).err
    shown = harness(*chat, command="preview").out.split("-" * 80 + "\n")[1]
    (sent,) = {s["arguments"][0][0] for s in read_samples(sample_path(tmp_path / "chat run", "begun_llama"))}
    assert sent.endswith("<assistant>The best answer is"), "the harness begins the answer"
    assert shown.endswith("[assistant]\nThe best answer is\n") and shown.count("[assistant]") == 2


def test_log_samples_false_keeps_scores_only(harness: Run, tmp_path: Path) -> None:
    words = ("--task.harness_tasks", "mc_yor_1", "--eval.log_samples", "false", "--eval.limit", 2)
    assert harness(*words, "--eval.write-out").code == 0
    sample = read_samples(sample_path(tmp_path / "run", "mc_yor_1"))[0]
    assert "doc" not in sample and "arguments" not in sample and sample["n_choices"] == 4 and "acc" in sample


def test_clean_prompts(harness: Run, tmp_path: Path) -> None:
    def prompt(name: str, task: str, *words: object) -> tuple[str, list[str]]:
        words = ("--task.harness_tasks", task, "--eval.limit", 2, "--run_dir", tmp_path / f"{name}-{task}", *words)
        assert harness(*words).code == 0
        asked = read_samples(sample_path(tmp_path / f"{name}-{task}", task))[1]["arguments"]
        return asked[0][0], [a[1] for a in asked]

    as_is, choices = prompt("as it is", "untidy")
    cleaned, same_choices = prompt("clean", "untidy", "--task.clean_prompts")
    assert choices == same_choices == [" p  =  4", " q"], "what is scored is not changed"
    assert "".join(as_is.split()) == "".join(cleaned.split()) and as_is != cleaned
    assert cleaned.startswith("Answer these.\n\nQuestions about") and cleaned.endswith("\n\nAnswer:")
    assert cleaned.count("\nAnswer: p  =  4\n\nQuestions") == 2, "an example's choice looks as it is scored"
    others = cleaned.replace("p  =  4", "choice")
    assert not re.search(r"  |\t| \n|\n |\n\n\n", others)
    told, _ = prompt("clean", "told", "--task.clean_prompts", "--eval.num_fewshot", 1)
    assert re.search(r"\nAnswer: [ABCD]\n\nQuestion: .*\nAnswer:$", told)


def test_choices_that_are_numbers(harness: Run, tmp_path: Path) -> None:
    """The harness stops at such a row; there are some in AfriMMLU's Swahili test set."""
    assert harness("--task.harness_tasks", "numbers", "--eval.limit", 2).code == 0
    _, sample = read_samples(sample_path(tmp_path / "run", "numbers"))
    assert [a[1] for a in sample["arguments"]] == ["1", "two", "-3.5"]


def test_a_folder_has_no_looks_where_it_has_harness_tasks(harness: Run, tmp_path: Path) -> None:
    own = ("--task.task_name", "sib200", "--task.languages", "yor", "--task.prompts", "1", "--data.source", "samples")
    outer, folder = ("--task.harness_tasks", "outer"), tmp_path / "run"
    assert harness(*own, "--eval.sample", 2, "--eval.looks", 3).code == 0 and read_run(folder)["looks"] == 3
    later = harness(*outer, "--eval.sample", 2)
    assert later.code == 2 and "a sample that grows does not support tasks of the harness" in later.err
    shutil.rmtree(folder)
    assert harness(*outer, "--eval.sample", 2).code == 0
    assert harness(*own, "--eval.sample", 2).code == 0
    looked = harness(*own, "--eval.sample", 2, "--eval.looks", 3)
    assert looked.code == 2 and "give another folder with --out" in looked.err
