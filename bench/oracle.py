"""Whether this version says to the byte what an earlier one said: runs, tables, pages, help, names and times.

python bench/oracle.py make FOLDER                      in a checkout of the earlier version
python bench/oracle.py check FOLDER [--only demo ...]   in a checkout of the version to check

`check` makes the same runs again, reads the runs that the earlier version stored, and finishes one that it left half
done. It prints where files differ, and returns 1 if they do. Dates, seconds, commits and folders are left out. With
AFRIEVAL_DATA, runs on real rows and recorded answers are included. Scores on all rows of all tasks: bench/record.py.
"""

import argparse
import contextlib
import difflib
import io
import json
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SAMPLES = ["--data", "samples"]
TWO = ["--languages", "hau,yor", "--prompts", "1,3", "--prompt-language", "both"]
SHORT = ["--eval.max_gen_toks", "16"]
RUNS: dict[str, list[str]] = {
    "demo": ["demo", str(ROOT / "configs/tasks/demo.yaml"), *SAMPLES],
    "texts": ["demo", "afrimmlu,afrixnli,belebele,sib200,afrisenti", *SAMPLES, *TWO, "--shots", "2"],
    "generated": [
        *("demo", "afrimgsm,masakhaner,masakhapos,xlsum,afrimmlu,afrixnli", *SAMPLES, *TWO),
        *("--answer-form", "generate", *SHORT),
    ],
    "others": ["demo", "multiblimp,idm_winogrande,brighter_emotions,global_piqa", *SAMPLES, *SHORT, "--prompts", "1"],
    "unlearning": ["demo", "tofu", *SAMPLES, *SHORT],
    "muse": ["demo", "muse", *SAMPLES, *SHORT],
    "judged": ["demo", "aya_dolly", *SAMPLES, "--languages", "yor,hau", *SHORT],
    "llama": ["demo", "meta_gpqa,meta_ifeval,meta_math,meta_mmlu,meta_mmlu_instruct", *SAMPLES, *SHORT],
}
REAL: dict[str, list[str]] = {
    "real": ["demo", "afrimmlu,afrixnli,afrimgsm", *TWO, "--sample", "12", *SHORT],
    "until": ["demo", "afrixnli", "--languages", "yor,hau", "--prompts", "1", "--until", "12"],
    "recorded": [
        *("gpt-4o", "afrixnli", "--model.model_type", "recorded", "--languages", "swa", "--prompts", "1"),
        *("--answer-form", "generate", "--model.backend_args.column", "output"),
        f"--model.backend_args.file={os.environ.get('AFRIEVAL_DATA')}/recorded/afrixnli_gpt4o__swa.csv",
    ],
}
JUDGE = ["--metric", "judge", "--judge.model", "demo", "--judge.max_tokens", "16"]  # of the run "judged"
PRINTED: dict[str, list[str]] = {  # what other commands print and write; RUNS stands for the folder of stored runs
    "plan": ["plan", "demo", "afrixnli,afrimmlu,afrimgsm", *SAMPLES, *TWO],
    "preview": ["preview", "afrixnli,masakhaner,afrimgsm", *SAMPLES, *TWO, "--shots", "1"],
    "samples": ["samples", "RUNS/texts", "--tasks", "afrimmlu", "--languages", "yor", "--prompts", "eng1,native1"],
    "check-data": ["check-data", "afrixnli,afrimmlu,masakhaner,flores,belebele", *SAMPLES],
    "check-runs": ["check-runs", "RUNS"],
    "review": ["review", "sheet", "--language", "yor", "-o", "OUT/yor.csv"],
    "answers": ["review", "answers", "RUNS/judged", "--language", "hau", "-o", "OUT/hau.csv"],
    "rescored": ["score", "RUNS/generated", "--dry-run"],
}
PRINTED_REAL: dict[str, list[str]] = {
    "check-real": ["check-data", "afrixnli,afrimmlu,afrimgsm"],
    "plan-real": ["plan", "demo", "afrixnli,afrimmlu,afrimgsm", *TWO, "--precision", "5", "--difference", "5"],
    "race": [
        *("race", "demo", "T5", "--tasks", "afrixnli", "--languages", "yor,hau", "--prompts", "1"),
        *("--sample", "100", "--out", "OUT/race"),
    ],
}
RUNS["other"] = ["T5", *RUNS["texts"][1:]]
TOGETHER = ["texts", "other"]  # of two models, on the same questions
HALF = "texts"  # the run that an earlier version leaves half done
COMMANDS = [  # of which help is kept
    *("", "run", "list", "preview", "show", "compare", "samples", "report", "leaderboard", "plan", "race", "sweep"),
    *("doctor", "prefetch", "export", "plot", "score", "pack", "check-runs", "check-data", "review", "llama"),
]
VOLATILE = [  # what differs from run to run, and what stands for it
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?([+-]\d\d:\d\d|Z)?", "DATE"),
    (r"\d{4}-\d\d-\d\d", "DAY"),
    (
        r'("?[\w ]*(seconds|time|duration|begun|ended|commit|git_hash|date|mtime|rss|memory_gb)[\w ]*"?: )[^,\n}]+',
        r"\1X",
    ),
    (r"\b[\d.,]+ (s|ms|seconds|minutes|min|MB|GB|GiB)\b", "SOME UNITS"),
    (r"\b[\d.,]+ ((input |output )?tokens|requests|questions|documents) (a|per) second", "A RATE"),
    (r"\b[0-9a-f]{40}\b", "COMMIT"),
    (r"free on .*", "FREE MEMORY"),
]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("what", choices=["make", "check"])
    options.add_argument("folder", type=Path)
    options.add_argument("--only", nargs="+", choices=[*RUNS, *REAL], help="runs to check")
    args = options.parse_args()
    names = args.only or [*RUNS, *(REAL if os.environ.get("AFRIEVAL_DATA") else {})]
    if args.what == "make":
        make(args.folder.resolve(), names)
    else:
        sys.exit(check(args.folder.resolve(), names))


def make(folder: Path, names: list[str]) -> None:
    """Writes runs, their tables and pages, a half-done run, help texts and public names."""
    evaluate(folder / "runs", names)
    shutil.copytree(folder / "runs" / HALF, folder / "half")
    halve(folder / "half")
    views(folder / "runs", folder / "views", names)
    printed(folder / "runs", folder / "printed", names)
    words(folder / "words")


def check(folder: Path, names: list[str]) -> int:
    """Prints where this version differs from the stored files of an earlier one; returns 1 if it does."""
    with tempfile.TemporaryDirectory() as temporary:
        new = Path(temporary)
        stored = new / "stored"
        for name in names:
            shutil.copytree(folder / "runs" / name, stored / name)
        evaluate(new / "runs", names)
        views(stored, new / "views", names)
        printed(stored, new / "printed", names)
        words(new / "words")
        pairs = [(folder / "runs" / name, new / "runs" / name) for name in names]
        pairs += [(folder / "views" / path.name, path) for path in (new / "views").iterdir()]
        pairs += [(folder / "printed" / path.name, path) for path in (new / "printed").iterdir()]
        pairs += [(folder / "words", new / "words")]
        if HALF in names:
            shutil.copytree(folder / "half", new / "half")
            called("run", *RUNS[HALF], "--out", new / "half")
            shutil.copy(folder / "runs" / HALF / "run.yaml", new / "half")  # which lists one session more
            pairs.append((folder / "runs" / HALF, new / "half"))
        lines = [line for before, after in pairs for line in differences(before, after)]
    print("\n".join([*lines, f"{len(lines)} differences in {', '.join(names)}"]))
    return 1 if lines else 0


def evaluate(folder: Path, names: list[str]) -> None:
    """Runs what is named, each in a folder of its own."""
    for name in names:
        begin = time.perf_counter()
        called("run", *(t5() if word == "T5" else word for word in (RUNS | REAL)[name]), "--out", folder / name)
        if name == "judged":
            called("score", folder / name, *JUDGE)
        print(f"{time.perf_counter() - begin:6.1f} s  {name}", file=sys.stderr, flush=True)


def halve(run: Path) -> None:
    """Takes back every second cell of a run, and all that is made when a run is done."""
    for path in sorted(run.glob("samples_*"))[::2]:
        path.unlink()
    for name in ("results.json", "summary.csv", "derived.json"):
        (run / name).unlink(missing_ok=True)


def views(runs: Path, folder: Path, names: list[str]) -> None:
    """Writes the tables of each run and of all together, in each format, and their pages."""
    together = [("together", [runs / name for name in TOGETHER])] if {*TOGETHER} <= {*names} else []
    for name, paths in [*((name, [runs / name]) for name in names), *together]:
        out = folder / name
        out.mkdir(parents=True)
        for command in ("show", "compare"):
            text = called(command, *paths, "--json", out / f"{command}.json", "--csv", out / f"{command}.csv")
            text += called(command, *paths, "--markdown", out / f"{command}.md", "--latex", out / f"{command}.tex")
            (out / f"{command}.txt").write_text(text, encoding="utf-8")
        called("report", *paths, "-o", out / "report.html")
        for kind in ("csv", "every-eval-ever", "harness-results"):
            called("export", "--to", kind, out / kind, *(word for path in paths for word in ("--run", path)))
    if together:
        called("leaderboard", runs, "-o", folder / "board")


def printed(runs: Path, folder: Path, names: list[str]) -> None:
    """Writes what other commands print and write, but for those that read runs which are not there."""
    for name, line in (PRINTED | (PRINTED_REAL if {*REAL} & {*names} else {})).items():
        if not {word.removeprefix("RUNS/") for word in line if word.startswith("RUNS/")} <= {*names}:
            continue
        out = folder / name
        out.mkdir(parents=True)
        arguments = [word.replace("RUNS", str(runs)).replace("OUT", str(out)) for word in line]
        codes = (0, 1, 2) if line[0].startswith("check") else (0,)  # 1 and 2: defects, runs that are refused
        text = called(*(t5() if word == "T5" else word for word in arguments), codes=codes)
        (out / "printed.txt").write_text(text, encoding="utf-8")


def words(folder: Path) -> None:
    """Writes the help of each command, its list of tasks, and the names that the package exports."""
    folder.mkdir(parents=True)
    for command in COMMANDS:
        (folder / f"help-{command or 'all'}.txt").write_text(
            called(*filter(None, [command]), "--help"), encoding="utf-8"
        )
    (folder / "list.txt").write_text(called("list"), encoding="utf-8")
    import afrieval

    names = {name: sorted(n for n in dir(getattr(afrieval, name)) if n[0] != "_") for name in afrieval.__all__}
    (folder / "names.json").write_text(json.dumps(names, indent=1), encoding="utf-8")


def t5() -> Path:
    """Returns a tiny random T5, in the user's cache, built at first use."""
    if str(ROOT) not in sys.path:
        sys.path.append(str(ROOT))
    from tests.models.tiny import tiny_t5

    folder = Path.home() / ".cache/afrieval-oracle/t5"
    return folder if folder.is_dir() else tiny_t5(folder)


def called(*arguments: object, codes: Sequence[int] = (0,)) -> str:
    """Calls the command line in this process and returns what it prints; ends with it where it fails."""
    from afrieval.cli.main import main as afrieval

    text = io.StringIO()
    with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
        code = afrieval(list(map(str, arguments)))
    if code not in codes:
        sys.exit(f"{text.getvalue()[-2000:]}\nfailed: afrieval {' '.join(map(str, arguments))}")
    return text.getvalue()


def differences(before: Path, after: Path) -> Iterator[str]:
    """Yields, for each file of two folders that differs, its name and its first lines that do."""
    names = {p.relative_to(folder) for folder in (before, after) for p in folder.rglob("*") if p.is_file()}
    for name in sorted(n for n in names if not {"cache", "lock", "log"} & set(re.split(r"\W", str(n)))):
        texts = [stable(folder / name, (before, after)) for folder in (before, after)]
        if texts[0] != texts[1]:
            changes = list(difflib.unified_diff(texts[0].split("\n"), texts[1].split("\n"), n=0))[2:]
            changes = [change for change in changes if not change.startswith("@@")]
            yield "\n".join([f"{after / name}:", *(f"    {change[:300]}" for change in changes[:6])])


def stable(path: Path, folders: tuple[Path, ...]) -> str:
    """Returns the text of a file without what differs from run to run; empty if there is no such file."""
    if not path.is_file():
        return ""
    text = path.read_bytes().decode("utf-8", "replace")
    for folder in sorted(
        {*folders, *(f.parent for f in folders), *(f.parent.parent for f in folders)}, key=lambda f: -len(str(f))
    ):
        text = text.replace(str(folder), "FOLDER")
    text = text.replace("FOLDER/stored", "FOLDER/runs")
    for pattern, word in VOLATILE:
        text = re.sub(pattern, word, text)
    return text


if __name__ == "__main__":
    os.environ |= {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "COLUMNS": "100"}
    main()
