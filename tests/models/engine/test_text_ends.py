"""No prompt, answer or text ends in a token that only the tokenizer appends, whichever way it does so."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from tests.models.shapes import asked, by_hand, decoder, encoder_decoder, loaded
from tokenizers import processors
from transformers import AddedToken, ByT5Tokenizer

from afrieval.models.demo import byte_tokenizer
from afrieval.models.engine.requests import EngineError
from afrieval.models.engine.text_ends import leave_texts_open

BEGIN, END = 0, 1  # of the byte tokenizer
NAMED = [("<s>", BEGIN), ("</s>", END)]
TEXT, ENDED = "Kí ni olú ìlú? ጥያቄ\n", "Kí ni olú ìlú?</s>"
MOST = 8


def template(single: str) -> Any:
    return processors.TemplateProcessing(single=single, special_tokens=NAMED)


def ended(processor: Any = None) -> Any:
    tokenizer = byte_tokenizer()
    tokenizer.backend_tokenizer.post_processor = processor or template("<s> $A </s>")
    return tokenizer


def with_option() -> Any:
    tokenizer = byte_tokenizer()
    tokenizer.add_bos_token = tokenizer.add_eos_token = True
    return tokenizer


def another_token() -> Any:
    tokenizer = byte_tokenizer()
    tokenizer.add_tokens([AddedToken("[SEP]", special=True)])
    number = tokenizer.convert_tokens_to_ids("[SEP]")
    tokenizer.backend_tokenizer.post_processor = processors.BertProcessing(("[SEP]", number), ("<s>", BEGIN))
    return tokenizer


Made = Callable[[], Any]
WAYS: dict[str, tuple[Made, list[int]]] = {
    "template": (ended, [BEGIN]),
    "end only": (lambda: ended(template("$A </s>")), []),
    "several": (lambda: ended(template("<s> <s> $A </s> <s> </s>")), [BEGIN, BEGIN]),
    "sequence": (lambda: ended(processors.Sequence([processors.ByteLevel(), template("<s> $A </s>")])), [BEGIN]),
    "roberta": (lambda: ended(processors.RobertaProcessing(NAMED[1], NAMED[0])), [BEGIN]),
    "another": (another_token, [BEGIN]),
    "option": (with_option, [BEGIN]),
}


def opened(tokenizer: Any, **others: Any) -> Any:
    lm = SimpleNamespace(tokenizer=tokenizer, **others)
    leave_texts_open(lm)
    return lm.tokenizer


@pytest.mark.parametrize("name", WAYS)
def test_what_a_tokenizer_appends_is_left_out(name: str, caplog: pytest.LogCaptureFixture) -> None:
    made, begin = WAYS[name]
    tokenizer = made()
    before, bare = tokenizer(TEXT)["input_ids"], tokenizer(TEXT, add_special_tokens=False)["input_ids"]
    changed = opened(tokenizer)
    assert before[-1:] != bare[-1:] and changed(TEXT)["input_ids"] == [*begin, *bare]
    assert changed(ENDED)["input_ids"][-2:] == [
        tokenizer("?", add_special_tokens=False)["input_ids"][0],
        END,
    ]  # which is the text's own
    padded = changed([TEXT, "x"], padding="longest")["input_ids"]
    assert padded[0] == [*begin, *bare] and padded[1].count(changed.pad_token_id) == len(bare) - 1
    assert tokenizer(TEXT)["input_ids"] == before  # somebody else may use it
    (record,) = caplog.records
    assert record.getMessage().startswith("the tokenizer ends each text with ")
    assert opened(changed) is changed


def test_a_tokenizer_in_python() -> None:
    assert opened(ByT5Tokenizer())("a")["input_ids"] == ByT5Tokenizer()("a", add_special_tokens=False)["input_ids"]


def test_what_stays() -> None:
    for tokenizer in (byte_tokenizer(), None, SimpleNamespace(encode=ord)):
        assert opened(tokenizer) is tokenizer
    tokenizer = ended()
    assert opened(tokenizer, backend="seq2seq") is opened(tokenizer, add_bos_token=False) is tokenizer


def test_a_tokenizer_that_appends_whatever_is_set() -> None:
    class Stubborn(ByT5Tokenizer):
        def __call__(self, *args: Any, add_special_tokens: bool = True, **kwargs: Any) -> Any:
            found = super().__call__(*args, add_special_tokens=False, **kwargs)
            return {"input_ids": found["input_ids"] + [END] * add_special_tokens}

    with pytest.raises(EngineError, match="the tokenizer ends each text with </s>, and cannot be kept from it"):
        opened(Stubborn())


PAIRS = [("Kí ni olú ìlú?", " Abuja"), ("Kí ni olú ìlú?", " Èkó"), ("ጥያቄ፦", "መልስ"), ("", "y"), ("x", "y</s>")]
WRITING = {"until": ["\n\n"], "max_gen_toks": MOST}


@pytest.mark.parametrize("engine", ["plain", "tree"])
def test_answers_are_those_of_the_model(engine: str) -> None:
    model, bare = decoder("llama"), byte_tokenizer()
    lm = loaded(model, batch_size=2, tokenizer=ended())
    lm.choose_engine(engine)

    def ids(text: str) -> list[int]:
        return list(bare(text, add_special_tokens=False)["input_ids"])

    expected = [pytest.approx(by_hand(model, [BEGIN, *ids(c)], ids(a)), abs=1e-3) for c, a in PAIRS]
    assert [found[0] for found in lm.loglikelihood(asked(*PAIRS))] == expected
    assert [found[0] for found in lm.loglikelihood(asked(*((*p, {"tokens": True}) for p in PAIRS)))] == expected
    whole = pytest.approx(by_hand(model, [BEGIN], [BEGIN, *ids(TEXT)]), abs=1e-3)  # the harness scores the first
    assert lm.loglikelihood_rolling(asked((TEXT,))) == [whole]
    assert lm.count_tokens(TEXT) == 1 + len(ids(TEXT))
    prompts = [context for context, _ in PAIRS if context]
    for prompt, text in zip(prompts, lm.generate_until(asked(*((p, WRITING) for p in prompts))), strict=True):
        context = torch.tensor([[BEGIN, *ids(prompt)]])
        own = model.generate(context, attention_mask=torch.ones_like(context), max_new_tokens=MOST, do_sample=False)
        written = bare.decode(own[0, context.shape[1] :], skip_special_tokens=True)
        assert text == written.split("\n\n")[0] and text


@pytest.mark.parametrize("engine", ["plain", "tree"])
def test_an_encoder_gets_its_end_and_a_decoder_none(engine: str) -> None:
    model, tokenizer = encoder_decoder("T5"), ended(template("$A </s>"))
    lm = loaded(model, tokenizer=tokenizer)
    lm.choose_engine(engine)

    def expected(context: list[int], answer: list[int]) -> Any:
        return pytest.approx(by_hand(model, context, answer, "seq2seq"), abs=1e-3)

    context, answer, text = (tokenizer(t, add_special_tokens=False)["input_ids"] for t in ("x?", " Abuja", TEXT))
    assert [found[0] for found in lm.loglikelihood(asked(("x?", " Abuja")))] == [expected([*context, END], answer)]
    assert lm.loglikelihood_rolling(asked((TEXT,))) == [expected([lm.prefix_token_id], text)]
