"""The tasks whose cells a tool makes, by name; each tool is imported when its task is asked for."""

from collections.abc import Mapping
from types import MappingProxyType

from afrieval.config.sections import MEMORISATION
from afrieval.config.settings import RunConfig
from afrieval.run.plan import CellMaker
from afrieval.tasks.cells.cell import Plan


def _memorisation(config: RunConfig, tokens: bool) -> Plan:
    from afrieval.tools.contamination.plan import plan_memorisation  # it needs the harness

    return plan_memorisation(config, tokens)


MAKERS: Mapping[str, CellMaker] = MappingProxyType({MEMORISATION: _memorisation})
