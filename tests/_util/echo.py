"""A process of its own for tests: it does what it is asked."""

import os
import time
from typing import Any

from afrieval._util.worker import serve


def answer(question: Any) -> Any:
    if question == "end":
        os._exit(3)
    if question == "print":
        print("not an answer")
    if question == "many":
        try:
            return len("x" * 10**10)
        except MemoryError:
            return "too many"
    if isinstance(question, float):
        time.sleep(question)
    return question


if __name__ == "__main__":
    serve(answer, memory=64)
