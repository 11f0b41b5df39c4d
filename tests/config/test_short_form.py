"""MODEL and TASKS, short options and names of other programs mean what people mean by them."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import Cli

from afrieval._util.errors import UserError
from afrieval._util.resources import shipped
from afrieval.cli.declarations.running import RunCommand
from afrieval.cli.registry import COMMANDS
from afrieval.config.arguments import read_given, sections_of
from afrieval.config.files import config_file, run_config
from afrieval.config.settings import ModelConfig, RunConfig
from afrieval.config.short_form import DAILY, full_name

MODELS = sorted(path.stem for path in shipped("configs").glob("models/*.yaml"))


def read(*words: str) -> RunConfig:
    return run_config(read_given(RunCommand, list(words), "run")[1], needs_model=True)


def refused(*words: str) -> UserError:
    with pytest.raises(UserError) as caught:
        read(*words)
    return caught.value


def long_form(model: str, *words: str) -> RunConfig:
    return read("--model-config-yaml", f"configs/models/{model}.yaml", *words)


@pytest.mark.parametrize("word", ["gpt_4o", "gpt-4o", "GPT_4o", "configs/models/gpt_4o.yaml"])
def test_a_model_is_named_like_its_file(word: str) -> None:
    assert read(word, "afrixnli") == long_form("gpt_4o", "--task.task_name", "afrixnli")


@pytest.mark.parametrize("word", ["Qwen/Qwen3-0.6B", "gpt2", "/some/folder"])
def test_any_other_model_is_a_hub_id_or_a_folder(word: str) -> None:
    assert read(word, "afrixnli").model.model_name == word


@pytest.mark.parametrize("word", ["gpt-4o", "gpt_4o", "llama_3.1_8b_instruct", "demo"])
def test_a_recorded_model_has_the_name_that_its_user_gives_it(word: str) -> None:
    """And nothing of the model file of that name: neither an API nor a chat template."""
    found = read(word, "afrixnli", "--model.model_type", "recorded").model
    assert found == ModelConfig(word, model_type="recorded")
    assert read("configs/models/gpt_4o.yaml", "afrixnli", "--model.model_type", "recorded").model.api != found.api


def test_every_model_file_has_one_name() -> None:
    assert [path.stem for name in MODELS if (path := config_file("models", name))] == MODELS


@pytest.mark.parametrize("words", [("afrixnli,sib200",), ("afrixnli, sib200",), ("afrixnli", "sib200")])
def test_tasks_are_separated_by_commas_or_blanks(words: tuple[str, ...]) -> None:
    assert read("demo", *words).task.names == ["afrixnli", "sib200"]


def test_a_list_of_tasks_may_be_longer_than_a_path() -> None:
    names = ",".join(["afrixnli", "afrimmlu"] * 3_000)
    assert read("demo", names).task.names == ["afrixnli", "afrimmlu"]


def test_a_suite_and_a_task_file_bring_their_settings(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("task_name: afrixnli\neval: {num_fewshot: 2}\n")
    assert read("demo", str(path)).eval.shots == 2
    assert read("demo", str(path), "--shots", "3").eval.shots == 3
    suite = read("demo", "irokobench")
    assert suite.task.suite == "irokobench" and suite.task.prompt_language == "both"
    assert suite == read("demo", "--task.suite", "irokobench")
    assert suite == read("demo", "--task-config-yaml", "configs/suites/irokobench.yaml")


SHORT = {
    "languages": ("task.languages", "hau,yor"),
    "prompts": ("task.prompts", "1,2"),
    "prompt-language": ("task.prompt_language", "both"),
    "answer-form": ("task.answer_form", "letter"),
    "shots": ("eval.num_fewshot", "5"),
    "sample": ("eval.sample", "100"),
    "until": ("eval.until", "2.0"),
    "limit": ("eval.limit", "3"),
    "data": ("data.source", "samples"),
    "out": ("run_dir", "runs/x"),
    "device": ("model.device", "cpu"),
    "dtype": ("model.dtype", "float16"),
    "batch-size": ("eval.batch_size", "4"),
    "chat": ("model.chat_template", "true"),
}


def test_each_daily_option_is_a_second_name() -> None:
    assert {name.replace("-", "_"): of for name, (of, _) in SHORT.items()} == DAILY
    for name, (of, value) in SHORT.items():
        assert read("demo", "afrixnli", f"--{name}", value) == read("demo", "afrixnli", f"--{of}={value}"), name


# What people type who know lm_eval, or guess.
HABITS = {
    ("--model", "gpt_4o", "--tasks", "afrixnli"): ("gpt_4o", "afrixnli"),
    ("--task", "afrixnli", "gpt_4o"): ("gpt_4o", "afrixnli"),
    ("gpt_4o", "afrixnli", "--num_fewshot", "5"): ("gpt_4o", "afrixnli", "--eval.num_fewshot", "5"),
    ("gpt_4o", "afrixnli", "-o", "x", "--language", "hausa"): (
        *("gpt_4o", "afrixnli", "--run_dir", "x"),
        *("--task.languages", "hau"),
    ),
    ("gpt_4o", "afrixnli", "--output_path=x", "--max_gen_toks", "9"): (
        *("gpt_4o", "afrixnli", "--run_dir", "x"),
        *("--eval.max_gen_toks", "9"),
    ),
    ("--model", "hf", "--model_args", "pretrained=a/b,dtype=float16,peft=c", "--tasks", "sib200"): (
        *("a/b", "sib200", "--model.dtype", "float16"),
        *("--model.backend_args.peft", "c"),
    ),
    ("--model", "vllm", "--model_args", "pretrained=a/b,max_model_len=9", "--tasks", "sib200"): (
        *("a/b", "sib200", "--model.model_type", "vllm"),
        *("--model.backend_args.max_model_len", "9"),
    ),
    ("a/b", "sib200", "--model.model_type", "vllm", "--max_model_len", "9"): (
        *("a/b", "sib200", "--model.model_type", "vllm"),
        *("--model.backend_args.max_model_len", "9"),
    ),
    ("a/b", "sib200", "--apply_chat_template"): ("a/b", "sib200", "--model.chat_template", "true"),
}


@pytest.mark.parametrize("words", HABITS, ids=" ".join)
def test_habits_are_understood(words: tuple[str, ...]) -> None:
    assert read(*words) == read(*HABITS[words])


@pytest.mark.parametrize("text", ["hausa yor", "Hausa,Yorùbá", "ha,yo", "HAU,YOR", "hau_Latn yo-NG"])
def test_languages_have_names_and_codes_of_all_standards(text: str) -> None:
    assert read("demo", "afrixnli", "--languages", text).task.languages == ["hau", "yor"]


def test_what_no_language_is_called_stays_as_it_is() -> None:
    assert read("demo", "afrixnli", "--languages", "xx,hausa").task.languages == ["xx", "hau"]


BAD = {
    "a backend for a model": (("hf", "afrixnli"), "hf is a backend", "--model.model_type hf"),
    "a suite among tasks": (("demo", "afrobench,sib200"), "afrobench has settings of its own", "by itself"),
    "an unknown suite": (("demo", "--task.suite", "iroko"), "no suite 'iroko'", "irokobench"),
    "two models": (("demo", "afrixnli", "--model.model_name", "x"), "both name a model", "one of them"),
    "two files": (
        ("demo", "afrixnli", "--task-config-yaml", "configs/tasks/demo.yaml"),
        "--task-config-yaml both",
        "one",
    ),
    "a misspelt short option": (("demo", "afrixnli", "--shts", "3"), "--shts", "--shots"),
    "an option of lm_eval that is not here": (("demo", "afrixnli", "--gen_kwargs", "x"), "--gen_kwargs", "max_gen_t"),
    "a cache of lm_eval": (("demo", "afrixnli", "--use_cache", "x/cache"), "--use_cache", "kept in the run folder"),
    "arguments of W&B": (("demo", "afrixnli", "--wandb_args", "project=x"), "--wandb_args", "--log wandb"),
    "arguments without a model": (("afrixnli", "--model_args", "dtype=float16"), "names no model", "pretrained=NAME"),
    "arguments without a name": (("hf", "--model_args", "x"), "--model_args has 'x'", "NAME=VALUE"),
    "no task": (("demo",), "no task is given", "afrieval run MODEL afrixnli"),
    "nothing": ((), "no model is given", "afrieval run MODEL TASKS"),
}


@pytest.mark.parametrize("name", BAD)
def test_refuses(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])
    words, message, hint = BAD[name]
    error = refused(*words)
    assert message in error.message and hint in error.hint


TYPED = {
    ("--kind", "nonsense"): "--kind must be classification, multiple_choice or question",
    ("--shots=x",): "--shots must be a whole number",
    ("--num-fewshot", "x"): "--num-fewshot must be a whole number",
    ("--eval.num_fewshot", "x"): "--eval.num_fewshot must be a whole number",
    ("--batch_size", "x"): "--batch_size is 'x'\n",
    ("--limit", "3", "--eval.sample", "4"): "--limit is 3 and eval.sample is 4, but",
    ("--sample", "3", "--eval.limit", "4"): "hint: give --sample for estimates, or --eval.limit for debugging",
    ("-o",): "option -o has no value\nhint: write -o VALUE",
    ("--task", "afrixnli,nothing"): "unknown task 'nothing'",
}


@pytest.mark.parametrize("words", TYPED, ids=" ".join)
def test_errors_name_an_option_as_it_was_typed(words: tuple[str, ...], cli: Cli) -> None:
    tasks = () if "--task" in words else ("afrixnli",)
    assert TYPED[words] in cli("run", "--model", "demo", *tasks, "--data", "samples", *words).err


@given(st.sampled_from(sorted(COMMANDS)), st.data())
def test_the_full_name_of_an_option_is_its_own(command: str, data: st.DataObject) -> None:
    known = [option.name for options in sections_of(COMMANDS[command].kind).values() for option in options]
    name = data.draw(st.sampled_from(known))
    assert full_name(name, known) == name
