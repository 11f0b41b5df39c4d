"""Options of `afrieval llama`."""

from dataclasses import dataclass
from typing import Annotated

from afrieval.config.options import RunOptions, Word


@dataclass(frozen=True)
class LlamaCommand(RunOptions):
    """Runs Meta's published Llama 3.1 and 3.2 evaluations.

    FILE has the keys of Meta's recipe, such as configs/llama/eval_config.yaml, which explains each of them. Options
    beat the file.

    Examples:
        afrieval llama configs/llama/eval_config.yaml
        afrieval llama configs/llama/eval_config.yaml --eval.limit 10 --model.model_name FOLDER
        afrieval llama configs/llama/eval_config.yaml --print-command
    """

    file: Annotated[str, Word("FILE")]
    """YAML file with the keys of Meta's recipe."""
    print_command: bool = False
    """Run nothing. Write task files to the work_dir of FILE, and print the lm_eval command that evaluates them in the
    same way. The package afrieval must be installed where that command runs."""
