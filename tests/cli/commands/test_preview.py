"""preview shows exactly what a run would send, and loads no model."""

from pathlib import Path

import pytest
from tests.conftest import Cli

from afrieval.report.previews import with_blanks
from afrieval.results.run_files import sample_files
from afrieval.results.samples import read_samples

BASE = ("--data.source", "samples", "--task.languages", "yor")


def blocks(out: str) -> list[str]:
    """Returns the texts between marker lines."""
    return out.split("-" * 80 + "\n")[1::2]


@pytest.mark.parametrize("words", [(), ("--eval.num_fewshot", "2"), ("--task.answer_form", "letter")])
def test_preview_is_what_the_model_gets(cli: Cli, run_demo: Cli, tmp_path: Path, words: tuple[str, ...]) -> None:
    cells = ("--task.task_name", "afrimmlu", "--task.prompt_language", "both", *BASE, *words)
    shown = blocks(cli("preview", *cells).out)
    run_demo(*cells, "--eval.limit", 1, "--task.prompts", "1,2")
    sent = [read_samples(p)[0]["arguments"][0][0] + "\n" for p in sample_files(tmp_path / "run")]
    assert len(shown) == 8 and set(sent) < set(shown)


def test_preview_loads_no_model(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("afrieval.run.evaluate.load_model", lambda *args: pytest.fail("a model was loaded"))
    done = cli("preview", "--model.model_name", "no/such", "--task.task_name", "afrixnli", *BASE)
    assert done.code == 0 and "  ' Neither'" in done.out and "gold" in done.out


def test_preview_of_a_chat_shows_its_turns(cli: Cli) -> None:
    words = ("--model.chat_template", "--eval.num_fewshot", "1", "--task.prompts", "3")
    (text,) = blocks(cli("preview", "--task.task_name", "afrixnli", *BASE, *words).out)
    assert text.startswith("[system]\nYou are given two sentences.") and text.endswith("Answer:\n\n[assistant]\n")
    assert text.count("[user]") == 2 and text.count("[assistant]") == 2


def test_a_row_that_is_left_out_says_so(cli: Cli) -> None:
    words = ("--task.task_name", "afrimmlu", "--data.source", "samples", "--task.languages", "hau", "--document", "7")
    assert "left out, no gold answer" in cli("preview", *words).out


def test_blanks_are_made_visible(cli: Cli) -> None:
    assert with_blanks("a b\t\u00a0\n") == "a·b→⍽⏎\n"
    done = cli("preview", "--task.task_name", "afrimmlu", *BASE, "--show-blanks")
    assert "Question:·" in done.out
