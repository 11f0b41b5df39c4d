"""Templates that fail or never end, by command: exit code 2, and the file and the prompt are named."""

import shutil
from pathlib import Path

import pytest
import yaml
from tests.conftest import ROOT, Cli

from afrieval._util import bounded_templates
from afrieval.results.run_files import sample_files

ENDLESS = "{% for i in range(10**5) %}{% for j in range(10**5) %}{% endfor %}{% endfor %}"


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    for function in (bounded_templates.fill, bounded_templates.names):
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


WORDS = ("--task.task_name", "afrixnli", "--task.languages", "eng", "--data.source", "samples", "--task.folder")


@pytest.mark.parametrize("command", ["preview", "run"])
@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("{{ 1 / 0 }}", "divides by zero"),
        ("{% extends 'x' %}", "extends is not supported"),
        (ENDLESS, "longer than 0.4 s"),
        ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "calls itself endlessly"),
    ],
)
def test_file_and_prompt_are_named(cli: Cli, tasks: Path, tmp_path: Path, command: str, code: str, reason: str) -> None:
    path = add(tasks, code)
    model = ("--model.model_name", "demo", "--run_dir", tmp_path / "run")
    done = cli(command, *WORDS, tasks, *(model if command == "run" else ()))
    assert done.code == 2 and f"error: {path}, prompt 2" in done.err and reason in done.err
    assert len(done.err.splitlines()) == 2 and not (tmp_path / "run").exists()


def test_a_row_that_fails_is_named_before_the_model_is_loaded(
    cli: Cli, tasks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = add(tasks, "{% if 'four children' in hypothesis %}{{ 1 / 0 }}{% endif %}")

    def refuse(*args: object) -> None:
        raise AssertionError("a model was loaded")

    monkeypatch.setattr("afrieval.models.load.load_model", refuse)
    for command in (("preview",), ("run", "--model.model_name", "demo")):
        done = cli(*command, *WORDS, tasks)
        assert done.code == 2 and f"{path}, prompt 2, with row 3 of English (eng): " in done.err


def test_results_survive_a_prompt_that_fails_later(run_demo: Cli, tasks: Path, tmp_path: Path) -> None:
    assert run_demo(*WORDS, tasks, "--task.prompts", "1").code == 0
    before = {path: path.read_bytes() for path in sample_files(tmp_path / "run")}
    add(tasks, "{{ 1 / 0 }}")
    assert run_demo(*WORDS, tasks, "--task.prompts", "1,2").code == 2
    assert before and {path: path.read_bytes() for path in sample_files(tmp_path / "run")} == before


@pytest.mark.parametrize(
    ("template", "named"),
    [
        ("a_{{ 10**(10**10) }}", "{{ 10**(10**10) }}"),
        ("{{ language.__class__ }}", "{{ language.__class__ }}"),
        ("{{ language | upper }}", "{{ language | upper }}"),
        ("{{language}}" + ENDLESS, "{% for i in range(10**5) %}"),
        ("a_{{language}}_{# b #}", "{# b #}"),
        ("a_{{language}}_{{language", "{{language"),
        ("a_{{language}}}}", "}}"),
        ("{{language}}" + "{{" * 50_000, "{{"),
    ],
)
def test_a_task_template_executes_nothing(cli: Cli, template: str, named: str) -> None:
    done = cli("preview", "--task.task_template", template, "--task.languages", "yor,hau")
    assert (
        done.code == 2
        and named in done.err
        and "supports only {{language}}, not" in done.err
        and "{{language}}_prompt" in done.err
    )
    assert len(done.err) < 500
