"""lm_eval's own command line, with the model `hf-tree`; also installed as `lm-eval-tree`.

lm_eval 0.4 takes models of its own package only. Later versions find `hf-tree` by its entry point.
"""

import lm_eval.models  # noqa: F401  (its own models: lm_eval imports them only where there is none)
from lm_eval.__main__ import cli_evaluate
from lm_eval.api.registry import model_registry

NAME = "hf-tree"


def register() -> None:
    """Adds `hf-tree` to lm_eval's models, where it is not there yet; the engine is imported when it is used."""
    if NAME not in model_registry:
        model_registry.register(NAME, target="afrieval.models.engine.tree_lm:TreeLM")


def main() -> None:
    """Runs lm_eval's command line."""
    register()
    cli_evaluate()


if __name__ == "__main__":
    main()
