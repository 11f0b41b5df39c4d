"""score: what moved is listed, and written only with a new version; what was asked must be what would be asked now."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import ROOT, Cli, Refusal, content, of_demo

from afrieval.models.backends.hf import HF
from afrieval.results.run_files import read_run, sample_files, sample_path, write_run, write_samples
from afrieval.results.samples import read_samples
from afrieval.scoring.extract import EXTRACTORS

CELL = "afrimgsm_yor_eng_1"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a folder with tasks, and a run of generated answers of which every other one is right."""
    from afrieval.cli.main import main

    folder = tmp_path_factory.mktemp("score")
    for name in ("afrimgsm", "afriqa"):
        shutil.copytree(ROOT / "tasks" / name, folder / "tasks" / name)
    words = ("--task.folder", folder / "tasks", "--task.task_name", "afrimgsm", "--task.languages", "yor,hau")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(HF, "generate_until", answered)
        assert main(["run", *of_demo(*words, "--task.prompts", "1,2", "--eval.limit", 4, folder=folder / "run")]) == 0
    return folder


@pytest.fixture
def tasks(made: Path, tmp_path: Path) -> Path:
    """Returns a folder of tasks that a test may change."""
    return Path(shutil.copytree(made / "tasks", tmp_path / "tasks"))


@pytest.fixture
def run(made: Path, tasks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns a copy of the run, and lets the model answer as in it."""
    monkeypatch.setattr(HF, "generate_until", answered)
    folder = Path(shutil.copytree(made / "run", tmp_path / "run"))
    change(folder / "run.yaml", str(made), str(tmp_path))
    return folder


def answered(lm: HF, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
    return [f" {r.doc.document.gold}" if r.doc.document.id % 2 else "I do not know." for r in requests]


def corrected(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replaces the extractor by one that finds the right answer everywhere."""
    monkeypatch.setitem(EXTRACTORS, "number", lambda: lambda text, question, asked: question.gold)  # type: ignore[arg-type]


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def raise_version(tasks: Path, name: str = "afrimgsm") -> None:
    change(tasks / name / "task.yaml", "version: 3", "version: 4")


def test_scores_that_moved_need_a_new_version(
    cli: Cli, run: Path, tasks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = content(run)
    corrected(monkeypatch)
    done = cli("score", run, "--n", 1)
    assert done.code == 2 and content(run) == before
    assert "scores of afrimgsm moved, but its version is still 3" in done.err
    assert f"raise version: in {tasks}/afrimgsm/task.yaml" in done.err
    rows = [line.split() for line in done.out.splitlines() if line.strip().startswith(("Yoruba", "Hausa"))]
    assert ["Yoruba", "English", "1-2", "exact_match", "50.0", "100.0", "+50.0", "8", "4", "0"] in rows
    assert ["Hausa", "English", "1-2", "unparsed", "50.0", "0.0", "-50.0", "8", "0", "4"] in rows
    assert "8 answers moved; --n 8 shows all." in done.out and done.out.count("unparsed  ") >= 1
    assert cli("show", run).code == 0


def test_with_a_new_version_all_files_are_written(
    cli: Cli, run: Path, tasks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = {path.name: path.read_bytes() for path in run.glob("answers_*")}
    raise_version(tasks)
    corrected(monkeypatch)
    planned = content(run)
    dry = cli("score", run, "--dry-run", "--json", "-")
    assert dry.code == 0 and content(run) == planned and "dry run, nothing is written" in dry.err
    tables = json.loads(dry.out)
    assert [row["now"] for row in tables[0]["rows"] if row["metric"] == "exact_match"] == [1.0, 1.0]
    answer = tables[1]["rows"][0]
    assert (answer["prompt_language"], answer["prompt"], answer["document"], answer["before"]) == ("eng", 1, 0, None)
    done = cli("score", run)
    assert done.code == 0 and "new scores are written; new versions: afrimgsm 3 to 4" in done.err
    samples = read_samples(sample_path(run, CELL))
    assert [s["exact_match"] for s in samples] == [1.0] * 4 and samples[0]["resps"] == [["I do not know."]]
    assert [s["answer"] for s in samples] == [s["doc"]["gold"] for s in samples]
    record = read_run(run)
    assert record["identity"]["tasks"]["afrimgsm"]["version"] == 4
    (entry,) = record["rescored"]
    assert entry["tasks"] == {"afrimgsm": [3, 4]} and entry["finished"] and entry["versions"]["afrieval"]
    assert (run / "summary.csv").read_bytes() != planned["summary.csv"]
    results = json.loads((run / "results.json").read_text())
    assert results["results"][CELL]["exact_match,none"] == 1.0 and results["versions"][CELL] == 4
    assert {path.name: path.read_bytes() for path in run.glob("answers_*")} == answers
    now = content(run)
    assert "no score moved" in cli("score", run).err and content(run) == now


def test_the_run_goes_on_with_the_new_version_and_refuses_the_old_one(
    cli: Cli, run_demo: Cli, run: Path, tasks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("--task.folder", tasks, "--task.task_name", "afrimgsm", "--task.prompts", "1,2", "--eval.limit", 4)
    raise_version(tasks)
    corrected(monkeypatch)
    refused = run_demo(*words, "--task.languages", "yor,hau,amh")
    assert refused.code == 2 and "tasks.afrimgsm.version was 3 and is 4" in refused.err
    assert f"or score its answers again: afrieval score {run}" in refused.err
    assert cli("score", run).code == 0
    more = run_demo(*words, "--task.languages", "yor,hau,amh")
    assert more.code == 0 and len(sample_files(run)) == 6, more.err
    assert len(read_run(run)["rescored"]) == 1
    raised = (tasks / "afrimgsm/task.yaml").read_text().replace("version: 4", "version: 1")
    (tasks / "afrimgsm/task.yaml").write_text(raised)
    older = cli("score", run)
    assert older.code == 2 and "the run has version 4 of afrimgsm, and its task file here is version 1" in older.err


def test_every_run_that_is_not_written_is_named(cli: Cli, run: Path, tmp_path: Path, monkeypatch: Any) -> None:
    other = shutil.copytree(run, tmp_path / "other")
    corrected(monkeypatch)
    done = cli("score", run, other)
    assert done.code == 2 and all(f"nothing is written to {folder}\n" in done.err for folder in (run, other))


def test_a_version_without_a_move_is_written(cli: Cli, run: Path, tasks: Path) -> None:
    before = content(run)
    raise_version(tasks)
    done = cli("score", run)
    assert done.code == 0 and done.out == "" and "no score moved" in done.err
    assert read_run(run)["identity"]["tasks"]["afrimgsm"]["version"] == 4
    assert {name for name, text in content(run).items() if text != before[name]} == {"run.yaml", "results.json"}


def test_a_metric_that_was_added_does_not_count_as_a_move(cli: Cli, run: Path, tasks: Path) -> None:
    change(tasks / "afrimgsm/task.yaml", "breakdowns: []", "breakdowns: []\nmetrics: [exact_match, unparsed, empty]")
    done = cli("score", run, "--csv", "-")
    assert done.code == 0 and "no score moved" in done.err and "new scores are written" in done.err
    header, *rows = done.out.splitlines()
    row = dict(zip(header.split(","), rows[0].split(","), strict=True))
    assert (row["metric"], row["before"], row["now"], row["up"]) == ("empty", "", "0.5", "0")
    assert read_samples(sample_path(run, CELL))[0]["measures"].keys() == {"exact_match", "unparsed", "empty"}
    assert read_run(run)["declared"]["afrimgsm"]["metrics"] == ["exact_match", "unparsed", "empty"]


@pytest.mark.parametrize("metrics", ["unparsed, exact_match", "exact_match"])
def test_another_main_metric_and_one_that_is_gone_are_moves(cli: Cli, run: Path, tasks: Path, metrics: str) -> None:
    change(tasks / "afrimgsm/task.yaml", "breakdowns: []", f"breakdowns: []\nmetrics: [{metrics}]")
    done = cli("score", run)
    gone = "Metrics without a score now are not measured any more." in " ".join(done.out.split())
    assert done.code == 2 and "its version is still 3" in done.err and gone == (metrics == "exact_match")


def test_other_options_of_an_extractor(
    cli: Cli, refusal: Refusal, run_demo: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are part of a run's identity, and as good a correction as another extractor."""
    folder, run = tmp_path / "tasks", tmp_path / "run"
    shutil.copytree(ROOT / "tasks/mmlu_pro", folder / "mmlu_pro")
    monkeypatch.setattr(HF, "generate_until", lambda lm, requests, disable_tqdm=False: [" (B)."] * len(requests))
    words = ("--task.folder", folder, "--task.task_name", "mmlu_pro", "--eval.limit", 2)
    assert run_demo(*words).code == 0
    file = folder / "mmlu_pro/task.yaml"
    change(file, "bare: false", "bare: false, lone: true")
    assert "scores of mmlu_pro moved, but its version is still 1" in refusal("score", run)
    change(file, "version: 1", "version: 2")
    other = run_demo(*words)
    assert other.code == 2 and f"or score its answers again: afrieval score {run}" in other.err
    assert cli("score", run).code == 0
    (sample, *_) = read_samples(next(run.glob("samples_*")))
    assert sample["answer"] == 1
    assert read_run(run)["identity"]["tasks"]["mmlu_pro"]["extract"] == {"bare": False, "lone": True, "guess": False}
    assert "to run" not in run_demo(*words).err
    change(file, "extract: {name: phrase, after: answer is, which: first, bare: false, lone: true}", "extract: choice")
    change(file, "version: 2", "version: 3")
    assert cli("score", run).code == 0
    assert read_run(run)["identity"]["tasks"]["mmlu_pro"]["extract"] == {"strict": False}


def asked_otherwise(text: str) -> str:
    return text.replace("{{ question }}", "{{ question }} Think.")


@pytest.mark.parametrize(
    ("file", "changed", "message"),
    [
        ("tasks/afrimgsm/prompts/eng.yaml", asked_otherwise, "tasks.afrimgsm.prompts.eng.1 was "),
        (
            "tasks/afrimgsm/sample/yor.jsonl",
            lambda text: text.replace('"question": "', '"question": "A '),
            "tasks.afrimgsm.data.yor.test was ",
        ),
        ("tasks/afrimgsm/sample/yor.jsonl", lambda text: text.partition("\n")[0], "afrimgsm_yor_eng_1"),
        (
            "tasks/afrimgsm/task.yaml",
            lambda text: text.replace("  question: question", "  question: answer"),
            f"{CELL}, document 0: the document has changed since the run",
        ),
        (
            "tasks/afrimgsm/task.yaml",
            lambda text: text.replace("breakdowns: []", "generation: {max_tokens: 3, stop: [x]}"),
            "the answers asked for or their limits have changed since the run",
        ),
        (f"run/samples_{CELL}.jsonl", lambda text: text[:-40], f"samples_{CELL}.jsonl, line 4"),
    ],
)
def test_what_was_asked_must_be_what_would_be_asked(
    refusal: Refusal, run: Path, tmp_path: Path, file: str, changed: Callable[[str], str], message: str
) -> None:
    text = (tmp_path / file).read_text(encoding="utf-8")
    (tmp_path / file).write_text(changed(text), encoding="utf-8")
    before = content(run)
    assert changed(text) != text and message in refusal("score", run)
    assert content(run) == before


def test_a_run_that_does_not_say_its_prompts(refusal: Refusal, run: Path, tasks: Path) -> None:
    """Without the hash of the prompt, nothing would show that it has changed."""
    path, record = tasks / "afrimgsm/prompts/eng.yaml", read_run(run)
    path.write_text(asked_otherwise(path.read_text(encoding="utf-8")), encoding="utf-8")
    record["identity"]["tasks"]["afrimgsm"]["prompts"] = {}
    write_run(run, record)
    assert f"run.yaml does not say which prompts of {CELL} the run had" in refusal("score", run)


def test_nobody_takes_a_folder_whose_scoring_was_stopped_for_a_whole_one(
    cli: Cli, refusal: Refusal, run: Path, tasks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writes = list[Path]()

    def stopping(path: Path, *args: Any) -> None:
        writes.append(path)
        if len(writes) == 2:
            raise KeyboardInterrupt
        write_samples(path, *args)

    raise_version(tasks)
    corrected(monkeypatch)
    with monkeypatch.context() as patched:
        patched.setattr("afrieval.run.rescore.write_samples", stopping)
        assert cli("score", run).code == 130
    for words in (["show", run], ["compare", run], ["report", run], ["samples", run, "--language", "yor"]):
        assert f"finish it with afrieval score {run}" in refusal(*words)
    assert cli("score", run).code == cli("show", run).code == 0


def test_a_folder_filled_by_several_commands(
    cli: Cli, run_demo: Cli, run: Path, tasks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another task, and more documents of one language; then one task is corrected."""
    words = ("--task.folder", tasks, "--task.prompts", 1)
    assert run_demo(*words, "--task.task_name", "afriqa", "--task.languages", "hau", "--eval.limit", 2).code == 0
    assert run_demo(*words, "--task.task_name", "afrimgsm", "--task.languages", "hau", "--eval.limit", 6).code == 0
    assert "no score moved (20 answers, 5 cells)" in cli("score", run).err
    raise_version(tasks)
    corrected(monkeypatch)
    before = content(run)
    done = cli("score", run)
    assert done.code == 0 and "scores of afrimgsm moved (20 answers, 5 cells)" in done.err
    assert sorted(name for name, text in content(run).items() if text != before[name] and "samples" in name) == [
        f"samples_afrimgsm_{cell}.jsonl" for cell in ("hau_eng_1", "hau_eng_2", "yor_eng_1", "yor_eng_2")
    ]
    assert len(read_samples(sample_path(run, "afrimgsm_hau_eng_1"))) == 6


def test_cells_of_a_packed_run_that_moved_lie_next_to_it(
    cli: Cli, run: Path, tasks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli("pack", run).code == 0
    before = content(run)
    assert "no score moved (16 answers, 4 cells)" in cli("score", run).err and content(run) == before
    raise_version(tasks)
    corrected(monkeypatch)
    assert cli("score", run).code == 0
    assert len(sample_files(run)) == 4 and content(run)["samples.zip"] == before["samples.zip"]
    rows = json.loads(cli("show", run, "--json", "-").out)[0]["rows"]
    assert [row["exact_match"] for row in rows] == [1.0, 1.0]
    assert cli("pack", run).code == 0 and not sample_files(run)
    assert "no score moved" in cli("score", run).err


def test_what_cannot_be_scored_again_is_named(cli: Cli, refusal: Refusal, run_demo: Cli, tmp_path: Path) -> None:
    words = ("--task.languages", "eng", "--task.prompts", 1, "--eval.limit", 2, "--eval.use_cache", "false")
    tofu = ("--task.suite", "some", "--task.task_name", "tofu_forget,tofu_forget_text", "--eval.max_gen_toks", 2)
    assert run_demo(*tofu, *words).code == 0
    done = cli("score", tmp_path / "run")
    assert done.code == 0 and "left out: tofu_forget: the run kept no likelihoods of single tokens" in done.err
    assert "no score moved (2 answers, 1 cell)" in done.err
    memory = ("--task.task_name", "memorisation", "--task.of", "afrixnli", "--task.languages", "yor", "--eval.limit", 1)
    assert run_demo(*memory, "--run_dir", tmp_path / "memory").code == 0
    assert "has nothing that can be scored again" in refusal("score", tmp_path / "memory")
    assert run_demo(*memory, "--eval.use_cache", "false").code == 0
    done = cli("score", tmp_path / "run")
    assert done.code == 0 and "left out: memorisation_afrixnli_order: not all that it needs is stored" in done.err


def test_several_runs_and_wrong_folders(cli: Cli, run: Path, tmp_path: Path) -> None:
    other = shutil.copytree(run, tmp_path / "other")
    done = cli("score", run, other)
    assert done.code == 0 and done.err.count("no score moved") == 2
    assert cli("score", tmp_path / "none").code == cli("score").code == cli("score", tmp_path).code == 2
    refused = cli("score", run, "--data.source", tmp_path)
    assert refused.code == 2 and "hint: " in refused.err
    record: Any = read_run(other)
    record["visits"][-1]["config"]["task"]["unknown"] = 1
    write_run(other, record)
    assert "another version wrote it" in cli("score", other).err
