"""Defects of XL-Sum's tasks in the harness, looked for in ours; numbered as found.

Rows of the hub's conversion (17) are read in tests/tasks/test_every_folder.py; others are in test_every_task.py.
"""

import json
from pathlib import Path

from tests.conftest import Cli

from afrieval.results.run_files import sample_files
from afrieval.results.samples import read_samples
from afrieval.tasks.declaration.spec import task_names

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


def test_finding_31_its_name_is_the_data_sets() -> None:
    assert "xlsum" in task_names() and "xlum" not in task_names()
