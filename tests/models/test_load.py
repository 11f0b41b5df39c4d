"""Models load, or say in one line why not; a fingerprint tells one from another."""

from pathlib import Path

import pytest
from tests.models.shapes import decoder
from tests.models.test_folder import changed, load, refused
from tests.models.tiny import tiny_llama

from afrieval._util.errors import UserError
from afrieval.config.settings import ModelConfig
from afrieval.models.demo import byte_tokenizer, demo_folder
from afrieval.models.load_errors import explain, loading


def test_the_demo_model_is_built_once_and_is_always_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = load("demo").fingerprint()
    built = (demo_folder() / "config.json").stat().st_mtime_ns
    assert load("demo").fingerprint() == first
    assert (demo_folder() / "config.json").stat().st_mtime_ns == built
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert load("demo").fingerprint() == first


def test_a_fingerprint_tells_weights_apart_and_not_folders(tmp_path: Path) -> None:
    names = {n: load(tiny_llama(tmp_path / n, s)).fingerprint() for n, s in [("a", 0), ("b", 1), ("c", 0)]}
    assert names["a"] == names["c"] != names["b"]


def test_a_fingerprint_tells_settings_apart(tmp_path: Path) -> None:
    folder = tiny_llama(tmp_path / "m")
    before = load(folder).fingerprint()
    changed("config.json", rms_norm_eps=0.5)(folder)
    assert load(folder).fingerprint() != before


def test_a_cpu_gets_a_fixed_batch_and_no_search() -> None:
    assert load("demo").batch_size == 8


def test_a_soft_cap_of_attention_is_computed(tmp_path: Path) -> None:
    """By itself, transformers before 5.21 takes kernels that have none."""
    decoder("gemma2").save_pretrained(tmp_path)
    byte_tokenizer().save_pretrained(tmp_path)
    assert load(tmp_path).model.config._attn_implementation == "eager"


def test_a_hub_name_without_network() -> None:
    error = refused("nobody/no-such-model")
    assert "cannot be reached" in error.message and "folder" in error.hint


def test_code_of_its_own_needs_leave(tmp_path: Path) -> None:
    folder = tiny_llama(tmp_path / "m")
    classes = {"AutoConfig": "code.MyConfig", "AutoModelForCausalLM": "code.MyModel"}
    changed("config.json", auto_map=classes, model_type="mine")(folder)
    (folder / "code.py").write_text("raise SystemExit('this must not run')\n")
    error = refused(folder)
    assert "contains its own Python code" in error.message and "--model.trust_remote_code true" in error.hint


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("GatedRepoError: You are trying to access a gated repo. 401 Client Error", "is denied"),
        ("403 Client Error: Forbidden", "is denied"),
        ("CUDA out of memory. Tried to allocate", "does not fit"),
        ("x is not a local folder and is not a valid model identifier", "the hub has no model"),
        ("RepositoryNotFoundError: 401 Client Error. private or gated repo", "the hub has no model"),
        ("We couldn't connect to the hub", "cannot be reached"),
    ],
)
def test_what_libraries_say_becomes_what_to_do(text: str, message: str) -> None:
    error = explain(ModelConfig(model_name="org/m"), OSError(text))
    assert isinstance(error, UserError) and message in error.message and "org/m" in error.message


QUANTISED = {
    "Loading a GPTQ model needs optimum (`pip install optimum`)": "optimum",
    "4-bit quantization requires bitsandbytes: `pip install -U bitsandbytes>=0.46.1`": "bitsandbytes",
    "No package metadata was found for gptqmodel": "gptqmodel",
}


@pytest.mark.parametrize("text", QUANTISED)
def test_a_package_that_weights_need_is_named(text: str) -> None:
    error = explain(ModelConfig("org/model"), ImportError(text))
    assert (error.message, error.hint) == (
        f"org/model needs the package {QUANTISED[text]}",
        f"run `pip install {QUANTISED[text]}`",
    )


def test_a_checkpoint_without_tokenizer(tmp_path: Path) -> None:
    for path in tiny_llama(tmp_path / "checkpoint-500").glob("*token*"):
        path.unlink()
    hint = refused(tmp_path / "checkpoint-500", device="cpu").hint
    assert "give that of its base model as --model.backend_args.tokenizer" in hint


def test_any_error_while_loading_is_one_line_with_a_cure() -> None:
    class Panic(BaseException):
        """As Rust's libraries raise."""

    def fail(error: BaseException) -> None:
        raise error

    config = ModelConfig(model_name="org/m")
    for error in (KeyError("x"), ZeroDivisionError("a\nb"), RecursionError(), AssertionError(), Panic("p")):
        with pytest.raises(UserError) as caught:
            loading(config, lambda error=error: fail(error))  # type: ignore[misc]
        assert "org/m" in caught.value.message and type(error).__name__ in caught.value.message
        assert "\n" not in caught.value.message and "--debug" in caught.value.hint
    with pytest.raises(KeyboardInterrupt):
        loading(config, lambda: fail(KeyboardInterrupt()))


@pytest.mark.parametrize("device", ["gpu", "cuda:4", "cuda:x", "cuda:", "cpu:1", "mps", "cuda:-1"])
def test_a_device_that_is_not_there(monkeypatch: pytest.MonkeyPatch, device: str) -> None:
    """The harness would take another without a word."""
    monkeypatch.setattr("torch.cuda.device_count", lambda: 4)
    monkeypatch.setattr("torch.backends.mps.is_available", lambda: False)
    assert repr(device) in refused("demo", device=device).message
    assert repr(device) in refused("demo", backend_args={"device": device}).message
