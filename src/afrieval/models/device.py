"""What a device is called: the speed of a model depends on it."""

import platform
from pathlib import Path
from typing import Any


def device_name(device: Any) -> str | None:
    """Returns the name of a GPU, or that of the processor and how many of its cores torch uses.

    Args:
        device: of torch; None if it is unknown.
    """
    kind = getattr(device, "type", None)
    if kind is None:
        return None
    import torch

    if kind == "cuda":
        return str(torch.cuda.get_device_name(device))
    n = torch.get_num_threads()
    return f"{_processor()}, {n} thread{'s' * (n > 1)}" if kind == "cpu" else kind


def _processor() -> str:
    """Returns the name of the processor; of some machines only its architecture is known."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.is_file() else []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, "") or platform.processor() or platform.machine()
