"""list tells what there is."""

from tests.conftest import Cli

from afrieval.tasks.declaration.spec import load_task, task_names


def test_two_lines_for_each_task(cli: Cli) -> None:
    out = cli("list").out
    lines = out.splitlines()
    assert max(map(len, lines)) <= 80
    for name in task_names():
        (at,) = [i for i, line in enumerate(lines) if line.split()[:1] == [name]]
        spec = load_task(name)
        assert spec.kind in lines[at] and lines[at + 1].startswith(f"  {spec.scoring.metrics[0].name}; ")
    assert lines.index("") == 2 * len(task_names()) + 2, "two lines each, two of heads, then the explanation"
    (row,) = [line.split() for line in lines if line.startswith("afrimmlu ")]
    assert row == ["afrimmlu", "multiple_choice", "16+2", "1-5", "17", "500"]
    assert "  acc; Apache-2.0" in lines


def test_all_that_is_known_of_a_task(cli: Cli) -> None:
    out = " ".join(cli("list", "afrixnli").out.split())
    assert "data masakhane/afrixnli, test split" in out and "licence Apache-2.0 on the hub; the English source" in out
    assert "variants direct; translate (masakhane/afrixnli-translate-test)" in out
    assert "rows 600 in each language" in out and "kind multiple_choice; acc, " in out
    assert "18 languages amh eng" in out and "prompts English 1, 2, 3, 4, 5" in out
    assert "native 1, 2, 3, 6, machine-written, not reviewed yet: amh ewe fra" in out
    out = " ".join(cli("list", "meta_gpqa").out.split())
    assert "data meta-llama/MODEL-evals, latest split" in out and "1 language eng" in out
    assert "except the question itself" in cli("list", "belebele").out
    out = " ".join(cli("list", "nollysenti").out.split())
    assert "baselines majority (%): 50.0 in each length (%): eng 67.6 hau 71.2" in out


def test_every_task_fits_80_columns(cli: Cli) -> None:
    out = cli("list", *task_names()).out
    assert all(f"\n{name} (version " in f"\n{out}" for name in task_names())
    assert max(map(len, out.splitlines())) <= 80


def test_an_unknown_task(cli: Cli) -> None:
    refused = cli("list", "afrimlu")
    assert refused.code == 2 and "did you mean afrimmlu?" in refused.err
    assert cli("list", "--all").code == 2
