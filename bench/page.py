"""Runs the benchmarks and writes their tables into docs/performance.md and docs/hf-tree.md: make bench

python bench/page.py                                          # all of them, on this machine's CPU
python bench/page.py --only start
python bench/page.py --device cuda --shape llama-3.2-1b,llama-3-8b         # those that use a GPU, a table per shape
python bench/page.py --only peers --python vllm=ENVIRONMENT/bin/python     # other options are for bench/peers.py

AFRIEVAL_DATA names the folder with real data. Each benchmark prints Markdown, which goes between its two markers in the
page. One that fails leaves what was there, and the exit code is 1.
"""

import argparse
import os
import re
import subprocess
import sys
import textwrap
from datetime import date
from pathlib import Path

from machine import machine

BENCH = Path(__file__).resolve().parent
PAGE = BENCH.parent / "docs/performance.md"
WIDTH = 100
OF_CPU = {
    "peers": ["peers.py"],
    "tokens": ["tokens.py", "--questions", "8"],
    "runs": ["whole_run.py", "--limit", "12"],
    "lm_eval": ["lm_eval_command.py", "--limit", "24"],
    "start": ["start.py"],
    "host": ["host.py"],
}
OF_GPU = {"equality": ["equality.py"], **{name: OF_CPU[name] for name in ("peers", "tokens")}}
WITH_DATA = ("peers", "runs", "lm_eval", "host")
ELSEWHERE = {"lm_eval": "hf-tree.md"}  # tables of other pages


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=[*OF_CPU, "equality"], help="which; may be repeated")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--shape", default="50m")
    args, of_peers = parser.parse_known_args()
    if of_peers and "peers" not in (args.only or ["peers"]):
        parser.error(f"unknown options, since peers is not run: {' '.join(of_peers)}")
    of_device = OF_CPU if args.device == "cpu" else OF_GPU
    if absent := [name for name in args.only or () if name not in of_device]:
        parser.error(f"--only {absent[0]} is not for the device {args.device}")
    data = os.environ.get("AFRIEVAL_DATA") or sys.exit("error: AFRIEVAL_DATA names no folder with real data")
    failed = []
    for name, command in of_device.items():
        if args.only and name not in args.only:
            continue
        options = ["--data", data] * (name in WITH_DATA) + of_peers * (name == "peers")
        tables = []
        for shape in args.shape.split(",") if name in OF_GPU else [""]:
            of_shape = ["--device", args.device, "--shape", shape] * (name in OF_GPU)
            print(f"{name}: {' '.join([*command, *of_shape])}", file=sys.stderr, flush=True)
            done = subprocess.run(
                [sys.executable, *command, *options, *of_shape], cwd=BENCH, stdout=subprocess.PIPE, text=True
            )
            if done.returncode:
                failed.append(" ".join(filter(None, [name, shape])))
            else:
                tables.append(captioned(name, done.stdout, args.device))
        if not tables:
            continue
        where = name if args.device == "cpu" else f"{name} {args.device.split(':')[0]}"
        page = PAGE.with_name(ELSEWHERE.get(name, PAGE.name))
        page.write_text(renewed(page.read_text(encoding="utf-8"), where, "\n\n".join(tables)), encoding="utf-8")
    if failed:
        sys.exit(f"error: these benchmarks failed, and their tables are as they were: {', '.join(failed)}")


def captioned(name: str, printed: str, device: str) -> str:
    """Returns what a benchmark printed, lines of text wrapped; the machine is added if it does not say it itself."""
    caption = "" if name == "peers" else f"\n\n{date.today()}, {machine(device)}."
    parts = re.split(r"\n{2,}", printed.strip() + caption)
    return "\n\n".join(part if part.startswith("|") else textwrap.fill(part, WIDTH) for part in parts)


def renewed(page: str, name: str, block: str) -> str:
    """Returns a page with another block between the markers of a benchmark.

    Raises:
        ValueError: if the page does not have these markers once.
    """
    begin, end = f"<!-- bench: {name} -->\n", "<!-- /bench -->"
    if page.count(begin) != 1 or end not in page.split(begin)[1]:
        raise ValueError(f"the page needs one {begin.strip()} ... {end}")
    before, rest = page.split(begin)
    return f"{before}{begin}\n{block}\n\n{end}{rest.split(end, 1)[1]}"


if __name__ == "__main__":
    main()
