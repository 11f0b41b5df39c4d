# `make demo` and `make test` set up what they need in .venv. PYTHON names another Python 3.11 to 3.13.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
export PYTHONDONTWRITEBYTECODE :=

# uv installs from the index that pip is set up for
INDEX = $(or $(UV_DEFAULT_INDEX),$(PIP_INDEX_URL),$(shell $(BIN)/python -m pip config get global.index-url 2>/dev/null))
UV = $(if $(INDEX),UV_DEFAULT_INDEX=$(INDEX)) $(BIN)/uv
# where other versions of a package may show
VERSIONED := tests/_util tests/config tests/exchange tests/models tests/results tests/scoring tests/test_api.py tests/test_record.py

.PHONY: demo test test-browser test-data test-slow test-cluster test-faults test-models test-lowest test-newest
.PHONY: check format bench lock release clean

demo: .venv/.run
	rm -rf runs/demo
	$(BIN)/afrieval run demo configs/tasks/demo.yaml --data samples --out runs/demo
	$(BIN)/afrieval report runs/demo -o runs/demo.html

test: .venv/.dev
	$(BIN)/python -m pytest

test-browser: .venv/.dev  ## pages in Chromium, as far as it is installed
	$(BIN)/python -m pytest -m browser

test-data: .venv/.dev  ## every row of the data in AFRIEVAL_DATA
	@test -n "$$AFRIEVAL_DATA" || { echo "error: AFRIEVAL_DATA names no folder with real data"; exit 2; }
	$(BIN)/python -m pytest -m "data or alldata"

test-slow: .venv/.dev  ## simulations, and further cases of slow tests
	$(BIN)/python -m pytest -m slow

test-cluster: .venv/.dev  ## sweeps on a SLURM node and a Ray cluster that are started here; SLURM needs root
	$(BIN)/python -m pytest -m cluster -n 0

test-faults: .venv/.dev  ## kills, full disks and failing servers, about a quarter of an hour
	$(BIN)/python -m pytest -m faults -n 2

test-models: .venv/.dev  ## every class of transformers in small, some minutes
	$(BIN)/python -m pytest -m models

test-lowest: .venv-lowest-direct/.ready  ## with the lowest versions that pyproject.toml allows, on Python 3.11
	.venv-lowest-direct/bin/python -m pytest $(VERSIONED)

test-newest: .venv-highest/.ready  ## with the newest ones
	.venv-highest/bin/python -m pytest $(VERSIONED)

check: .venv/.dev
	$(BIN)/ruff format --check src tests bench
	$(BIN)/ruff check src tests bench
	$(BIN)/mypy

format: .venv/.dev
	$(BIN)/ruff format src tests bench
	$(BIN)/ruff check --fix src tests bench

bench: .venv/.dev  ## tables of docs/performance.md; OPTIONS="--only start", "--device cuda --shape llama-3.2-1b,llama-3-8b" ...
	@test -n "$$AFRIEVAL_DATA" || { echo "error: AFRIEVAL_DATA names no folder with real data"; exit 2; }
	$(BIN)/python bench/page.py $(OPTIONS)

lock:  ## needs poetry with its export plugin
	poetry lock
	# no index host is named in a file, not even in the description of a package
	perl -pi -e 's{ \([\w.]+\.org\)}{} if /^description = /' poetry.lock
	# torch pins its GPU libraries itself, and the export names some of them twice
	poetry export --all-extras --without-hashes | grep -vE '^(nvidia|cuda)-' > constraints.txt

release: .venv/.dev  ## builds dist/ and tries it; see docs/releasing.md
	scripts/release.sh

.venv-%/.ready: pyproject.toml .venv/.dev
	@echo "setting up .venv-$* (some minutes)"
	$(UV) venv --quiet --clear --python 3.11 .venv-$*
	$(UV) pip install --quiet --python .venv-$* --resolution $* --editable '.[api,plot,wandb,trackio]'
	$(UV) pip install --quiet --python .venv-$* --editable '.[dev]'  # leaves what is there
	@touch $@

.venv/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14) and "error: $(PYTHON) is no Python 3.11 to 3.13; try make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv .venv

.venv/.run: pyproject.toml constraints.txt | .venv/bin/python
	@echo "setting up .venv (once, some minutes)"
	$(PIP) --editable .
	@touch $@

.venv/.dev: pyproject.toml constraints.txt | .venv/bin/python
	@echo "setting up .venv for development (once, some minutes)"
	$(PIP) --editable '.[dev,plot,wandb,trackio,slurm,ray]'
	@touch $@ .venv/.run

clean:
	rm -rf .venv .venv-lowest-direct .venv-highest dist runs
