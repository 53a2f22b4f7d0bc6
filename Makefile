# `make` lists the targets.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# These files mark the lock files that are installed; the tests' lock includes the other two.
TABLES := $(VENV)/.tables
REPORT := $(VENV)/.report
TESTS := $(VENV)/.tests
# This file marks the installed linter and formatter of JavaScript.
LINTER := queries/node_modules/.package-lock.json
# Two workers a core, because many tests wait for processes that they start.
WORKERS = $(shell $(BIN)/python -c "import os; print(2 * (os.cpu_count() or 1))")

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help setup precompute test test-fast test-rest test-others nightly check docs lock report explore coverage fuzz same-bytes release-check bench clean

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(TABLES) ## make .venv with the packages for the tables (other targets add their own)

$(TABLES): requirements.lock pyproject.toml
	$(install)
	@touch $@

$(REPORT): requirements-report.lock pyproject.toml
	$(install)
	@touch $(TABLES) $@

# After the first lock file, which brings a pip that reads the second one.
$(TESTS): requirements-dev.lock pyproject.toml | $(TABLES)
	$(install)
	@touch $(TABLES) $(REPORT) $@

$(LINTER): queries/package.json queries/package-lock.json
	npm ci --prefix queries --loglevel=error
	@touch $@

# An environment has its own path in it: in a clone that was moved or renamed, it is made again.
MOVED := $(shell test ! -s $(VENV)/.whole || test "$$(cat $(VENV)/.whole)" = "$(CURDIR)" || \
	rm -f $(VENV)/.whole $(TABLES) $(REPORT) $(TESTS))

# An interrupted install starts again with an empty environment, because pip would take a partly
# installed package for a complete one. The file .whole marks a complete install.
# compileall follows no links, so the linked folders are named.
define install
@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	{ echo '$(PYTHON) is not Python 3.11 or newer. Name another, for example: make PYTHON=python3.13' >&2; exit 1; }
@$(PYTHON) -c 'import ensurepip, venv' || \
	{ echo '$(PYTHON) has no module venv. On Debian and Ubuntu: apt-get install python3-venv' >&2; exit 1; }
@echo "Installing up to $$(grep -c '^[a-z]' $<) packages into $(VENV)"
@test -e $(VENV)/.whole || $(PYTHON) -m venv --clear $(VENV)
@rm -f $(VENV)/.whole
@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
@$(BIN)/python -m compileall -q puzzle_tablebase puzzle_tablebase/queries puzzle_tablebase/pipeline
@echo '$(CURDIR)' > $(VENV)/.whole
endef

precompute: $(TABLES) ## build all missing or outdated tables in outputs/
	@echo 'Building missing or outdated tables: pipeline precompute'
	@$(BIN)/pipeline precompute

test: precompute $(TESTS) ## run all tests on all cores (builds the tables first)
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

# The tests of rules and searches need no packages but those for the tables, and pytest.
RULES := $(addprefix tests/,notation puzzles recipes tour_frontier two_bit_bfs base/test_jit.py base/test_compiler_off.py)
# The tests that start no browser, cluster or web server: a worker a core suffices.
FAST := $(RULES) tests/queries

test-fast: precompute $(TESTS) ## run the tests of rules, searches and answers: most faults show here
	$(BIN)/python -m pytest -n logical --dist worksteal $(FAST)

test-rest: precompute $(TESTS) ## run the tests that test-fast leaves out
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(addprefix --ignore=,$(FAST))

# What the fast tests need beside the packages for the tables.
RUNNER := pytest|pytest-xdist|execnet|iniconfig|packaging|pluggy|pygments|hypothesis|sortedcontainers
OTHERS := 3.12 3.13
# pyenv runs the version that the variable names
find_python = PYENV_VERSION=$(1) python$(1) -c 'import sys; print(sys.executable)' 2>/dev/null

test-others: precompute $(TESTS) ## run the tests of rules and searches on other Pythons that are installed
	@for version in $(OTHERS); do \
		python=$$($(call find_python,$$version)) || { echo "Python $$version is not installed"; continue; }; \
		$(MAKE) --no-print-directory test-other OTHER=$$version OTHER_PYTHON=$$python || exit 1; \
	done

.PHONY: test-other
test-other: INSTALL = $(VENV)/$(OTHER)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes
test-other:
	@echo 'Testing with $(OTHER_PYTHON)'
	@test $(VENV)/$(OTHER)/.whole -nt requirements-dev.lock || { $(OTHER_PYTHON) -m venv --clear $(VENV)/$(OTHER) && \
		awk '/^[a-z]/ { kept = $$1 ~ /^($(RUNNER))==/ } kept' requirements-dev.lock > $(VENV)/$(OTHER)/runner.lock && \
		$(INSTALL) -r requirements.lock && $(INSTALL) -r $(VENV)/$(OTHER)/runner.lock && touch $(VENV)/$(OTHER)/.whole; }
	$(VENV)/$(OTHER)/bin/python -m pytest -n logical --dist worksteal -p no:cacheprovider $(RULES)

FORMATTED := '{queries,pipeline}/**/*.{js,css,html}' 'tests/**/*.mjs'

check: $(TESTS) $(if $(shell command -v npm),$(LINTER)) ## check lint, format, types and allowed imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	@if command -v npm >/dev/null; then \
		queries/node_modules/.bin/eslint --config queries/eslint.config.js --max-warnings 0 queries pipeline tests && \
		queries/node_modules/.bin/prettier --config queries/package.json --check $(FORMATTED); else \
		echo 'npm is missing, so the JavaScript was not checked. On Debian and Ubuntu: apt-get install npm' >&2; \
		test "$$CI" != true; fi

docs: precompute $(TESTS) $(if $(shell command -v npm),$(LINTER)) ## write what the program prints into pages and tests/golden, and the JavaScript package's types
	$(BIN)/python -m tools.generated_docs
	$(BIN)/python -m tools.format_vectors
	$(BIN)/python -m pytest -q --write-golden
	@if command -v npm >/dev/null; then queries/node_modules/.bin/tsc -p queries/javascript; fi

report: precompute $(REPORT) ## write outputs/report.html, a page of charts made from the tables
	$(BIN)/pipeline report

explore: precompute ## write outputs/explorer.html, a page to play and study, without a network
	$(BIN)/pipeline explore

nightly: same-bytes ## run all tests, slow and nightly ones too: 100 kills, 100 interrupts, thousands of damaged files
	NIGHTLY=1 $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m ""

coverage: precompute $(TESTS) ## measure the branch coverage of the package
	COVERAGE_FILE=$(CURDIR)/.coverage $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --cov --cov-report=term:skip-covered

fuzz: precompute $(TESTS) ## fuzz the parsers and readers for FUZZ_SECONDS (default: 60)
	@folder=$$(mktemp -d) && TMPDIR=$$folder FUZZ_SECONDS=$(or $(FUZZ_SECONDS),60) $(BIN)/python -m tools.fuzz; code=$$?; rm -rf $$folder; exit $$code

same-bytes: precompute $(TESTS) ## check that the newest Python builds the same bytes, if it is installed
	@python=$$($(call find_python,$(lastword $(OTHERS)))) || { echo 'Python $(lastword $(OTHERS)) is not installed'; exit 0; }; \
	$(BIN)/python -m tools.same_bytes $$python

release-check: $(TESTS) ## make what a release uploads, in dist/, and check it (docs/release.md)
	$(BIN)/python -m tools.release

bench: $(TESTS) ## measure, print the results and save them in docs/benchmarks.md
	$(BIN)/python -m benchmarks

lock: ## update the lock files from pyproject.toml (needs uv: pip install uv)
	$(LOCK) --upgrade --group dev --extra report -o requirements-dev.lock
	$(LOCK) -c requirements-dev.lock --group build --extra report -o requirements-report.lock
	$(LOCK) -c requirements-dev.lock --group build -o requirements.lock
	$(LOCK) -c requirements-dev.lock --group harnesses -o requirements-harnesses.lock

# The lock files have names, versions and hashes, but no addresses of package indexes.
LOCK := uv pip compile pyproject.toml --quiet --universal --python-version 3.11 --generate-hashes \
	--no-header --no-annotate --no-emit-find-links

clean: ## remove caches and the environment; the tables in outputs/ stay
	rm -rf $(VENV) queries/node_modules build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis .coverage
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
