"""How many tokens one tree over a whole task would save, where each cell has its own: python bench/whole_tasks.py

Counts distinct beginnings of the token sequences that IrokoBench's multiple-choice tasks ask for, without a model.
Needs the data in the folder AFRIEVAL_DATA.
"""

import argparse
import os
from itertools import product

import numpy as np
from engine_cases import FORMS, Listener
from engine_model import SHAPES, english, random_model, tokenizer

from afrieval.config.settings import AnswerForm, DataConfig, EvalConfig, RunConfig, TaskConfig
from afrieval.models.backends.hf import HF
from afrieval.models.engine.tree import build_tree
from afrieval.tasks.cells.plan import declared_cells

TASKS, SHOTS = ("afrimmlu", "afrixnli"), (0, 5)
Sequences = dict[tuple[int, ...], list[int]]  # the answer's tokens by those of the whole request


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--languages", default="all", help="codes with commas between")
    parser.add_argument("--limit", type=int, help="documents of each language")
    args = parser.parse_args()
    data = os.environ["AFRIEVAL_DATA"]
    lm = HF(
        pretrained=random_model(SHAPES["tiny"], "cpu", "float32"),
        tokenizer=tokenizer(english(data), 16_384),
        device="cpu",
    )
    print(
        "| task | shots | answers | cells | tokens, a tree per cell | per language | per task |",
        "| --- " * 7 + "|",
        sep="\n",
    )
    for task, shots, form in product(TASKS, SHOTS, FORMS):
        cells = of_cells(lm, data, task, shots, form, args.languages, args.limit)
        by_language: dict[str, Sequences] = {}
        for language, sequences in cells:
            by_language.setdefault(language, {}).update(sequences)
        whole = {key: answer for _, sequences in cells for key, answer in sequences.items()}
        apart = sum(tokens(sequences) for _, sequences in cells)
        shares = [sum(map(tokens, by_language.values())) / apart - 1, tokens(whole) / apart - 1]
        print(
            f"| {task} | {shots} | {form} | {len(cells)} | {apart:,} |",
            *(f"{share:+.1%} |" for share in shares),
            flush=True,
        )


def of_cells(
    lm: HF, data: str, task: str, shots: int, form: AnswerForm, languages: str, limit: int | None
) -> list[tuple[str, Sequences]]:
    """Returns the language of each cell and its requests that no cell before has asked, as those are stored."""
    config = RunConfig(
        task=TaskConfig(task_name=task, languages=languages.split(","), prompt_language="both", answer_form=form),
        eval=EvalConfig(num_fewshot=shots, limit=limit),
        data=DataConfig(source=data),
    )
    asked: set[tuple[int, ...]] = set()
    found = []
    for cell in declared_cells(config)[0]:
        listener = Listener(lm)
        cell.run(listener)
        sequences: Sequences = {}
        texts = [r.args[:2] for r in listener.asked["loglikelihood"]]
        with lm.tokenized_at_once([text for c, a in texts for text in (c.rstrip(), c + a)]):
            for pair in texts:
                context, answer = lm._encode_pair(*pair)
                sequences[(*context, *answer)] = answer
        found.append((cell.language, {key: answer for key, answer in sequences.items() if key not in asked}))
        asked |= sequences.keys()
    return found


def tokens(sequences: Sequences) -> int:
    """Returns how many tokens a tree of requests has."""
    if not sequences:
        return 0
    return len(build_tree([np.array(key[:-1], np.int32) for key in sequences], [*sequences.values()]).tokens)


if __name__ == "__main__":
    main()
