"""What is timed: requests as `afrieval run` makes them from real data, and the work that they cannot do without."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from engine_model import Shape, random_model
from lm_eval.api.model import LM

from afrieval.config.settings import AnswerForm, DataConfig, EvalConfig, ModelConfig, RunConfig, TaskConfig
from afrieval.models.engine.tree import build_tree
from afrieval.tasks.cells.plan import declared_cells


@dataclass(frozen=True)
class Case:
    """A cell to time.

    Attributes:
        longest: the tokens that an answer may have, as in a chain of thought; the model ends most of them earlier. 0 if
            all have as many as the task allows.
        chat: whether prompts are chats, of models that have a template for them.
    """

    task: str
    language: str
    shots: int
    form: AnswerForm
    longest: int = 0
    chat: bool = False

    @property
    def title(self) -> str:
        names = {"text": "option texts", "letter": "letters", "generate": "generated"}
        return f"{self.task} {self.language}, {self.shots}-shot, {names[self.form]}" + ", any length" * bool(
            self.longest
        )


FORMS: tuple[AnswerForm, ...] = ("text", "letter")
CASES = [
    *(Case("afrimmlu", code, shots, form) for shots in (0, 5) for form in FORMS for code in ("yor", "amh")),
    Case("belebele", "amh", 0, "letter"),
    Case("afrixnli", "yor", 5, "text"),
    Case("afrimgsm", "yor", 8, "generate"),
    Case("afrimgsm", "yor", 8, "generate", longest=256),
    Case("marco_ifeval", "eng", 0, "generate", longest=2048, chat=True),
]


class Listener(LM):
    """Answers nothing and keeps what it is asked."""

    def __init__(self, lm: Any):
        super().__init__()
        self._lm = lm
        self.asked: dict[str, list[Any]] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._lm, name)

    def loglikelihood(self, requests: list[Any], disable_tqdm: bool = True) -> list[Any]:
        self.asked["loglikelihood"] = requests
        return [(0.0, False, 1)] * len(requests)

    def generate_until(self, requests: list[Any], disable_tqdm: bool = True) -> list[Any]:
        self.asked["generate_until"] = requests
        return [""] * len(requests)

    def apply_chat_template(self, *args: Any, **kwargs: Any) -> str:
        return str(self._lm.apply_chat_template(*args, **kwargs))

    def loglikelihood_rolling(self, requests: list[Any], disable_tqdm: bool = True) -> list[Any]:
        raise NotImplementedError


def requests(case: Case, lm: Any, data: str, limit: int) -> tuple[str, list[list[Any]], list[int]]:
    """Returns the method of the model that a cell calls, the arguments of each request, and its document or -1."""
    config = RunConfig(
        task=TaskConfig(task_name=case.task, languages=[case.language], prompts=[1], answer_form=case.form),
        eval=EvalConfig(num_fewshot=0 if case.form == "generate" else case.shots, limit=limit),
        data=DataConfig(source=data),
        model=ModelConfig(chat_template=case.chat and bool(lm.tokenizer.chat_template)),
    )
    cell = declared_cells(config)[0][0]
    if case.form == "generate":  # the few-shot split is not in every copy of the data: other documents stand in
        others = cell.data._replace(documents=cell.data.documents[limit:])
        cell = replace(cell, pool=others, settings=replace(cell.settings, shots=case.shots))
    listener = Listener(lm)
    cell.run(listener)
    ((method, asked),) = listener.asked.items()
    longest = {"max_gen_toks": case.longest} if case.longest else {}
    arguments = [[r.args[0], r.args[1] | longest if longest else r.args[1]] for r in asked]
    return method, arguments, [r.doc_id for r in asked]


@dataclass(frozen=True)
class Work:
    """What a cell cannot do without, however it is computed.

    Attributes:
        tokens: different beginnings of the token sequences, each run once.
        flops: 2 x parameters x tokens.
        least: 2 x parameters of the layers x tokens, the output matrix where something is read from it, and attention
            from each token to those before it.
    """

    tokens: int
    flops: float
    least: float


def needed_work(lm: Any, shape: Shape, method: str, asked: list[list[Any]], answers: list[Any]) -> Work:
    """Returns what requests cannot do without, however they are computed.

    Args:
        lm: any of the harness' models with the tokenizer.
        shape: of the model that computes.
        method: `loglikelihood` or `generate_until`.
        asked: the arguments of the requests.
        answers: what they were answered.
    """
    if method == "loglikelihood":
        pairs = [lm._encode_pair(*args) for args in asked]
    else:
        texts = [(args[0], answer) for args, answer in zip(asked, answers, strict=True)]
        pairs = [(lm.tok_encode(c), lm.tok_encode(a, add_special_tokens=False) or [0]) for c, a in texts]
    return work(shape, [(c + a)[:-1] for c, a in pairs], [a for _, a in pairs])


def work(shape: Shape, sequences: list[list[int]], answers: list[list[int]]) -> Work:
    """Returns the work of some sequences; answers are what is asked for at their last tokens."""
    tree = build_tree(sequences, answers)
    n, head = len(tree.tokens), shape.vocabulary * shape.hidden
    parameters = sum(p.numel() for p in random_model(shape, "meta", "float32").parameters())
    layers = parameters - head * (1 if shape.tied else 2)
    attention = 4 * shape.hidden * shape.layers * float((tree.depth + 1).sum())
    least = 2 * layers * n + 2 * head * len(np.unique(tree.scored)) + attention
    return Work(n, 2.0 * parameters * n, least)
