"""A run that kills itself in place of keeping its Nth answer: python -m tests.run.dying_later N WORDS..."""

import os
import signal
import sys
from typing import Any

from afrieval.cli.main import main
from afrieval.models.answer_file import AnswerFile

if __name__ == "__main__":
    put, left = AnswerFile.put, int(sys.argv[1])

    def put_or_die(answers: AnswerFile, key: str, answer: Any) -> None:
        global left
        left -= answers.get(key) is None
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        put(answers, key, answer)

    AnswerFile.put = put_or_die  # type: ignore[method-assign, assignment]
    sys.exit(main(["run", *sys.argv[2:]]))
