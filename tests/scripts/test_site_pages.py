"""Pages of the site: what generated ones say, where links of copied ones lead, what the navigation has."""

import re
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import ROOT

from afrieval.tasks.declaration.spec import load_task


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The script, whose neighbours it imports by their names."""
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import site_pages

    return site_pages


def test_a_task_and_a_language_have_all_facts(site: Any) -> None:
    specs = [load_task(name) for name in ("afrixnli", "mmlu", "tofu_forget", "meta_gpqa_cot")]
    nli, mmlu, tofu, meta = map(site.site_tasks.task_page, specs)
    assert "| [Lingala](../languages/lin.md) | `lin` | 600 | 450 | 1-3,6\\* | [all](" in nli
    assert "* **Lingala test, all rows.** Texts are in another order" in nli and "CC BY-NC 4.0" in nli
    assert "Question: Given sentence 1, is sentence 2 {{ labels.entailment }}" in nli and "neutral is `Neither`" in nli
    assert "[Amharic](../native-prompts/amh.md#afrixnli) | 1-3,6\\* | machine-written, not reviewed |" in nli
    assert "| Llama-3-8B | 65.0 |" in mmlu and "without reading" not in tofu
    assert "`forget_split`: forget10, forget05, forget01" in tofu and "Llama-3.1-8B-Instruct | 32.8 | micro" in meta
    amharic = site.site_languages.language_page(specs, "amh", ROOT)
    assert "`am` (ISO 639-1)" in amharic and "Ethiopic" in amharic and "review sheet --language amh" in amharic
    assert "[AfriXNLI](../tasks/afrixnli.md) | `afrixnli` | 600 | 1-3,6\\* |" in amharic and "mmlu" not in amharic


def test_links_lead_to_pages_of_the_site_and_other_files_are_copied(site: Any) -> None:
    linked: dict[str, Path] = {}
    text = "[a](../CONTRIBUTING.md) [b](prompts.md#x) [c](../tasks/mmlu/published.yaml) [d](gone.md) [e](https://f.g)"
    found = site.relinked(text, ROOT / "docs/tasks.md", "tasks.md", linked)
    assert found.split() == [
        *("[a](contributing.md)", "[b](prompts.md#x)", "[c](files/tasks/mmlu/published.yaml)"),
        *("[d](gone.md)", "[e](https://f.g)"),
    ]
    assert linked == {"files/tasks/mmlu/published.yaml": ROOT / "tasks/mmlu/published.yaml"}


def test_the_navigation_has_every_page_once(site: Any) -> None:
    """Pages that are in no toctree, or in two, would be an error of Sphinx."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    groups, (head, about) = site.navigation(readme), site.summary(readme)
    pages = [page for of in groups.values() for page in of]
    docs = {path.stem for path in (ROOT / "docs").glob("*.md")}
    assert len(pages) == len({*pages}) and docs | {"contributing", "changelog", "tasks/index"} <= {*pages}
    assert pages[:2] == ["installing", "first-hour"] and [*groups][-1] == "Reference"
    assert (
        head == "# afrieval" and about.startswith("> afrieval evaluates") and about.endswith("lm-evaluation-harness.")
    )


def test_a_command_has_its_options_and_the_api_its_names(site: Any) -> None:
    assert "--model.model_name NAME" in site.site_reference.command_page("run")
    documented = re.findall(r"auto(\w+):: afrieval\.(\w+)", site.site_reference.python_api())
    assert ("function", "evaluate") in documented and ("class", "Run") in documented
