"""Stands for the worker of a sweep: does at once what the job's first run says, and loads nothing."""

import os
import signal
import sys
import time
from pathlib import Path

from afrieval._util.stamps import now
from afrieval.tools.jobs.jobs import held, job_folder, read_job
from afrieval.tools.jobs.state import read_state, write_state

if __name__ == "__main__":
    folder, name = Path(sys.argv[1]), sys.argv[2]
    job = read_job(folder, name)
    there = job_folder(folder, name)
    with held(there):
        state = read_state(folder, job)
        if job.runs[0]["do"] == "fail to start":
            sys.exit(1)
        state |= {"status": "running", "since": now()}
        for at, run in enumerate(state["runs"]):
            if run["status"] == "failed":
                continue
            run |= {"status": "running", "cells": 2}
            write_state(folder, job, state)
            match job.runs[at]["do"]:
                case "crash":
                    os.kill(os.getpid(), signal.SIGSEGV)
                case "die":
                    os.kill(os.getpid(), signal.SIGKILL)
                case "sleep":
                    (there / "asleep").touch()
                    time.sleep(60)
                case "ignore":
                    signal.signal(signal.SIGINT, signal.SIG_IGN)
                    (there / "asleep").touch()
                    time.sleep(60)
                case "work":
                    time.sleep(0.1)
            run |= {"status": "done", "finished": 2}
            with (there / "seen").open("a") as seen:
                names = ("CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS")
                seen.write(" ".join([*(str(os.environ.get(name)) for name in names), f"{time.time()}\n"]))
        failed = any(run["status"] == "failed" for run in state["runs"])
        state |= {"status": "failed" if failed else "done", "since": now()}
        write_state(folder, job, state)
