"""A run that kills itself once it has stored some answers: python -m tests.models.openai.dying N WORDS..."""

import os
import signal
import sys
from typing import Any

from afrieval.cli.main import main
from afrieval.models.answer_file import AnswerFile

put = AnswerFile.put


def dying_put(at: int) -> Any:
    """Returns what stands in for AnswerFile.put."""
    stored = 0

    def counted(file: AnswerFile, key: str, answer: Any) -> None:
        nonlocal stored
        put(file, key, answer)
        stored += 1
        if stored == at:
            os.kill(os.getpid(), signal.SIGKILL)

    return counted


if __name__ == "__main__":
    AnswerFile.put = dying_put(int(sys.argv[1]))  # type: ignore[method-assign]
    sys.exit(main(["run", *sys.argv[2:]]))
