"""The share of answers that cannot be parsed."""

from afrieval.scoring.base import Metric, Question, Response


def unparsed(likelihoods: bool = False) -> Metric:
    """Returns the share of answers in which the extractor found nothing.

    Args:
        likelihoods: whether to measure answers by likelihood instead of generated ones: the share of questions
            none of whose choices is among the tokens that a server returns.
    """

    def measure(response: Response, question: Question) -> list[float] | None:
        if bool(response.likelihoods) != likelihoods:
            return None
        return [float(response.answer is None and not response.refused)]

    return Metric("unparsed", measure, higher_is_better=False)
