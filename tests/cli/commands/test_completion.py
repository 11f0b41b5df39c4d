"""The script for a shell completes commands, options by all their names, and the words that they take."""

import shutil
import subprocess
from pathlib import Path

import pytest
from tests.conftest import Cli

# The words before the cursor, to what the last one is completed to; some of it.
COMPLETED = {
    ("afrieval", "com"): {"compare", "completion"},
    ("afrieval", "sw"): {"sweep"},
    ("afrieval", "run", "demo", "--sh"): {"--shots", "--share"},
    ("afrieval", "run", "demo", "--eval.num"): {"--eval.num-fewshot", "--eval.numpy-random-seed"},
    ("afrieval", "compare", "runs/x", "--means", "s"): {"script"},
    ("afrieval", "review", "ra"): {"ratings"},
}


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes_words(cli: Cli, tmp_path: Path) -> None:
    script = tmp_path / "afrieval.bash"
    script.write_text(cli("completion", "bash").out)
    calls = [
        f"COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}; _shtab_afrieval; echo ${{COMPREPLY[@]}}"
        for words in COMPLETED
    ]
    code = "\n".join([f"source {script}", "complete -p afrieval >&2", *calls])
    done = subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=True)
    completed = [set(line.split()) for line in done.stdout.splitlines()]
    assert completed == list(COMPLETED.values()) and "-F _shtab_afrieval afrieval" in done.stderr


def test_zsh_has_a_script(cli: Cli) -> None:
    assert cli("completion", "zsh").out.startswith("#compdef afrieval\n")
