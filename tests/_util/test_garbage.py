"""Collection of garbage while a command starts, and afterwards."""

import subprocess
import sys

PROGRAM = """
import atexit, gc
from afrieval._util import garbage
usual = gc.get_threshold()
atexit.register(lambda: print(gc.get_freeze_count()))  # runs last
garbage.started()
print(gc.get_freeze_count(), gc.get_threshold() == usual)
garbage.start()
print(gc.get_threshold() == usual)
garbage.started()
print(gc.get_freeze_count() > 0, gc.get_threshold() == usual)
"""


def test_what_is_kept_from_collections_is_freed_at_the_end() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["0 True", "False", "True True", "0"]
