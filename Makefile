# Two commands matter: `make run` and `make test`. Needs python3 (3.11 or newer, with venv) and make, nothing else:
# the recipes use only sh and coreutils.
SHELL := /bin/sh
PYTHON ?= python3
V := .venv
BIN := $(V)/bin
UV := $(BIN)/uv
CODE := app.py engine web tasks migrations tests
# uv brings no interpreter of its own, and trusts the certificates of the machine where it has them.
export UV_PYTHON_DOWNLOADS := never
ifneq ($(wildcard /etc/ssl/certs/ca-certificates.crt),)
export UV_NATIVE_TLS := 1
endif

CATALOGUES := $(wildcard web/translations/*/LC_MESSAGES/messages.po)
PACKAGES = $(wildcard $(V)/lib/python3*/site-packages)
BOOTSTRAP = $(PACKAGES)/flask_bootstrap/static/bootstrap5
HTMX := .vendor/django_htmx/static/django_htmx

.PHONY: setup setup-dev run test chaos mutants sheet fixture lint fmt bench translations lock clean

setup: $(V)/.installed $(V)/.assets $(CATALOGUES:.po=.mo)

setup-dev: setup $(V)/.installed-dev

run: setup
	@exec $(BIN)/stellwerk up --demo

test: setup-dev
	@exec $(BIN)/python -m tests.legs

chaos: setup-dev
	@exec $(BIN)/python -m tests.legs --in-turn tests/chaos --chaos-runs=2000

# Plants faults in a copy of the engine; each must turn the tests red.
mutants: setup-dev
	@exec $(BIN)/python -m tests.mutants

# Photographs every page into build/sheet/index.html; fails when one is broken or wider than its screen.
sheet: setup-dev
	@exec $(BIN)/python -m tests.sheet

# Before a release: the database of this version, for the upgrade tests of later ones.
fixture: setup-dev
	@exec $(BIN)/python -m tests.fixtures

lint: setup-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/deptry .

fmt: setup-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Measures the product beside its peers: SIZE=small takes minutes, SIZE=full more rounds and a million rows.
# INTO=README.md puts the table there.
SIZE ?= small
bench: setup-dev $(V)/.installed-bench
	@exec $(BIN)/python -m tests.bench $(SIZE) $(if $(INTO),--into $(INTO))

# Gathers the texts of code and templates into the catalogues; then fill in what is empty.
POT := web/translations/messages.pot
translations: setup-dev
	$(BIN)/pybabel --quiet extract --mapping-file pyproject.toml --keywords '_l lazy_gettext' \
		--no-wrap --sort-output --add-location file --omit-header --output-file $(POT) .
	$(BIN)/pybabel --quiet update --input-file $(POT) --output-dir web/translations \
		--no-fuzzy-matching --no-wrap --ignore-obsolete

# The locks: run after a change of pyproject.toml, vendor.in or setup.in, then commit them.
COMPILE := $(UV) pip compile --quiet --universal --generate-hashes --custom-compile-command 'make lock'
lock: $(UV)
	$(COMPILE) --group build pyproject.toml -o requirements.lock > /dev/null
	$(COMPILE) --group build --group dev -c requirements.lock pyproject.toml -o dev.lock > /dev/null
	$(COMPILE) --group build --group dev --group bench -c dev.lock pyproject.toml -o bench.lock > /dev/null
	$(COMPILE) --no-deps vendor.in -o vendor.lock > /dev/null
	$(COMPILE) --no-deps setup.in -o setup.lock > /dev/null

clean:
	rm -rf $(V) .vendor static/vendor build stellwerk.egg-info

# Each step of the set-up leaves a stamp, so that a second start takes no time; a changed lock runs its step again.
$(UV): setup.lock
	@echo "set-up: creating $(V)"
	@$(PYTHON) -m venv $(V)
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes -r setup.lock
	@touch $(UV)

$(V)/.installed: requirements.lock pyproject.toml $(UV)
	@echo "set-up: installing the locked dependencies"
	@$(UV) pip install --quiet --python $(BIN)/python --require-hashes -r requirements.lock
	@$(UV) pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation \
		--config-settings editable_mode=compat --editable .
	@touch $@

$(V)/.installed-dev: dev.lock $(V)/.installed
	@echo "set-up: installing the tools for tests and checks"
	@$(UV) pip install --quiet --python $(BIN)/python --require-hashes -r dev.lock
	@touch $@

$(V)/.installed-bench: bench.lock $(V)/.installed-dev
	@echo "set-up: installing the peers of the benchmark"
	@$(UV) pip install --quiet --python $(BIN)/python --require-hashes -r bench.lock
	@touch $@

# Browser files come out of locked packages: htmx from a wheel that is only unpacked, Bootstrap from the installed one.
$(V)/.assets: vendor.lock $(V)/.installed
	@echo "set-up: unpacking the browser files"
	@rm -rf .vendor static/vendor
	@$(UV) pip install --quiet --python $(BIN)/python --no-deps --require-hashes --target .vendor -r vendor.lock
	@mkdir -p static/vendor
	@cp $(HTMX)/htmx-2.min.js $(HTMX)/ext/hx-sse-2.min.js static/vendor/
	@cp $(BOOTSTRAP)/css/bootstrap.min.css $(BOOTSTRAP)/js/bootstrap.min.js static/vendor/
	@cp $(BOOTSTRAP)/umd/popper.min.js $(BOOTSTRAP)/icons/bootstrap-icons.svg static/vendor/
	@touch $@

%.mo: %.po $(V)/.installed
	@$(BIN)/pybabel --quiet compile --input-file $< --output-file $@
