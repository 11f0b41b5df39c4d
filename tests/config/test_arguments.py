"""Files and flags add up to a config, whatever their order; what cannot be used is refused in one line."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import Cli, read_config

from afrieval._util.errors import UserError
from afrieval.cli.declarations.running import RunCommand
from afrieval.config.arguments import as_typed, read_given
from afrieval.config.options import RunOptions
from afrieval.config.settings import RunConfig

ENOUGH = ["--model.model_name", "demo", "--task.task_name", "afrimmlu"]


def read(*words: str) -> RunConfig:
    return read_config(list(words), command="run", needs_model=True)


def refused(*words: str) -> UserError:
    with pytest.raises(UserError) as caught:
        read(*words)
    return caught.value


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    model, task = tmp_path / "model.yaml", tmp_path / "task.yaml"
    model.write_text("model_name: m\ndtype: float16\neval: {num_fewshot: 1, limit: 7}\n")
    task.write_text("task_name: afrixnli\nlanguages: [yor]\neval: {num_fewshot: 2}\n")
    return model, task


def test_task_file_beats_model_file_and_flags_beat_both(files: tuple[Path, Path]) -> None:
    words = ["--model-config-yaml", str(files[0]), "--task-config-yaml", str(files[1])]
    config = read(*words)
    assert (config.eval.num_fewshot, config.eval.limit, config.model.dtype) == (2, 7, "float16")
    assert config.task.names == ["afrixnli"] and config.task.languages == ["yor"]
    for flags in (["--eval.num_fewshot", "5", *words], [*words, "--eval.num_fewshot", "5"]):
        assert read(*flags).eval.num_fewshot == 5


def test_the_chat_template_of_a_task_beats_the_models_and_flags_beat_both(files: tuple[Path, Path]) -> None:
    model, task = files
    words = ["--model-config-yaml", str(model), "--task-config-yaml", str(task)]
    for of_model, of_task in ((False, True), (True, False)):
        model.write_text(f"model_name: m\nchat_template: {of_model}\n")
        assert read(*words).model.chat_template is of_model
        task.write_text(f"task_name: afrixnli\nmodel: {{chat_template: {of_task}}}\n")
        assert read(*words).model.chat_template is of_task
        for flags in (["--model.chat_template", str(of_model)], [f"--model.chat-template={of_model}"]):
            assert read(*flags, *words).model.chat_template is of_model
        task.write_text("task_name: afrixnli\n")


def test_dashes_underscores_and_equals_signs_are_one() -> None:
    for flag in (["--eval.num-fewshot", "3"], ["--eval.num_fewshot=3"], ["--eval.num-fewshot=3"]):
        assert read(*ENOUGH, *flag).eval.num_fewshot == 3
    assert read(*ENOUGH, "--model.model-name=a-b/c-d").model.model_name == "a-b/c-d"


def test_booleans_work_bare_and_with_a_value() -> None:
    assert read(*ENOUGH, "--eval.write-out").eval.write_out
    assert read("--eval.write-out", *ENOUGH).eval.write_out
    assert read(*ENOUGH, "--eval.write_out", "true", "--eval.limit", "1").eval.write_out
    assert not read(*ENOUGH, "--eval.use_cache", "false").eval.use_cache
    assert read(*ENOUGH, "--model.add_bos_token").model.add_bos_token is True


def test_lists_with_and_without_brackets() -> None:
    for text in ("yor,hau", "[yor, hau]", "[yor,hau]"):
        assert read(*ENOUGH, "--task.languages", text).task.languages == ["yor", "hau"]
    assert read(*ENOUGH, "--task.prompts", "2").task.prompts == [2]
    assert read("--model.model_name", "m", "--task.task_name", "a,b,a").task.names == ["a", "b"], "twice runs once"


def test_backend_arguments_together_and_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    path.write_text("model_name: m\nbackend_args: {a: 1, b: {c: 2}}\n")
    base = ["--model-config-yaml", str(path), "--task.task_name", "afrimmlu"]
    cases: dict[tuple[str, ...], dict[str, object]] = {
        ("--model.backend_args.x=1e-3",): {"x": 0.001},
        ("--model.backend-args.x-y", "-5"): {"x_y": -5},
        ("--model.backend_args.a", "[1, b]"): {"a": [1, "b"]},
        ("--model.backend_args.b.d=true",): {"b": {"c": 2, "d": True}},
        ("--model.backend_args.x=@", "--model.backend_args.y="): {"x": "@", "y": ""},
    }
    for words, added in cases.items():
        assert read(*base, *words).model.backend_args == {"a": 1, "b": {"c": 2}, **added}
    path.write_text("model_name: m\nbackend_args: {a: '5', b: {c: '1e3'}}\n")
    assert read(*base, "--model.backend_args.b.d=1").model.backend_args == {"a": "5", "b": {"c": "1e3", "d": 1}}
    replaced = ["--model.backend_args.x=1", "--model.backend_args={z: 1}", "--model.backend_args.y=2"]
    assert read(*base, *replaced).model.backend_args == {"z": 1, "y": 2}


def test_texts_are_kept_as_they_are() -> None:
    for text in ("5", "[a]", "a,b", "true", "#x", "a: b", "-x", "~x"):
        assert read(*ENOUGH, "--model.revision", text).model.revision == text
    assert read(*ENOUGH, "--model.device", "null").model.device is None
    assert read(*ENOUGH, "--run-dir=~").run_dir == "~"  # null in YAML
    assert read(*ENOUGH, "--data.source=\udcff").data.source == "\udcff"  # a byte of a path that is not UTF-8


def test_the_last_value_counts() -> None:
    limits = {("x", "3"): 3, ("3", "null"): None, ("null", "3"): 3, ("2", "3"): 3}
    for texts, limit in limits.items():
        assert read(*ENOUGH, *(f"--eval.limit={text}" for text in texts)).eval.limit == limit
    folders = {("a", "b"): ["a", "b"], ("a,b", "c"): ["a", "b", "c"], ("a", "null"): None, ("a", "[]"): []}
    for texts, folder in folders.items():
        assert read(*ENOUGH, *(f"--task.folder={text}" for text in texts)).task.folder == folder, "they add up"
    for size in (4, "auto:2"):
        assert read(*ENOUGH, "--eval.batch_size=8", f"--eval.batch_size={size}").eval.batch_size == size


def test_old_name_of_backend_args(tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    path.write_text("model_name: m\nvllm: {gpu_memory_utilization: 0.5}\n")
    config = read("--model-config-yaml", str(path), "--task.task_name", "afrimmlu")
    assert config.model.backend_args == {"gpu_memory_utilization": 0.5}


def test_environment_names_the_data_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AFRIEVAL_DATA", "/some/folder")
    assert read(*ENOUGH).data.source == "/some/folder"
    assert read(*ENOUGH, "--data.source", "samples").data.source == "samples"
    monkeypatch.delenv("AFRIEVAL_DATA")
    assert read(*ENOUGH).data.source == "hub"


FLAGS = ["--eval.limit=3", "--eval.write-out", "--task.languages=yor,hau", "--model.dtype=float32", "--run-dir=x"]


@given(st.permutations([["--model.model_name", "demo"], ["--task.task_name", "afrimmlu"], *([f] for f in FLAGS)]))
def test_the_order_of_flags_does_not_matter(order: list[list[str]]) -> None:
    assert read(*(word for flag in order for word in flag)) == read(*ENOUGH, *FLAGS)


@given(st.lists(st.text(max_size=20) | st.sampled_from(["--run_dir", "--model.backend_args.x", "[", "a,b"])))
def test_any_words_are_settings_or_a_user_error(words: list[str]) -> None:
    try:
        _, settings = read_given(RunOptions, words, "run")
    except UserError as e:
        assert e.message and e.hint
    else:
        assert len(settings) <= len(words)


BAD = {
    "unknown option": (["--eval.limt", "3"], "--eval.limt", "--eval.limit"),
    "folder for a file": (["--model-config-yaml", "configs/llama"], "configs/llama is a folder", "eval_config.yaml"),
    "option without a value": (["--eval.limit"], "--eval.limit", "VALUE"),
    "stray word": (["yor"], "'yor'", "--help"),
    "wrong type": (["--eval.limit", "ten"], '--eval.limit must be a whole number, not "ten"', "whole number"),
    "wrong choice": (["--model.dtype", "int8"], '"int8"', "bfloat16"),
    "seed out of range": (
        ["--eval.numpy_random_seed", "-1"], "--eval.numpy_random_seed must be 0 or more, not -1", "0 or more",
    ),
    "batch of none": (["--eval.batch_size", "0"], "eval.batch_size is 0", "1 or more"),
    "empty languages": (["--task.languages", "[]"], "task.languages is an empty list", "leave task.languages out"),
    "empty prompts": (["--task.prompts", "[]"], "task.prompts is an empty list", "leave task.prompts out"),
    "unknown logger": (["--log", "wandb,tensorboard"], '--log must be wandb or trackio, not "tensorboard"', "choose"),
    "member of a list": (["--task.prompts", "1,x"], '--task.prompts must be a whole number, not "x"', "whole number"),
    "broken list": (["--task.languages", "[yor"], '--task.languages must be a list, not "[yor"', "a list"),
    "nothing for a map": (["--model.backend_args=~"], "--model.backend_args must be a map", "a map"),
    "bytes for a map": (["--model.backend_args=\udcff"], "--model.backend_args must be a map", "a map"),
    "number in another form": (["--eval.batch_size=1:30"], "eval.batch_size is '1:30'", "1 or more"),
    "no mark": (["--model.thinking_end="], "model.thinking_end is empty", "leave it out"),
    "missing file": (["--model-config-yaml", "configs/models/dmo.yaml"], "dmo.yaml", "demo.yaml"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_refuses(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])
    words, message, hint = BAD[name]
    error = refused(*ENOUGH, *words)
    assert message in error.message and hint in error.hint
    assert "\n" not in error.message + error.hint


def test_a_long_value_is_shown_by_its_ends() -> None:
    error = refused("--model.engine", "9" * 5000)
    assert error.message.startswith("--model.engine must be auto, tree or plain, not ") and len(error.message) < 250
    assert error.hint == "choose from auto, tree, plain"


def test_a_file_that_cannot_be_used_is_not_suggested_in_its_own_place(tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_bytes("model_name: demo".encode("utf-16"))
    assert "UTF-8" in refused("--model-config-yaml", str(path)).hint
    path.unlink()
    path.symlink_to(tmp_path / "missing.yaml")
    assert refused("--model-config-yaml", str(path)).hint == "check the path"


def test_options_of_an_extractor(tmp_path: Path) -> None:
    path = tmp_path / "task.yaml"
    path.write_text("task_name: mmlu_pro\nextract: {lone: true}\n")
    base = ["--model.model_name", "m", "--task-config-yaml", str(path)]
    added: dict[tuple[str, ...], dict[str, bool]] = {
        (): {"lone": True},
        ("--task.extract.guess", "true"): {"lone": True, "guess": True},
        ("--task.extract.guess", "--task.extract.lone=false"): {"lone": False, "guess": True},
        ("--task.extract={bare: true}",): {"bare": True},
    }
    for words, extract in added.items():
        assert read(*base, *words).task.extract == extract


@pytest.mark.parametrize("word", ["=maybe", "=1", "=null"])
def test_an_option_of_an_extractor_is_true_or_false(word: str) -> None:
    with pytest.raises(UserError, match=r"task\.extract\.lone must be true or false"):
        read("--task.task_name", "mmlu_pro", f"--task.extract.lone{word}")


@pytest.mark.parametrize("typed", ["--out", "-o", "--output-path"])
def test_hints_name_options_as_they_were_typed(typed: str) -> None:
    words = ["demo", "afrixnli", typed, "runs/x"]
    assert as_typed("give another --run_dir, or --run-dir", words, RunCommand) == f"give another {typed}, or {typed}"


@pytest.mark.parametrize(
    "words",
    [
        ("demo", "irokobench", "--data", "samples", "--shots", "2", "--out", "~"),
        ("gpt_4o", "afrixnli,sib200", "--languages", "hausa", "--model.backend_args.a", "'5'", "--until", "2"),
        ("demo", "tofu", "--reference", "retain=runs/x", "--task.options.forget_split", "forget05", "--chat"),
    ],
)
def test_printed_settings_are_read_back(words: tuple[str, ...], cli: Cli, tmp_path: Path) -> None:
    done = cli("run", *words, "--print-config")
    assert done.code == 0, done.err
    path = tmp_path / "settings.yaml"
    path.write_text(done.out, encoding="utf-8")
    whole = read_config(list(words), command="run", needs_model=True, kind=RunCommand)
    assert read("--config", str(path)) == whole
    assert read("--config", str(path), "--limit", "3", "--sample", "null", "--until", "null").eval.limit == 3


def test_the_name_of_a_configuration_is_no_file_of_settings() -> None:
    options, _ = read_given(RunCommand, ["demo", "hub:a/b", "--kind", "question", "--config", "hau"], "run")
    assert options.new.config == "hau"
    with pytest.raises(UserError, match=r"mine\.yaml"):
        read("--config", "mine.yaml")


BAD_FILES = {
    "empty file": ("model", "", "is empty", "configs/"),
    "a list": ("model", "- a\n", "not a map", "configs/"),
    "broken YAML": ("model", "dtype: [a\nb: c\n", "line 3", "correct that line"),
    "unknown key": ("model", "model_nam: x\n", "unknown key 'model_nam'", "model_name"),
    "unknown eval key": ("model", "eval: {num_shots: 1}\n", "line 2: unknown key 'eval.num_shots'", "num_fewshot"),
    "wrong type": ("model", "parallelize: 3\n", "line 2: parallelize must be true or", "true or"),
    "no value in eval": ("model", "eval: {random_seed: }\n", "random_seed must be a whole number, not null", "leave"),
    "number for text": ("model", "revision: 5\n", "revision must be text, not 5", "quotes"),
    "language names": ("model", "languages_supported: [Yorba]\n", "languages_supported has 'Yorba'", "yor"),
    "a model in a model file": ("model", "model: {chat_template: true}\n", "unknown key 'model'", ""),
    "another key": ("task", "model: {chat_template: true, dtype: auto}\n", "unknown key 'model.dtype'", "chat_"),
    "a misspelt key": ("task", "model: {chat_templat: true}", "unknown key 'model.chat_templat'", "did you mean"),
    "no map": ("task", "model: true", "model must be a map, not true", "write a map"),
    "nothing": ("task", "eval:", "eval must be a map, not null", "leave the key out"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_refuses_file(name: str, tmp_path: Path) -> None:
    section, text, message, hint = BAD_FILES[name]
    path, other = tmp_path / "bad.yaml", {"model": "task", "task": "model"}[section]
    start = "" if name in ("empty file", "a list", "unknown key") else f"{section}_name: afrixnli\n"
    path.write_text(f"{start}{text}")
    error = refused(f"--{other}.{other}_name", "demo", f"--{section}-config-yaml", str(path))
    assert name == "language names" or str(path) in error.message
    assert message in error.message and hint in error.hint
