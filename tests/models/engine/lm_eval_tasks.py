"""Task files of lm_eval, of each kind of request, with rows of our own in the place of their data sets."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.models.engine.lm_eval_rows import (
    FACTS,
    Fact,
    Row,
    categorized,
    causes,
    four,
    gap,
    mmlu,
    named,
    pair,
    spans,
    squad,
    sums,
    truths,
)

Make = Callable[[Fact], Row]
AFRO = "afrobench/{}/prompt_1/{}.yaml"
OPTIONS: dict[str, Make] = {  # choices of several tokens
    "hellaswag/hellaswag.yaml": lambda f: {
        "activity_label": f.answer, "ctx_a": f.passage, "ctx_b": f.question, "endings": [*f.options],
        "label": str(f.right),
    },
    "arc/arc_easy.yaml": four,
    "xcopa/default_sw.yaml": causes,
    "truthfulqa/truthfulqa_mc2.yaml": truths,
    "webqs/webqs.yaml": lambda f: {"question": f.question, "answers": [f.answer, f.wrong, f"{f.answer} sosai"]},
    "bigbench/multiple_choice/swahili_english_proverbs.yaml": lambda f: {
        "inputs": f.passage, "targets": [f.answer], "multiple_choice_targets": [*f.options]
    },
    "afrimmlu/direct/prompt_1/afrimmlu_direct_swa.yaml": lambda f: {
        **mmlu(f), "choices": str([*f.options]), "answer": f.letter
    },
    "afrixnli/direct/prompt_1/afrixnli_swa.yaml": pair,
    AFRO.format("sib", "sib_hau"): categorized,
}  # fmt: skip
LETTERS: dict[str, Make] = {
    "mmlu/default/mmlu_astronomy.yaml": mmlu,
    "belebele/belebele_hau_Latn.yaml": lambda f: {
        "flores_passage": f.passage, "question": f.question, "correct_answer_num": str(f.right + 1),
        **named(f, "mc_answer1 mc_answer2 mc_answer3 mc_answer4"),
    },
}  # fmt: skip
CLOZE: dict[str, Make] = {  # one answer; several contexts of one answer; no context; whole texts
    "lambada/lambada_openai.yaml": lambda f: {"text": f"{f.english} {f.passage}"},
    "asdiv/default.yaml": lambda f: {"body": f.passage, "question": f.question, "answer": f"{f.number} (mbuzi)"},
    "arithmetic/arithmetic_1dc.yaml": lambda f: {
        "context": f"Q: What is ({f.number} + 2) * 3? A:", "completion": f" {f.number}"
    },
    "winogrande/default.yaml": gap,
    "xnli/xnli_sw.yaml": pair,
    "blimp/adjunct_island.yaml": lambda f: {"sentence_good": f.passage, "sentence_bad": f.passage[::-1]},
    "wikitext/wikitext.yaml": lambda f: {"page": f" = {f.answer} = \n {f.passage} " * (f.right * 3 + 1)},
    "pile/pile_arxiv.yaml": lambda f: {"text": f"{f.passage} {f.english}"},
}  # fmt: skip
WRITTEN: dict[str, Make] = {
    "gsm8k/gsm8k.yaml": sums,
    "afrimgsm/direct/prompt_1/afrimgsm_swa.yaml": sums,
    "triviaqa/default.yaml": lambda f: {"question": f.question, "answer": {"aliases": [f.answer, f.wrong]}},
    "nq_open/nq_open.yaml": lambda f: {"question": f.question, "answer": [f.answer]},
    "drop/default.yaml": spans,
    "squadv2/squadv2.yaml": squad,
    "truthfulqa/truthfulqa_gen.yaml": truths,
    "bigbench/generate_until/swahili_english_proverbs.yaml": lambda f: {"inputs": f.passage, "targets": [f.answer]},
    "unscramble/anagrams1.yaml": lambda f: {"context": f.answer[::-1], "completion": f.answer},
    AFRO.format("afriqa", "afriqa_hau"): lambda f: {
        "question_lang": f.question, "context": f.english, "answer_pivot": f.answer
    },
    "afrobench/mafand/prompt_1/african-english/mafand_hau-en.yaml": lambda f: {
        "translation": {"hau": f.passage, "en": f.english}
    },
}  # fmt: skip
TASKS = OPTIONS | LETTERS | CLOZE | WRITTEN
NO_SHOTS = ("squadv2/squadv2.yaml", "webqs/webqs.yaml")  # lm_eval fails when it is to write examples of these


class _Splits(dict[str, Any]):
    """The same rows, whatever a split is called."""

    def __init__(self, rows: list[Row]):
        from datasets import Dataset

        self.rows = Dataset.from_list(rows)

    def __missing__(self, split: str) -> Any:
        return self.rows


def task(path: str, rows: int = 3, **changed: Any) -> Any:
    """Returns a task of lm_eval by its file, on rows of ours; `changed` are settings of the file."""
    import datasets
    from lm_eval import tasks
    from lm_eval.tasks._factory import TaskFactory
    from lm_eval.tasks._index import TaskIndex

    rows_of = _Splits([TASKS[path](fact) for fact in FACTS[:rows]])
    entry = TaskIndex.entry_from_path(Path(tasks.__file__).parent / path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(datasets, "load_dataset", lambda *_, **__: rows_of)
        made = TaskFactory().build(entry, overrides=changed or None, registry={})
    if path.startswith("squadv2"):  # whose scores are a metric that would be downloaded
        made.aggregation = lambda: dict.fromkeys(made.higher_is_better(), len)
    return made
