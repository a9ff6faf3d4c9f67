# Everything here sets itself up: Python 3.11 or newer and make are all that is needed.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
QUICK := not slow and not fault and not benchmark
# detect-secrets looks for credentials that others issue; what may be one of ours is tools.tracked_files' to find.
GUESSING := KeywordDetector Base64HighEntropyString HexHighEntropyString BasicAuthDetector JwtTokenDetector
NOT_GUESSING := $(addprefix --disable-plugin ,$(GUESSING))
# Formats style sheets and scripts. `.ci/prepare` installs it where Node is.
PRETTIER := build/node/node_modules/.bin/prettier
FORMATTED = $$(git ls-files '*.css' '*.js' | grep -v vendor/)
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt

# Where nothing may be cached, pytest rewrites every test module again: 20 s of each worker.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test coverage compliance test-slow test-embedded test-faults test-faults-unprotected test-attacks-unprotected explore explore-unprotected lint audit format bench soak soak-unprotected screenshots release mutants clean

demo: $(VENV)/.runtime ## the whole product on its embedded default
	@DEBUG=$${DEBUG-1} ALLOW_LOCAL_DESTINATIONS=$${ALLOW_LOCAL_DESTINATIONS-$${DEBUG-1}} exec $(BIN)/python manage.py demo

test: $(VENV)/.development ## the test suite but for its long tests, on PostgreSQL and Redis where they are there
	$(BIN)/python -m pytest -n 2 -m "$(QUICK) and not long" $(ARGS)

coverage: $(VENV)/.development ## `make test` with the long tests, and at least 95% of the branches of services and the delivery engine
	$(BIN)/python -m pytest -n 2 -m "$(QUICK)" --cov --cov-report=term --cov-report=html $(ARGS)

compliance: $(VENV)/.development ## which test holds which rule of the specification, into build/compliance.md
	$(BIN)/python -m pytest -q --compliance build/compliance.md

test-slow: $(VENV)/.development ## every page in every look; the demo and the workers as real processes
	$(BIN)/python -m pytest -n 2 --dist worksteal --durations 20 -m "slow and not fault and not benchmark and not search" $(ARGS)

test-embedded: $(VENV)/.development ## `make test` with the long tests on SQLite, without services
	EMBEDDED=1 $(BIN)/python -m pytest -n 2 -m "$(QUICK)" $(ARGS)

test-faults: $(VENV)/.development ## processes and servers killed, paused and starved (docs/faults.md), and a quick benchmark
	$(BIN)/python -m pytest -m "fault or benchmark" tests/faults tests/benchmarks $(ARGS)

test-faults-unprotected: $(VENV)/.development ## the same with each protection taken out: they have to fail
	$(BIN)/python -m pytest -m fault tests/faults --unprotected $(ARGS)

test-attacks-unprotected: $(VENV)/.development ## attacks on the wire with each protection taken out: they have to succeed
	$(BIN)/python -m pytest -m attack tests/security --unprotected $(ARGS)

SEARCH ?= tests/explored

explore: $(VENV)/.development ## schedules of the delivery engine, at each statement, or SEARCH=tests/life (docs/faults.md); ARGS="--schedules 5000 --seed 7"
	$(BIN)/python -m pytest -n 2 --timeout=0 -m "search and not slow" $(SEARCH) $(ARGS)

explore-unprotected: $(VENV)/.development ## both searches with each protection taken out: they have to find it
	$(BIN)/python -m pytest -n 2 --timeout=900 -m "search and slow" tests/explored tests/life $(ARGS)

mutants: $(VENV)/.development ## rules that no test holds, by changes of single terms; ARGS="stores/services/payments.py" for less
	$(BIN)/python -m tests.mutants $(ARGS)

lint: export DEBUG := 1
lint: export VAR_DIR := build/lint
lint: $(VENV)/.development ## style, types, imports, migrations, contract, spelling, templates, translations, prose, stray files, credentials
	$(BIN)/python -m tools.root_files
	$(BIN)/python -m tools.tracked_files
	$(BIN)/detect-secrets-hook --no-verify $(NOT_GUESSING) $$(git ls-files)
	$(BIN)/codespell $$(git ls-files)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --config pyproject.toml
	$(BIN)/mypy
	$(BIN)/python manage.py makemigrations --check --dry-run
	$(BIN)/python -m tools.released_migrations
	$(BIN)/python -m tools.contract_changes
	$(BIN)/python -m tools.named_releases
	$(BIN)/python -m tools.templates
	$(BIN)/python -m tools.catalogs
	$(BIN)/python -m tools.prose
	@if [ -x $(PRETTIER) ]; then $(PRETTIER) --check --log-level warn $(FORMATTED); else echo "Prettier isn't here: style sheets and scripts were not checked."; fi

audit: $(VENV)/.development ## known vulnerabilities of the pinned packages; says so where no source answers
	$(BIN)/python -m tools.audit

format: $(VENV)/.development
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	[ ! -x $(PRETTIER) ] || $(PRETTIER) --write --log-level warn $(FORMATTED)

bench: $(VENV)/.development ## ratios against a baseline of the same run; ARGS="--quick drain" for less
	$(BIN)/python -m benchmarks $(ARGS)

soak: $(VENV)/.development ## an installation under load, killed, upgraded and restored; ARGS="--minutes 20 --seed 1"
	$(BIN)/python -m tools.soak $(ARGS)

soak-unprotected: $(VENV)/.development ## the soak with deliberate defects: each has to turn its figure red
	$(BIN)/python -m tools.soak --unprotected $(ARGS)

screenshots: $(VENV)/.development ## every page in light, dark and at 390 px, into build/screenshots
	$(BIN)/python -m tools.screenshots

release: $(VENV)/.development ## the next version, `make release VERSION=0.2.0`: commit, tag, and its files in dist/; CONTRIBUTING.md has the steps
	$(BIN)/python -m tools.release $(VERSION) $(ARGS)

clean:
	rm -rf $(VENV) build dist var

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: pyproject.toml constraints.txt sdk/python/pyproject.toml | $(VENV)/bin/python
	$(PIP) --editable '.[demo]' --editable sdk/python
	@touch $@

$(VENV)/.development: $(VENV)/.runtime
	$(PIP) --editable '.[dev]'
	@touch $@
