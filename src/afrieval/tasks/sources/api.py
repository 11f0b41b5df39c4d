"""The metrics of models behind an OpenAI-compatible server, which mark refusals and see only some first tokens."""

from collections.abc import Sequence

from afrieval.config.settings import ModelConfig
from afrieval.scoring.base import Metric
from afrieval.scoring.metrics.refused import refused
from afrieval.scoring.metrics.unparsed import unparsed
from afrieval.tasks.presets import by_likelihood


def metrics_of_api(found: Sequence[Metric], model: ModelConfig, answer_form: str) -> list[Metric]:
    """Returns the metrics of a model behind a server.

    Args:
        found: those of the task that apply to the answer form.
        model: the model's settings.
        answer_form: `text`, `letter` or `generate`.
    """
    if not by_likelihood(answer_form):
        return [*found, refused()]
    if model.api.endpoint != "chat":
        return list(found)
    # Letters that are not among the first tokens have no likelihoods to compare with those after neutral prompts.
    return [*(metric for metric in found if not metric.calibrated), unparsed(likelihoods=True)]
