# `make` alone says what can be made.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# what of each lock file is installed; the tests' lock holds the other two
TABLES := $(VENV)/.tables
REPORT := $(VENV)/.report
TESTS := $(VENV)/.tests
# many tests wait for processes of their own
WORKERS = $(shell $(BIN)/python -c 'import os; print(1 + (os.cpu_count() or 1))')

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help setup precompute test ordeal mutants check docs lock report explore coverage fuzz same-bytes bench clean

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(TABLES) ## make .venv with what the tables need (every other target adds what it needs)

$(TABLES): requirements.lock pyproject.toml
	$(install)
	@touch $@

$(REPORT): requirements-report.lock pyproject.toml
	$(install)
	@touch $(TABLES) $@

$(TESTS): requirements-dev.lock pyproject.toml
	$(install)
	@touch $(TABLES) $(REPORT) $@

# Where an install was cut short, all begins anew: pip would take half a package for a whole one.
define install
@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	{ echo '$(PYTHON) is no Python of 3.11 or newer. Name one that is: make PYTHON=python3.13' >&2; exit 1; }
@$(PYTHON) -c 'import ensurepip, venv' || \
	{ echo '$(PYTHON) lacks the module venv. On Debian and Ubuntu: apt-get install python3-venv' >&2; exit 1; }
@echo "Installing what $< lists into $(VENV): up to $$(grep -c '^[a-z]' $<) packages"
@test -e $(VENV)/.whole || $(PYTHON) -m venv --clear $(VENV)
@rm -f $(VENV)/.whole
@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
@$(BIN)/python -m compileall -q pipeline queries
@touch $(VENV)/.whole
endef

precompute: $(TABLES) ## build every table that is missing or out of date into outputs/
	@echo 'Building the tables that are missing or out of date: pipeline precompute'
	@$(BIN)/pipeline precompute

test: precompute $(TESTS) ## prove the program: all tests, on every core (builds the tables first)
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

check: $(TESTS) ## lint, format, types and the doors between rooms
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(TESTS) ## write again the docs that the program generates
	$(BIN)/python -m tests.generated_docs

report: precompute $(REPORT) ## write outputs/report.html: what the tables hold, as pictures
	$(BIN)/pipeline report

explore: precompute ## write outputs/explorer.html: a page that answers by itself
	$(BIN)/pipeline explore

ordeal: precompute $(TESTS) ## the long run of faults: 200 kills, thousands of damages, every hostile word
	LONG=1 $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal tests/test_killed.py tests/test_damage.py tests/test_hostile.py tests/test_interrupts.py

mutants: precompute $(TESTS) ## change the code in thousands of places: which changes does no test notice?
	$(BIN)/python -m tests.mutants

coverage: precompute $(TESTS) ## branch coverage of both packages by the tests
	COVERAGE_FILE=$(CURDIR)/.coverage $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --cov --cov-report=term:skip-covered

fuzz: precompute $(TESTS) ## fuzz the parsers and the readers for FUZZ_SECONDS (60)
	@folder=$$(mktemp -d) && TMPDIR=$$folder FUZZ_SECONDS=$(or $(FUZZ_SECONDS),60) $(BIN)/python -m tests.fuzz; code=$$?; rm -rf $$folder; exit $$code

same-bytes: precompute $(TESTS) ## build the tables with the newest Python there is: the same bytes?
	$(BIN)/python -m tests.same_bytes

bench: $(TESTS) ## measure, print the figures and save them in docs/benchmarks.md
	$(BIN)/python -m benchmarks

lock: ## resolve the lock files again from pyproject.toml (needs uv: pip install uv)
	$(LOCK) --upgrade --group dev --extra report -o requirements-dev.lock
	$(LOCK) -c requirements-dev.lock --group build --extra report -o requirements-report.lock
	$(LOCK) -c requirements-dev.lock --group build -o requirements.lock

# names, versions and hashes; never where they were found
LOCK := uv pip compile pyproject.toml --quiet --universal --python-version 3.11 --generate-hashes \
	--no-header --no-annotate --no-emit-find-links

clean: ## remove what was built: tables, caches, the environment
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis .coverage
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
	find outputs -mindepth 1 ! -name README.md -delete
