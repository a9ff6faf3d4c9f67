# Everything here sets itself up: Python 3.11 or newer and make are all that is needed.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OSCAR := build/oscar/.venv
VENDURE := build/vendure
QUICK := not slow and not fault and not benchmark
# Formats style sheets and scripts. `.ci/prepare` installs it where Node is.
PRETTIER := build/node/node_modules/.bin/prettier
FORMATTED = $$(git ls-files '*.css' '*.js' | grep -v vendor/)
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt

# The Python of `.venv` is in a name, so that another one makes another. Without PYTHON, one that is finished stays.
FINISHED := $(if $(filter file,$(origin PYTHON)),$(if $(wildcard $(BIN)/python),$(firstword $(wildcard $(VENV)/.python-*))))
VERSION_OF = $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')
PYTHON_OF_VENV := $(or $(FINISHED),$(VENV)/.python-$(VERSION_OF))
# A virtual environment has no user's own packages, whatever pip.conf says.
export PIP_USER := 0
# Of another project, perhaps.
unexport DJANGO_SETTINGS_MODULE

# Where nothing may be cached, pytest rewrites every test module again: 20 s of each worker.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo demo-connected test test-connected coverage compliance test-slow test-embedded test-faults test-faults-unprotected test-attacks-unprotected explore explore-unprotected lint audit format bench soak soak-unprotected screenshots release dist mutants clean

demo: $(VENV)/.runtime ## the whole product on its embedded default
	@DEBUG=$${DEBUG-1} ALLOW_LOCAL_DESTINATIONS=$${ALLOW_LOCAL_DESTINATIONS-$${DEBUG-1}} exec $(BIN)/python manage.py demo

demo-connected: ## the same, and django-oscar beside it as a connected shop
	@$(MAKE) --no-print-directory -j 2 $(VENV)/.runtime $(OSCAR)/.ready
	@exec $(BIN)/python -m tools.connected_demo

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

# With ARGS=vendure it is the shop in another language.
CONNECTED := $(if $(filter vendure,$(firstword $(ARGS))),vendure,oscar)

test-connected: $(VENV)/.development $(if $(filter vendure,$(CONNECTED)),$(VENDURE),$(OSCAR))/.ready ## django-oscar as a connected shop, in a browser, with real processes; ARGS=vendure for Vendure
	$(BIN)/python -m pytest -m connected tests/connected -k $(if $(filter vendure,$(CONNECTED)),vendure,"not vendure") $(filter-out vendure,$(ARGS))

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

# All of .pre-commit-config.yaml.
lint: export PRE_COMMIT_HOME := build/pre-commit
lint: $(VENV)/.development ## style, types, imports, migrations, contract, spelling, templates, translations, prose, stray files, credentials
	$(BIN)/pre-commit run --all-files
	$(BIN)/pre-commit run --all-files --hook-stage pre-push

audit: $(VENV)/.development ## known vulnerabilities of the pinned packages; says so where no source answers
	$(BIN)/python -m tools.audit

format: $(VENV)/.development ## writes style and layout as lint wants them
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

dist: $(VENV)/.development ## the files of a release that was made before, `make dist VERSION=0.2.0`, from its commit
	$(BIN)/python -m tools.release $(VERSION) --files

help: ## this list
	@awk -F ' ## ' -v 'first=demo test lint format bench' ' \
	  function line(name) { printf "  %-26s %s\n", name, about[name]; delete about[name] } \
	  /^[a-z-]+:.* ## / { sub(/:.*/, "", $$1); about[$$1] = $$2; names[++count] = $$1 } \
	  END { \
	    print "Most people need:"; wanted = split(first, few, " "); for (i = 1; i <= wanted; i++) line(few[i]); \
	    print "\nAll others:"; for (i = 1; i <= count; i++) if (names[i] in about) line(names[i]) \
	  }' $(firstword $(MAKEFILE_LIST))

clean: ## removes the virtual environment and everything that runs have made, the demo's data too
	rm -rf $(VENV) build dist var

# The connected shop has another Django, and knows nothing of ours.
$(OSCAR)/.ready: examples/oscar_shop/requirements.txt sdk/store-python/pyproject.toml $(PYTHON_OF_VENV)
	@$(BIN)/python -m venv --clear $(OSCAR)
	@$(OSCAR)/bin/python -m pip --disable-pip-version-check install --quiet --requirement examples/oscar_shop/requirements.txt --editable sdk/store-python
	@touch $@

# package.json has the exact versions. Vendure would report each start to its makers.
$(VENDURE)/.ready: examples/vendure_shop/package.json
	@mkdir -p $(VENDURE) && cp examples/vendure_shop/package.json $(VENDURE)
	@npm install --prefix $(VENDURE) --no-package-lock --no-fund --no-audit --silent
	@touch $@

$(VENV)/.python-%:
	@$(PYTHON) -m tools.virtual_environment $(VENV)
	@touch $@

$(VENV)/.runtime: pyproject.toml constraints.txt sdk/python/pyproject.toml $(PYTHON_OF_VENV)
	$(PIP) --editable '.[demo]' --editable sdk/python
	@touch $@

$(VENV)/.development: $(VENV)/.runtime
	$(PIP) --editable '.[dev]'
	@touch $@
