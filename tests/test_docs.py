"""What the pages say holds: code runs, commands are known, files that are named exist."""

import importlib
import re
import shlex
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from afrieval.cli.registry import COMMANDS
from afrieval.config.options import RunOptions, options_of
from afrieval.config.settings import RunConfig
from afrieval.config.short_form import full_name
from afrieval.languages import LANGUAGES
from afrieval.models.demo import demo_folder
from afrieval.results.run_files import sample_files, sample_path
from afrieval.results.samples import read_samples
from afrieval.tasks.declaration.spec import load_task, task_names
from tests.conftest import ROOT, Cli, put

DOCS = sorted((ROOT / "docs").glob("*.md"))
TOP = [ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "SECURITY", "CODE_OF_CONDUCT")]
PAGES = [*TOP, *DOCS, *sorted((ROOT / "docs/tables").glob("*.md"))]


def test_the_slow_example_gives_the_stored_likelihoods(run_demo: Cli, tmp_path: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs/scoring.md").read_text(), re.S)
    run_demo("--task.languages", "yor,amh", "--task.prompts", "1", "--eval.limit", 2, "--eval.num_fewshot", 1)
    for language in ("yor", "amh"):
        sample = read_samples(sample_path(tmp_path / "run", f"afrimmlu_{language}_eng_1"))[1]
        context, choices = sample["arguments"][0][0], [continuation for _, continuation in sample["arguments"]]
        names = {"folder": str(demo_folder()), "context": context, "choices": choices}
        exec(code, names)
        assert names["loglikelihoods"] == pytest.approx([r[0][0] for r in sample["resps"]], abs=1e-4)


def test_the_examples_in_python_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names = {"folder": str(demo_folder())}
    examples = re.findall(r"```python\n(.*?)```", (ROOT / "docs/python.md").read_text(encoding="utf-8"), re.S)
    for code in examples:
        exec(code.replace('"limit": 2', '"limit": 2, "max_gen_toks": 4'), names)  # whole answers take long
    shown = capsys.readouterr().out
    assert len(examples) == 8 and "native prompts against English prompts" in shown
    assert shown.count("forget quality") == 2  # after each epoch
    assert len(list(Path("runs/afrixnli").glob("demo-2@*/*"))) == 2 and "demo-2@" in shown


def commands(page: Path) -> list[list[str]]:
    """Returns the words of each indented or fenced command line of ours, continued lines joined."""
    text = page.read_text().replace("\\\n", " ")
    lines = re.findall(r"^(?: {4,}|\t)((?:python src/evaluate\.py|afrieval) .*)$", text, re.M)
    return [shlex.split(line, comments=True) for line in lines]


def own_options(command: str) -> set[str]:
    return {option.name for option in options_of(COMMANDS[command].kind)}


def test_commands_use_options_that_exist() -> None:
    settings = {option.name for kind in (RunConfig, RunOptions) for option in options_of(kind)} | {"help", "debug"}
    known = {command: settings | own_options(command) for command in COMMANDS}
    for page, words in [(path.name, of) for path in PAGES for of in commands(path)]:
        command = words[1] if words[0] == "afrieval" else "run"
        assert command in {*COMMANDS, "COMMAND", "..."}, (page, words)
        options = known.get(command, settings)
        for word in [word for word in words if word.startswith("--")]:
            name = word[2:].split("=")[0].replace("-", "_")
            of_a_map = name.startswith(("model.backend_args.", "task.extract.", "task.options."))
            assert of_a_map or full_name(name, options) in options, f"{page}: {word}"


def test_links_named_files_and_headings_exist() -> None:
    texts = {page.resolve(): page.read_text(encoding="utf-8") for page in PAGES}
    for page, text in texts.items():
        for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
            assert link.startswith("https://") or (page.parent / link).exists(), f"{page.name}: {link}"
        for path in re.findall(r"\b((?:configs|tasks|tests|docs|src)/[\w./-]+\.(?:yaml|py|md|jsonl))", text):
            assert (ROOT / path).exists(), f"{page.name}: {path}"
        for name, anchor in re.findall(r"\]\(([\w./-]*)#([^)]+)\)", text):
            headings = re.findall(r"^#+ (.+)$", (page.parent / name).read_text() if name else text, re.M)
            slugs = [re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings]
            assert anchor in slugs, f"{page.name}: {name}#{anchor}"


def test_imports_exist() -> None:
    for page in PAGES:
        for module, names in re.findall(r"^from (afrieval[\w.]*) import (.+)$", page.read_text(), re.M):
            missing = [name for name in names.split(", ") if not hasattr(importlib.import_module(module), name)]
            assert not missing, (page.name, module, missing)


def test_the_readme_leads_with_the_two_commands() -> None:
    text = (ROOT / "README.md").read_text()
    first = [text.index(command) for command in ("make demo", "make test", "python src/evaluate.py")]
    assert first == sorted(first) and len(text[: first[1]].splitlines()) < 15


def test_the_command_of_the_design_runs(run_demo: Cli) -> None:
    """The README's command, with the demo model and the sample rows in place of gated weights and the hub."""
    done = run_demo(
        "--model-config-yaml", "configs/models/demo.yaml", "--task-config-yaml", "configs/tasks/afrimmlu-direct.yaml",
        "--eval.num-fewshot", 0, "--eval.limit", 1, "--eval.write-out",
    )  # fmt: skip
    assert done.code == 0 and done.out.count("picked") == 30


def test_the_commands_for_samples_run_all_of_metas_tasks(cli: Cli, tmp_path: Path) -> None:
    ran = set()
    asked = [words for words in commands(ROOT / "docs/llama.md") if "samples" in words]
    for number, words in enumerate(asked):
        folder = tmp_path / str(number)
        cli(*words[1:], "--run_dir", folder, "--eval.limit", 1, "--eval.max_gen_toks", 8).ok()
        ran |= {path.name.removeprefix("samples_").removesuffix("_eng_eng_1.jsonl") for path in sample_files(folder)}
    assert ran == {name for name in task_names() if load_task(name).evals} and len(ran) == 10


def test_the_table_of_metas_tasks_is_what_is_declared() -> None:
    """The recipe's page gives a task to the wrong models (its defect 3)."""
    text = (ROOT / "docs/llama.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(meta_\w+)` \| ([\d.]+) (\w+) \|.*\| (\d*) ?\| (\d+) \|$", text, re.M)
    specs = {name: load_task(name) for name in task_names() if load_task(name).evals}
    assert {name for name, *_ in rows} == set(specs) and len(rows) == len(specs) == 10
    for name, family, kind, longest, n in rows:
        spec = specs[name]
        assert spec.evals and (spec.evals.family, spec.evals.instruct) == (family, kind == "instruct")
        assert spec.data.rows == int(n)
        assert (str(spec.generation.max_tokens) if spec.generation else "") == longest


def test_the_pages_name_every_task() -> None:
    table = (ROOT / "docs/tasks.md").read_text(encoding="utf-8").partition("\n## ")[0]
    named = re.findall(r"`([\w*]+)`", table)
    assert [name for name in task_names() if not any(fnmatchcase(name, pattern) for pattern in named)] == []
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    specs = [load_task(name) for name in task_names()]
    african = {code[:3] for spec in specs for code in spec.languages if LANGUAGES[code].african}
    spoken = sum(any(LANGUAGES[code[:3]].african for code in spec.languages) for spec in specs)
    assert f"languages: {spoken} tasks" in text and f"{len(specs) - spoken} tasks in English" in text
    assert f"in {len(african)} African languages" in text
    native = [code for path in (ROOT / "docs/native-prompts").glob("*.md") if LANGUAGES[code := path.stem].african]
    assert f"Prompts in {len(native)} African languages" in text


def test_the_readme_links_every_page_and_is_short() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    linked = {name.partition("#")[0] for name in re.findall(r"\]\(docs/([^)]+)\)", text)}
    assert {page.name for page in DOCS} <= linked
    assert len(text.splitlines()) <= 150


def test_the_first_hour_runs(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its commands with the demo model, one after the other, in a folder that is empty at first."""
    page = ROOT / "docs/first-hour.md"
    monkeypatch.chdir(tmp_path)
    for name, text in re.findall(r"^`([\w./-]+)`:\n\n```\w+\n(.*?)```", page.read_text(encoding="utf-8"), re.M | re.S):
        put(Path(name), text)
    for _, command, *words in commands(page):
        if not any(word.startswith(("Qwen/", ".venv/models/")) for word in words):  # which need a network
            done = cli(command, *words)
            assert done.code == 0, (command, words, done.err)
    assert "mood" in Path("report.html").read_text(encoding="utf-8")
