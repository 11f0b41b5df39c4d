"""score --metric judge: any model judges stored answers by a task's rubric, and nothing is asked twice."""

import json
import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.conftest import Cli
from tests.forks import Fork
from tests.models.loopback import Loopback, serving
from tests.run.test_kill import dying_at_answer
from tests.tasks.small_task import declaration, write_declaration

from afrieval.models.backends.hf import HF
from afrieval.results.run_files import cell_names, read_run, sample_path
from afrieval.results.samples import Sample, read_samples

NAME = "judge_gpt-tiny"
RUBRIC: dict[str, Any] = {
    "version": 1,
    "asks": "How helpful is the answer?",
    "levels": {"1": "not at all", "2": "in part", "3": "helpful", "4": "very", "5": "all that was asked for"},
    "shows": ["question"],
    "shows_right": True,
}
QUESTIONS = {
    "hau": ["Menene ruwa?", "Ina Kano?", "Yaya sunanka?", "Menene goro?"],
    "yor": ["Kí ni omi?", "Níbo ni Kánò wà?", "Kí ni orúkọ rẹ?", "Kí ni obì?"],
}
# What the judge replies about the answers to the four questions of a language.
REPLIES = [
    '{"reason": "good", "level": "5"}',
    'Thinking {"level": 1}</think>Here it is:\n```json\n{"reason": "so {} so", "level": 2}\n```',
    '{"reason": "between", "level": "3 or 4"}',
    '{"level": 3.0}',
]
WORTH = [1.0, 0.25, None, 0.5]


def write_task(folder: Path, rubric: dict[str, Any] = RUBRIC) -> Path:
    """Writes a task of open questions, with rows, and returns the folder of tasks."""
    prompts = {1: {"template": "{{ question }}"}}
    keys: dict[str, Any] = {"kind": "text", "extract": "whole", "metrics": ["exact_match"], "answer": "good"}
    keys |= {"fields": {"question": "question"}, "languages": {"hau": "ha", "yor": "yo"}, "parallel": {}}
    file = write_declaration(folder, declaration("asked", prompts=prompts, judge=rubric, **keys))
    (file.parent / "data").mkdir(exist_ok=True)
    for code, texts in (("ha", QUESTIONS["hau"]), ("yo", QUESTIONS["yor"])):
        rows = [json.dumps({"question": text, "good": f"right {text}"}) for text in texts]
        (file.parent / f"data/{code}.jsonl").write_text("\n".join(rows), encoding="utf-8")
    return folder


def answering(word: str) -> Callable[..., list[str]]:
    return lambda lm, requests, **_: [f" {word} {r.doc.document.id}" for r in requests]


def of(name: str, text: str) -> str:
    """Returns what is between tags in a question of a judge."""
    (found,) = re.findall(rf"<{name}>\n(.*?)\n</{name}>", text, re.S)
    return str(found)


def judged(asked: str) -> str:
    """Returns a reply by the number at the end of the answer."""
    return REPLIES[int(of("answer", asked).split()[-1])]


@pytest.fixture
def server() -> Iterator[Loopback]:
    with serving() as loopback:
        loopback.reply = judged
        yield loopback


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    return write_task(tmp_path / "tasks")


@pytest.fixture
def ran(cli: Cli, tasks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Returns a function that runs the task with answers of a word and the number of the question."""

    def run(word: str) -> Path:
        monkeypatch.setattr(HF, "generate_until", answering(word))
        done = cli("run", "demo", tasks / "asked", "--run_dir", tmp_path / word)
        monkeypatch.undo()
        assert done.code == 0, done.err
        return tmp_path / word

    return run


@pytest.fixture
def words(server: Loopback, tasks: Path, tmp_path: Path) -> list[object]:
    """Returns the words of a command that judges by the loopback."""
    model = {"model_name": "org/gpt-tiny", "model_type": "openai", "api": {"base_url": f"{server.url}/v1"}}
    model["api"] |= {"max_retries": 0, "prices": {"input": 1, "output": 2}}  # type: ignore[operator]
    (tmp_path / "judge.yaml").write_text(yaml.safe_dump(model))
    return ["--metric", "judge", "--judge.model", tmp_path / "judge.yaml", "--task.folder", tasks]


def lines(folder: Path) -> list[Sample]:
    return [line for name in cell_names(folder) for line in read_samples(sample_path(folder, name))]


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != ".lock"}


def test_answers_are_judged_by_the_rubric(
    cli: Cli, ran: Callable[[str], Path], server: Loopback, words: list[object]
) -> None:
    run = ran("said")
    before = content(run)
    done = cli("score", run, *words, "--dry-run")
    assert done.code == 0 and f"{NAME} for 8 answers; nothing is written" in done.err, done.err
    assert content(run) == before and not server.asked
    server.usage = {"prompt_tokens": 10, "completion_tokens": 5}
    done = cli("score", run, *words)
    assert done.code == 0, done.err
    assert [line.get(NAME) for line in lines(run)] == WORTH * 2
    assert [line["judged"][NAME]["level"] for line in lines(run)] == ["5", "2", None, "3"] * 2
    assert lines(run)[1]["judged"][NAME]["reason"] == "so {} so"
    assert "58.3" in done.out and "exact match" in done.out.replace("_", " ")
    assert "could not be parsed: Hausa 1 of 4, Yoruba 1 of 4" in " ".join(done.out.split())
    assert "$0.00016" in done.err
    texts = [asked["messages"][-1]["content"] for asked in server.asked]
    assert len(texts) == len({*texts}) == 8
    assert all(asked["temperature"] == 0 for asked in server.asked)
    assert of("question", texts[0]) in QUESTIONS["hau"] and "- 5: all that was asked for" in texts[0]
    assert all(of("right_answer", text) == f"right {of('question', text)}" for text in texts)
    assert not re.search("demo|said/|hau_eng", "".join(texts))
    declared = read_run(run)["declared"]["asked"]
    assert declared["rubric"]["levels"] == RUBRIC["levels"] and declared["rubric"]["version"] == 1
    for part in ("model:", f"rubric:{declared['rubric']['hash']}|version:1|prompt:1|single answers", "temperature:0"):
        assert part in declared["signatures"][NAME]
    after = content(run)
    assert cli("score", run, *words).code == 0 and len(server.asked) == 8
    assert content(run) == after
    assert cli("show", run).code == 0
