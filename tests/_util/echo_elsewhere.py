"""The same process on a system without timers, such as Windows."""

import signal

from echo import answer  # type: ignore[import-not-found]  # it is in the same folder

from afrieval._util.worker import serve

if __name__ == "__main__":
    del signal.setitimer
    serve(answer)
