"""What the system says of this machine's processor."""

import platform
from functools import cache
from pathlib import Path

INFO = Path("/proc/cpuinfo")


@cache
def processor_vendor() -> str:
    """Returns who makes the processor, as `GenuineIntel` or `AuthenticAMD`; empty if the system does not say."""
    return _first("vendor_id")


@cache
def processor_name() -> str:
    """Returns the name of the processor's model, or else of its kind."""
    return _first("model name") or platform.processor() or platform.machine()


def _first(field: str) -> str:
    lines = INFO.read_text(encoding="utf-8").splitlines() if INFO.is_file() else []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(field)), "")
