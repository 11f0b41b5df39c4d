"""How long it takes to plan a suite: rows are loaded, examples chosen and prompts checked, before a model is loaded.

python bench/plan.py configs/suites/afrobench.yaml [--render] [option ...], such as --data.source FOLDER

With --render, all requests are built too, as a run does before it sends them to the model.
"""

import resource
import sys
import time
from dataclasses import replace

from afrieval._util.errors import UserError
from afrieval.config.arguments import read_config
from afrieval.run.plan import plan
from afrieval.tasks.cells.cell import Cell
from afrieval.tools.plan.counting import Unloaded


def main() -> None:
    given = [word for word in sys.argv[1:] if word != "--render"]
    words = ["--task-config-yaml", *given, "--model.model_name", "demo"]
    config = read_config(words, command="run", needs_model=True)
    total = {"s": 0.0, "cells": 0.0, "requests": 0.0}
    for name in config.task_names:
        begin = time.monotonic()
        try:
            cells = plan(replace(config, task=replace(config.task, task_name=name))).cells
        except UserError as e:
            print(f"{name:28} {e.message}")
            continue
        if len(given) < len(sys.argv) - 1:
            for cell in cells:
                render(cell)
        figures = {"s": time.monotonic() - begin, "cells": len(cells), "requests": sum(c.n_requests for c in cells)}
        total = {key: total[key] + value for key, value in figures.items()}
        report(name, figures)
    report("all", total)


def render(cell: Cell) -> None:
    job = cell.build(Unloaded())  # type: ignore[arg-type]
    if job.task is not None:
        job.task.build_all_requests(limit=job.limit, rank=0, world_size=1)


def report(name: str, figures: dict[str, float]) -> None:
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    counts = f"{figures['cells']:6,.0f} cells {figures['requests']:10,.0f} requests"
    print(f"{name:28} {figures['s']:6.1f} s {counts} {memory:6.0f} MB at most", flush=True)


if __name__ == "__main__":
    main()
