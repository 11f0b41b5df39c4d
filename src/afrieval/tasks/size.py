"""How much there is to run."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Size:
    """What is sent for the cells of a task in a language, and the most that comes back.

    Attributes:
        requests: number of requests; the choices of a question are separate ones.
        prompt_tokens: about how many tokens the prompts have, with choices that are scored.
        answer_tokens: the most tokens that generated answers may have.
    """

    task: str
    language: str
    documents: int
    requests: int
    prompt_tokens: int
    answer_tokens: int
