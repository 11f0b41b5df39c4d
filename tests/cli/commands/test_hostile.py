"""Escape sequences, directions, markup: in data, samples, names, tables, flags, files; all are shown, none obeyed."""

import csv
import json
import shutil
from pathlib import Path

import pytest
import yaml
from tests.conftest import ROOT, Cli, Refusal
from tests.hostile import HOSTILE, MARKUP, SEQUENCE, check

from afrieval._util import templates
from afrieval.cli.main import main
from afrieval.models.demo import build_demo

NAME = HOSTILE.replace("/", "|").replace("\x00", "") + "\nx"  # what a file may be called
HOUSE = "masakhane/afrimmlu"
COLUMNS = ["question", "choices", "answer", "subject"]
SUBJECT = f"subject {HOSTILE}"


def write_data(root: Path) -> Path:
    """Returns a mirror whose rows are hostile in every column."""
    for language in ("yor", "hau"):
        for split in ("test", "dev", "val"):
            path = root / HOUSE / "data" / language / f"{split}.tsv"
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("w", encoding="utf-8", newline="") as file:
                writer = csv.writer(file, delimiter="\t")
                writer.writerow(COLUMNS)
                for i in range(6):
                    choices = [f"{letter}{i} {HOSTILE}" for letter in "abcd"]
                    writer.writerow([f"{split} {i} {HOSTILE} 2+2?", str(choices), "ABCD"[i % 4], f"{SUBJECT} {i % 2}"])
    return root


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_data(tmp_path_factory.mktemp("data") / NAME)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model") / NAME
    build_demo(folder)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, data: Path, model: Path) -> Path:
    """A run of hostile data by a model with a hostile name, in such a folder."""
    run = tmp_path_factory.mktemp("run") / NAME
    assert main(["run", *words_of_run(data, model, run)]) == 0
    return run


def words_of_run(data: Path, model: Path, run: Path, *more: str) -> list[str]:
    task = ["--task.task_name", "afrimmlu", "--task.languages", "yor,hau", "--task.prompts", "1,2"]
    return [*task, "--model.model_name", str(model), "--data.source", str(data), "--run_dir", str(run), *more]


def shown(text: str) -> str:
    """Returns a text as it should stand on the screen, by Python's own escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


@pytest.mark.parametrize("form", [("--eval.num_fewshot", "2"), ("--task.answer_form", "generate")])
def test_prompts_of_hostile_data(cli: Cli, data: Path, model: Path, tmp_path: Path, form: tuple[str, ...]) -> None:
    run = tmp_path / NAME
    words = words_of_run(data, model, run, *form, "--task.languages", "yor", "--task.prompts", "1")
    preview = cli("preview", *words)
    written = cli("run", *words, "--eval.write-out", "--eval.limit", 2, "--eval.max_gen_toks", 4)
    assert preview.code == 0 and written.code == 0, written.err
    check(preview.out, preview.err, written.out, written.err)
    line = f"test 0 {shown(HOSTILE)} 2+2?"
    assert line in preview.out and line in written.out and MARKUP in written.out
    assert f"Run folder: {shown(str(run))}\n" in written.out


def test_stored_samples(cli: Cli, folder: Path) -> None:
    for words in (("samples", folder, "--language", "yor"), ("compare", folder, "--contrast", "prompt")):
        done = cli(*words).ok()
        check(done.out, done.err)
    out = cli("compare", folder, "--by", "subject").out
    check(out)
    assert r"\x1b[38" in "".join(out.split()) and max(map(len, out.splitlines())) <= 80


def test_stored_samples_that_were_changed(cli: Cli, folder: Path, tmp_path: Path) -> None:
    """What a run writes is checked elsewhere; a file can hold anything, lone halves of surrogates too."""
    run = Path(shutil.copytree(folder, tmp_path / "run"))
    for path in run.glob("samples_*.jsonl"):
        samples = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]
        for sample in samples:
            sample["doc"] = sample["target"] = f"{HOSTILE}\r\n\u202e"
            sample["arguments"] = [[f"{HOSTILE}\r{text}", f" {HOSTILE}{rest}"] for text, rest in sample["arguments"]]
        path.write_text("\n".join(map(json.dumps, samples)) + "\n", encoding="utf-8")
    for words in (("samples", run, "--language", "yor"), ("compare", run, "--contrast", "prompt")):
        done = cli(*words)
        check(done.out, done.err)
        assert done.code == 0 or done.err.count("\n") == 2


def test_models_with_hostile_names_side_by_side(cli: Cli, folder: Path, tmp_path: Path) -> None:
    other = Path(shutil.copytree(folder, tmp_path / "other"))
    record = yaml.safe_load((other / "run.yaml").read_text(encoding="utf-8"))
    record["identity"]["model"]["fingerprint"] = "another"
    (other / "run.yaml").write_text(yaml.safe_dump(record), encoding="utf-8")
    done = cli("compare", folder, other)
    assert done.code == 0 and "against" in done.out, done.err
    check(done.out, done.err)


def test_tables_of_others(cli: Cli, tmp_path: Path) -> None:
    table = tmp_path / f"{NAME}-0shot.csv"
    with table.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["model", "prompt", "eng", "yor"], [HOSTILE, f"p{HOSTILE}", 50, 40]])
    for name in ("", "json", "csv", "markdown", "latex"):
        done = cli("compare", table, *([f"--{name}", "-"] if name else [])).ok()
        check(done.out, done.err)
    bad = tmp_path / f"{NAME}.csv"
    bad.write_text(f"model,prompt,eng\n{HOSTILE},p,{SEQUENCE}\n", encoding="utf-8")
    refused = cli("compare", bad)
    assert refused.code == 2 and refused.err.count("\n") == 2
    check(refused.err)


YOR = ("--task.task_name", "afrixnli", "--task.languages", "yor", "--data.source", "samples")
WORDS: list[tuple[str, ...]] = [
    (HOSTILE,),
    ("run", HOSTILE),
    ("run", f"--model.{HOSTILE}\n=1"),
    ("run", "--model-config-yaml", NAME),
    ("run", "--eval.limit", f"{HOSTILE}\nx", "--model.model_name", "demo"),
    ("run", "--model.model_name", f"./{NAME}", *YOR),
    ("run", "--model.model_name", "demo", "--task.task_name", "afrixnli", "--data.source", NAME),
    ("run", "--model.model_name", "demo", "--task.task_name", "afrixnli", "--task.languages", f"yor,{HOSTILE}"),
    ("preview", "--task.folder", NAME, "--task.task_name", "x"),
    ("list", HOSTILE),
    ("compare", NAME),
    ("compare", f"{NAME}.csv"),
    ("samples", NAME),
    ("llama", NAME),
    ("prefetch", "--data.source", NAME, "--task.task_name", "afrixnli"),
]


@pytest.mark.parametrize("words", WORDS, ids=lambda words: words[0] if words[0] in ("run", "compare") else None)
def test_what_an_error_repeats(cli: Cli, words: tuple[str, ...]) -> None:
    done = cli(*words)
    assert done.code == 2 and done.err.count("\n") == 2, done.err
    assert done.err.startswith("error: ") and "\nhint: " in done.err
    check(done.out, done.err)


@pytest.mark.parametrize(
    "content",
    [
        {"model_name": HOSTILE, HOSTILE: 1},
        {"model_name": "demo", "dtype": "\ud800\n"},
        {"model_name": "demo", "languages_supported": ["yor", HOSTILE]},
        {"model_name": f"./{HOSTILE}"},
        [HOSTILE],
        {"model_name": "./a\0b"},
        {"model_name": "demo", "backend_args": {"x": ["\0"]}},
        {"model_name": "m\ud800"},
    ],
)
def test_what_a_file_says(cli: Cli, tmp_path: Path, content: object) -> None:
    path = tmp_path / NAME
    path.write_text(json.dumps(content), encoding="utf-8")  # JSON is YAML
    task = ("--task.task_name", "afrixnli", "--data.source", "samples", "--task.languages", "yor")
    done = cli("run", "--model-config-yaml", path, *task, "--run_dir", tmp_path / "run")
    assert done.code == 2 and done.err.count("\n") == 2, done.err
    check(done.out, done.err)


def test_help_shows_a_hostile_environment(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("AFRIEVAL_DATA", NAME)
    assert main(["run", "--help-all"]) == 0
    out = capsys.readouterr().out
    check(out)
    assert r"\x1b" in out


ENDLESS = "{% for i in range(10**5) %}{% for j in range(10**5) %}{% endfor %}{% endfor %}"


@pytest.fixture
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    for function in (templates.fill, templates.names):
        monkeypatch.setattr(function, "__defaults__", (0.4,))


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "tasks/afrixnli", tmp_path / "tasks/afrixnli")
    return tmp_path / "tasks"


def add(tasks: Path, code: str) -> Path:
    """Writes code to the end of prompt 2."""
    path: Path = tasks / "afrixnli/prompts/eng.yaml"
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    content["prompts"][2]["template"] += code
    path.write_text(yaml.safe_dump(content, allow_unicode=True), encoding="utf-8")
    return path


ENGLISH_NLI = ("--task.task_name", "afrixnli", "--task.languages", "eng", "--data.source", "samples", "--task.folder")


@pytest.mark.usefixtures("_short")
def test_a_row_that_fails_is_named_before_the_model_is_loaded(
    refusal: Refusal, tasks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = add(tasks, "{% if 'four children' in hypothesis %}{{ 1 / 0 }}{% endif %}")

    monkeypatch.setattr("afrieval.run.evaluate.load_model", lambda *args: pytest.fail("a model was loaded"))
    for command in (("preview",), ("run", "--model.model_name", "demo")):
        assert f"{path}, prompt 2, with row 3 of English (eng): " in refusal(*command, *ENGLISH_NLI, tasks)


@pytest.mark.usefixtures("_short")
@pytest.mark.parametrize(
    ("template", "named"),
    [
        ("a_{{ 10**(10**10) }}", "{{ 10**(10**10) }}"),
        ("{{ language.__class__ }}", "{{ language.__class__ }}"),
        ("{{language}}" + ENDLESS, "{% for i in range(10**5) %}"),
        ("{{language}}" + "{{" * 50_000, "{{"),
    ],
)
def test_a_task_template_executes_nothing(cli: Cli, template: str, named: str) -> None:
    done = cli("preview", "--task.task_template", template, "--task.languages", "yor,hau")
    assert done.code == 2 and named in done.err and len(done.err) < 500
    assert "supports only {{language}}, not" in done.err and "{{language}}_prompt" in done.err
