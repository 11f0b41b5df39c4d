"""What commands answer to words that make no sense: the problem and a cure, before anything is written."""

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.conftest import ROOT, TWO_TASKS, Refusal

OF_RUNS = ("compare", "report", "samples", "show")
# A command line, to what is said of it; RUN stands for a run of two tasks, languages, prompts and prompt languages.
SAID = {
    "compare /nowhere": "there is no run folder /nowhere",
    "compare docs": "docs is not a run folder",
    "compare RUN --contrast model": "share nothing that can be compared",
    "compare RUN --task afrixnl": "no run here has the task 'afrixnl'",
    "compare RUN --language igbo": "no run here has the language Igbo (ibo)",
    "compare RUN --metric acc_nrm": "no run here has the metric 'acc_nrm'\nhint: did you mean acc_norm?",
    "compare RUN --by colour": "no task here can be broken down by 'colour'",
    "compare RUN --task afrimmlu --by confusion": "no task here has labels",
    "compare RUN --seed=4294967296": "--seed must be 4294967295 or less, not 4294967296",
    "completion fish": "must be followed by bash or zsh, not 'fish'",
    "list afrimlu": "did you mean afrimmlu?",
    "list --language hauza": "did you mean Hausa (hau)?",
    "list --language klingon": "hint: afrieval list languages shows all\n",
    "list --all": "unknown option --all",
    "plan demo afrixnli --data samples --answer-form letter --prompts 1": "give --prompts 6, or another",
    "plan demo afrixnli --data samples --languages ../yor": "no language '../yor'",
    "plan demo afrixnli --data samples --model.backend_args.enable_thinking true": "form generate",
    "plan demo afrixnli --data samples --sample ten": "such as 50",
    "plan demo mafand_to_eng --data samples --languages gez": "(gez)",
    "plan demo mmlu --data samples --languages hausa": "global_mmlu",
    "prefetch --tasks afrimmlu --data samples": "--data must be hub to prefetch, not 'samples'",
    "preview afrimmlu --data samples --languages yor --document -1": "--document must be 0 or more",
    "preview afrimmlu --data samples --languages yor --document 8": "has no document 8",
    "race demo --tasks afrixnli": "a race is between two models or more, but 1 is named",
    "race demo demo --tasks afrixnli": "demo is named 2 times",
    "race demo other --tasks afrixnli --data samples": "the sample rows of the suite are too few",
    "race demo other --tasks afrixnli --limit 3": "--limit is given to afrieval race",
    "race demo other --tasks afrixnli --margin 0": "--margin must be a number greater than 0",
    "race demo other --tasks afrixnli --model third": "--model is given to afrieval race",
    "race demo other --tasks afrixnli --prompt-language both": "no average over both prompt languages",
    "race demo other --tasks afrixnli --until 2": "--until is given to afrieval race",
    "report RUN -o nowhere/page.html": "the folder nowhere does not exist",
    "report RUN -o page.pdf": "must be a file that ends in .html, not 'page.pdf'",
    "report nowhere": "there is no run folder nowhere",
    "review": "afrieval review must be followed by sheet or read or answers or ratings",
    "review write": "afrieval review must be followed by sheet or read or answers or ratings, not 'write'",
    "review read": "FILE is missing",
    "review read README.md": "README.md is not a filled-in sheet",
    "review read missing.csv": "missing.csv does not exist",
    "review read missing.html": "missing.html is not a filled-in sheet",
    "review read x.csv --language yor": "review read does not take --language",
    "review sheet": "--language is missing",
    "review sheet --language eng -o x.csv": "'eng' has no native prompts",
    "review sheet --language yor": "--output is missing",
    "review sheet --language yor -o missing/x.csv": "the folder missing does not exist",
    "review sheet --language yor -o x.csv --dry-run": "review sheet does not take --dry-run",
    "review sheet --language yor -o x.csv y.csv": "review sheet does not take FILE ('y.csv')",
    "review sheet --language yor -o x.doc": "x.doc is not the name of a sheet",
    "rnu": "there is no command 'rnu'\nhint: did you mean run?\n",
    "samples RUN": "the run has several tasks: ",
    "samples RUN --task afrixnli": "the run has several languages: ",
    "samples RUN --task afrixnli --language igbo": "no run here has the language Igbo (ibo)",
    "samples RUN --task afrixnli --language yor --only right": "--only must be all, flips, wrong or unparsed, not ",
    "samples RUN --task afrixnli --language yor --prompts eng3": "the run has no prompt 'eng3'",
    "samples RUN --n 0": "--n must be 1 or more, not 0\nhint: write 1 or more",
    **{f"{command} RUN/run.yaml": "run.yaml is a file, not a run folder" for command in OF_RUNS},
}


@pytest.mark.parametrize("line", SAID)
def test_what_is_wrong_is_said_with_a_cure(demo_run: Callable[..., Path], refusal: Refusal, line: str) -> None:
    run = demo_run(*TWO_TASKS) if "RUN" in line else None
    before = {*ROOT.iterdir()}
    assert SAID[line] in refusal(*shlex.split(line.replace("RUN", str(run))))
    assert {*ROOT.iterdir()} == before
