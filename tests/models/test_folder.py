"""Damaged model folders: each is refused with one line that names it and one that helps; nothing else is raised."""

import json
import os
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Cli

from afrieval._util.errors import UserError
from afrieval.config.checks import check
from afrieval.config.settings import EvalConfig, ModelConfig, RunConfig, TaskConfig
from afrieval.models.demo import build_demo
from afrieval.models.registry import load_model

Damage = Callable[[Path], None]
WRONG: list[Any] = [None, [], {}, "text", "", -1, 0, 1, 10**12, 1.5, float("nan"), True, ["a", None], {"a": {"b": []}}]
JSON_FILES = ("config.json", "tokenizer.json", "tokenizer_config.json", "generation_config.json")


def changed(file: str, **values: Any) -> Damage:
    """Returns what sets keys of a JSON file."""

    def damage(folder: Path) -> None:
        content = json.loads((folder / file).read_text())
        (folder / file).write_text(json.dumps(content | values))

    return damage


def written(file: str, content: str | bytes) -> Damage:
    """Returns what writes a whole file."""

    def damage(folder: Path) -> None:
        (folder / file).write_bytes(content if isinstance(content, bytes) else content.encode())

    return damage


def cut(file: str, end: int) -> Damage:
    """Returns what leaves out the end of a file."""
    return lambda folder: written(file, (folder / file).read_bytes()[:end])(folder)


def cast(dtype: str) -> Damage:
    """Returns what stores all weights in another type."""

    def damage(folder: Path) -> None:
        from safetensors.numpy import load_file, save_file

        weights = load_file(folder / "model.safetensors")
        metadata = {"format": "pt"}
        save_file({name: w.astype(dtype) for name, w in weights.items()}, folder / "model.safetensors", metadata)

    return damage


def mutated(file: str, draw: random.Random) -> Damage:
    """Returns what puts a value of a wrong kind or size somewhere into a JSON file, or takes something out."""

    def damage(folder: Path) -> None:
        content = json.loads((folder / file).read_text())
        places = list(_places(content))
        # near the top, where the settings are; a vocabulary has hundreds of entries
        depth = draw.randint(1, max(len(path) for path in places))
        path = draw.choice([p for p in places if len(p) == depth] or places)
        inside = content
        for step in path[:-1]:
            inside = inside[step]
        if draw.random() < 0.1:
            del inside[path[-1]]
        else:
            inside[path[-1]] = draw.choice(WRONG)
        (folder / file).write_text(json.dumps(content))

    return damage


def _places(content: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, value in items:
        yield (*path, key)
        yield from _places(value, (*path, key))


@pytest.fixture(scope="session")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sound") / "model"
    build_demo(folder)
    return folder


def load(name: object, **options: Any) -> Any:
    return load_model(ModelConfig(model_name=str(name), **{"engine": "plain"} | options), EvalConfig())


def refused(name: object, **options: Any) -> UserError:
    with pytest.raises(UserError) as caught:
        load(name, **options)
    error = caught.value
    assert error.message and error.hint and "\n" not in error.message + error.hint
    assert len(error.message) < 600
    return error


def copy(sound: Path, target: Path, damage: Damage) -> Path:
    shutil.copytree(sound, target)
    damage(target)
    return target


def unlinked(file: str) -> Damage:
    return lambda folder: (folder / file).unlink()


CONFIG = "config.json"
DAMAGED: dict[str, tuple[Damage, str]] = {
    "hidden size": (changed(CONFIG, hidden_size=128), r"(259, 64) in the checkpoint, but (259, 128) in config.json"),
    "huge hidden size": (changed(CONFIG, hidden_size=2**40), "model.embed_tokens.weight"),
    "smaller layers": (changed(CONFIG, intermediate_size=64), "mlp.gate_proj.weight"),
    "fewer tokens": (changed(CONFIG, vocab_size=100), "(100, 64) in config.json"),
    "more tokens": (changed(CONFIG, vocab_size=10**12), "model.embed_tokens.weight"),
    "no layers": (changed(CONFIG, num_hidden_layers=0), "num_hidden_layers must be at least 1, not 0"),
    "fewer layers": (changed(CONFIG, num_hidden_layers=1), "omits 9 weights of the layers"),
    "more layers": (changed(CONFIG, num_hidden_layers=3), "lacks 9 weights"),
    "a billion layers": (changed(CONFIG, num_hidden_layers=10**9), "has only 21 weights"),
    "no heads": (changed(CONFIG, num_attention_heads=0), "ZeroDivisionError"),
    "heads that do not fit": (changed(CONFIG, num_attention_heads=3), "attention heads"),
    "text for a number": (changed(CONFIG, num_hidden_layers="two"), "num_hidden_layers"),
    "unknown function": (changed(CONFIG, hidden_act="nope"), "nope"),
    "unknown dtype": (changed(CONFIG, dtype="nope"), "nope"),
    "no room": (changed(CONFIG, max_position_embeddings=0), "at least 1, not 0"),
    "padding out of range": (changed(CONFIG, pad_token_id=99999), "Padding_idx"),
    "unknown architecture": (changed(CONFIG, model_type="nope"), "nope"),
    "no architecture": (written(CONFIG, "{}"), "has no known model_type"),
    "an encoder": (changed(CONFIG, model_type="bert"), "lacks 44 weights"),
    "a model for images": (changed(CONFIG, model_type="vit"), "is not a supported language model"),
    "tied embeddings": (changed(CONFIG, tie_word_embeddings=True), "tie_word_embeddings"),
    "config list": (written(CONFIG, "[]"), "config.json must be a JSON object"),
    "config nested without end": (written(CONFIG, "[" * 100_000), "config.json is not valid JSON"),
    "no config": (unlinked(CONFIG), "no config.json"),
    "tokenizer list": (written("tokenizer.json", "[]"), "tokenizer.json must be a JSON object"),
    "tokenizer empty": (written("tokenizer.json", "{}"), "cannot be loaded"),
    "no tokenizer": (unlinked("tokenizer.json"), "cannot be loaded"),
    "tokenizer settings list": (written("tokenizer_config.json", "[]"), "tokenizer_config.json must be"),
    "tokenizer class": (changed("tokenizer_config.json", tokenizer_class=5), "cannot be loaded"),
    "generation cut short": (written("generation_config.json", "{"), "generation_config.json is not valid"),
    "no weights": (unlinked("model.safetensors"), "has no weights"),
    "weights that are whole numbers": (cast("int32"), "has integer weights (I32), but config.json has no quantization"),
    "empty weights": (written("model.safetensors", b""), "model.safetensors are damaged"),
    "header cut short": (cut("model.safetensors", 1000), "model.safetensors are damaged"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_folder(sound: Path, tmp_path: Path, name: str) -> None:
    damage, words = DAMAGED[name]
    error = refused(copy(sound, tmp_path / "damaged", damage))
    assert words in error.message and str(tmp_path / "damaged") in error.message


def test_what_is_sound_loads(sound: Path, tmp_path: Path) -> None:
    load(sound)
    load(copy(sound, tmp_path / "kept", changed(CONFIG, architectures=["Other"])))
    load(copy(sound, tmp_path / "unused", written("chat_template.jinja", "{% for x in %}")))


def in_parts(index: Any) -> Damage:
    def damage(folder: Path) -> None:
        (folder / "model.safetensors").rename(folder / "part.safetensors")
        (folder / "model.safetensors.index.json").write_text(json.dumps(index))

    return damage


@pytest.mark.parametrize(
    ("index", "words"),
    [
        ([], "must be a JSON object"), ({"weight_map": {}}, "must have a weight_map"),
        ({"weight_map": {"a": 1}}, "must have a weight_map"), ({"weight_map": [1]}, "must have a weight_map"),
        ({"weight_map": {"a": "other.safetensors"}}, "other.safetensors, named in"),
    ],
)  # fmt: skip
def test_an_index_of_weights(sound: Path, tmp_path: Path, index: Any, words: str) -> None:
    assert words in refused(copy(sound, tmp_path / "damaged", in_parts(index))).message


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("\n{% end %}", "line 2"),
        ("", "has no chat template"),
    ],
)
def test_a_chat_template(sound: Path, tmp_path: Path, template: str, words: str) -> None:
    model = copy(sound, tmp_path / "damaged", written("chat_template.jinja", template))
    error = refused(model, chat_template=True)
    assert words in error.message and "model.chat_template" in error.hint


def test_names_that_no_model_has(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "file.gguf").write_bytes(b"GGUF")
    assert "Too many levels of symbolic links" in refused(tmp_path / "loop").message
    for name in (tmp_path / "none", "a/b/c", "a b", "-a", ".", "..", "/"):
        assert "there is no model in" in refused(name).message
    (tmp_path / "file.bin").write_bytes(b"GGUF")
    assert "is a file" in refused(tmp_path / "file.bin").message
    error = refused(tmp_path / "file.gguf")
    assert "file.gguf cannot be loaded" in error.message and "check its GGUF file" in error.hint
    error = refused(tmp_path)
    assert "no config.json" in error.message and f"give the GGUF file: {tmp_path}/file.gguf" in error.hint
    assert "does not exist" in refused(tmp_path, backend_args={"gguf_file": "other.gguf"}).message


@pytest.mark.parametrize(
    "options",
    [
        {"model_name": name} for name in ("", "  ", "a\0b", "x" * 5000, "~nobody-here/x")
    ] + [{"revision": ""}, {"thinking_end": ""}, {"thinking_end": " \n"}, {"device": ""}],
)  # fmt: skip
def test_texts_that_name_nothing(options: dict[str, Any]) -> None:
    config = RunConfig(model=ModelConfig(**{"model_name": "demo"} | options), task=TaskConfig(task_name="afrimmlu"))
    with pytest.raises(UserError) as caught:
        check(config, needs_model=True)
    assert len(caught.value.message) < 300 and caught.value.hint


def test_an_adapter_is_not_a_model(sound: Path, tmp_path: Path) -> None:
    def damage(folder: Path) -> None:
        (folder / CONFIG).rename(folder / "adapter_config.json")

    error = refused(copy(sound, tmp_path / "damaged", damage))
    assert "only a PEFT adapter" in error.message and "model.backend_args.peft" in error.hint


def test_an_adapter_that_is_not_there(sound: Path, tmp_path: Path) -> None:
    assert "no PEFT adapter" in refused(sound, backend_args={"peft": str(tmp_path / "none")}).message
    (tmp_path / "adapter").mkdir()
    assert "no adapter_config.json" in refused(sound, backend_args={"peft": str(tmp_path / "adapter")}).message
    (tmp_path / "adapter/adapter_config.json").write_text("[]")
    assert "must be a JSON object" in refused(sound, backend_args={"peft": str(tmp_path / "adapter")}).message
    (tmp_path / "adapter/adapter_config.json").write_text("{}")
    assert "has no weights" in refused(sound, backend_args={"peft": str(tmp_path / "adapter")}).message


def test_an_adapter_without_its_package(sound: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("afrieval.models.folder.find_spec", lambda name: None)
    error = refused(sound, backend_args={"peft": "org/adapter"})
    assert "package peft" in error.message and "pip install peft" in error.hint


def test_weights_to_add_that_are_not_there(sound: Path, tmp_path: Path) -> None:
    assert "there is no model in" in refused(sound, backend_args={"delta": str(tmp_path / "none")}).message
    error = refused(sound, backend_args={"tokenizer": str(tmp_path / "none")})
    assert f"{tmp_path}/none" in error.message


def test_the_command_line(run_demo: Cli, sound: Path, tmp_path: Path) -> None:
    broken = copy(sound, tmp_path / "damaged", changed(CONFIG, num_hidden_layers=1))
    done = run_demo("--model.model_name", broken, "--task.languages", "yor")
    assert done.code == 2 and [line.split()[0] for line in done.err.splitlines()][-2:] == ["error:", "hint:"], done.err


@pytest.mark.parametrize("file", JSON_FILES)
def test_a_wrong_value_anywhere_is_refused_or_harmless(sound: Path, tmp_path: Path, file: str) -> None:
    """AFRIEVAL_FUZZ is the number of mutants per file, to try more of them than a test has time for."""
    for seed in range(int(os.environ.get("AFRIEVAL_FUZZ", "3"))):
        folder = copy(sound, tmp_path / str(seed), mutated(file, random.Random(f"{file} {seed}")))
        try:
            load(folder, chat_template=seed % 2 == 1)
        except UserError as e:
            assert "\n" not in e.message + e.hint and e.hint, f"mutant {seed}"
        except BaseException as e:
            raise AssertionError(f"mutant {seed} raises {e!r}") from e
        shutil.rmtree(folder)
