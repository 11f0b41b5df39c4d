"""Tasks of lm_eval have the same requests, answers and scores with `hf-tree` as with its `hf`, however they are run."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lm_eval.models.huggingface import HFLM
from tests.models.engine.both_ways import apart, both, differences, evaluated, saved
from tests.models.engine.lm_eval_tasks import CLOZE, LETTERS, NO_SHOTS, OPTIONS, TASKS, WRITTEN
from tests.models.engine.test_placed import adapted

from afrieval.models.engine.tree_lm import TreeLM

CHOICES = ["mmlu/default/mmlu_astronomy.yaml", "winogrande/default.yaml", "xnli/xnli_sw.yaml"]
PATHS = [*CHOICES, "wikitext/wikitext.yaml", "triviaqa/default.yaml", "gsm8k/gsm8k.yaml"]
CHAT = {"rows": 3, "num_fewshot": 2, "apply_chat_template": True, "system_instruction": "Jibu."}
LM = {"device": "cpu", "dtype": "float32"}
DRAWN = {"max_gen_toks": 6, "do_sample": True, "temperature": 1.5}
INFORMATION = [{"metric": "acc_mutual_info"}, {"metric": "acc_norm"}]
SPACED = {"target_delimiter": "  ", "metric_list": INFORMATION, "fewshot_delimiter": " \n "}
WAYS: dict[str, dict[str, Any]] = {
    "turns": CHAT | {"fewshot_as_multiturn": True},
    "other prefix": CHAT | {"model_args": {"prefix_token_id": 5}},
    "cut": {"rows": 3, "model_args": {"max_length": 56}, "num_fewshot": 1},
}
OTHERS: dict[str, dict[str, Any]] = {
    "without bos": {"model_args": {"add_bos_token": False}},
    "stops": {"gen_kwargs": {"until": ["a", "\n", "አል"], "max_gen_toks": 20}},
    "examples": {"num_fewshot": 2},
    "one turn": CHAT | {"fewshot_as_multiturn": False},
    "with bos": {"model_args": {"add_bos_token": True}},
    "cut by the tokenizer": {"model_args": {"max_length": 56, "truncation": True}},
    "any batch": {"batch_size": "auto", "max_batch_size": 3, "model_args": {"max_length": 128}},
    "no store of logits": {"model_args": {"logits_cache": False}, "limit": 1},
}


@pytest.mark.parametrize("kind", [OPTIONS, LETTERS, CLOZE, WRITTEN], ids=["options", "letters", "cloze", "written"])
def test_tasks(kind: dict[str, object], folder: Path) -> None:
    assert apart(*both(folder, [*kind], rows=2)) == []


@pytest.mark.models
@pytest.mark.parametrize("kind", ["llama", "gemma3", "falcon", "T5"])
def test_tasks_with_examples(kind: str, tmp_path: Path) -> None:
    paths = [path for path in TASKS if path not in NO_SHOTS]
    assert apart(*both(saved(tmp_path, kind), paths, num_fewshot=2)) == []


@pytest.mark.parametrize("options", WAYS.values(), ids=[*WAYS])
def test_ways(options: dict[str, Any], folder: Path) -> None:
    assert apart(*both(folder, PATHS, **{"rows": 2} | options)) == []


@pytest.mark.models
@pytest.mark.parametrize("options", OTHERS.values(), ids=[*OTHERS])
def test_other_ways(options: dict[str, Any], folder: Path) -> None:
    assert apart(*both(folder, PATHS, **options)) == []


def test_spaces_and_unconditional_answers(folder: Path) -> None:
    paths = ["xcopa/default_sw.yaml", "arc/arc_easy.yaml"]
    theirs, ours = both(folder, paths, num_fewshot=1, changed=SPACED)
    assert apart(theirs, ours) == [] and "acc_mutual_info,none" in ours["results"]["xcopa_sw"]


def test_answers_that_are_drawn(folder: Path) -> None:
    """They are lm_eval's own, with the same seeds."""
    paths = ["gsm8k/gsm8k.yaml", "nq_open/nq_open.yaml"]
    theirs, ours = both(folder, paths, gen_kwargs=DRAWN, changed={"repeats": 2})
    assert apart(theirs, ours) == []
    (row, *_) = ours["samples"]["gsm8k"]
    assert len(row["resps"][0]) == 2 and row["resps"][0][0] != row["resps"][0][1]


def test_a_text_that_is_split_in_two_ways(folder: Path) -> None:
    """lm_eval keeps logits by a text without its last token, and reads a short answer where a long one begins."""
    pairs = [("", "Musa ya tafi kasuwa"), ("Musa ya tafi", " kasuwa"), ("Musa ya", " tafi kasuwa")]
    requests = [SimpleNamespace(args=pair) for pair in pairs]
    theirs = HFLM(str(folder), **LM, logits_cache=False).loglikelihood(requests)
    assert [*differences(theirs, TreeLM(str(folder), **LM, engine="tree").loglikelihood(requests))] == []


def test_an_encoder_decoder(tmp_path: Path) -> None:
    assert apart(*both(saved(tmp_path, "T5"), PATHS, rows=2)) == []


def test_an_adapter(folder: Path, tmp_path: Path) -> None:
    from transformers import AutoModelForCausalLM

    settings = {"task_type": "CAUSAL_LM", "r": 4, "init_lora_weights": False, "target_modules": "all-linear"}
    base = AutoModelForCausalLM.from_pretrained(folder)
    size = base.num_parameters()
    adapted(base, "LoraConfig", **settings).save_pretrained(tmp_path)
    theirs, ours = both(folder, PATHS[::2], rows=2, model_args={"peft": str(tmp_path)})
    assert apart(theirs, ours) == []
    assert ours["config"]["model_num_parameters"] == theirs["config"]["model_num_parameters"] > size


ALONE = {  # tasks whose prompts share less than they have of their own
    "texts": ["wikitext/wikitext.yaml", "lambada/lambada_openai.yaml"],
    "letters": ["mmlu/default/mmlu_astronomy.yaml", "belebele/belebele_hau_Latn.yaml"],
    "written": ["triviaqa/default.yaml", "bigbench/generate_until/swahili_english_proverbs.yaml"],
}


@contextmanager
def counted(lm: Any) -> Iterator[list[int]]:
    """Collects the numbers of tokens of a model's passes."""
    seen: list[int] = []
    layer = lm.model.get_input_embeddings()
    hook = layer.register_forward_hook(lambda module, given, found: seen.append(given[0].numel()))
    yield seen
    hook.remove()


@pytest.mark.parametrize("paths", ALONE.values(), ids=[*ALONE])
def test_no_more_tokens_than_without_the_engine(paths: list[str], folder: Path) -> None:
    """A task that gains nothing costs nothing; lm_eval's batches are of one request, without padding."""
    passed = []
    for kind, words in ((HFLM, {}), (TreeLM, {"engine": "tree"})):
        lm = kind(str(folder), device="cpu", dtype="float32", batch_size=1, **words)
        with counted(lm) as seen:
            evaluated(lm, folder, paths, batch_size=1, rows=2)
        passed.append(sum(seen))
    theirs, ours = passed
    assert 0 < ours <= theirs
