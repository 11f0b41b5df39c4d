"""Checks that each model of configs/models is on the Hugging Face hub under its name.

    python scripts/models_exist.py

Exit code 1 means that a model is gone. A token is optional: gated models exist, too.
"""

import sys
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlsplit

import yaml
from huggingface_hub import HfApi
from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError

MODELS = Path(__file__).parents[1] / "configs/models"
HERE = ("localhost", "127.0.0.1")  # servers that are started with a name of the hub
GONE = "gone"


def hub_names(paths: Iterable[Path]) -> dict[str, list[str]]:
    """Returns each name of a model or tokenizer on the hub, and the files that have it."""
    found: dict[str, list[str]] = {}
    for path in paths:
        config = yaml.safe_load(path.read_text(encoding="utf-8"))
        server = urlsplit((config.get("api") or {}).get("base_url") or "").hostname
        if config.get("model_type", "hf") not in ("hf", "vllm") and server not in HERE:
            continue  # a name at a provider
        for name in (config["model_name"], (config.get("backend_args") or {}).get("tokenizer")):
            if name and name.count("/") == 1:
                found.setdefault(name, []).append(path.name)
    return found


def status(name: str, api: HfApi) -> str:
    """Returns `ok`, `gated`, `gone`, or the name that a model has now; both names lead to it."""
    try:
        info = api.model_info(name)
    except GatedRepoError:
        return "gated"
    except RepositoryNotFoundError:
        return GONE
    return f"now {info.id}" if info.id != name else "gated" if info.gated else "ok"


def main(api: HfApi | None = None, folder: Path = MODELS) -> int:
    """Prints a line for each name, and returns the exit code."""
    names = hub_names(sorted(folder.glob("*.yaml")))
    found = {name: status(name, api or HfApi()) for name in names}
    width = max(map(len, names), default=0)
    for name, files in names.items():
        print(f"{name:<{width}}  {found[name]:<6}  {', '.join(files)}")
    gone = [name for name, of in found.items() if of == GONE]
    print(f"{len(names)} names, {len(gone)} gone{': ' if gone else ''}{', '.join(gone)}")
    return int(bool(gone))


if __name__ == "__main__":
    sys.exit(main())
