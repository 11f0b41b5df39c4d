"""score --metric judge: any model judges stored answers by a task's rubric, and nothing is asked twice."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.conftest import Cli, Refusal, content
from tests.models.loopback import Loopback, serving
from tests.tasks.small_task import declaration, write_declaration

from afrieval.models.backends.hf import HF
from afrieval.models.demo import demo_folder, write_chat_demo
from afrieval.results import run_files
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
    keys: dict[str, Any] = {"kind": "open", "answer": "good"}
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


def test_answers_are_judged_by_the_rubric(
    cli: Cli, ran: Callable[[str], Path], server: Loopback, words: list[object]
) -> None:
    run = ran("said")
    before = content(run)
    done = cli("score", run, *words, "--dry-run")
    assert done.code == 0 and f"{NAME} for 8 answers, 8 requests, which cost $0.01" in done.err, done.err
    assert content(run) == before and not server.asked
    server.usage = {"prompt_tokens": 10, "completion_tokens": 5}
    done = cli("score", run, *words).ok()
    assert [line.get(NAME) for line in lines(run)] == WORTH * 2
    assert [line["judged"][NAME]["level"] for line in lines(run)] == ["5", "2", None, "3"] * 2
    assert lines(run)[1]["judged"][NAME]["reason"] == "so {} so"
    assert "58.3" in done.out and "answered" in done.out
    assert " ".join(done.out.split()).count("could not be parsed: 1 of 4 in Hausa, 1 of 4 in Yoruba") == 1
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
    assert "no score moved (8 answers, 2 cells)\n" in cli("score", run, "--task.folder", words[-1]).err
    assert content(run) == after


def test_pairs_are_asked_in_both_orders(
    cli: Cli, ran: Callable[[str], Path], server: Loopback, words: list[object]
) -> None:
    """The judge prefers ours in question 0, the first answer in 1, neither in 2, and says nothing of 3 when turned."""
    run, other = ran("said"), ran("other")

    def better(asked: str) -> str:
        number = of("answer_1", asked).split()[-1]
        ours = 1 if "said" in of("answer_1", asked) else 2
        level = {"0": ours, "1": 1, "2": "Tie", "3": 3 - ours if ours == 1 else None}[number]
        return json.dumps({"reason": f"prefers {level}", "level": level})

    server.reply = better
    done = cli("score", run, *words, "--judge.against", other).ok()
    name = f"{NAME}_vs_demo"
    assert [line.get(name) for line in lines(run)] == [1.0, 0.5, 0.5, None] * 2
    said = [line["judged"][name] for line in lines(run)[:4]]
    assert [one["level"] for one in said] == ["win", "win or loss", "tie", None]
    assert said[0]["orders"] == [{"level": "win", "reason": "prefers 1"}, {"level": "win", "reason": "prefers 2"}]
    assert [order["level"] for order in said[3]["orders"]] == ["loss", None]
    assert "The order of the answers changed 2 of 6 verdicts on pairs." in " ".join(done.out.split())
    assert "pairs in both orders" in read_run(run)["declared"]["asked"]["signatures"][name]
    texts = [asked["messages"][-1]["content"] for asked in server.asked]
    assert len({*texts}) == len(texts) == 16
    assert sorted((of("answer_1", t), of("answer_2", t)) for t in texts) == sorted(
        [(f"said {n}", f"other {n}") for n in range(4)] * 2 + [(f"other {n}", f"said {n}") for n in range(4)] * 2
    )
    assert not re.search("helpful\n- |demo", "".join(texts))
    server.reply = judged  # the other metric is there next to it
    assert cli("score", run, *words).code == 0
    assert {*lines(run)[0]["judged"]} == {NAME, name} and lines(run)[0][name] == 1.0
    server.reply = better  # another run of the same model, with other answers
    record = read_run(other)
    run_files.write_run(other, {**record, "identity": {**record["identity"], "max_gen_toks": 3}})
    for path in (sample_path(other, cell) for cell in cell_names(other)):
        path.write_text(path.read_text().replace('"other ', '"shorter '))
    asked = len(server.asked)
    assert cli("score", run, *words, "--judge.against", other).code == 0 and len(server.asked) == asked + 16


def test_a_budget_holds(
    cli: Cli, refusal: Refusal, ran: Callable[[str], Path], server: Loopback, words: list[object], tmp_path: Path
) -> None:
    run, model = ran("said"), tmp_path / "judge.yaml"
    whole = model.read_text()
    model.write_text(whole.replace("max_retries: 0", "max_retries: 0\n  max_requests: 5"))
    for _ in range(2):
        assert "5 requests were sent, which is model.api.max_requests" in refusal("score", run, *words)
        assert len(server.asked) == 5
    model.write_text(whole)
    done = cli("score", run, *words, "--judge.max_cost", "0.00001")
    assert done.code == 2 and "would exceed --judge.max_cost $0.00001" in done.err and len(server.asked) == 5
    assert cli("score", run, *words, "--judge.max_cost", "1").code == 0 and len(server.asked) == 8
    model.write_text(whole.replace("max_retries: 0", "max_retries: 0\n  max_requests: 10"))
    assert cli("score", run, ran("other"), *words).code == 2
    assert len(server.asked) == 10, "limits are of all runs together"


def test_another_rubric_removes_what_was_said_by_the_old_one(
    cli: Cli, ran: Callable[[str], Path], server: Loopback, words: list[object], tasks: Path
) -> None:
    run = ran("said")
    assert cli("score", run, *words).code == 0
    for path in run.glob("samples_*"):
        path.write_text(path.read_text().replace('"judged":', '"ratings": {"Amina": "5"}, "judged":'))
    write_task(tasks, {**RUBRIC, "version": 2, "asks": "How polite is the answer?"})
    done = cli("score", run, *words, "--dry-run")
    removed = "asked was judged, rated or scored in another way: that is removed"
    assert removed in done.err and f"{NAME} for 8 answers" in done.err and len(server.asked) == 8
    server.reply = lambda asked: '{"level": "1"}'
    done = cli("score", run, *words)
    assert done.code == 0 and removed in done.err, done.err
    assert [line[NAME] for line in lines(run)] == [0.0] * 8 and not any("ratings" in line for line in lines(run))
    declared = read_run(run)["declared"]["asked"]
    assert declared["rubric"]["version"] == 2 and "|version:2|" in declared["signatures"][NAME]


def test_kinds_are_compared_with_the_wanted_one(
    cli: Cli, refusal: Refusal, ran: Callable[[str], Path], server: Loopback, words: list[object], tasks: Path
) -> None:
    kinds = {"complied": "it does what was asked", "Refused": "it refuses"}
    rubric = {**RUBRIC, "levels": kinds, "shows_right": False}
    run, other = ran("said"), ran("other")
    write_task(tasks, rubric)
    done = cli("score", run, *words)
    assert (
        done.code == 2 and "has the right answer 'right Menene ruwa?', but the levels are complied, Refused" in done.err
    )
    for path in run.glob("samples_*"):
        path.write_text(re.sub('right [^"]*', "Refused", path.read_text()))
    server.reply = lambda asked: '{"level": "refused"}' if "said 0" in asked else '{"level": "complied"}'
    assert cli("score", run, *words).code == 0
    assert [line[NAME] for line in lines(run)] == [1.0, 0.0, 0.0, 0.0] * 2
    assert lines(run)[0]["judged"][NAME]["level"] == "Refused"
    assert not any("right_answer" in asked["messages"][-1]["content"] for asked in server.asked)
    assert "no task whose rubric has numbers as levels" in refusal("score", run, *words, "--judge.against", other)


def test_local_models_judge(
    cli: Cli, refusal: Refusal, ran: Callable[[str], Path], tasks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model with a chat template is asked by it, though its settings do not say so; one without in plain text."""
    run, folder = ran("said"), tmp_path / "chats"
    write_chat_demo(str(folder))
    asked: list[str] = []
    generate = HF.generate_until

    def noted(lm: HF, requests: list[Any], **options: Any) -> list[str]:
        asked.extend(request.args[0] for request in requests)
        return generate(lm, requests, **options)

    monkeypatch.setattr(HF, "generate_until", noted)
    for judge, starts in (("demo", "You judge"), (str(folder), "user: You judge")):
        asked.clear()
        words = ("--metric", "judge", "--judge.model", judge, "--task.folder", tasks, "--judge.max_tokens", 8)
        done = cli("score", run, *words)
        assert done.code == 0 and "None of 8 judgements could be parsed" in done.err, done.err
        assert len(asked) == 8 and all(text.startswith(starts) for text in asked)
    assert {*lines(run)[0]["judged"]} == {"judge_demo", "judge_chats"}
    assert "a reply may have 40000 tokens" in refusal("score", run, *words[:-1], 40_000)


def test_every_kind_of_server_judges(
    cli: Cli, ran: Callable[[str], Path], server: Loopback, tasks: Path, tmp_path: Path
) -> None:
    """Chats and completions, by the backends of the harness; what does not fit a model's context is not asked."""
    run, server.text = ran("said"), REPLIES[0]
    server.reply = None
    chat: dict[str, Any] = {
        "model_type": "local-chat-completions",
        "backend_args": {"base_url": f"{server.url}/v1/chat/completions"},
    }
    plain: dict[str, Any] = {"model_type": "local-completions", "add_bos_token": True}
    plain["backend_args"] = {"base_url": f"{server.url}/v1/completions", "tokenizer": str(demo_folder())}
    for name, model, room in (("chat", chat, 0), ("plain", plain, 4000), ("short", plain, 600)):
        args = {**model["backend_args"], "max_retries": 1} | ({"max_length": room} if room else {})
        (tmp_path / "judge.yaml").write_text(yaml.safe_dump({"model_name": name, **model, "backend_args": args}))
        server.asked.clear()
        words = ("--metric", "judge", "--judge.model", tmp_path / "judge.yaml", "--task.folder", tasks)
        cli("score", run, *words).ok()
        level = None if name == "short" else "5"
        assert {line["judged"][f"judge_{name}"]["level"] for line in lines(run)} == {level}
        assert len(server.asked) == (0 if name == "short" else 8)
    assert "do not fit the judge's context" in lines(run)[0]["judged"]["judge_short"]["reason"]


def test_thinking_is_left_out(
    cli: Cli, ran: Callable[[str], Path], server: Loopback, words: list[object], tmp_path: Path
) -> None:
    run, model = ran("said"), tmp_path / "judge.yaml"
    model.write_text(f"{model.read_text()}thinking_end: </think>\n")
    replies = ['{"level": 1}', '{"level": 1}</think>{"level": 4}', '{"level": 4}</think>so', "</think>"]
    server.reply = lambda asked: replies[int(of("answer", asked).split()[-1])]
    assert cli("score", run, *words).code == 0
    assert [line["judged"][NAME]["level"] for line in lines(run)] == [None, "4", None, None] * 2
    assert server.asked[0]["max_tokens"] == 16_384


def test_thinking_in_replies_is_recognised(
    cli: Cli, ran: Callable[[str], Path], server: Loopback, words: list[object]
) -> None:
    run, level = ran("said"), '{"level": 4}'
    replies = [f"<think>{level}", f"[THINK]no[/THINK]{level}", f"analysisHm.assistantfinal{level}", level]
    server.reply = lambda asked: replies[int(of("answer", asked).split()[-1])]
    assert cli("score", run, *words).code == 0
    assert [line["judged"][NAME]["level"] for line in lines(run)] == [None, "4", "4", "4"] * 2


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        (["--metric", "judge", "--judge.model", "demo"], "has no task with a rubric for judges: it has asked"),
        (["--metric", "judge", "--judge.model", "demo", "--judge.max_cost", "1"], "--judge.max_cost is for servers"),
        (["--metric", "judge", "--judge.model", "openai"], "openai is a backend, and no model is named"),
        (["--metric", "judge", "--judge.model", "warm.yaml"], "model.api.temperature of the judge is 0.7"),
        (["--metric", "judge", "--judge.model", "recorded.yaml"], "cannot judge: model.model_type recorded"),
        (["--metric", "judge", "--judge.model", "demo", "--judge.against", "RUN"], "would be compared with itself"),
        (["--metric", "judge", "--judge.model", "demo", "--judge.against", "nowhere"], "there is no run folder"),
    ],
)
def test_wrong_words_are_explained(
    refusal: Refusal, ran: Callable[[str], Path], tmp_path: Path, wrong: list[str], problem: str
) -> None:
    run = ran("said")
    (tmp_path / "warm.yaml").write_text("model_name: x\nmodel_type: openai\napi: {temperature: 0.7}\n")
    (tmp_path / "recorded.yaml").write_text("model_name: x\nmodel_type: recorded\nbackend_args: {file: x.jsonl}\n")
    before = content(run)
    words = [str(run) if word == "RUN" else str(tmp_path / word) if word.endswith(".yaml") else word for word in wrong]
    assert problem in refusal("score", run, *words)
    assert content(run) == before


def test_runs_of_other_questions_are_no_pair(
    cli: Cli, ran: Callable[[str], Path], server: Loopback, words: list[object], tasks: Path
) -> None:
    run, other = ran("said"), ran("other")
    path = sample_path(other, cell_names(other)[0])
    path.write_text(path.read_text().replace("Kano?", "Zaria?"))
    done = cli("score", run, *words, "--judge.against", other)
    assert done.code == 2 and "does not have the questions of asked_hau_eng_1" in done.err and not server.asked


def test_another_judge_of_the_same_name_replaces_the_first(
    cli: Cli, ran: Callable[[str], Path], server: Loopback, words: list[object], tmp_path: Path
) -> None:
    """What it said goes, and nothing else; the replies of the first are kept."""
    run, model = ran("said"), tmp_path / "judge.yaml"
    assert cli("score", run, *words).code == 0
    before, first = lines(run), model.read_text()
    model.write_text(first.replace("api:", "api:\n  reasoning_effort: low"))
    server.reply = lambda asked: "nothing"
    done = cli("score", run, *words)
    assert done.code == 0 and "asked was judged, rated or scored in another way" in done.err, done.err
    assert not any(NAME in line for line in lines(run)) and len(server.asked) == 16
    model.write_text(first)
    assert cli("score", run, *words).code == 0 and len(server.asked) == 16
    assert lines(run) == before
