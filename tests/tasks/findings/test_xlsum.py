"""Defects of XL-Sum's tasks in the harness, looked for in ours; numbered as found."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.conftest import Cli
from tests.fake_hub import fake_hub

from afrieval.languages import LANGUAGES
from afrieval.results.run_files import sample_files
from afrieval.results.samples import read_samples
from afrieval.scoring.base import Question, Response
from afrieval.scoring.metrics import metric
from afrieval.tasks.cells.limits import LINE_END
from afrieval.tasks.data.splits import load_split
from afrieval.tasks.declaration.spec import load_task, task_names
from afrieval.tasks.prompts.prompts import load_prompts, render

SPEC = load_task("xlsum")
ROW = {
    "id": "1",
    "url": "u",
    "title": "Sabuwar gada",
    "summary": "An buɗe gada.",
    "text": "An buɗe gada a kogi. Yara sun gani.",
}
ROWS = [{**ROW, "text": f"{ROW['text']} Na {i}."} for i in range(4)]


def write(folder: Path) -> Path:
    """Writes rows as the archive of the hub's repository has them."""
    for name in ("hausa_test", "hausa_val"):
        path = folder / f"csebuetnlp/xlsum/{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    return folder


def test_finding_01_the_document_reaches_the_model(cli: Cli, tmp_path: Path) -> None:
    words = ("--task.task_name", "xlsum", "--task.languages", "hau", "--task.prompt_language", "both")
    model = ("--model.model_name", "demo", "--eval.max_gen_toks", 5, "--run_dir", tmp_path / "run")
    done = cli("run", *words, *model, "--data.source", write(tmp_path / "data"))
    assert done.code == 0, done.err
    assert len(sample_files(tmp_path / "run")) == 6, "three prompts in two languages"
    for path in sample_files(tmp_path / "run"):
        for sample in read_samples(path):
            prompt = sample["arguments"][0][0]
            assert (
                ROWS[sample["doc_id"]]["text"] in prompt and "\\n" not in prompt and sample["target"] == ROW["summary"]
            )


@pytest.mark.parametrize("language", ["amh", "arb", "tir", "yor", "ibo"])
def test_finding_13_rouge_has_words_in_every_script(language: str) -> None:
    texts = {
        "amh": "ዝናብ ዘነበ",
        "arb": "هطل المطر",
        "tir": "ዝናብ ዘኒቡ",
        "yor": "Òjò rọ̀ ní àná",
        "ibo": "Mmiri zoro ụnyaahụ",
    }
    gold = texts[language]
    for known in SPEC.scoring.metrics_of("generate", language=language):
        if known.name.startswith("rouge"):
            assert known.measure(Response(gold), Question(gold)) == [1.0]
            assert known.measure(Response(gold.split()[0] + " 7"), Question(gold)) != [0.0] or known.name == "rouge_2"
    bare = metric("rouge_1").measure(Response("Ojo ro ni ana"), Question(texts["yor"]))
    assert bare == [0.0], "a word without its marks is another word"


def test_finding_14_its_means_have_its_own_metric() -> None:
    assert SPEC.scoring.metrics[0].name == "rouge_l"


def test_finding_17_rows_come_from_the_hubs_conversion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The repository is a loading script, which `datasets` no longer runs."""
    hub = fake_hub(tmp_path, monkeypatch)
    path = hub.remote / "csebuetnlp/xlsum@refs/convert/parquet/hausa/test/0000.parquet"
    path.parent.mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(ROWS), path)
    split = load_split(SPEC, "hau", "test", "hub")
    assert split and [d.fields["text"] for d in split.documents] == [row["text"] for row in ROWS]
    assert load_split(SPEC, "yor", "test", "hub") is None


def test_finding_17_an_unpacked_archive_is_read_too(tmp_path: Path) -> None:
    split = load_split(SPEC, "hau", "validation", str(write(tmp_path)))
    assert split and len(split.documents) == 4 and split.documents[0].gold == ROW["summary"]


def test_finding_27_a_summary_ends_with_its_line(cli: Cli, tmp_path: Path) -> None:
    words = (
        "--task.task_name",
        "xlsum",
        "--task.languages",
        "hau,amh",
        "--task.prompts",
        1,
        "--data.source",
        "samples",
    )
    done = cli("run", *words, "--model.model_name", "demo", "--eval.limit", 1, "--run_dir", tmp_path)
    assert done.code == 0, done.err
    limits = {}
    for path in sample_files(tmp_path):
        (sample,) = read_samples(path)
        options = sample["arguments"][0][1]
        limits[sample["language"]] = options["max_gen_toks"]
        assert options["until"] == [LINE_END]
    assert limits["amh"] > limits["hau"], "Amharic has more bytes, which are this model's tokens"


def test_finding_31_its_name_is_the_data_sets() -> None:
    assert "xlsum" in task_names() and "xlum" not in task_names()


def test_finding_33_only_african_languages_are_in_african_means() -> None:
    assert "telugu" not in SPEC.languages.values()
    elsewhere = {code for code in SPEC.languages if not LANGUAGES[code].african}
    assert elsewhere == {"arb", "eng", "fra", "por"}


def test_prompts_differ_by_language_and_article() -> None:
    split = load_split(SPEC, "hau", "test", "samples")
    assert split
    for prompt in load_prompts(SPEC, "eng").values():
        assert len({render(prompt, document, "hau") for document in split.documents}) == 12
