"""What work takes of memory, told by the allocator itself."""

from collections.abc import Callable
from itertools import accumulate
from typing import Any

from torch.profiler import ProfilerActivity, profile


def allocated(work: Callable[[], Any]) -> int:
    """Returns how many bytes more than before torch has at most while some work is done, on the CPU.

    Each allocation counts, also those inside of kernels.
    """
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        result = work()
    del result
    kineto: Any = profiler.profiler
    sizes = sorted(
        (e.start_ns(), i, e.nbytes()) for i, e in enumerate(kineto.kineto_results.events()) if e.name() == "[memory]"
    )
    return int(max(accumulate(n for *_, n in sizes)))
