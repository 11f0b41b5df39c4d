"""Where a local model's answer ends, and what of its thinking is in the text."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lm_eval.api.instance import Instance
from tests.models.tiny import chained

from afrieval._util.errors import UserError
from afrieval.config.settings import EvalConfig, ModelConfig
from afrieval.models.answer_file import GENERATED, AnswerFile
from afrieval.models.registry import load_model
from afrieval.models.response_cache import CachedLM
from afrieval.scoring.responses import details_of, thinking_and_answer

BEGUN = "{% if add_generation_prompt %}>{% endif %}"
TEMPLATE = "{% for m in messages %}{{ m.role }} {{ m.content }}<|turn|>\n{% endfor %}" + BEGUN
THINKING = ("[THINK]", "[/THINK]")
MARKS = ("<|turn|>", "<|sep|>", *THINKING)
QUESTION = [{"role": "user", "content": "2 + 2?"}]


def loaded(folder: Path, **settings: Any) -> Any:
    model = ModelConfig(model_name=str(folder), **{"chat_template": True, **settings})
    return load_model(model, EvalConfig(batch_size=2))


def written(lm: Any, end: str = "", until: tuple[str, ...] = (), most: int = 20) -> list[str]:
    options = {"until": list(until), "max_gen_toks": most, "do_sample": False}
    prompts = [lm.apply_chat_template(chat) for chat in (QUESTION, [{"role": "user", "content": "3 + 3?"}])]
    with AnswerFile(None) as answers:
        cached = CachedLM(lm, answers, thinking_end=end)
        return list(
            cached.generate_until([Instance(GENERATED, {}, (prompt, options), i) for i, prompt in enumerate(prompts)])
        )


@pytest.mark.parametrize("engine", ["tree", "plain"])
def test_an_answer_ends_with_its_turn(tmp_path: Path, engine: str) -> None:
    folder = chained(tmp_path / "m", [">", "8", "<|turn|>", "u", "9", "x"], MARKS, TEMPLATE)
    assert written(loaded(folder, engine=engine)) == ["8", "8"]
    assert written(loaded(folder, engine=engine, chat_template=False)) == ["8u9x"] * 2, "no turns without a template"
    loud = loaded(folder, engine=engine, chat_template=False)
    loud.model.generation_config.eos_token_id = [1, loud.tok_encode("u")[-1]]
    assert [text.rstrip("u") for text in written(loud)] == ["8", "8"]


@pytest.mark.parametrize(
    ("template", "token"),
    {
        TEMPLATE: "<|turn|>",
        TEMPLATE.replace("<|turn|>", "  <|sep|><|turn|>"): "<|sep|>",
        TEMPLATE.replace("<|turn|>", " ###"): None,
        TEMPLATE.replace("m.content", "m.content[0].text"): "<|turn|>",
        "{% for m in messages if m.role == 'user' %}{{ m.content }}<|turn|>{% endfor %}": None,
    }.items(),
)
def test_the_end_of_turn_of_a_template(tmp_path: Path, template: str, token: str | None) -> None:
    lm = loaded(chained(tmp_path / "m", [">", "8"], MARKS, template))
    assert lm.turn_ends == ([lm.tokenizer.convert_tokens_to_ids(token)] if token else [])


@pytest.mark.parametrize("engine", ["tree", "plain"])
def test_special_tokens_that_matter_are_kept(tmp_path: Path, engine: str) -> None:
    folder = chained(tmp_path / "m", [">", "[THINK]", "7", "[/THINK]", "8", "<|turn|>", "9"], MARKS, TEMPLATE)
    for end in ("", "[/THINK]"):
        texts = written(loaded(folder, engine=engine, thinking_end=end or None), end)
        assert texts == ["[THINK]7[/THINK]8"] * 2
        assert thinking_and_answer(texts[0], end) == ("[THINK]7[/THINK]", "8")
    sep = chained(tmp_path / "sep", [">", "7", "<|sep|>", "8"], MARKS, TEMPLATE)
    assert written(loaded(sep, engine=engine)) == ["78"] * 2, "a token that means nothing"
    assert written(loaded(sep, engine=engine, thinking_end="<|sep|>"), "<|sep|>") == ["7<|sep|>8"] * 2


@pytest.mark.parametrize("engine", ["tree", "plain"])
def test_stop_texts_do_not_end_thinking(tmp_path: Path, engine: str) -> None:
    folder = chained(tmp_path / "m", [">", "[THINK]", "7", ";", "[/THINK]", "\n", "8", ".", "9"], MARKS, TEMPLATE)
    lm = loaded(folder, engine=engine)
    assert written(lm, until=(";", "\n", ".")) == ["[THINK]7;[/THINK]\n8"] * 2
    cut = written(lm, until=(";", "."), most=3)
    assert cut == ["[THINK]7;"] * 2 and details_of(cut[0]) == {"cut": True}, "asked for again, once"


OPENS = TEMPLATE.replace(">{% endif", ">[THINK]{% endif")
CLOSES = OPENS.replace(
    "[THINK]", "[THINK]{% if enable_thinking is defined and not enable_thinking %}[/THINK]\n{% endif %}"
)


def test_thinking_that_the_prompt_begins(tmp_path: Path) -> None:
    folder = chained(tmp_path / "m", ["[THINK]", "7", ";", "[/THINK]", "8", ".", "9"], MARKS, OPENS)
    lm = loaded(folder)
    whole = written(lm, until=(";", "."))
    assert whole == ["7;[/THINK]8"] * 2 and thinking_and_answer(whole[0])[1] == "8"
    cut = written(lm, most=2)
    assert details_of(cut[0]) == {"opened": True, "cut": True} and thinking_and_answer(cut[0]) == ("7;", "")


def test_likelihoods_are_not_those_of_thinking(tmp_path: Path) -> None:
    """A template that can leave out thinking is asked to."""
    for template, ends in ((CLOSES, ">[THINK][/THINK]\n"), (OPENS, None)):
        lm = loaded(chained(tmp_path / str(ends), [">", "8"], MARKS, template))
        cached = CachedLM(lm, AnswerFile(None))
        assert cached.apply_chat_template(QUESTION).endswith(">[THINK]")
        cached.thinks = False
        prompt = cached.apply_chat_template(QUESTION)
        request = SimpleNamespace(args=(prompt, "A"))
        if ends:
            assert prompt.endswith(ends) and cached.loglikelihood([request])
        else:
            with pytest.raises(UserError, match="begins the model's thinking") as caught:
                cached.loglikelihood([request])
            assert "--task.answer_form generate" in caught.value.hint
