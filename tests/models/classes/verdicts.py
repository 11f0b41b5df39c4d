"""All classes of transformers that the harness can load, and what is known of each: `classes.yaml`.

python -m tests.models.classes.verdicts          writes it again; the table of numbers goes to standard output
"""

from pathlib import Path
from typing import Any

import yaml
from tests.models.classes.thorough import Found, found
from tests.models.classes.tiny import config, model

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
