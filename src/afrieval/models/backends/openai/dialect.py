"""What a server understands: parameters that it refuses are replaced or left out from then on."""

import logging
import re
from typing import Any

from afrieval.models.backends.openai.failure import Failure

log = logging.getLogger("afrieval")
Payload = dict[str, Any]

LIMITS = ("max_tokens", "max_completion_tokens")
DROPPED = ("temperature", "seed", "stop")  # sent by default, and not needed by all models
REFUSED = (400, 422)  # statuses


class Dialect:
    """The parameters of a server's requests.

    Args:
        limit: the parameter that limits the length of answers, one of `LIMITS`.
    """

    def __init__(self, limit: str):
        self._limit, self._switched = limit, False
        self._dropped: set[str] = set()

    def spoken(self, payload: Payload) -> Payload:
        """Returns a request as the server understands it; its limit is called `max_tokens` before."""
        kept = {name: value for name, value in payload.items() if name not in self._dropped}
        return {self._limit if name == LIMITS[0] else name: value for name, value in kept.items()}

    def learns(self, failure: Failure, sent: Payload, payload: Payload) -> bool:
        """Returns whether a refused request would be sent in another form now, and remembers what was refused.

        Args:
            failure: the server's answer.
            sent: the refused request, as it was sent.
            payload: the same before it was translated.
        """
        if failure.status not in REFUSED:
            return False
        if self.spoken(payload) == sent:  # else another request has learned it in the meantime
            self._learn(failure, sent)
        return self.spoken(payload) != sent

    def _learn(self, failure: Failure, sent: Payload) -> None:
        named = failure.param or failure.said
        if self._limit in sent and not self._switched and _names(named, self._limit):
            self._switched, refused = True, self._limit
            self._limit = LIMITS[1 - LIMITS.index(self._limit)]
            return log.warning("the server refuses %s; %s is sent instead", refused, self._limit)
        for name in DROPPED:
            if name in sent and _names(named, name):
                self._dropped.add(name)
                return log.warning("the server refuses %s, which is left out", name)


def _names(text: str, parameter: str) -> bool:
    return bool(re.search(rf"(?<![a-z_]){parameter}(?![a-z_])", text))
