"""The Python API: the same runs as the command's, with the same numbers; a loaded model is left as it was."""

import random
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import afrieval
from afrieval.models.demo import demo_folder
from afrieval.models.loaded import weights_digest
from tests.conftest import Cli, csv_rows
from tests.models.tiny import tiny_llama, tiny_t5

SMALL: Any = {"languages": "yor", "prompts": 1, "data_source": "samples", "limit": 2}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> afrieval.Run:
    folder = tmp_path_factory.mktemp("api") / "<b>"
    both: Any = {**SMALL, "languages": ["yor", "hau"], "prompts": [1, 2], "prompt_language": "both"}
    return afrieval.evaluate("demo", ["afrixnli"], **both, run_dir=folder)


def loaded(folder: Path | None = None) -> tuple[Any, Any]:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    name = str(folder or demo_folder())
    return AutoModelForCausalLM.from_pretrained(name), AutoTokenizer.from_pretrained(name)


def likelihoods(run: afrieval.Run) -> list[Any]:
    return [sample["resps"] for sample in run.samples("afrixnli", "yor")]


def test_an_import_is_light() -> None:
    heavy = ("torch", "transformers", "lm_eval", "datasets", "pandas", "numpy", "rich")
    code = f"import sys, afrieval; print([m for m in {heavy} if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_all_public_names_are_there() -> None:
    assert all(getattr(afrieval, name) is not None for name in afrieval.__all__)
    assert dir(afrieval) == sorted(afrieval.__all__)
    with pytest.raises(AttributeError, match="no attribute 'evaluat'"):
        afrieval.evaluat  # noqa: B018
    assert "afrixnli" in afrieval.task_names() and afrieval.load_task("afrixnli").name == "afrixnli"


def test_a_run_has_the_numbers_of_its_summary(run: afrieval.Run) -> None:
    of_cells = [
        (r["language"], r["prompt_language"], float(r["score"]), int(r["n"]))
        for r in csv_rows(run.path / "summary.csv")
    ]
    table = run.scores()
    assert len(of_cells) == 8 and len(table.rows) == 4
    for row in table.records():
        same = [(score, n) for *place, score, n in of_cells if place == [row["language"], row["prompt_language"]]]
        assert row["score"] == pytest.approx(np.mean([score for score, _ in same])) and row["n"] == same[0][1] == 2
        assert row["task"] == "afrixnli" and row["metric"] == "acc" and row["prompts"] == [1, 2]
        assert row["interval"][0] < row["score"] < row["interval"][1]
    frame = table.to_pandas()
    assert list(frame["score"]) == [row["score"] for row in table.records()]
    assert "interval low" in frame.columns


def test_a_run_is_that_of_the_command(run: afrieval.Run, cli: Cli, tmp_path: Path) -> None:
    words = "--model.model_name demo --task.task_name afrixnli --task.languages yor --task.prompts 1 --eval.limit 2"
    cli("run", *words.split(), "--data.source", "samples", "--run_dir", tmp_path / "run").ok()
    of_command = afrieval.load_run(tmp_path / "run")
    assert of_command.samples("afrixnli", "yor") == run.samples("afrixnli", "yor")
    assert of_command.config["task"]["languages"] == ["yor"] and run.config["task"]["languages"] == ["yor", "hau"]
    assert of_command.identity["model"] == run.identity["model"]


def test_html_is_escaped(run: afrieval.Run) -> None:
    html = run._repr_html_()
    assert "&lt;b&gt;" in html and "<b>" not in html and html.count("<tr>") == 5


def test_a_second_evaluation_asks_nothing(
    run: afrieval.Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("afrieval.run.evaluate.load_model", lambda *args: pytest.fail("the model was loaded"))
    again = afrieval.evaluate("demo", "afrixnli", **SMALL, run_dir=run.path)
    assert again.scores().rows == run.scores().rows and repr(again) == repr(run)
    assert capsys.readouterr().out == ""


def test_a_comparison(run: afrieval.Run, cli: Cli) -> None:
    compared = afrieval.compare([run])
    (contrast,) = compared.contrasts()
    assert contrast.about["dimension"] == "prompt_language" and len(contrast.rows) == 2
    assert {table.about["dimension"] for table in compared.contrasts("prompt")} == {"prompt"}
    assert len(compared.spread()) == len(compared.means()) == len(compared.by("confusion")) // 4 == 1
    tables = compared.means()
    assert len(tables.to_pandas()) == tables.to_csv().count("\n") - 1 == 2
    assert str(tables) == str(tables[0]) and tables._repr_html_() == tables[0]._repr_html_()
    printed = cli("compare", run.path, "--csv", "-").out
    assert printed.splitlines()[1].split(",")[:4] == contrast.to_csv().splitlines()[1].split(",")[:4]
    with pytest.raises(afrieval.UserError, match=r"no dimension 'promp'.*did you mean prompt"):
        compared.contrasts("promp")
    with pytest.raises(afrieval.UserError, match="share nothing"):
        compared.contrasts("model")


def test_a_loaded_model_scores_as_its_folder_and_stays_as_it_was(run: afrieval.Run, tmp_path: Path) -> None:
    import torch

    model, tokenizer = loaded()
    model.train()
    model.lm_head.eval()
    tokenizer.pad_token = None
    writing = model.generation_config.to_dict()
    random.seed(1), np.random.seed(1), torch.manual_seed(1)
    states = random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()  # type: ignore[index]
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)], sys.excepthook
    found = afrieval.evaluate((model, tokenizer), "afrixnli", **SMALL, run_dir=tmp_path / "run")
    assert likelihoods(found) == likelihoods(run)
    assert model.training and model.model.training and not model.lm_head.training
    assert tokenizer.pad_token is None and model.generation_config.to_dict() == writing
    after = random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()  # type: ignore[index]
    assert after == states
    assert ([signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)], sys.excepthook) == handlers


def test_checkpoints_of_a_training_have_runs_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.chdir(tmp_path)
    model, tokenizer = loaded(tiny_llama(tmp_path / "tiny"))
    first = afrieval.evaluate((model, tokenizer), "afrixnli", **SMALL)
    with torch.no_grad():
        model.lm_head.weight[7, 5] += 0.25  # no value that the fingerprint of the hf backend samples
    second = afrieval.evaluate((model, tokenizer), "afrixnli", **SMALL)
    assert first.path != second.path and first.path.parts[:2] == second.path.parts[:2] == ("runs", "afrixnli")
    assert first.identity["model"]["model_name"].startswith("tiny@")
    (table,) = afrieval.compare([first, second]).contrasts()
    assert table.about["dimension"] == "model"
    with pytest.raises(afrieval.UserError, match=r"holds another run: model\.model_name was"):
        afrieval.evaluate((model, tokenizer), "afrixnli", **SMALL, run_dir=first.path)


def test_any_changed_weight_is_another_model() -> None:
    import torch

    for dtype in (torch.float32, torch.bfloat16):
        layer = torch.nn.Linear(50, 50).to(dtype)
        before = weights_digest(layer)
        assert weights_digest(layer) == before
        with torch.no_grad():
            layer.weight.T[3, 4] *= 2
        assert weights_digest(layer) != before


@pytest.mark.parametrize("form", ["text", "generate"])
def test_loaded_encoder_decoders_score_and_write(form: Any, tmp_path: Path) -> None:
    from transformers import AutoTokenizer, T5ForConditionalGeneration

    folder = str(tiny_t5(tmp_path / "t5"))
    pair = T5ForConditionalGeneration.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    one, other = (
        afrieval.evaluate(model, "afrixnli", **SMALL, answer_form=form, run_dir=tmp_path / name)
        for name, model in (("folder", folder), ("pair", pair))
    )
    assert likelihoods(one) == likelihoods(other)


def test_an_interrupt_goes_through_and_keeps_what_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from afrieval.tasks.cells.task_cell import TaskCell

    one = TaskCell.run

    def interrupted(cell: Any, model: Any) -> Any:
        if cell.key.prompt == 2:
            raise KeyboardInterrupt
        return one(cell, model)

    monkeypatch.setattr(TaskCell, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        afrieval.evaluate("demo", "afrixnli", **{**SMALL, "prompts": [1, 2]}, run_dir=tmp_path)
    assert len(afrieval.load_run(tmp_path).scores().rows) == 1 and (tmp_path / "summary.csv").exists()
    with pytest.raises(afrieval.UserError, match="is not finished"):
        afrieval.compare(tmp_path)


ERRORS: dict[str, Callable[[], object]] = {
    "unknown task 'afrixnl' .did you mean afrixnli": lambda: afrieval.evaluate("demo", "afrixnl"),
    "evaluate: limit must be 1 or more, not 0": lambda: afrieval.evaluate("demo", "afrixnli", limit=0),
    "task.languages is an empty list": lambda: afrieval.evaluate("demo", "x", languages=[]),
    "no task is given .name some": lambda: afrieval.evaluate("demo"),
    "evaluate: unknown argument 'langages' .did you mean languages": lambda: afrieval.evaluate("demo", langages="yor"),
    "prices.input must be": lambda: afrieval.evaluate("gpt_4o", "afrixnli", prices={"input": -1}),
    "base_url must be a URL, not 'x'": lambda: afrieval.evaluate("gpt_4o", "afrixnli", api={"base_url": "x"}),
    "device has no effect on a loaded model": lambda: afrieval.evaluate(("gpt2", "gpt2"), "afrixnli", device="cpu"),
    "model must be text, a path, a map or a tuple of 2, not 3 .give a name": lambda: afrieval.evaluate(3, "afrixnli"),  # type: ignore[arg-type]
    "chat_template: unknown key 'tag' .did you mean tags": lambda: afrieval.evaluate("demo", chat_template={"tag": {}}),  # type: ignore[arg-type]
    "model.chat_date is '2025'": lambda: afrieval.evaluate("demo", "afrixnli", chat_template={"date": "2025"}),
    "api: unknown key 'base_ur' .did you mean base_url": lambda: afrieval.ModelConfig(api={"base_ur": "x"}),  # type: ignore[arg-type]
    "nowhere contains no tasks": lambda: afrieval.load_task("afrixnli", "nowhere"),
    "the model has the type str, which has no config": lambda: afrieval.evaluate(("gpt2", "gpt2"), "afrixnli"),
    "device must be text, not 3": lambda: afrieval.evaluate(afrieval.ModelConfig("demo", device=3), "afrixnli"),  # type: ignore[arg-type]
    "there is no run folder": lambda: afrieval.load_run("runs/nowhere"),
    "there is no run to compare": lambda: afrieval.compare([]),
    "there is no run to show": lambda: afrieval.write_report([]),
    "has published scores, not a run": lambda: afrieval.compare("table.csv"),
    "compare: runs.0 must be a Run, text or a path, not 5 .give one run": lambda: afrieval.compare([5]),  # type: ignore[list-item]
}


@pytest.mark.parametrize("message", ERRORS)
def test_errors(message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AFRIEVAL_DATA", "samples")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(afrieval.UserError, match=message):
        ERRORS[message]()
    assert not list(tmp_path.iterdir())


def test_values_of_numpy_pandas_and_generators_are_taken(run: afrieval.Run) -> None:
    given: Any = {
        "languages": pd.Series(["yor", "hau"]),
        "prompts": (number for number in np.arange(1, 3)),
        "limit": np.int64(2),
        "batch_size": np.array(1),
        "chat_template": np.bool_(False),
        "prompt_language": np.str_("both"),
        "data_source": Path("samples"),
        "run_dir": run,
    }
    again = afrieval.evaluate(Path("demo"), iter(["afrixnli"]), **given)
    assert again.path == run.path and again.scores().rows == run.scores().rows


def test_an_unknown_cell_is_named(run: afrieval.Run) -> None:
    with pytest.raises(afrieval.UserError, match=r"no cell 'afrixnli_yor_eng_3' .did you mean afrixnli_yor_eng"):
        run.samples("afrixnli", "yor", prompt=3)


DATED = "{{ strftime_now('%d %b %Y') }}{% for turn in messages %} {{ turn.role }}: {{ turn.content }}{% endfor %} So:"


def test_a_loaded_model_chats_as_told(tmp_path: Path) -> None:
    pair = loaded(tiny_llama(tmp_path / "model", chat_template=DATED))
    begins: dict[str, Any] = {
        "26 Jul 2024 system: ": True,
        "10 Apr 2025 system: ": {"date": "10 Apr 2025"},
        "[INST] ": {"tags": {"user_start": "[INST] ", "user_end": " [/INST]"}},
    }
    for i, (begin, chat) in enumerate(begins.items()):
        run = afrieval.evaluate(pair, "afrixnli", chat_template=chat, **SMALL, run_dir=tmp_path / str(i))
        for sample in run.samples("afrixnli", "yor"):
            assert [text[: len(begin)] for text, *_ in sample["arguments"]] == [begin] * 3
    assert pair[1].chat_template == DATED
