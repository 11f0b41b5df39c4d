"""The entry point of the suite; the same as `afrieval run`."""

import sys

from afrieval.cli import main

if __name__ == "__main__":
    sys.exit(main(["run", *sys.argv[1:]]))
