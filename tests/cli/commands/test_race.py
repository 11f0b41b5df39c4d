"""`afrieval race`: models behind a server that answer right as often as their names say."""

import csv
import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.conftest import Cli, Outcome
from tests.models.servers import QuietHandler, running
from tests.test_docs import commands
from tests.tools.jobs.files import all_here

PAGE = Path(__file__).parents[3] / "docs/cost.md"
ROWS = 300
LABELS = ("True", "Neither", "False")  # as prompts of AfriXNLI have them


@dataclass
class Server:
    """What was answered, and whether more is."""

    url: str = ""
    answered: Counter[tuple[str, str]] = field(default_factory=Counter)
    up_to: int = 10**9

    def answer(self, payload: dict[str, Any]) -> tuple[int, bytes]:
        model, text = payload["model"], payload["messages"][-1]["content"]
        if self.answered.total() >= self.up_to:
            return 400, b'{"error": {"message": "closed"}}'
        self.answered[model, text] += 1
        right = int(re.findall(r"row (\d+)", text)[0]) % 3
        wrong = random.Random(f"{model}{text}").random() * 100 >= int(model.rpartition("-")[2])
        message = {"role": "assistant", "content": LABELS[(right + wrong) % 3]}
        usage = {"prompt_tokens": 100, "completion_tokens": 1, "total_tokens": 101}
        return 200, json.dumps({"choices": [{"index": 0, "message": message}], "usage": usage}).encode()


@pytest.fixture
def server() -> Iterator[Server]:
    found = Server()

    class Handler(QuietHandler):
        protocol_version = "HTTP/1.0"

        def do_POST(self) -> None:
            self.send(*found.answer(json.loads(self.body())))

    with running(Handler) as found.url:
        yield found


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Rows of AfriXNLI in two languages; jobs run in this process."""
    monkeypatch.setattr("afrieval.tools.jobs.start.run_jobs", all_here)
    for code in ("hau", "yor"):
        path = tmp_path / "data/masakhane/afrixnli/data" / code / "test.tsv"
        path.parent.mkdir(parents=True)
        with path.open("w", encoding="utf-8", newline="") as file:
            rows = [[f"{code} row {i}", "It is.", i % 3] for i in range(ROWS)]
            csv.writer(file, delimiter="\t").writerows([["premise", "hypothesis", "label"], *rows])
    return tmp_path / "data"


@pytest.fixture
def model(server: Server, tmp_path: Path) -> Callable[[int], Path]:
    """Returns a function that writes the file of a model, given by how often it is right."""

    def write(right: int) -> Path:
        prices = {"input": 1.0, "output": 1.0}
        api = {"base_url": f"{server.url}/v1", "max_retries": 2, "max_concurrency": 4, "prices": prices}
        path = tmp_path / f"right-{right}.yaml"
        path.write_text(yaml.safe_dump({"model_name": path.stem, "model_type": "openai", "api": api}))
        return path

    return write


@pytest.fixture
def race(
    cli: Cli, model: Callable[[int], Path], data: Path, tmp_path: Path, small_tasks: Path
) -> Callable[..., Outcome]:
    """Returns a function that races models."""

    def run(*models: int, words: tuple[object, ...] = ()) -> Outcome:
        tasks = ("--tasks", "afrixnli", "--languages", "hau,yor", "--prompts", 1, "--task.folder", small_tasks)
        where = ("--data", data, "--out", tmp_path / "out")
        return cli("race", *map(model, models), *tasks, *where, *words)

    return run


def outcomes(done: Outcome) -> dict[str, Any]:
    assert done.code == 0, done.err
    rows = {row["model"]: row for row in json.loads(done.out)[0]["rows"]}
    return {name: (row["questions"], row["outcome"]) for name, row in rows.items()}


def test_a_race_ends_with_the_best_and_asks_the_others_little(race: Callable[..., Outcome], server: Server) -> None:
    looks = race(97, 88, 35, words=("--dry-run",))
    assert "50       300      16.7" in looks.out and not server.answered
    done = race(97, 88, 35)
    assert "right-97 is the best: right-35 and right-88 are worse." in done.out
    assert re.search(r"look 1 of 4, 50 questions: right-97 leads with 9\d\.\d; right-35 left", done.err)
    assert server.answered.total() < 800 and max(server.answered.values()) == 1
    asked = Counter(model for model, _ in server.answered)
    assert asked["right-35"] == 100 < asked["right-97"]
    again = race(97, 88, 35, words=("--json", "-"))
    assert max(server.answered.values()) == 1, "nothing is asked again"
    assert outcomes(again)["right-35"] == (50, "left at 50") and outcomes(again)["right-97"][1] == "best"


def test_a_race_that_was_stopped_goes_on(race: Callable[..., Outcome], server: Server) -> None:
    server.up_to = 275
    stopped = race(80, 78)
    assert stopped.code == 2 and "did not answer" in stopped.err and "same command continues" in stopped.err
    server.up_to = 10**9
    limited = race(80, 78, words=("--most-requests", 500))
    assert "may be the best: the next look would bring the requests to 800 (--most-requests 500)." in " ".join(
        limited.out.split()
    )
    assert "holds a race of right-78 and right-80, not of right-80 and right-50" in race(80, 50).err
    assert "race with another eval.max_gen_toks" in race(80, 78, words=("--eval.max_gen_toks", 9)).err
    found = outcomes(race(80, 78, words=("--sample", 200, "--json", "-")))
    assert found == dict.fromkeys(("right-80", "right-78"), (200, "may be the best"))
    assert server.answered.total() == 800 and max(server.answered.values()) == 1


def test_in_each_language_other_models_are_left(race: Callable[..., Outcome], server: Server) -> None:
    done = race(97, 60, words=("--by", "language", "--json", "-", "--most-cost", 1))
    assert done.code == 0, done.err
    rows = {(row["language"], row["model"]): row for row in json.loads(done.out)[0]["rows"]}
    for code in ("hau", "yor"):
        assert rows[code, "right-97"]["outcome"] == "best" and "left" in rows[code, "right-60"]["outcome"]
        asked = sum(text.count(f"{code} row") for model, text in server.answered if model == "right-97")
        assert asked == rows[code, "right-97"]["requests"] == rows[code, "right-97"]["questions"]
    nothing = race(97, 59, words=("--most-cost", 0.0001, "--out", "elsewhere"))
    assert "Nothing was asked: the next look would bring the cost to" in " ".join(nothing.out.split())


def test_three_commands_lead_from_a_budget_to_a_decision(
    cli: Cli,
    model: Callable[[int], Path],
    data: Path,
    small_tasks: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Those that docs/cost.md begins with, with models of this server and rows made here."""
    monkeypatch.chdir(tmp_path)
    named = {"gpt_4o": 95, "gemini_2.5_flash": 60, "claude_sonnet_4.5": 35}
    rows = ("--data", data, "--task.folder", small_tasks)
    done = []
    for _, *words in commands(PAGE)[:3]:
        done.append(cli(*(model(named[word]) if word in named else word for word in words), *rows))
        assert done[-1].code == 0, done[-1].err
    plan, race, run = (" ".join((of.out + of.err).split()) for of in done)
    assert "an interval of +/- 5.0 points in each language, up to 381 questions are needed" in plan and "$" in plan
    assert "right-95 is the best: right-60 and right-35 are worse." in race
    assert re.search(r"look \d of 4, \d+ questions: 2 of 2 scores are within 8 points", run)
    assert "hold at all of its 4 looks together" in run
