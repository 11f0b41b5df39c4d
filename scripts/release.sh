#!/usr/bin/env bash
# Builds dist/ from a clean checkout, twice, checks it, and runs it in an environment that has nothing else.
# PYTHON has the packages of the extra dev. PIP_CONSTRAINT names other versions than the tested ones.
set -euo pipefail
cd "$(dirname "$0")/.."
PYTHON="${PYTHON:-.venv/bin/python}"
PYTHON="$(cd "$(dirname "$PYTHON")" && pwd)/$(basename "$PYTHON")"

refuse() { echo "error: $1" >&2; exit 2; }

version="$(sed -n 's/^__version__ = "\(.*\)".*/\1/p' src/afrieval/_util/version.py)"
[ -z "$(git status --porcelain)" ] || refuse "there are changes that are not committed"
grep -q "^## $version (20" CHANGELOG.md || refuse "CHANGELOG.md has no section '## $version (DATE)'"
tag="${GITHUB_REF_NAME:-v$version}"
[[ "$tag" != v* || "$tag" = "v$version" ]] || refuse "the tag is $tag, but the version is $version"

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
SOURCE_DATE_EPOCH="$(git log -1 --format=%ct)"
export SOURCE_DATE_EPOCH
rm -rf dist
"$PYTHON" -m hatchling build -d dist
"$PYTHON" -m hatchling build -d "$work/again"
for file in dist/*; do
    cmp "$file" "$work/again/$(basename "$file")" || refuse "two builds of $file differ"
done
"$PYTHON" -m twine check --strict dist/*

# The source archive has what git has, and no more; tests/test_wheel.py compares the wheel with the folders it is from.
tar -tzf dist/*.tar.gz | cut -d/ -f2- | grep -vx PKG-INFO | sort > "$work/packed"
git ls-files | sort | diff - "$work/packed" || refuse "the source archive differs from what git has"
"$PYTHON" -m pytest -n 0 tests/test_wheel.py

"$PYTHON" -m venv "$work/env"
PIP_CONSTRAINT="${PIP_CONSTRAINT:-$PWD/constraints.txt}" "$work/env/bin/python" -m pip install --quiet dist/*.whl
wheel="$PWD/dist"
cd "$work"
env/bin/afrieval --version | grep -F "afrieval $version "
env/bin/afrieval list > list.txt
env/bin/afrieval run demo configs/tasks/demo.yaml --data samples --out run > run.txt
env/bin/afrieval report run -o report.html
[ -s report.html ] && grep -q afrimmlu list.txt
sha256sum "$wheel"/*
