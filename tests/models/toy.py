"""A backend in a few lines: the longest answer is the likeliest."""

from typing import Any

from lm_eval.api.model import LM

from afrieval.config.settings import EvalConfig, ModelConfig
from afrieval.models.backends.harness import NamedModel
from afrieval.models.base import Capabilities
from afrieval.models.processes import Processes

CAN = Capabilities(rolling=False, generate=False, chat=None, count_tokens=False)


class Toy(NamedModel, LM):
    can = CAN
    max_length = 1000
    names = ("toy",)

    def loglikelihood(self, requests: list[Any], disable_tqdm: bool = False) -> list[tuple[float, bool]]:
        return [(float(len(request.args[1])) - 1000, False) for request in requests]

    def loglikelihood_rolling(self, requests: list[Any], disable_tqdm: bool = False) -> list[Any]:
        raise NotImplementedError

    def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
        raise NotImplementedError


def load(config: ModelConfig, evaluation: EvalConfig, processes: Processes) -> Toy:
    return Toy()
