"""Servers of models: started on a free port of this machine, used for a while, and ended with all their processes."""

import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from afrieval._util.errors import UserError
from afrieval._util.files import read_bytes
from afrieval.config.settings import ModelConfig
from afrieval.models.credentials import is_secret, redacted
from afrieval.models.openai.settings import key_of
from afrieval.tools.jobs.guard import GRACE

HOST = "127.0.0.1"
SERVERS = {
    "vllm": f"vllm serve {{model}} --host {HOST} --port {{port}}",
    "sglang": f"{{python}} -m sglang.launch_server --model-path {{model}} --host {HOST} --port {{port}}",
}
PATIENCE = 3600.0  # seconds until a server must answer: it may have to download a large model first
POLL = 0.2  # seconds
ATTEMPTS = 3  # another program may take the port before the server does
LAST = 300  # characters of the server's log in a message


def command(spec: str, model: str, port: int) -> list[str]:
    """Returns the command that starts a server.

    `spec` is vllm or sglang, with further options of the server if there are any; or a command with {port} and {model}.

    Raises:
        UserError: if it has no {port}, or a key, which run.yaml would store.
    """
    try:
        words = shlex.split(spec)
    except ValueError:
        words = []
    if not words:
        raise UserError(f"the server {spec!r} is not a command", f"write {' or '.join(SERVERS)}, or a command")
    if words[0] in SERVERS:
        words = [*SERVERS[words[0]].split(), *words[1:]]
    if not any("{port}" in word for word in words):
        hint = f"write {' or '.join(SERVERS)}, or a command such as {SERVERS['vllm']}"
        raise UserError(f"the server {spec!r} has no {{port}}", hint)
    options = [word.partition("=")[0] for word in words if word.startswith("--")]
    if key := next((name for name in options if is_secret(name.lstrip("-").replace("-", "_"))), None):
        hint = "set it in the environment, and name its variable as model.api.key_env"
        raise UserError(f"the command of a server has {key}, but run.yaml stores it", hint)
    placeholders = {"{python}": sys.executable, "{model}": model, "{port}": str(port)}
    for name, value in placeholders.items():
        words = [word.replace(name, value) for word in words]
    return words


@contextmanager
def served(model: ModelConfig, log: Path) -> Iterator[ModelConfig]:
    """Starts a model's server, waits until it answers, and yields the model's settings with the server's address.

    The end of the block ends the server; if this process is killed, a guard ends it. What the server prints is
    appended to the file `log`. Only `load_model` gets the address: the port differs each time, and must not become part
    of a run's identity.

    Raises:
        UserError: if it cannot be started, ends too early, or does not answer in time.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    for attempt in range(ATTEMPTS):
        port = free_port()
        running = replace(model, api=replace(model.api, base_url=f"http://{HOST}:{port}/v1"))
        with log.open("ab") as out:
            start = out.tell()
            guard = _start(command(str(model.api.server), str(model.model_name), port), out)
        try:
            end = time.monotonic() + PATIENCE
            while not (is_ready := answers(running)) and guard.poll() is None and time.monotonic() < end:
                time.sleep(POLL)
            if is_ready and guard.poll() is None:
                yield running
                return
            ended = guard.poll() is not None
            with socket.socket() as other:
                is_taken = other.connect_ex((HOST, port)) == 0
            again = ended and is_taken and attempt < ATTEMPTS - 1
        finally:
            guard.terminate()
            try:
                with suppress(subprocess.TimeoutExpired):
                    guard.wait(GRACE + 5)
            finally:  # what is left of the group is killed, also if another signal comes
                with suppress(ProcessLookupError):
                    os.killpg(guard.pid, signal.SIGKILL)
                guard.wait()
        if not again:
            how = "ended before it answered" if ended else f"did not answer within {PATIENCE / 60:g} minutes"
            text = redacted(read_bytes(log, "give the sweep another folder")[start:].decode(errors="replace"))
            lines = [line.strip() for line in text.splitlines() if line.strip()]
            last = f": {' | '.join(lines[-3:])[-LAST:]}" if lines else ""
            raise UserError(f"the server of {model.model_name} {how}{last}", f"see {log}")


def answers(model: ModelConfig) -> bool:
    """Returns whether the server of a model from `served` is ready: by its health check, or else its list of models."""
    import httpx2

    key, url = key_of(model.api), str(model.api.base_url)
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    with suppress(httpx2.HTTPError), httpx2.Client(trust_env=False, timeout=5, headers=headers) as client:
        for address in (f"{url.removesuffix('/v1')}/health", f"{url}/models"):
            with client.stream("GET", address) as response:  # its body is not read
                if response.status_code != httpx2.codes.NOT_FOUND:
                    return response.is_success
    return False


def free_port() -> int:
    """Returns a port of this machine that no program uses now."""
    with socket.socket() as free:
        free.bind((HOST, 0))
        return int(free.getsockname()[1])


def _start(words: list[str], out: BinaryIO) -> "subprocess.Popen[bytes]":
    """Starts the guard of a server; programs next to this Python are found even if its environment is not active."""
    if not hasattr(os, "killpg"):
        hint = "start it yourself, and give its address as model.api.base_url"
        raise UserError("a sweep cannot start servers on Windows", hint)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    program = shutil.which(words[0], path=path)
    if program is None:
        hint = f"install {words[0]}, or give the path of the program that starts the server"
        raise UserError(f"the program {words[0]} does not exist", hint)
    guarded = [sys.executable, "-P", "-m", "afrieval.tools.jobs.guard", str(os.getpid()), program, *words[1:]]
    return subprocess.Popen(
        guarded, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, start_new_session=True
    )
