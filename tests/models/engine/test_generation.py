"""Greedy generation by the engine is the harness' own, token by token; what it does not know is left to the harness."""

import random
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.models.classes import tiny
from tests.models.engine.written import MOST, Options, generated, shared_prompts, stops, strange_prompts, text
from tests.models.shapes import DIFFERENT, OLD, decoder, encoder_decoder, loaded, warnings

from afrieval.models.engine.caches import Segment
from afrieval.models.engine.forward import Forward
from afrieval.models.engine.generation import Reader, beginning, families, fitting
from afrieval.models.engine.packs import Packs

PROMPTS = [*shared_prompts(), *strange_prompts()][::2]
SOME = PROMPTS[1::2]


def free(model: Any, prompts: Sequence[str] = PROMPTS, **options: Any) -> list[list[int]]:
    """Returns the harness' answers that no text ends, all written in one batch."""
    return generated(loaded(model, len(prompts)), prompts, "plain", options)


@pytest.mark.parametrize("name", DIFFERENT)
def test_the_same_tokens_as_the_harness(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("afrieval.models.engine.tree_lm.FEWEST", 1)
    model = decoder(name)
    whole = free(model)
    until: Options = {"until": stops(loaded(model), whole, 6)}
    stopped = generated(loaded(model), PROMPTS, "plain", until)
    assert len({len(row) for row in stopped}) >= 3, "rows end at different steps"
    for batch_size, pack, room, options, expected in ((3, 7, 2, None, whole), (8, None, 256, until, stopped)):
        monkeypatch.setattr("afrieval.models.engine.generation.ROOM", room)
        lm = loaded(model, batch_size)
        lm.attention = "masks" if name in OLD else "tiles"
        assert generated(lm, PROMPTS, "tree", options, pack) == expected, (batch_size, pack)


def test_with_masks_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    """For models that do not call transformers' attention."""
    monkeypatch.setattr("afrieval.models.engine.tree_lm.FEWEST", 1)
    model, lm = decoder("gemma2"), loaded(decoder("gemma2"), 3)
    lm.attention = "masks"
    assert generated(lm, PROMPTS, "tree", pack=7) == free(model)


def test_models_that_take_views_of_what_attention_returns() -> None:
    small = tiny.model("JetMoeForCausalLM", tiny.config("jetmoe"))
    assert generated(loaded(small, 3), SOME, "tree") == free(small, SOME)


def test_short_prompts_and_answers() -> None:
    """Of one token each, prompts that are the beginning of others, and those that end at once."""
    model, prompts = decoder("gemma3"), ["a", "b", "ab", "abc", "abcdefghijklmnopqrstuvwxyz", "a"]
    expected = generated(loaded(model, add_bos_token=False), prompts, "plain")
    once = {"until": [""]}
    ended = generated(loaded(model, add_bos_token=False), prompts, "plain", once)
    assert {len(row) for row in ended} <= {0, 1} and ended != expected
    for slots in (2, 6):
        lm = loaded(model, slots, add_bos_token=False)
        assert generated(lm, prompts, "tree") == expected
        assert generated(lm, prompts, "tree", once) == ended


def test_rows_end_with_tokens_of_the_model_or_of_the_request() -> None:
    model = decoder("llama")
    whole = free(model)
    end, other = whole[0][3], whole[4][6]
    of_request = {"eos_token_id": end}
    expected = generated(loaded(model), PROMPTS, "plain", of_request)
    assert expected[0][3:] == [end]
    assert generated(loaded(model, 8), PROMPTS, "tree", of_request) == expected
    for ends in (end, [end, other]):
        model.generation_config.eos_token_id = ends
        expected = generated(loaded(model), PROMPTS, "plain")
        assert expected != whole
        assert generated(loaded(model, 8), PROMPTS, "tree") == expected


@pytest.mark.parametrize("most", [1, 30])
def test_rows_are_no_longer_than_asked(most: int) -> None:
    model = decoder("neox")
    expected = free(model, max_gen_toks=most)
    assert max(map(len, expected)) == most
    assert generated(loaded(model, 8), PROMPTS, "tree", {"max_gen_toks": most}) == expected


def test_too_long_prompts_lose_their_beginning() -> None:
    model = decoder("gemma3")
    expected = generated(loaded(model, max_length=40), PROMPTS, "plain")
    for batch_size in (1, 8):
        lm = loaded(model, batch_size, max_length=40)
        assert generated(lm, PROMPTS, "tree") == expected
        assert lm.too_long == sum(len(p) + 1 > 40 - MOST for p in PROMPTS) > 3
    assert expected != free(model), "what is cut off matters"


def count_tokens(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    computed, real = list[int](), Reader.__call__

    def call(self: Reader, segments: Sequence[Segment], asked: Sequence[int]) -> list[int]:
        computed.append(sum(len(segment.tokens) for segment in segments))
        return real(self, segments, asked)

    monkeypatch.setattr(Reader, "__call__", call)
    return computed


def test_drawn_answers_are_the_harness_own(caplog: pytest.LogCaptureFixture) -> None:
    model, answers = decoder("llama"), []
    for engine in ("plain", "tree"):
        torch.manual_seed(1)
        answers.append(generated(loaded(model, 3), SOME, engine, {"do_sample": True, "temperature": 0.7}))
    assert answers[0] == answers[1] != free(model, SOME)
    assert warnings(caplog) == ["lm_eval generates the answers, since the engine does not support do_sample"]


def test_settings_of_the_model_are_the_harness_own(caplog: pytest.LogCaptureFixture) -> None:
    model = decoder("neox")
    whole = free(model, SOME, max_gen_toks=30)
    model.generation_config.update(no_repeat_ngram_size=2)
    expected = generated(loaded(model, 3), SOME, "plain", {"max_gen_toks": 30})
    assert whole != expected
    assert generated(loaded(model, 3), SOME, "tree", {"max_gen_toks": 30}) == expected
    assert len(warnings(caplog)) == 1 and "no_repeat_ngram_size" in warnings(caplog)[0]


def test_settings_for_drawing_do_not_matter_to_greedy_answers(caplog: pytest.LogCaptureFixture) -> None:
    model = decoder("llama")
    whole = free(model, SOME)
    model.generation_config.update(do_sample=True, temperature=0.6, top_p=0.9, top_k=20)
    lm = loaded(model, 8)
    assert generated(lm, SOME, "tree") == generated(lm, SOME, "tree", {"do_sample": False}) == whole
    assert not warnings(caplog)


def test_a_prompt_that_was_cut_does_not_keep_the_rest_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    head = "x" * 60
    prompts = [head + str(i) for i in range(4)] + [head + "long" * 10]
    computed, model = count_tokens(monkeypatch), decoder("llama")
    generated(loaded(model, 3, max_length=80), prompts, "tree", {"max_gen_toks": 2})
    assert sum(computed) == len(["<s>", *head]) + 4 * (1 + 1) + (78 + 1)


@settings(max_examples=50)
@given(st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=8), min_size=1, max_size=12), st.integers(0, 1))
def test_families(prompts: list[list[int]], most: int) -> None:
    found = families(prompts, most)
    assert sorted(i for family in found for i in family) == list(range(len(prompts)))
    for family in found:
        of_all = beginning([prompts[i] for i in family])
        assert all(prompts[i][: len(of_all)] == of_all and len(of_all) < len(prompts[i]) for i in family)
        longer = {tuple(prompts[i][: len(of_all) + 1]) for i in family}
        assert len(longer) > 1 or len(of_all) == min(len(prompts[i]) for i in family) - 1, "no longer one is shared"


def test_a_family_that_saves_little_is_written_with_the_others() -> None:
    """Two families of three, which share 100 tokens each: 200 tokens saved are worth 16 steps, not 17."""
    prompts = [[kind] * 100 + [i] * 50 for kind in (1, 2) for i in range(3)]
    assert families(prompts, 16) == [[0, 1, 2], [3, 4, 5]]
    assert families(prompts, 17) == [[0, 1, 2, 3, 4, 5]]


HEAD = list(range(100))
APART = [first + text(random.Random(first), 30) for first in "qwertyu"]


@pytest.mark.parametrize(
    ("prompts", "together"),
    [
        ([[*HEAD, i, i] for i in range(8)], 34),  # 100 shared, 2 of their own and one that is written: 204 - 100 for 3
        ([[*HEAD, *range(i, i + 100)] for i in range(8)], 2),
        ([[i] * 50 for i in range(8)], 1),
        ([HEAD, HEAD], 20),  # all but the last token is shared: there are no more
    ],
)
def test_with_masks_all_together_are_twice_as_long_as_one(prompts: list[list[int]], together: int) -> None:
    lm, several = SimpleNamespace(attention="masks"), 10 * prompts
    assert fitting(lm, Packs(), several, 1, len(several)) == together
    lm.attention = "tiles"
    assert fitting(lm, Packs(), several, 1, 70) == min(70, len(several))


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of the engine's forward passes."""
    sizes, real = list[int](), Forward.__call__

    def call(self: Forward, tokens: torch.Tensor, *args: Any) -> torch.Tensor:
        sizes.append(len(tokens))
        return real(self, tokens, *args)

    monkeypatch.setattr(Forward, "__call__", call)
    return sizes


def test_with_masks_prompts_that_share_little_are_generated_the_harness_way(steps: list[int]) -> None:
    model = decoder("falcon")
    lm = loaded(model, 8)
    lm.attention = "masks"
    assert generated(lm, APART, "tree") == generated(loaded(model, 8), APART, "plain")
    assert not steps
    prompts = shared_prompts()[:3] * 3
    expected = generated(loaded(model), prompts, "plain", {"max_gen_toks": 2})
    assert generated(lm, prompts, "tree", {"max_gen_toks": 2}) == expected and steps


@pytest.mark.parametrize("options", [{"max_gen_toks": 9, "max_length": 60}, {"max_gen_toks": 12, "num_beams": 2}])
def test_what_the_engine_does_not_know_is_left_to_the_harness(options: dict[str, Any], steps: list[int]) -> None:
    """Other requests of the same call are not held up."""
    lm, plain, answers = loaded(decoder("llama"), 3, max_length=100), loaded(decoder("llama"), 3, max_length=100), []
    for model, engine in ((plain, "plain"), (lm, "tree")):
        model.engine, model.packs = engine, Packs()
        given = [options if i % 2 else {"max_gen_toks": 5} for i in range(6)]
        requests = [SimpleNamespace(args=(p, {"until": ["x"]} | g)) for p, g in zip(APART, given, strict=False)]
        answers.append(model.generate_until(requests, disable_tqdm=True))
    assert steps and answers[0] == answers[1]


@pytest.mark.parametrize("end", [13, "quite"])
def test_what_is_thought_before_an_answer_is_left_out(end: int | str) -> None:
    lm = loaded(decoder("llama"))
    written = lm.tok_encode("hm, quite\n  an answer STOP more")
    lm.think_end_token = end if isinstance(end, str) else lm.tok_encode("\n")[-1]
    assert lm._written(written, ["STOP"]) == "an answer "
    lm.think_end_token = None
    assert lm._written(written, ["STOP"]) == "hm, quite\n  an answer "


@pytest.mark.parametrize("kind", ["llama", "T5"])
def test_full_memory_halves_a_batch_of_the_harness_way_too(
    kind: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    model = decoder(kind) if kind == "llama" else encoder_decoder(kind)
    expected = generated(loaded(model, 3), APART, "plain")
    lm, real = loaded(model, 8), model.generate

    def generate(input_ids: torch.Tensor, **kwargs: Any) -> Any:
        if len(input_ids) > 3:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
        return real(input_ids=input_ids, **kwargs)

    monkeypatch.setattr(model, "generate", generate)
    assert generated(lm, APART, "plain" if kind == "llama" else "tree") == expected
    assert "continuing with 3 prompts" in caplog.text


def test_a_limit_of_the_models_own_is_no_limit_of_a_request() -> None:
    model, prompts = decoder("llama"), shared_prompts()
    model.generation_config.max_new_tokens = 2
    rows = []
    for engine in ("tree", "plain"):
        lm = loaded(model, 8)
        lm.choose_engine(engine)
        rows.append(generated(lm, prompts, engine))
    assert rows[0] == rows[1] and max(map(len, rows[0])) == MOST


@pytest.mark.parametrize("name", ["max_gen_toks", "max_new_tokens", "max_tokens", "max_completion_tokens"])
def test_a_limit_by_any_name_counts(name: str) -> None:
    lm = loaded(decoder("llama"), 8, max_length=100)
    lm.choose_engine("tree")
    requests = [SimpleNamespace(args=("x" * 80, {"until": [], name: 5}))]
    with lm.work.answering("generate_until", 1, lm.model):
        lm.generate_until(requests, disable_tqdm=True)
    assert lm.too_long == 0 and lm.work.kinds["answers"].most == 5
