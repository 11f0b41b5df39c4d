"""`afrieval sweep`: models, suites and settings in all combinations, as jobs."""

from afrieval.config.commands import SCALE, Command

COMMAND = Command(
    SCALE,
    "run several models on several suites, here, on SLURM or on Ray",
    "afrieval.addons.sweep.sweep_options:SweepCommand",
    "afrieval.addons.sweep.command:main",
    resumes=True,
)
