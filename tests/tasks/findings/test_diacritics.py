"""Defects of the harness' tasks of diacritics, looked for in ours; numbered as found. And what is our own in them."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from tests.conftest import REAL_DATA, ROOT, Cli, spec_of

from afrieval.results.run_files import sample_files
from afrieval.results.samples import read_samples
from afrieval.scoring.base import Question, Response
from afrieval.scoring.texts import without_marks
from afrieval.tasks.data.document import Document
from afrieval.tasks.data.splits import load_split
from afrieval.tasks.declaration.kinds import UNMARKED
from afrieval.tasks.prompts.prompts import load_prompts, render

TASKS = ("adr", "diacritics", "diacritics_mafand")
SPECS = {name: spec_of(name) for name in TASKS}


def test_finding_17_the_same_task_from_text_that_is_there(cli: Cli, tmp_path: Path) -> None:
    """AfroBench's data set is missing from the hub: the rows of MAFAND, which it was made from, are stripped here."""
    assert set(SPECS["adr"].languages) <= set(SPECS["diacritics_mafand"].languages)
    folder = tmp_path / "data/masakhane/mafand/data/en-yor"
    folder.mkdir(parents=True)
    texts = ["Ó dára.", "Ẹ káàbọ̀.", "Bola", "Ọjọ́ ti lọ."]
    rows = [{"translation": {"en": "x", "yor": text}} for text in texts]
    for name in ("test", "dev"):
        (folder / f"{name}.json").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    words = ("--task.task_name", "diacritics_mafand", "--data.source", tmp_path / "data", "--task.prompts", 1)
    done = cli("run", *words, "--model.model_name", "demo", "--eval.num_fewshot", 1, "--run_dir", tmp_path / "run")
    assert done.code == 0, done.err
    (path,) = sample_files(tmp_path / "run")
    samples = read_samples(path)
    assert [s["target"] for s in samples] == ["Ó dára.", "Ẹ káàbọ̀.", None, "Ọjọ́ ti lọ."]
    assert [s["doc"]["text"] for s in samples] == ["O dara.", "E kaabo.", "Bola", "Ojo ti lo."]
    assert samples[2]["defect"] == UNMARKED and all(2 not in s["fewshot_ids"] for s in samples)
    assert samples[0]["metrics"] == ["chrf", "bleu", "word_acc", "tone_acc", "dot_acc", "empty", "copied"]


@pytest.mark.parametrize("language", ["yor", "ibo", "wol", "fra"])
def test_prompts_show_the_text_without_its_marks(language: str) -> None:
    split = load_split(SPECS["diacritics"], language, "test", "samples")
    assert split
    for document in split.documents:
        assert document.fields["text"] == without_marks(str(document.gold)) != document.gold
        assert str(document.gold) not in render(load_prompts(SPECS["diacritics"], "eng")[1], document, language)


@pytest.mark.parametrize("language", ["yor", "ibo", "wol"])
def test_a_copy_of_the_input_restores_nothing(language: str) -> None:
    split = load_split(SPECS["diacritics"], language, "test", "samples")
    assert split
    scores = copied(SPECS["diacritics"].scoring.metrics_of("generate", language=language), split.documents, language)
    assert {scores[name] for name in ("tone_acc", "dot_acc") if name in scores} == {0}
    assert scores["copied"] == 1 and scores["word_acc"] < 0.8


def copied(metrics: list, documents: list[Document], language: str) -> dict[str, float]:  # type: ignore[type-arg]
    """Scores of the input as an answer."""
    scores = {}
    for known in metrics:
        given = [
            (Response(d.fields["text"], d.fields["text"]), Question(d.gold, (), (), d.fields, language))
            for d in documents
        ]
        measures = np.array([known.measure(*pair) for pair in given])
        scores[known.name] = float(known.score(measures, np.ones((1, len(given))))[0])
    return scores


@pytest.mark.alldata
@pytest.mark.parametrize("task", ["diacritics", "diacritics_mafand"])
def test_the_table_of_the_page(task: str) -> None:
    """docs/tables/diacritics.md says how many words have marks, and what a copy of the input scores."""
    page = (ROOT / "docs/tables/diacritics.md").read_text(encoding="utf-8").partition(f"\n`{task}`:\n\n")[2]
    rows = dict(re.findall(r"^\|.*?`(\w+)` \| (.*) \|$", page.partition("\n\n")[0], re.M))
    assert rows.keys() == SPECS[task].languages.keys()
    for language, shown in rows.items():
        split = load_split(SPECS[task], language, "test", str(REAL_DATA))
        assert split
        documents = [d for d in split.documents if d.gold is not None]
        words = [w for d in documents for w in d.gold.split() if any(map(str.isalpha, w))]  # type: ignore[union-attr]
        share = sum(without_marks(w) != w for w in words) / len(words)
        scores = copied(
            [m for m in SPECS[task].scoring.metrics if m.name in ("chrf", "bleu", "word_acc")], documents, language
        )
        found = [
            f"{len(documents):,}", f"{share:.1%}", f"{scores['chrf']:.1f}", f"{scores['bleu']:.1f}",
            f"{scores['word_acc']:.1%}",
        ]  # fmt: skip
        assert " | ".join(found).replace("%", " %") == shown
