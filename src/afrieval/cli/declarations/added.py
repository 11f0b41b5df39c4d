"""Options of the commands to which add-ons add theirs; only these commands depend on the add-ons."""

from dataclasses import dataclass
from typing import Annotated, Literal

from afrieval._util.schema import NotNegative
from afrieval.cli.declarations.tasks import StoredAnswers
from afrieval.config.commands import FILES_OF_RUNS, NETWORKS, extended
from afrieval.config.options import ModelAndTasks, TableFiles, Word


@dataclass(frozen=True)
class CheckedMachine(ModelAndTasks, TableFiles):
    """Checks this machine: versions, GPUs, disks, hub, SLURM, Ray; and whether it has what a config needs.

    With a config or a sweep, it also checks the models or servers, the data, and data.lock. Loads no model, downloads
    nothing, and takes a few seconds. Exit code 1 means that there is a problem, 2 that the config is invalid.

    Examples:
        afrieval doctor
        afrieval doctor meta_llama_8b_instruct afrimmlu
        afrieval doctor --sweep configs/sweeps/demo.yaml
    """


DoctorCommand = extended(CheckedMachine, FILES_OF_RUNS)


@dataclass(frozen=True)
class ScoredAgain(TableFiles, StoredAnswers):
    """Scores the stored answers of runs again, after an extractor, metric or task file was corrected. Loads no model.

    Prints the scores and answers that moved, and writes new samples and scores to the run folders. If anything moved,
    the version of its task must have been raised; otherwise nothing is written. docs/scoring.md explains what can be
    scored again.

    With --metric comet, it adds COMET to stored translations, with --metric judge what a judge says of stored answers,
    and changes nothing else; only then is a model loaded.

    Examples:
        afrieval score runs/FIRST --dry-run
        afrieval score runs/FIRST runs/SECOND --metric comet --comet.model masakhane/africomet-stl-1.1
        afrieval score runs/FIRST runs/SECOND --metric judge --judge.model gpt_4.1
        afrieval score runs/FIRST runs/SECOND --data.source FOLDER
    """

    runs: Annotated[list[str], Word("RUN ...")]
    """Run folders."""
    dry_run: bool = False
    """Write nothing, and print what would move."""
    n: NotNegative = 10
    """Maximum number of answers to print for each run. JSON and CSV have no more."""
    metric: str | None = None
    """A metric to add to stored answers: by a trained network for translations, or by a model that judges. Default:
    none."""


ScoreCommand = extended(ScoredAgain, NETWORKS, metric=Literal[(*NETWORKS, "judge")] | None)
