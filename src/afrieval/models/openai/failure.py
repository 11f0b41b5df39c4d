"""Failures of requests: what the server said, whether to ask again, and which parameters it refuses."""

import email.utils
import logging
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from afrieval._util.errors import UserError
from afrieval.models.chat_template import without_system_turn
from afrieval.models.load_errors import GOES_ON, TOO_LONG_CURE, is_too_long
from afrieval.scoring.labels import TOO_LONG

AGAIN = (408, 409, 425, 429)  # and all of 500 and above
LONGEST_WAIT = 600.0  # seconds that a server may ask to wait; beyond, it has a quota per hour or day
CHECK = "check that model.api.base_url is the address of an OpenAI-compatible server"
KEY = "check the key in the environment (model.api.key_env names its variable)"
CURES: dict[int, str] = {
    HTTPStatus.BAD_REQUEST: "change the setting that the server names",
    HTTPStatus.UNAUTHORIZED: KEY,
    HTTPStatus.FORBIDDEN: f"{KEY} and its rights to this model",
    HTTPStatus.NOT_FOUND: "check model.api.base_url and model.model_name",
    HTTPStatus.TOO_MANY_REQUESTS: "wait, or give a smaller --model.api.max_concurrency",
    HTTPStatus.PAYMENT_REQUIRED: "add credit to the account",
}
FILTERED = ("content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation", "invalid_prompt")
NO_QUOTA = ("insufficient_quota", "billing_hard_limit_reached")


@dataclass(eq=False)
class Failure(Exception):
    """A request without a usable answer.

    Attributes:
        message: what went wrong, in one line without the key.
        status: HTTP status; 0 if there was none.
        code: the server's code of the error.
        param: the parameter that the server names.
        wait: seconds that the server asks to wait; None if it does not.
        hint: what the user can do, if the status does not say.
        may_cost: whether the server may have charged for it.
        slow_down: whether fewer requests at a time may help.
        unreachable: whether no connection was made.
        final: whether the same request would fail again.
    """

    message: str
    status: int = 0
    code: str = ""
    param: str = ""
    wait: float | None = None
    hint: str = ""
    may_cost: bool = False
    slow_down: bool = False
    unreachable: bool = False
    final: bool = False

    @property
    def passes(self) -> bool:
        """Whether the same request may succeed later."""
        if self.final or self.too_long or self.code in NO_QUOTA or (self.wait or 0) > LONGEST_WAIT:
            return False
        return not 0 < self.status < 500 or self.status in AGAIN

    @property
    def filtered(self) -> bool:
        """Whether a content filter rejected the prompt, which is an answer."""
        return self.status in (HTTPStatus.BAD_REQUEST, HTTPStatus.FORBIDDEN) and self.code in FILTERED

    @property
    def too_long(self) -> bool:
        """Whether the prompt, or prompt and answer, are longer than the model's context; others may be shorter."""
        return (self.status in UNSUITABLE or self.status >= 500) and is_too_long(f"{self.code} {self.message}")

    @property
    def response(self) -> dict[str, Any]:
        """A rejected prompt as a response: one that refuses, or one without an answer."""
        message = {"content": ""} if self.too_long else {"refusal": self.message}
        return {"choices": [{"message": message, "finish_reason": TOO_LONG if self.too_long else FILTERED[0]}]}

    def __str__(self) -> str:
        """Returns the failure in words, as the server tells it."""
        return f"status {self.status}: {self.message}" if self.status else f"the server {self.message}"

    def error(self, address: str) -> UserError:
        """Returns the error to show."""
        hint = self.hint or (TOO_LONG_CURE if self.too_long else CURES.get(self.status, "check the server's log"))
        if self.code in NO_QUOTA:
            hint = CURES[HTTPStatus.PAYMENT_REQUIRED]
        elif (self.wait or 0) > LONGEST_WAIT:
            hint = f"wait {self.wait:.0f} seconds, as the server asks"
        status = f"returned status {self.status}: " if self.status else ""
        return UserError(f"{address} {status}{self.message}", f"{hint}; {GOES_ON}")


def valid(text: str) -> str:
    """Returns a text without halves of characters, which JSON may have and files may not."""
    return text.encode(errors="replace").decode()


def seconds_to_wait(headers: Mapping[str, str]) -> float | None:
    """Returns how long a server asks to wait: in seconds or milliseconds, or until a date; None if it does not."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            return max(0.0, float(headers.get(name, "")) * unit)
        except ValueError:
            continue
    until, date = _date(headers.get("retry-after", "")), _date(headers.get("date", ""))
    return None if until is None else max(0.0, until - (time.time() if date is None else date))


def _date(text: str) -> float | None:
    """Returns the seconds of a date in a header, by the server's clock: the one of this machine may be wrong."""
    try:
        return email.utils.parsedate_to_datetime(text).timestamp()
    except ValueError:
        return None


log = logging.getLogger("afrieval")
Payload = dict[str, Any]

LIMITS = ("max_tokens", "max_completion_tokens")
DROPPED = ("temperature", "seed", "stop")  # sent by default, and not needed by all models
UNSUITABLE = (400, 413, 422)  # statuses of requests that the server rejects
# How a server, or a proxy before it that says so with status 500, rejects something.
REFUSAL = re.compile(
    r"not? [\w ]*(support|allow|permit|recogni|enabled)|un(support|expect|known|recogni)|invalid|must ", re.I
)
NO_SYSTEM = re.compile(r"\bsystem\b|developer instruction|roles? must alternate|only [\W\w]*user[\W\w]* roles?", re.I)


class Dialect:
    """What a server's requests look like; `limit`, one of `LIMITS`, is the parameter for the length of answers."""

    def __init__(self, limit: str):
        self._limit, self._switched, self._takes_system_turn = limit, False, True
        self._dropped: set[str] = set()

    def spoken(self, payload: Payload) -> Payload:
        """Returns a request as the server understands it; its limit is called `max_tokens` before."""
        request = {name: value for name, value in payload.items() if name not in self._dropped}
        if not self._takes_system_turn and _has_system_turn(request):
            request["messages"] = without_system_turn(request["messages"])
        return {self._limit if name == LIMITS[0] else name: value for name, value in request.items()}

    def learns(self, failure: Failure, sent: Payload, payload: Payload) -> bool:
        """Returns whether a request, refused as it was `sent`, has another form now, and remembers what was refused."""
        refuses = failure.status in UNSUITABLE or (failure.status >= 500 and REFUSAL.search(failure.message))
        if not refuses or failure.too_long:
            return False
        if self.spoken(payload) == sent:  # else another request has learned it in the meantime
            self._learn(failure, sent)
        return self.spoken(payload) != sent

    def _learn(self, failure: Failure, sent: Payload) -> None:
        named = failure.param if any(_names(failure.param, name) for name in sent) else failure.message
        if self._limit in sent and not self._switched and _names(named, self._limit):
            self._switched, refused = True, self._limit
            self._limit = LIMITS[1 - LIMITS.index(self._limit)]
            return log.warning("the server refuses %s; %s is sent instead", refused, self._limit)
        for name in DROPPED:
            if name in sent and _names(named, name):
                self._dropped.add(name)
                return log.warning("the server refuses %s, which is left out", name)
        if _has_system_turn(sent) and NO_SYSTEM.search(f"{failure.param} {failure.message}"):
            self._takes_system_turn = False
            log.warning("the server refuses system turns; their text is sent at the beginning of the user's first turn")


def _has_system_turn(payload: Payload) -> bool:
    turns = payload.get("messages", [])
    return len(turns) > 1 and turns[0]["role"] == "system"


def _names(text: str, parameter: str) -> bool:
    """Returns whether a text has the name of a parameter, in any spelling: max_tokens, `max tokens`, maxTokens."""
    spelled = re.escape(parameter).replace("_", "[ _]?")
    return bool(re.search(rf"(?<![a-z_]){spelled}(?:_?sequences)?(?![a-z_])", text, re.I))
