"""Answers are kept as they come, read back equal, and asked for only once."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from afrieval._util.errors import UserError
from afrieval.models.answer_file import AnswerFile, request_key
from afrieval.models.base import LanguageModel
from afrieval.models.response_cache import CachedLM, PairsLM
from afrieval.scoring.responses import Scored, details_of


class FakeLM(LanguageModel):
    """Answers with the length of the continuation; dies after so many answers if told to."""

    tokenizer_name = "fake"

    def __init__(self, dies_after: int | None = None):
        self.asked: list[tuple[str, str]] = []
        self.dies_after = dies_after
        self.cache_hook: Any = None

    def set_cache_hook(self, hook: Any) -> None:
        self.cache_hook = hook

    def loglikelihood(self, requests: list[Any], disable_tqdm: bool = False) -> list[Any]:
        answers = []
        for request in requests:
            if len(self.asked) == self.dies_after:
                raise KeyboardInterrupt
            self.asked.append(request.args)
            answers.append((-float(len(request.args[1])), False, 1))
            self.cache_hook.add_partial("loglikelihood", request.args, answers[-1])
        return answers


def requests(*continuations: str) -> list[Any]:
    return [SimpleNamespace(args=("context", c)) for c in continuations]


def test_asks_once_and_in_order(tmp_path: Path) -> None:
    ticks: list[int] = []
    lm = FakeLM()
    with AnswerFile(tmp_path / "a.jsonl") as answers:
        cached = CachedLM(lm, answers, ticks.append)
        assert cached.loglikelihood(requests("a", "bbb", "a", "cc")) == [
            (-1.0, False, 1),
            (-3.0, False, 1),
            (-1.0, False, 1),
            (-2.0, False, 1),
        ]
        assert cached.loglikelihood(requests("bbb", "dddd"))[1] == (-4.0, False, 1)
    assert lm.asked == [("context", c) for c in ("a", "bbb", "cc", "dddd")]
    assert sum(ticks) == 6


class Dice(FakeLM):
    """Generates another answer each time."""

    def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
        given = []
        for request in requests:
            self.asked.append(request.args)
            given.append(str(len(self.asked)) if request.args[1]["do_sample"] else "always")
            self.cache_hook.add_partial("generate_until", request.args, given[-1])
        return given


def drawn(*options: dict[str, Any]) -> list[Any]:
    return [SimpleNamespace(args=("context", o)) for o in options]


def test_drawn_answers_are_asked_for_each_and_kept_each(tmp_path: Path) -> None:
    ticks: list[int] = []
    dice, greedy = {"do_sample": True, "temperature": 0.5}, {"do_sample": False, "temperature": 0.0}
    for asked in (5, 0):
        lm = Dice()
        with AnswerFile(tmp_path / "a.jsonl") as answers:
            given = CachedLM(lm, answers, ticks.append).generate_until(drawn(dice, dice, greedy, greedy, dice))
        assert len({given[0], given[1], given[4]}) == 3 and given[2] == given[3] == "always"
        assert len(lm.asked) == min(asked, 4)
    assert sum(ticks) == 10


def test_equal_requests_take_nothing_more() -> None:
    class Paid(FakeLM):
        def loglikelihood(self, requests: list[Any], disable_tqdm: bool = False) -> list[Any]:
            return [Scored(answer, {"cost": 0.5}) for answer in super().loglikelihood(requests)]

    with AnswerFile(None) as answers:
        cached = CachedLM(Paid(), answers)
        given = [*cached.loglikelihood(requests("a", "b", "a")), *PairsLM(cached).loglikelihood(requests("b", "c"))]
    assert [details_of(answer)["cost"] for answer in given] == [0.5, 0.5, 0, 0, 0.5]


def test_harness_tasks_get_pairs(tmp_path: Path) -> None:
    with AnswerFile(None) as answers:
        pairs = PairsLM(CachedLM(FakeLM(), answers))
        assert pairs.loglikelihood(requests("a", "bbb")) == [(-1.0, False), (-3.0, False)]
        assert CachedLM(FakeLM(), answers).loglikelihood(requests("a")) == [(-1.0, False, 1)]


def test_memory_that_is_full_is_an_error_of_the_user(tmp_path: Path) -> None:
    class Full(FakeLM):
        def loglikelihood(self, requests: list[Any], disable_tqdm: bool = False) -> list[Any]:
            super().loglikelihood(requests[:1])
            raise RuntimeError(said)

    for said, kind in (("CUDA out of memory. Tried to allocate 2 GiB", UserError), ("shapes differ", RuntimeError)):
        with AnswerFile(tmp_path / f"{kind.__name__}.jsonl") as answers:
            with pytest.raises(kind, match="memory is full" if kind is UserError else said):
                CachedLM(Full(), answers).loglikelihood(requests("a", "bb"))
            assert len([*answers.details(), *answers._answers]) == 1, "what was answered before is kept"


def test_what_is_no_number_is_refused_and_not_kept(tmp_path: Path) -> None:
    class Broken(FakeLM):
        def loglikelihood(self, requests: list[Any], disable_tqdm: bool = False) -> list[Any]:
            return [(float("nan"), False, 1) for _ in requests]

    with AnswerFile(tmp_path / "a.jsonl") as answers, pytest.raises(UserError, match="NaN"):
        CachedLM(Broken(), answers).loglikelihood(requests("a"))
    assert (tmp_path / "a.jsonl").read_text() == ""


def test_keys_tell_requests_apart() -> None:
    keys = {
        request_key(*r)
        for r in [
            ("loglikelihood", ("a", "bc")),
            ("loglikelihood", ("ab", "c")),
            ("generate_until", ("a", {"until": ["b"]})),
            ("generate_until", ("a", {"until": ["c"]})),
        ]
    }
    assert len(keys) == 4
    assert request_key("loglikelihood", ("a", "b")) == request_key("loglikelihood", ["a", "b"])


class Rewriting(FakeLM):
    """Hands in generated texts with the options as it has written them for itself, as vLLM does."""

    def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
        given = []
        for request in requests:
            if len(self.asked) == self.dies_after:
                raise KeyboardInterrupt
            self.asked.append(request.args)
            text, options = request.args
            given.append(text.upper())
            rewritten = {**options, "until": [*options["until"], "</s>"], "temperature": 0.0}
            self.cache_hook.add_partial("generate_until", (text, rewritten), given[-1])
        return given


def test_an_answer_is_kept_for_the_request_it_answers(tmp_path: Path) -> None:
    texts = [SimpleNamespace(args=(t, {"until": ["\n"]})) for t in ("a", "b", "c", "b")]
    first, second = Rewriting(dies_after=2), Rewriting()
    with AnswerFile(tmp_path / "a.jsonl") as answers, pytest.raises(KeyboardInterrupt):
        CachedLM(first, answers).generate_until(texts)
    with AnswerFile(tmp_path / "a.jsonl") as answers:
        assert CachedLM(second, answers).generate_until(texts) == ["A", "B", "C", "B"]
    assert [text for text, _ in second.asked] == ["c"]
    keys = [json.loads(line)[0] for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    assert keys == [request_key("generate_until", r.args) for r in texts[:3]]


def test_an_answer_that_may_be_for_several_requests_is_kept_in_the_end(tmp_path: Path) -> None:
    texts = [SimpleNamespace(args=("a", {"until": [end]})) for end in ".,"]
    with AnswerFile(tmp_path / "a.jsonl") as answers, pytest.raises(KeyboardInterrupt):
        CachedLM(Rewriting(dies_after=1), answers).generate_until(texts)
    assert (tmp_path / "a.jsonl").read_text() == ""
    with AnswerFile(tmp_path / "a.jsonl") as answers:
        assert CachedLM(Rewriting(), answers).generate_until(texts) == ["A", "A"]
    assert len((tmp_path / "a.jsonl").read_text().splitlines()) == 2


def test_drawn_answers_that_came_before_a_stop_are_kept(tmp_path: Path) -> None:
    class Stopped(Dice):
        def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
            super().generate_until(requests[:2])
            raise KeyboardInterrupt

    dice = drawn(*[{"do_sample": True}] * 3)
    with AnswerFile(tmp_path / "a.jsonl") as answers, pytest.raises(KeyboardInterrupt):
        CachedLM(Stopped(), answers).generate_until(dice)
    lm = Dice()
    with AnswerFile(tmp_path / "a.jsonl") as answers:
        assert CachedLM(lm, answers).generate_until(dice) == ["1", "2", "1"] and len(lm.asked) == 1
