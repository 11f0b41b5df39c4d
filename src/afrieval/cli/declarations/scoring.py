"""Options of `afrieval score`."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from annotated_types import Gt

from afrieval._util.schema import CLOSED, NotNegative, Positive
from afrieval.cli.declarations.tasks import OwnTasks
from afrieval.config.options import Folder, Word
from afrieval.config.settings import Source
from afrieval.config.shared_options import TableFiles


@dataclass(frozen=True)
class StoredData:
    """Data of a stored run."""

    __pydantic_config__ = CLOSED

    source: Source | None = None
    """Where the documents come from, as for afrieval run. They must be the run's documents. Default: its own source."""


@dataclass(frozen=True)
class CometModel:
    """COMET."""

    __pydantic_config__ = CLOSED

    model: str = "masakhane/africomet-stl-1.1"
    """COMET model: a name on the hub, or a folder. Models whose names have -qe- need no right translation."""
    revision: str = "main"
    """Its branch, tag or commit on the hub."""
    device: str | None = None
    """cuda, cuda:1, mps or cpu. Default: the GPU if there is one."""
    batch_size: Positive = 16
    """Number of translations that are scored at the same time. It does not change scores."""


@dataclass(frozen=True)
class JudgeOptions:
    """Judge."""

    __pydantic_config__ = CLOSED

    model: str | None = None
    """Model that judges, named as MODEL of afrieval run. Its settings, such as a server's prices and limits, are those
    of a model file. Default: none; --metric judge requires it."""
    max_cost: Annotated[float, Gt(0)] | None = None
    """Most that all its replies in the run folders may cost, as model.api.max_cost. Default: that of the model file."""
    max_tokens: Positive | None = None
    """Maximum number of tokens in a reply. Default: 512; more for models that think."""
    against: Folder | None = None
    """Run with other answers to the same questions. The judge then says which of two answers is better. Default: none;
    each answer is judged by itself."""


@dataclass(frozen=True)
class ScoreCommand(TableFiles):
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
    metric: Literal["comet", "judge"] | None = None
    """A metric to add to stored answers: by a trained network for translations, or by a model that judges. Default:
    none."""
    comet: CometModel = field(default_factory=CometModel)
    """COMET."""
    judge: JudgeOptions = field(default_factory=JudgeOptions)
    """Judge."""
    data: StoredData = field(default_factory=StoredData)
    """Data."""
    task: OwnTasks = field(default_factory=OwnTasks)
    """Tasks."""
