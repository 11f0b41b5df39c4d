"""Whatever stands in the files of a run folder, commands end well or with one error that names the file."""

import copy
import json
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.conftest import Cli, Refusal, of_demo
from tests.exchange.test_discovery import FAULTS
from tests.report.html.small_runs import small_run
from tests.report.judged_runs import GIVEN, judged_run

from afrieval.results.packed import PACKED
from afrieval.results.packing import pack

NAN, INFINITE = float("nan"), float("inf")
WRONG: list[Any] = [None, "text", "", 5, -1, 1e308, True, [], {}, [None], {"a": None}, [[]], 10**30, NAN, INFINITE]
DELETED = object()
NLI = ("--task.task_name", "afrixnli", "--task.languages", "yor", "--eval.limit", 3, "--task.prompts", "1")
META = ("--task.task_name", "meta_instruct", "--task.evals_dataset", "meta-llama/Llama-3.1-8B-Instruct-evals")
KINDS: dict[str, tuple[Any, ...]] = {
    "choices": (*NLI, "--task.prompt_language", "both", "--eval.num_fewshot", 1),
    "generated": (*META, "--eval.max_gen_toks", 5),
}


@pytest.fixture(scope="module")
def sound(demo_run: Callable[..., Path]) -> dict[str, Path]:
    return {kind: demo_run(*map(str, KINDS[kind])) for kind in KINDS}


def words(kind: str, folder: Path) -> list[object]:
    return ["run", *of_demo(*KINDS[kind], folder=folder)]


def places(content: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield here
    entries = content.items() if isinstance(content, dict) else enumerate(content[:3]) if type(content) is list else ()
    for key, inner in entries:
        yield from places(inner, (*here, key))


def changed(content: Any, place: tuple[Any, ...], value: Any) -> Any:
    if not place:
        return None if value is DELETED else value
    content = copy.deepcopy(content)
    inner = content
    for key in place[:-1]:
        inner = inner[key]
    if value is DELETED:
        del inner[place[-1]]
    else:
        inner[place[-1]] = value
    return content


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_not_the_file_at_all(cli: Cli, sound: dict[str, Path], tmp_path: Path, fault: str) -> None:
    for name in ("run.yaml", "samples_afrixnli_yor_eng_1.jsonl", PACKED):
        shutil.copytree(sound["choices"], folder := tmp_path / name)
        if name == PACKED:
            pack(folder)
        if fault == "a terabyte" and name != "run.yaml":  # all of a sample file is read
            continue
        FAULTS[fault][0](folder / name)
        for given in (["compare", folder], words("choices", folder)):
            done = cli(*given)
            assert done.code == 2 and done.err.count("\n") == 2 and f"{folder / name}" in done.err, (given, done.err)


WRONG_SAMPLES: dict[str, tuple[dict[str, Any], str]] = {
    "fewer answers than choices": ({"resps": [[[-1.0, False]], [[-2.0, False]]]}, "there are 2 resps for 3 choices"),
    "not a number": ({"resps": [[[float("nan"), False]]] * 3}, "a log-likelihood is"),
    "no score and no defect": ({"metrics": []}, "it has neither a score nor a defect"),
    "a score that is not its measure": ({"acc": 5}, "acc is 5, and its measure [1.0]"),
    "a score above 1": ({"acc": 5, "measures": {"acc": [5.0]}}, "acc must be"),
    "a pick that is no choice": ({"picked": 3}, "picked is 3, and there are 3 choices"),
}


@pytest.mark.parametrize("fault", WRONG_SAMPLES)
def test_a_sample_that_cannot_be_right(cli: Cli, sound: dict[str, Path], tmp_path: Path, fault: str) -> None:
    change, message = WRONG_SAMPLES[fault]
    shutil.copytree(sound["choices"], folder := tmp_path / "run")
    path = folder / "samples_afrixnli_yor_eng_1.jsonl"
    first, *rest = path.read_text(encoding="utf-8").splitlines()
    sample = json.loads(first)
    measures = {**sample["measures"], **change.get("measures", {})}
    damaged = {**sample, **change, "measures": measures}
    path.write_text("\n".join([json.dumps(damaged), *rest, ""]), encoding="utf-8")
    for given in (["samples", folder, "--language", "yor"], ["compare", folder], words("choices", folder)):
        done = cli(*given)
        assert done.code == 2 and done.err.startswith(f"error: {path}, line 1: {message}"), done.err


def test_too_few_measures_of_every_sample(cli: Cli, refusal: Refusal, tmp_path: Path) -> None:
    spans = ("--task.task_name", "masakhaner", "--task.languages", "hau", "--task.prompts", 1, "--eval.limit", 3)
    folder = tmp_path / "run"
    given = ["--model.model_name", "demo", "--data.source", "samples", "--run_dir", folder, "--eval.max_gen_toks", 4]
    assert cli("run", *spans, *given).code == 0
    path = folder / "samples_masakhaner_hau_eng_1.jsonl"
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        line["measures"]["span_f1"].pop()  # as before unparsed answers were among them
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    for command in ("show", "compare"):
        assert f"{path}: span_f1 cannot be computed from its measures, 3 per sample" in refusal(command, folder)


def test_a_run_folder_may_have_any_name_that_a_folder_can(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "\udcff\n\x1b é"  # \udcff is a byte that is not UTF-8
    assert cli(*words("choices", folder)).code == 0
    for command in ("show", "compare", "report"):
        more = ("-o", tmp_path / "page.html") if command == "report" else ()
        assert cli(command, folder, *more).code == 0


HUGE = "HUGE"  # stands for a number of 5,000 digits, which Python's json does not write
DAMAGE: dict[str, tuple[tuple[Any, ...], Any]] = {
    "no visits": (("visits",), []),
    "a visit that is a list": (("visits",), [[]]),
    "a config that is a text": (("visits", 0, "config"), "x"),
    "a reference that is a list": (("visits", 0, "config"), {"reference": ["a"]}),
    "data that is a list": (("visits", 0, "config"), {"data": []}),
    "versions that are a text": (("visits", 0, "versions"), "x"),
    "a version that is a list": (("visits", 0, "versions"), {"afrieval": [1]}),
    "a suite that is a list": (("visits", 0, "config"), {"task": {"suite": [[]]}}),
    "declared as a list": (("declared",), []),
    "a task declared as a text": (("declared", "open"), "x"),
    "no levels": (("declared", "open", "rubric", "levels"), {}),
    "one level": (("declared", "open", "rubric", "levels"), {"1": "x"}),
    "a rubric that is a list": (("declared", "open", "rubric"), []),
    "looks of 0": (("looks",), 0),
    "a huge version": (("identity", "tasks", "open", "version"), HUGE),
}
COMMANDS_OF_JUDGED = ("show", "compare")


@pytest.mark.parametrize("fault", DAMAGE)
def test_a_wrong_part_of_a_record_is_named(cli: Cli, tmp_path: Path, fault: str) -> None:
    path, (place, value) = judged_run(tmp_path / "run", GIVEN) / "run.yaml", DAMAGE[fault]
    text = yaml.safe_dump(changed(yaml.safe_load(path.read_text(encoding="utf-8")), place, value))
    path.write_text(text.replace(f": {HUGE}", f": {'9' * 5000}"), encoding="utf-8")
    for command in COMMANDS_OF_JUDGED:
        done = cli(command, path.parent)
        assert done.code == 2 and str(path) in done.err and done.err.count("\n") == 2, (command, done.err)


LINES: dict[str, tuple[tuple[Any, ...], Any]] = {
    "judged as a list": (("judged",), []),
    "a judgement that is a text": (("judged", "judge_tiny"), "3"),
    "a level that is a list": (("judged", "judge_tiny", "level"), ["3"]),
    "ratings as a list": (("ratings",), ["3"]),
    "arguments without a context": (("arguments",), [[]]),
    "a hash that is a list": (("doc_hash",), []),
    "repeated metrics": (("metrics",), ["empty", "empty"]),
    "a huge measure": (("measures", "empty", 0), HUGE),
    "a huge number of a document": (("doc_id",), HUGE),
}


@pytest.mark.parametrize("fault", LINES)
def test_a_wrong_part_of_a_sample_is_named(cli: Cli, tmp_path: Path, fault: str) -> None:
    path = judged_run(tmp_path / "run", GIVEN) / "samples_open_hau_eng_1.jsonl"
    first, *rest = path.read_text(encoding="utf-8").splitlines()
    text = json.dumps(changed(json.loads(first), *LINES[fault]))
    path.write_text("\n".join([text.replace(f'"{HUGE}"', "9" * 5000), *rest, ""]), encoding="utf-8")
    for command in COMMANDS_OF_JUDGED:
        done = cli(command, path.parent)
        assert done.code == 2 and path.name in done.err and done.err.count("\n") == 2, (command, done.err)
    copied = cli("check-runs", path.parent, "-o", tmp_path / "copy")
    assert copied.code == 2 and path.name in copied.err + copied.out


def test_wrong_values_anywhere(cli: Cli, sound: dict[str, Path], tmp_path: Path) -> None:
    """One in a file of a run of any kind; the run itself may go on with it."""
    rng, values = random.Random(50), [*WRONG, HUGE, DELETED]
    runs = {**sound, "judged": judged_run(tmp_path / "judged", GIVEN), "small": small_run(tmp_path / "small", picks=1)}
    for turn in range(40):
        kind = [*runs][turn % len(runs)]
        folder = Path(shutil.copytree(runs[kind], tmp_path / f"run{turn}"))
        path = rng.choice(sorted(p for p in folder.iterdir() if p.name == "run.yaml" or p.suffix == ".jsonl"))
        head, *rest = path.read_text(encoding="utf-8").splitlines() if path.suffix == ".jsonl" else [path.read_text()]
        content = yaml.safe_load(head) if path.suffix == ".yaml" else json.loads(head)
        place, value = rng.choice([*places(content)]), rng.choice(values)
        text = json.dumps(changed(content, place, value)).replace(f'"{HUGE}"', "9" * 5000)  # JSON is YAML
        path.write_text("\n".join([text, *rest, ""]), encoding="utf-8")
        commands = [["show", folder], ["compare", folder], ["report", folder, "-o", tmp_path / "r.html"]]
        commands += [["samples", folder], *([words(kind, folder)] if kind in KINDS else [])]
        done = cli(*(command := rng.choice(commands)))
        assert done.code in (0, 2) and "Traceback" not in done.err, (path.name, place, value, command)
        if done.code == 2:
            ends = [line.partition(": ")[0] for line in done.err.splitlines()[-2:]]
            assert ends == ["error", "hint"], (path.name, place, value, command)
