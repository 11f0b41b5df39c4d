"""Texts reach the engine as the tokens that the harness scores."""

from typing import Any

import pytest
from tests.models.engine.asked import distance
from tests.models.shapes import asked, decoder, encoder_decoder, loaded, merging

from afrieval._util.errors import UserError
from afrieval.models.engine.packs import Packs
from afrieval.models.engine.tree_lm import portions

TEXTS = [
    ("Kí ni olú ìlú Nàìjíríà?", " Abuja"),
    ("Kí ni olú ìlú Nàìjíríà?", " Èkó"),
    ("Kí ni olú ìlú Nàìjíríà? ", "Abuja"),
    ("<s>Kí ni olú ìlú Nàìjíríà?", " Èkó"),
    ("ጥያቄ\n\n", "መልስ"),
    ("", "Abuja"),
    ("x", "y"),
]


def noted(lm: Any) -> list[Any]:
    """Returns a list that fills with the requests that are scored."""
    seen, score = list[Any](), lm._loglikelihood_tokens

    def note(requests: list[Any], **kwargs: Any) -> Any:
        seen.extend((texts, [*context], [*answer]) for texts, context, answer in requests)
        return score(requests, **kwargs)

    lm._loglikelihood_tokens = note
    return seen


def as_tree(lm: Any) -> Any:
    lm.engine, lm.packs = "tree", Packs(16)
    return lm


@pytest.mark.parametrize("bos", [True, False, None])
def test_texts_become_the_tokens_of_the_harness(bos: bool | None) -> None:
    model, answers, tokens = decoder("llama"), [], []
    for lm in (loaded(model, add_bos_token=bos), as_tree(loaded(model, add_bos_token=bos))):
        tokens.append(noted(lm))
        answers.append(lm.loglikelihood(asked(*TEXTS), disable_tqdm=True))
    assert tokens[0] == tokens[1]
    assert distance(*answers) <= 1e-4 and [a[1:] for a in answers[0]] == [a[1:] for a in answers[1]]
    begins = [context[0] == 0 for (context_text, _), context, _ in tokens[0] if context_text]
    assert all(begins) if bos in (True, None) else begins == [text.startswith("<s>") for text, _ in TEXTS if text]
    assert tokens[0][0][2] == [lm.tokenizer.convert_tokens_to_ids(c) for c in "ĠAbuja"], "a space is the answer's"


def test_an_encoder_decoder_gets_the_tokens_of_the_harness() -> None:
    model, answers, tokens = encoder_decoder("T5"), [], []
    for lm in (loaded(model), as_tree(loaded(model))):
        tokens.append(noted(lm))
        answers.append(lm.loglikelihood(asked(*TEXTS), disable_tqdm=True))
    assert tokens[0] == tokens[1]
    assert distance(*answers) <= 1e-4


@pytest.mark.parametrize("portion", [1, 60, 10**6])
def test_many_requests_are_tokenized_in_portions(monkeypatch: pytest.MonkeyPatch, portion: int) -> None:
    lm = as_tree(loaded(decoder("llama")))
    expected = lm.loglikelihood(asked(*TEXTS), disable_tqdm=True)
    monkeypatch.setattr("afrieval.models.engine.tree_lm.PORTION", portion)
    parts = list(portions(asked(*TEXTS), portion))
    assert [request.args for part in parts for request in part] == TEXTS
    assert all(len(part) == 1 or sum(len(c + a) for c, a in (r.args for r in part)) <= portion for part in parts)
    assert len(parts) == {1: 7, 60: 3}.get(portion, 1)
    assert distance(expected, lm.loglikelihood(asked(*TEXTS), disable_tqdm=True)) <= 1e-4


@pytest.mark.parametrize("batch_size", [3, "auto"])
def test_whole_texts_are_scored_window_by_window(batch_size: int | str) -> None:
    model = decoder("gemma2")
    texts = asked(*[("Kí ni olú ìlú Nàìjíríà? " * n,) for n in (1, 2, 9, 20)], ("x",))
    plain, tree = loaded(model, max_length=64), as_tree(loaded(model, batch_size, max_length=64))
    seen = noted(tree)
    expected = plain.loglikelihood_rolling(texts, disable_tqdm=True)
    assert tree.loglikelihood_rolling(texts, disable_tqdm=True) == pytest.approx(expected, abs=1e-3)
    assert len(seen) > 2 * len(texts), "windows"
    assert tree.batch_size_per_gpu == batch_size


def test_an_answer_that_is_merged_into_the_prompt_keeps_a_token() -> None:
    lm = loaded(decoder("llama"))
    lm.tokenizer = merging()
    seen = noted(lm)
    lm.loglikelihood(asked(("Q: who?\nA", ":"), ("Q: who?\nA", " who")))
    assert [lm.tokenizer.decode(answer) for *_, answer in seen] == [":", " who"]


@pytest.mark.parametrize("engine", ["plain", "tree"])
@pytest.mark.parametrize(("text", "what"), [(("Kí ni?", ""), "answer"), ((" ", "a"), "prompt")])
def test_what_has_no_tokens_has_no_likelihood(engine: str, text: tuple[str, str], what: str) -> None:
    lm = loaded(decoder("llama"), add_bos_token=False)
    lm.engine = engine
    with pytest.raises(UserError, match=f"returns no token for the {what} in"):
        lm.loglikelihood(asked(text), disable_tqdm=True)
