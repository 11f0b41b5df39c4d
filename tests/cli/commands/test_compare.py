"""compare on stored runs: the tables, the files, and what cannot be compared."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest
from tests.conftest import Cli, Refusal, csv_rows

import afrieval
from afrieval._util.errors import UserError
from afrieval.analysis.means import GROUPINGS
from afrieval.cli.declarations.showing import Dimension, Grouping
from afrieval.models.demo import demo_folder
from afrieval.results.cell_scores import DIMENSIONS
from afrieval.results.run_files import sample_path
from afrieval.results.samples import read_samples

SOME = ("--task.prompts", "1,2", "--data.source", "samples", "--task.languages")
KINDS = {
    "zero": ("yor,hau,amh", "--task.prompt_language", "both"),
    "two": ("yor", "--task.prompt_language", "both", "--eval.num_fewshot", "2"),
    "letter": ("yor", "--task.answer_form", "letter"),
    "nli": ("yor", "--task.task_name", "afrixnli", "--task.prompt_language", "both"),
}


@pytest.fixture(scope="module")
def runs(demo_run: Callable[..., Path]) -> dict[str, Path]:
    """0-shot with both prompt languages, 2-shot, and letters instead of texts."""
    return {name: demo_run(*SOME, *words) for name, words in KINDS.items()}


def test_prompt_languages_of_one_run(cli: Cli, runs: dict[str, Path]) -> None:
    done = cli("compare", runs["zero"]).ok()
    assert max(map(len, done.out.splitlines())) <= 80 and "…" not in done.out
    assert "afrimmlu: native prompts against English prompts, prompts 1-2" in done.out
    assert "Native prompts: no detectable difference in Amharic, Hausa and Yoruba." in " ".join(done.out.split())
    assert "chosen on test" in done.out and "Amharic, Hausa and Yoruba" in done.out


def test_shots_against_shots_and_forms_against_forms(cli: Cli, runs: dict[str, Path]) -> None:
    out = cli("compare", runs["zero"], runs["two"]).out
    assert "2-shot against 0-shot, English prompts" in out and "2-shot against 0-shot, native prompts" in out
    out = cli("compare", runs["zero"], runs["letter"], "--contrast", "answer_form").out
    assert "answer form letter against answer form text" in out


def test_another_metric(cli: Cli, runs: dict[str, Path]) -> None:
    tables = {
        name: json.loads(cli("compare", runs["zero"], "--metric", name, "--json", "-").out)
        for name in ("acc", "acc_norm")
    }
    assert tables["acc"] == json.loads(cli("compare", runs["zero"], "--json", "-").out)
    rows = [
        r for r in csv_rows(runs["zero"] / "summary.csv") if r["language"] == "yor" and r["prompt_language"] == "eng"
    ]
    for name, column in (("acc", "score"), ("acc_norm", "acc_norm")):
        (row,) = (r for r in tables[name][0]["rows"] if r["language"] == "yor")
        assert row["first_score"] == pytest.approx(sum(float(r[column]) for r in rows) / len(rows))


def test_the_files(cli: Cli, runs: dict[str, Path], tmp_path: Path) -> None:
    written = {name: tmp_path / f"t.{name}" for name in ("json", "csv", "markdown", "latex")}
    done = cli("compare", runs["zero"], "--all-metrics", *(f"--{n}={p}" for n, p in written.items())).ok()
    read = done.out[done.out.index("afrimmlu: native") :].splitlines()
    tables = json.loads(written["json"].read_text())
    (contrast,) = [t for t in tables if t["title"].startswith("afrimmlu: native")]
    row = next(r for r in contrast["rows"] if r["language"] == "yor")
    flat = next(r for r in csv_rows(tmp_path / "t-contrast.csv") if r["language"] == "yor")
    assert f"{flat['gained']}/{flat['lost']}" in next(line for line in read if line.startswith("Yoruba"))
    assert not written["csv"].exists() and (tmp_path / "t-means.csv").exists()
    assert float(flat["first_score"]) == row["first_score"] and row["n"] == 8 and "second_score" in row
    assert written["markdown"].read_text().startswith("## afrimmlu: native prompts")
    text = written["latex"].read_text()
    assert text.count("\\begin{tabular}") == text.count("\\end{tabular}") == len(tables) and "\\%" in text
    assert json.loads(cli("compare", runs["zero"], "--json", "-").out) == tables


def test_breakdowns(cli: Cli, runs: dict[str, Path]) -> None:
    out = cli("compare", runs["zero"], "--by", "subject").out
    assert "afrimmlu: by subject" in out and "international law" in out
    out = cli("compare", runs["nli"], "--by", "confusion", "--language", "yor").out
    lines = [line.split() for line in out.splitlines() if line.startswith(("entailment", "neutral", "contradiction"))]
    assert len(lines) == 6 and all(sum(map(int, line[1:])) == 6 for line in lines), "3 rows each under 2 prompts"


def test_another_version_of_a_task_and_an_unfinished_run(
    refusal: Refusal, runs: dict[str, Path], tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(runs["zero"], tmp_path / "copy"))
    record = (folder / "run.yaml").read_text(encoding="utf-8")
    (folder / "run.yaml").write_text(re.sub(r"version: \d+\n", "version: 9\n", record), encoding="utf-8")
    said = refusal("compare", runs["two"], folder, "--contrast", "shots")
    assert re.search(r"task version differs: \d and 9", said)
    (folder / "samples_afrimmlu_yor_eng_1.jsonl").unlink()
    missing = "is not finished: 1 of 12 cells are missing, such as afrimmlu_yor_eng_1"
    assert missing in refusal("compare", folder)


def test_published_tables(cli: Cli, refusal: Refusal, runs: dict[str, Path], tmp_path: Path) -> None:
    table = tmp_path / "afrimmlu-0shot.csv"
    rows = ["model,prompt,eng,yor,hau,amh,avg_score", "big,prompt_1,90,60,50,40,50.0", "big,prompt_2,90,30,30,30,33"]
    table.write_text("\n".join(rows) + "\n", encoding="utf-8")
    alone = " ".join(cli("compare", table).out.split())
    assert "Inconsistent: big, prompt 2, prints an average of 33.0; the mean of its scores is 30.0." in alone
    out = cli("compare", runs["zero"], table).out
    lines = [line.split() for line in out.splitlines()]
    assert ["big", "published", "0", "2", "50.0", "40.0"] in lines
    assert ["demo", "run", "0", "2"] in [line[:4] for line in lines]
    assert "Means over the 3 languages that all of them have: Amharic, Hausa and Yoruba." in " ".join(out.split())
    table.write_text("model,prompt,eng\nbig,prompt_1,much\n", encoding="utf-8")
    assert "line 2" in refusal("compare", table)


def test_a_star_stays_when_another_language_joins_the_run(run_demo: Cli, cli: Cli, tmp_path: Path) -> None:
    some = ("--task.prompt_language", "both", "--task.prompts", 1)
    for language in ("hau", "yor"):
        assert "native 1*" in run_demo(*some, "--task.languages", language).out
    out = cli("compare", tmp_path / "run").out
    assert "Hausa*" in out and "Yoruba*" in out


def test_one_cell_twice_is_refused_and_what_differs_is_said(
    refusal: Refusal, runs: dict[str, Path], tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(runs["two"], tmp_path / "again"))
    record = (folder / "run.yaml").read_text(encoding="utf-8")
    (folder / "run.yaml").write_text(record.replace("seed: 42", "seed: 7"), encoding="utf-8")
    assert "both have afrimmlu_yor_eng_1, with other few-shot seed" in refusal("compare", runs["two"], folder)


def test_models_of_one_name_are_two(cli: Cli, runs: dict[str, Path], tmp_path: Path) -> None:
    """In folders that end alike, too."""
    folders = [Path(shutil.copytree(runs["letter"], tmp_path / name / "run")) for name in "ab"]
    for folder, weights in zip(folders, ("1111", "2222"), strict=True):
        record = (folder / "run.yaml").read_text(encoding="utf-8")
        (folder / "run.yaml").write_text(
            re.sub("fingerprint: .*", f"fingerprint: '{weights}'", record), encoding="utf-8"
        )
    out = " ".join(cli("compare", *folders).out.split())
    assert "demo (b/run) against demo (a/run)" in out


def test_files_that_cannot_be_written(cli: Cli, refusal: Refusal, runs: dict[str, Path], tmp_path: Path) -> None:
    assert "cannot be written" in refusal("compare", runs["zero"], "--json", tmp_path)
    assert "given for two formats" in cli("compare", runs["zero"], "--json", "-", "--csv", "-").err
    out = cli("compare", runs["zero"], "--csv", "-", "--json", tmp_path / "t.json").out
    assert "wrote" not in out and out.startswith("table,")


def test_tasks_with_published_evaluations(run_demo: Cli, cli: Cli, tmp_path: Path) -> None:
    """One table for the run; in compare, also a table of the verdicts in the data."""
    evals = ("--task.evals_dataset", "meta-llama/Llama-3.1-8B-Instruct-evals")
    done = run_demo("--task.task_name", "[meta_ifeval,meta_mmlu_pro_instruct]", *evals, "--eval.max_gen_toks", 4).ok()
    assert "Llama-3.1-8B-Instruct-evals, our own sample rows: demo" in done.out and "ifeval_meta_" in done.out
    tables = done.out.partition("Run folder")[0]
    assert max(map(len, tables.splitlines())) <= 80 and "Mean over" not in tables
    reference, verdicts = json.loads(cli("compare", tmp_path / "run", "--json", "-").out)
    assert verdicts["title"] == "demo: agreement with Meta's verdicts on Llama-3.1-8B-Instruct"
    assert {row["kind"] for row in reference["rows"]} == {"measured", "published"}
    assert {row["task"] for row in reference["rows"]} == {"meta_ifeval", "meta_mmlu_pro_instruct"}
    for row in verdicts["rows"]:
        samples = read_samples(sample_path(tmp_path / "run", f"{row['task']}_eng_eng_1"))
        pairs = [(s[row["metric"]], s["published_correct"]) for s in samples if s["metrics"]]
        assert row["both_right"] == pairs.count((1.0, True)) and row["only_published"] == pairs.count((0.0, True))
        assert row["n"] == len(pairs)
    ifeval, mmlu = csv_rows(tmp_path / "run/summary.csv")
    assert ifeval["metric"] == "prompt_level_strict_acc" and ifeval["ifeval_meta_mean"] and not ifeval["macro"]
    assert int(mmlu["parts"]) == len({s["part"] for s in samples}) and mmlu["macro"] and not mmlu["ifeval_meta_mean"]


def test_a_run_with_nothing_to_compare_says_so(run_demo: Cli, cli: Cli, tmp_path: Path) -> None:
    words = ("--task.languages", "eng", "--task.prompts", "1", "--eval.limit", 1)
    assert run_demo("--task.task_name", "afrixnli", *words).code == 0
    done = cli("compare", tmp_path / "run")
    assert done.code == 2 and "alone has nothing to compare" in done.err and not done.out


def test_what_the_help_offers_is_what_there_is() -> None:
    assert get_args(Dimension) == DIMENSIONS and get_args(Grouping) == tuple(GROUPINGS)


PHI = "Phi-3-mini-4k-instruct"  # the name of a folder says which model it holds, as its name on the hub does


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a run of MMLU's sample rows with the demo model under another name."""
    from afrieval.cli.main import main

    folder = tmp_path_factory.mktemp("stored") / "run"
    model = shutil.copytree(demo_folder(), folder.with_name(PHI))
    words = {"model.model_name": model, "task.task_name": "mmlu", "task.prompts": 1, "data.source": "samples"}
    assert main(["run", f"--run_dir={folder}", *(f"--{name}={value}" for name, value in words.items())]) == 0
    return folder


def test_a_run_of_a_model_with_published_scores_ends_with_them(stored: Path, cli: Cli) -> None:
    words = ("--task.task_name=mmlu", "--task.prompts=1", "--data.source=samples", f"--run_dir={stored}")
    done = cli("run", "--model.model_name", stored.with_name(PHI), *words).ok()
    (line,) = [line for line in done.out.splitlines() if line.startswith("STEM")]
    assert line.split()[4:] == ["59.8", f"{100 / 3 - 59.8:+.1f}", "yes"]
    said = " ".join(done.out.split())
    assert "publ.: published scores of Phi-3-3.8B-4K: 5-shot" in said
    assert "Different here: 0-shot, 12 of 14,042 questions." in said


def test_compare_shows_those_that_are_asked_for(stored: Path, cli: Cli, tmp_path: Path) -> None:
    compare = ("compare", stored, "--by", "category")
    done = cli(
        *compare, "--published", "Llama-3-8B-deepeval", "--json", tmp_path / "t.json", "--csv", tmp_path / "t.csv"
    )
    assert done.code == 0 and "completely wrong" in " ".join(done.out.split()), done.err
    (table,) = json.loads((tmp_path / "t.json").read_text())
    stem = next(row for row in table["rows"] if row["category"] == "STEM")
    assert stem["published Llama-3-8B-deepeval"] == 0.43 and stem["score"] == pytest.approx(1 / 3)
    published = [row["published Llama-3-8B-deepeval"] for row in csv_rows(tmp_path / "t.csv")]
    assert published[2:] == ["0.43", "0.6", "0.61", ""]


def test_python_shows_the_same(stored: Path) -> None:
    (table,) = afrieval.compare(stored).by("category", ["Llama-2-7B"])
    assert [row["published Llama-2-7B"] for row in table.records()] == [0.46, None, 0.37, 0.433, 0.518, 0.524]
    with pytest.raises(UserError, match="'Llama-2'"):
        afrieval.compare(stored).by("category", ["Llama-2"])


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (("--by", "category", "--published", "Phi"), "no task here has published scores of 'Phi'", "Phi-3-3.8B-4K"),
        (("--by", "category", "--metric", "acc_norm", "--published", "Llama-3-8B"), "the main metric", "--metric"),
    ],
)
def test_what_cannot_be_shown(stored: Path, cli: Cli, words: tuple[str, ...], message: str, hint: str) -> None:
    done = cli("compare", stored, *words)
    assert done.code == 2 and message in done.err and hint in done.err and "Traceback" not in done.err
