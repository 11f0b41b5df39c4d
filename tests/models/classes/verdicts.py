"""All classes of transformers that the harness can load, and what is known of each: `classes.yaml`.

python -m tests.models.classes.verdicts          writes it again; the table of numbers goes to standard output
"""

import random
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from tests.models.classes.tiny import config, model
from tests.models.engine.asked import Request, named, tokens
from tests.models.engine.written import generated, text
from tests.models.shapes import by_hand, loaded

from afrieval.models.engine.likelihood import encoder_decoder_loglikelihoods, loglikelihoods
from afrieval.models.engine.packs import Packs
from afrieval.models.engine.support import objection, obstacle

PACKS = (37, 150, 512)
LONG, SEED = 150, 3
ENGINE = "engine"


def requests() -> list[Request]:
    """Returns requests of up to 330 tokens that branch at all depths; some are short."""
    draw = random.Random(SEED)
    head, pairs = tokens(draw, LONG), []
    for examples in (tokens(draw, 130), tokens(draw, 40), []):
        for length in (45, 3):
            context = head + examples + tokens(draw, length)
            begun = tokens(draw, 2)
            pairs += [(context, answer) for answer in (begun + tokens(draw, 1), begun + tokens(draw, 5))]
    pairs += [(head[:100] + tokens(draw, 30), tokens(draw, 1)), (head[:-9], head[-9:-7]), (tokens(draw, 7), [9, 5])]
    return named(pairs)


def farthest(some: list[float], others: list[float]) -> float:
    """Returns the largest difference, of long likelihoods as a share of a hundredth of them."""
    pairs = list(zip(some, others, strict=True))
    return max(abs(a - b) / max(1.0, abs(a) / 100) if a == a and b == b else float("inf") for a, b in pairs)


def values(answers: Any) -> list[float]:
    return [float(answer[0]) for answer in answers]


def packed(lm: Any, asked: list[Request], pack: int) -> list[float]:
    """Returns likelihoods by the engine, whatever was decided for the model."""
    score = loglikelihoods if lm.backend == "causal" else encoder_decoder_loglikelihoods
    return values(score(lm, asked, Packs(pack), lambda i, answer: None))


@dataclass(frozen=True)
class Found:
    """What a class is found to do.

    Attributes:
        verdict: `engine` and how its attention is computed if the model is given to it when it is loaded, else why not,
            without numbers.
        error: largest difference of the engine from the harness' way, if the model is given to it.
        plain: largest difference of the harness' way from the bare model, one text at a time.
        padded: the same of its batches.
        written: whether the engine writes what the harness writes, if the model is given to it.
    """

    verdict: str
    error: float | None = None
    plain: float | None = None
    padded: float | None = None
    written: bool | None = None


def found(model: Any, backend: str) -> Found:
    """Tries a model as a run would load it, and then with longer prompts."""
    lm, asked = loaded(model, backend=backend), requests()
    lm.choose_engine("auto")
    try:
        bare = [by_hand(lm.model, context, answer, backend) for _, context, answer in asked]
        given, together = (values(lm.plain(asked, n)) for n in (1, len(asked)))
    except (ValueError, RuntimeError, AttributeError) as e:
        return Found(f"cannot be scored by the harness: {type(e).__name__}")
    apart = farthest(bare, given), farthest(bare, together)
    if lm.engine == "plain":
        return Found(reason(lm), None, *apart)
    how = {"causal": f", {lm.attention}"}.get(backend, "")
    error = max(farthest(given, packed(lm, asked, pack)) for pack in PACKS)
    return Found(ENGINE + how, error, *apart, written=backend != "causal" or writes_the_same(lm))


def writes_the_same(lm: Any) -> bool:
    """Returns whether a decoder goes on with the same tokens both ways, after prompts longer than its windows."""
    draw = random.Random(SEED)
    head = text(draw, LONG)
    prompts = [*(head + text(draw, n) for n in (1, 30, 90)), head[:70] + text(draw, 9), text(draw, 6)]
    expected = generated(lm, prompts, "plain")
    lm.slots = 3
    return generated(lm, prompts, "tree") == expected


def reason(lm: Any) -> str:
    """Returns why a model is left to the harness, without what changes with versions and machines."""
    said = obstacle(lm.model, lm.backend, lm.attention) or objection(lm) or ENGINE
    return re.sub(r"^gives .*|^differs by .*", "answers differently", re.sub(r" \(.*| in transformers .*", "", said))


PATH = Path(__file__).with_name("classes.yaml")
NOT_BUILT = "not built: "
ENOUGH = 6_000_000  # parameters of a model that is built within a second


def mapped() -> dict[str, dict[str, str]]:
    """Returns the classes that transformers loads, by backend and kind of model."""
    from transformers.models.auto import modeling_auto as auto

    return {
        "causal": dict(auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES),
        "seq2seq": dict(auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES),
    }


def known() -> dict[str, dict[str, str]]:
    """Returns the verdicts that were found before, as `mapped` has classes."""
    verdicts: dict[str, dict[str, str]] = yaml.safe_load(PATH.read_text(encoding="utf-8"))
    return verdicts


def tried(backend: str, kind: str) -> Found:
    """Returns what the class of a kind of model does in small; says so if there is no such model."""
    try:
        small: Any = model(mapped()[backend][kind], config(kind), most=ENOUGH)
    except Exception as e:  # each kind fails in its own way
        return Found(f"{NOT_BUILT}{type(e).__name__}: {' '.join(str(e).split())[:80]}")
    return found(small, backend)


def written(verdicts: dict[str, dict[str, str]]) -> None:
    """Writes `classes.yaml`."""
    head = (
        "# Written by `python -m tests.models.classes.verdicts`: what becomes of each class that transformers loads.\n"
    )
    PATH.write_text(head + yaml.safe_dump(verdicts, width=200), encoding="utf-8")


def main() -> None:
    """Tries all classes, which takes some minutes."""
    verdicts: dict[str, dict[str, str]] = {}
    for backend, kinds in mapped().items():
        for kind in kinds:
            one = tried(backend, kind)
            verdicts.setdefault(backend, {})[kind] = one.verdict
            numbers = ("-" if number is None else f"{number:.0e}" for number in (one.error, one.plain, one.padded))
            print(backend, kind, one.verdict, *numbers, sep="\t", flush=True)
    written(verdicts)


if __name__ == "__main__":
    main()
