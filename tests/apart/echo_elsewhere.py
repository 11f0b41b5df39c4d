"""The same process on a system without timers, such as Windows."""

import signal

from echo import answer

from afrieval.apart.serve import serve

if __name__ == "__main__":
    del signal.setitimer
    serve(answer)
