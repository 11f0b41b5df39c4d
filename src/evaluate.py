"""The entry point of the suite; the same as `afrieval run`."""

from afrieval.cli.main import command

if __name__ == "__main__":
    command("run")
