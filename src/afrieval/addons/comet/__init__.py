"""COMET, which scores stored translations by a trained network: options of `afrieval score`."""

from dataclasses import dataclass, field
from typing import ClassVar

from afrieval._util.schema import Positive
from afrieval.config.options import Options


@dataclass(frozen=True)
class CometModel(Options):
    """COMET."""

    model: str = "masakhane/africomet-stl-1.1"
    """COMET model: a name on the hub, or a folder. Models whose names have -qe- need no right translation."""
    revision: str = "main"
    """Its branch, tag or commit on the hub."""
    device: str | None = None
    """cuda, cuda:1, mps or cpu. Default: the GPU if there is one."""
    batch_size: Positive = 16
    """Number of translations that are scored at the same time. It does not change scores."""


@dataclass(frozen=True)
class ScoreByComet(Options):
    """What `--metric comet` scores by."""

    comet: CometModel = field(default_factory=CometModel)
    """COMET."""
    opened: ClassVar = "afrieval.addons.comet.comet_scorer:opened"
