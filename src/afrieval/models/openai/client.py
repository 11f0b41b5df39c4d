"""Sends one request with OpenAI's client, and explains what fails; the key is in no message and in no answer."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import httpx2
from openai import (
    APIConnectionError,
    APIError,
    APIStatusError,
    APITimeoutError,
    AsyncOpenAI,
    DefaultAsyncHttpxClient,
    Omit,
)

from afrieval.config.api_settings import APIConfig
from afrieval.models.load_errors import LONGEST
from afrieval.models.openai.failure import CHECK, FILTERED, NO_QUOTA, Failure, seconds_to_wait, valid
from afrieval.models.openai.settings import address, is_here, is_openai, key_of, without_key

OVERLOADED = (429, 503, 529)
CONNECT = 10.0  # seconds until an address without a server is given up
LARGEST = 2**26  # bytes of a response, which is text
RATIO = 1000  # of compressed text; gzip can hide a thousand bytes in one


class Client:
    """A connection to a server, open until its block ends."""

    def __init__(self, api: APIConfig):
        self._key, self._seconds = key_of(api), api.timeout
        # The client would take these from variables that are meant for OpenAI's own server.
        foreign = {} if is_openai(api) else {name: Omit() for name in ("OpenAI-Organization", "OpenAI-Project")}
        self._headers: dict[str, str | Omit] = {"Accept-Encoding": "identity"}
        self._headers |= {} if self._key else {"Authorization": Omit()}
        hooks = {"response": [_bound]}
        self._client = AsyncOpenAI(
            api_key=self._key or "none",
            base_url=address(api),
            timeout=httpx2.Timeout(api.timeout, connect=min(CONNECT, api.timeout)),
            max_retries=0,  # its own repeat no invalid JSON, cannot be counted, and do not slow the others down
            default_headers=foreign,
            http_client=DefaultAsyncHttpxClient(trust_env=not is_here(address(api)), event_hooks=hooks),
        )

    async def __aenter__(self) -> "Client":
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._client.close()

    async def post(self, path: str, payload: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the response to a request.

        Raises:
            Failure: if it is missing, too large, or not a JSON map.
        """
        try:
            async with asyncio.timeout(self._seconds):  # the client's own limit is for each part of a response
                options: Any = {"headers": self._headers}
                response = await self._client.post(path, body=payload, cast_to=httpx2.Response, options=options)
        except (TimeoutError, APITimeoutError) as e:
            if isinstance(e, APITimeoutError) and isinstance(e.__cause__, httpx2.ConnectTimeout):
                raise self._unconnected(e) from None
            message = f"does not respond within {self._seconds:g} seconds"
            hint = "give a larger --model.api.timeout"
            raise Failure(message, hint=hint, may_cost=True, slow_down=True) from None
        except APIStatusError as e:
            raise self._failure(e.response.status_code, e.response) from None
        except APIConnectionError as e:
            raise self._unconnected(e) from None
        except APIError as e:
            raise Failure(self._line(str(e)), may_cost=True, hint=CHECK) from None
        return self._content(response)

    def _content(self, response: httpx2.Response) -> dict[str, Any]:
        try:
            content = json.loads(without_key(_text(response), self._key))
        except (ValueError, RecursionError):
            message = f"returned a response that is not JSON: {self._line(_text(response))}"
            raise Failure(message, hint=CHECK, may_cost=True) from None
        if not isinstance(content, dict):
            raise Failure(f"returned {self._line(_text(response))}", hint=CHECK, may_cost=True)
        if "error" in content and not content.get("choices"):  # some say so with status 200
            code = _error(content).get("code")
            raise self._failure(code if type(code) is int and 400 <= code < 600 else 500, response)
        return content

    def _failure(self, status: int, response: httpx2.Response) -> Failure:
        try:
            error = _error(json.loads(_text(response)))
        except (ValueError, RecursionError):
            error = {}
        inner, more = error.get("innererror"), error.get("metadata")  # of Azure, and of OpenRouter
        flagged = FILTERED[0] if isinstance(more, dict) and "flagged_input" in more else None
        codes = [error.get("code"), error.get("type"), inner.get("code") if isinstance(inner, dict) else flagged]
        texts = [code for code in codes if isinstance(code, str)]
        telling = (code for code in texts if code in (*FILTERED, *NO_QUOTA))  # which say more than the status
        code = next(telling, texts[0] if texts else "")
        return Failure(
            self._line(str(error.get("message") or _text(response))),
            status=status,
            code=code,
            param=str(error.get("param") or ""),
            wait=seconds_to_wait(response.headers),
            slow_down=status in OVERLOADED,
        )

    def _unconnected(self, error: APIConnectionError) -> Failure:
        cause = error.__cause__
        if isinstance(cause, httpx2.ConnectError | httpx2.ConnectTimeout):
            message = f"cannot be reached: {self._line(str(cause) or type(cause).__name__)}"
            return Failure(message, hint="start the server, or correct model.api.base_url", unreachable=True)
        message = self._line(str(cause or error) or type(cause).__name__)
        return Failure(f"closed the connection: {message}", may_cost=True)

    def _line(self, text: str) -> str:
        return " ".join(valid(without_key(text, self._key)).split())[:LONGEST]


class _Bounded(httpx2.AsyncByteStream):
    """A response's bytes, which end with a failure if there are too many."""

    def __init__(self, stream: httpx2.AsyncByteStream, most: int):
        self._stream, self._left = stream, most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._stream:
            self._left -= len(part)
            if self._left < 0:
                message = f"returned a response of more than {LARGEST} bytes"
                raise Failure(message, hint=CHECK, may_cost=True, final=True)
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _bound(response: httpx2.Response) -> None:
    """Limits the size of a response before it is read; one that is compressed unasked has to be smaller."""
    assert isinstance(response.stream, httpx2.AsyncByteStream)
    compressed = response.headers.get("content-encoding", "identity") != "identity"
    response.stream = _Bounded(response.stream, LARGEST // RATIO if compressed else LARGEST)


def _text(response: httpx2.Response) -> str:
    """Returns the text of a response; JSON is UTF-8, whatever else a header may say."""
    return response.content.decode("utf-8-sig", errors="replace")


def _error(content: Any) -> dict[str, Any]:
    """Returns the error in a response, a map in most."""
    content = content[0] if isinstance(content, list) and content else content  # Google puts it into a list
    error = content.get("error", content) if isinstance(content, dict) else {}
    return error if isinstance(error, dict) else {"message": str(error)}
