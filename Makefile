# Everything here sets itself up: Python 3.11 and make are all that is needed.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
QUICK := not slow and not fault and not benchmark
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt

.PHONY: demo test test-slow test-embedded test-faults test-faults-unprotected lint format bench screenshots clean

demo: $(VENV)/.runtime ## the whole product on its embedded default
	@DEBUG=$${DEBUG-1} ALLOW_LOCAL_DESTINATIONS=$${ALLOW_LOCAL_DESTINATIONS-1} exec $(BIN)/python manage.py demo

test: $(VENV)/.development ## the test suite, on PostgreSQL and Redis where they are there
	$(BIN)/python -m pytest -n 2 -m "$(QUICK)" --compliance docs/compliance.md $(ARGS)

test-slow: $(VENV)/.development ## every page in every look; the demo and the workers as real processes
	$(BIN)/python -m pytest -n 2 -m "slow and not fault" $(ARGS)

test-embedded: $(VENV)/.development ## the same suite on SQLite, without services
	EMBEDDED=1 $(BIN)/python -m pytest -n 2 -m "$(QUICK)" $(ARGS)

test-faults: $(VENV)/.development ## processes and servers killed, paused and starved (docs/faults.md), and a quick benchmark
	$(BIN)/python -m pytest -m "fault or benchmark" tests/faults tests/benchmarks $(ARGS)

test-faults-unprotected: $(VENV)/.development ## the same with each protection taken out: they have to fail
	$(BIN)/python -m pytest -m fault tests/faults --unprotected $(ARGS)

lint: export DEBUG := 1
lint: export VAR_DIR := build/lint
lint: $(VENV)/.development ## style, types, the import contract, missing migrations
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --config pyproject.toml
	$(BIN)/mypy
	$(BIN)/python manage.py makemigrations --check --dry-run

format: $(VENV)/.development
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.development ## ratios against a baseline of the same run; ARGS="--quick drain" for less
	$(BIN)/python -m benchmarks $(ARGS)

screenshots: $(VENV)/.development ## every page in light, dark and at 390 px, into build/screenshots
	$(BIN)/python -m tests.screenshots

clean:
	rm -rf $(VENV) build var

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: pyproject.toml constraints.txt sdk/python/pyproject.toml | $(VENV)/bin/python
	$(PIP) --editable . --editable sdk/python
	@touch $@

$(VENV)/.development: $(VENV)/.runtime
	$(PIP) --editable '.[dev]'
	@touch $@
