"""Without a tokenizer, a plan is estimated from the bytes that a run sends."""

import json
from pathlib import Path

import pytest
from tests.conftest import Cli

from afrieval.config.api_settings import Prices
from afrieval.models.work import Amount
from afrieval.results.run_files import sample_files
from afrieval.results.samples import read_samples
from afrieval.tools.plan.counting import BYTES_PER_TOKEN, Size
from afrieval.tools.plan.plan import Estimate
from afrieval.tools.plan.tables import estimate_tables

SOME = ("--task.task_name", "afrixnli", "--task.languages", "yor,swa", "--task.prompts", "1,2", "--eval.num_fewshot", 2)
FORMS = {"text": (), "generate": ("--task.answer_form", "generate")}


@pytest.fixture(autouse=True)
def _no_tokenizer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaves plans without the tokenizer that this machine has."""
    monkeypatch.setattr("afrieval.tools.plan.plan._model", lambda session: (None, "it is not here"))


def printed(out: str, language: str) -> list[int]:
    (line,) = [line for line in out.splitlines() if f" {language} " in line]
    return [int(word.replace(",", "")) for word in line.split()[2:]]


@pytest.mark.parametrize("form", FORMS)
def test_sizes_are_those_of_the_run(run_demo: Cli, tmp_path: Path, form: str) -> None:
    dry = run_demo(*SOME, *FORMS[form], "--dry-run").ok()
    assert not (tmp_path / "run").exists(), "nothing is written"
    assert run_demo(*SOME, *FORMS[form]).code == 0
    lines = [line for path in sample_files(tmp_path / "run") for line in read_samples(path)]
    for language, code in (("Yoruba", "yor"), ("Swahili", "swa")):
        sent = [argument for line in lines if line["language"] == code for argument in line["arguments"]]
        cells, documents, requests, tokens, *most = printed(dry.out, language)
        assert cells == 2 and documents == sum(line["language"] == code for line in lines)
        texts = sum(len(text.encode()) for argument in sent for text in argument if isinstance(text, str))
        if form == "text":  # neutral prompts are asked too, and are not in the samples
            assert requests == len(sent) + 2 * 6 and not most
            assert texts < tokens * BYTES_PER_TOKEN < 1.25 * texts
        else:
            assert requests == len(sent) and tokens == pytest.approx(texts / BYTES_PER_TOKEN, abs=1)  # two cells
            assert most == [sum(argument[1]["max_gen_toks"] for argument in sent)]


def test_costs_are_tokens_times_prices() -> None:
    sizes = [
        Size("t", "yor", 1, 10, answers=Amount(10, 2_000_000, most=300_000)),
        Size("t", "hau", 1, 10, answers=Amount(10, 1_000_000, most=100_000)),
    ]
    (table,) = estimate_tables(Estimate("m", sizes, 2, "it is not here"), Prices(input=2.5, output=10))
    assert [row[-2:] for row in table.rows] == [[5.0, 3.0], [2.5, 1.0], [7.5, 4.0]]
    assert table.rows[-1][:-2] == ["total", "", 2, 20, 20, 3_000_000, None, 400_000]
    assert json.loads(table.to_pandas().to_json(orient="records"))[0]["prompt_cost"] == 5.0
    assert "$7.50" in str(table)
