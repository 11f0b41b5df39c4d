"""list tells what there is."""

from tests.conftest import Cli

from afrieval.tasks.spec import task_names


def test_list(cli: Cli) -> None:
    out = cli("list").out
    assert all(f"\n{name} (version " in f"\n{out}" for name in task_names())
    assert max(map(len, out.splitlines())) <= 80


def test_what_is_told_of_a_task(cli: Cli) -> None:
    out = " ".join(cli("list", "afrixnli").out.split())
    assert "data masakhane/afrixnli, test split" in out and "licence Apache-2.0 on the hub; the English source" in out
    assert "variants direct; translate (masakhane/afrixnli-translate-test)" in out
    assert "18 languages amh eng" in out and "prompts English 1, 2, 3, 4, 5" in out
    assert "native 1, 2, 3, 6, machine-written, not reviewed yet: amh ewe fra" in out
    out = " ".join(cli("list", "meta_gpqa").out.split())
    assert "data meta-llama/MODEL-evals, latest split" in out and "1 language eng" in out
    assert "except the question itself" in cli("list", "belebele").out


def test_an_unknown_task(cli: Cli) -> None:
    refused = cli("list", "afrimlu")
    assert refused.code == 2 and "did you mean afrimmlu?" in refused.err
    assert cli("list", "--all").code == 2
