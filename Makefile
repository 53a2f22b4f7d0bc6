# `make` alone says what can be made.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# many tests wait for processes of their own
WORKERS := $(shell $(PYTHON) -c 'import os; print(1 + (os.cpu_count() or 1))')

.DEFAULT_GOAL := help
.PHONY: help setup precompute test ordeal mutants check docs lock report explore coverage fuzz bench clean

help: ## print this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(STAMP) ## make .venv from the lock file (every other target does it first)

$(STAMP): requirements.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	$(BIN)/python -m compileall -q pipeline queries
	@touch $@

precompute: $(STAMP) ## build every table that is missing or out of date into outputs/
	$(BIN)/pipeline precompute

test: precompute ## prove the program: all tests, on every core (builds the tables first)
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

check: $(STAMP) ## lint, format, types and the doors between rooms
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(STAMP) ## write again the docs that the program generates
	$(BIN)/python -m tests.generated_docs

report: precompute ## write outputs/report.html: what the tables hold, as pictures
	$(BIN)/pipeline report

explore: precompute ## write outputs/explorer.html: a page that answers by itself
	$(BIN)/pipeline explore

ordeal: precompute ## the long run of faults: 200 kills, thousands of damages, every hostile word
	LONG=1 $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal tests/test_killed.py tests/test_damage.py tests/test_hostile.py

mutants: precompute ## change the code in thousands of places: which changes does no test notice?
	$(BIN)/python -m tests.mutants

coverage: precompute ## branch coverage of both packages by the tests
	COVERAGE_FILE=$(CURDIR)/.coverage $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --cov --cov-report=term:skip-covered

fuzz: precompute ## fuzz the parsers and the readers for FUZZ_SECONDS (60)
	@folder=$$(mktemp -d) && TMPDIR=$$folder FUZZ_SECONDS=$(or $(FUZZ_SECONDS),60) $(BIN)/python -m tests.fuzz; code=$$?; rm -rf $$folder; exit $$code

bench: $(STAMP) ## measure, print the figures and save them in docs/benchmarks.md
	$(BIN)/python -m benchmarks

lock: ## resolve requirements.lock again from pyproject.toml (needs uv)
	uv pip compile pyproject.toml --group dev --universal --python-version 3.11 \
		--generate-hashes --no-emit-find-links --no-header --quiet --upgrade -o requirements.lock

clean: ## remove what was built: tables, caches, the environment
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis .coverage
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
	find outputs -mindepth 1 ! -name README.md -delete
