# Every target sets up what it needs by itself: Python packages in .venv, Node as a Python wheel, the built page, a browser.
# Needed beforehand: make, and python3 (3.10 or newer; another one: make PYTHON=python3.12 ...).

PYTHON ?= python3
VENV   ?= .venv
PORT   ?=
LOGDIR ?= sample_traces
# What gives PyTorch to the tests that record a trace. "TORCH=" leaves it out, and those tests are skipped.
TORCH  ?= -r requirements-torch.txt
ARGS   ?=
COUNT  ?= 10000
SEED   ?= 1

BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet
PYTHON_SOURCES := analysis plugin tests tools sample_traces benchmarks setup.py
# Environments, made traces and quick results of "make bench".
BENCH  := .bench

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help view fuzz bench test test-python test-frontend lint format types build frontend check sample-traces clean deps package torch browser

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

view: package frontend  ## open TensorBoard on sample_traces/ (LOGDIR=..., PORT=...)
	$(BIN)/kinetoscope view "$(LOGDIR)" $(if $(PORT),--port $(PORT))

test:  ## run every test: Python, browser, frontend (ARGS="-k name" goes to pytest)
	@failed=""; for suite in test-frontend test-python; do $(MAKE) --no-print-directory $$suite || failed="$$failed $$suite"; done; \
	test -z "$$failed" || { echo "FAILED:$$failed"; exit 1; }

test-python: package torch frontend browser
	$(BIN)/python -m pytest $(ARGS)

test-frontend: deps
	$(BIN)/python tools/frontend.py test

fuzz: package  ## damage 10,000 trace files and read them (COUNT=..., SEED=...)
	PYTHONPATH=tests $(BIN)/python tests/fuzzing.py $(COUNT) $(SEED)

bench: $(BENCH)/ours/.ready $(BENCH)/peers/.ready package frontend browser  ## measure it beside other readers, half an hour (ARGS="--quick": minutes)
	rm -rf build
	$(BENCH)/ours/bin/python -m pip --disable-pip-version-check --quiet install --no-deps --no-build-isolation --force-reinstall .
	$(BENCH)/ours/bin/python -m benchmarks.run --peers $(BENCH)/peers/bin/python \
	  --tools $(BIN)/python --work $(BENCH) $(ARGS)

lint: deps  ## check style, Python and frontend
	$(BIN)/ruff check $(PYTHON_SOURCES)
	$(BIN)/ruff format --check $(PYTHON_SOURCES)
	$(BIN)/python tools/frontend.py lint

format: deps  ## rewrite files in the house style
	$(BIN)/ruff check --fix-only $(PYTHON_SOURCES)
	$(BIN)/ruff format $(PYTHON_SOURCES)
	$(BIN)/python tools/frontend.py npm run format

types: deps  ## check types, Python and frontend
	$(BIN)/mypy
	$(BIN)/mypy benchmarks
	$(BIN)/python tools/frontend.py types

frontend: deps  ## build the page into plugin/kinetoscope_tb/static
	$(BIN)/python tools/frontend.py build

build: deps frontend  ## make the wheel and the source distribution in dist/
	rm -rf build dist
	$(BIN)/python -m build --outdir dist .

check: lint types test  ## all of lint, types and test

sample-traces: deps torch  ## record and generate the files of sample_traces/ anew
	$(BIN)/python sample_traces/record.py
	$(BIN)/python sample_traces/synthesize.py

clean:  ## remove everything that was built or installed here
	rm -rf $(VENV) $(BENCH) build dist plugin/kinetoscope_tb/static frontend/node_modules frontend/dist *.egg-info analysis/*.egg-info
	rm -rf .pytest_cache .hypothesis .mypy_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# --- set-up: a stamp per step, so that a second run costs nothing -----------------------------------------------------

$(VENV)/.made:
	$(PYTHON) tools/make_venv.py $(VENV)
	@touch $@

$(VENV)/.deps: $(VENV)/.made requirements.txt requirements-test.txt
	$(PIP) install -r requirements.txt -r requirements-test.txt
	@touch $@

# The package itself, editable: its command and its TensorBoard entry point. Its page is built by the step before.
$(VENV)/.package: $(VENV)/.deps setup.py pyproject.toml analysis/kinetoscope/_version.py
	$(BIN)/python tools/frontend.py build
	$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.torch: $(VENV)/.deps requirements-torch.txt
ifeq ($(strip $(TORCH)),)
	@echo "PyTorch left out: the tests that record a trace will be skipped"
else
	@if $(PIP) install $(TORCH); then touch $@; else \
	  echo "warning: PyTorch could not be installed: the tests that record a trace will be skipped" >&2; \
	  test -z "$$CI"; fi
endif

# What is measured lives apart from what is tested: the package as it is installed, and the other tools with their own needs.
$(BENCH)/ours/.ready: requirements.txt benchmarks/requirements.txt
	$(PYTHON) tools/make_venv.py $(BENCH)/ours
	$(BENCH)/ours/bin/python -m pip --disable-pip-version-check --quiet install -r requirements.txt -r benchmarks/requirements.txt
	@touch $@

$(BENCH)/peers/.ready: benchmarks/requirements-peers.txt
	$(PYTHON) tools/make_venv.py $(BENCH)/peers
	$(BENCH)/peers/bin/python -m pip --disable-pip-version-check --quiet install -r benchmarks/requirements-peers.txt
	@touch $@

deps: $(VENV)/.deps

package: $(VENV)/.package

torch: $(VENV)/.torch

browser: $(VENV)/.made
	@$(BIN)/python tools/find_chromium.py --install
