# Set-up and checks. `make demo` and `make test` need Python 3.11+, git and make, and nothing else.

PYTHON ?= python3
VENV ?= .venv
DEMO_VENV ?= .venvs/demo
BIN = $(VENV)/bin

# Bytecode is kept even where the surroundings say otherwise: tests start hundreds of command lines and servers, and each
# would compile the whole house again.
export PYTHONDONTWRITEBYTECODE =

.PHONY: demo test test-all coverage mutants lint types layers docs bench release clean

## demo: the main job on 61,395 people's earnings, in an environment of its own
demo: $(DEMO_VENV)/.ready
	@$(DEMO_VENV)/bin/python -m confide.cli.demo

# Kernels are compiled first (`tests/compiled_kernels.py`), by both cores, so that no worker compiles what another has.
# Each worker takes a run of neighbouring tests (worksteal): what a file's tests share is made once.

## test: everything that must hold; what CI runs
test: $(VENV)/.ready
	@$(PYTHON) tests/system_packages.py
	@$(BIN)/python tests/compiled_kernels.py
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target types lint layers
	@$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow"

## test-all: the same with the slow evidence
test-all: $(VENV)/.ready
	@$(PYTHON) tests/system_packages.py
	@$(BIN)/python tests/compiled_kernels.py
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target types lint layers
	@$(BIN)/python -m pytest -n 2 --dist worksteal --hypothesis-profile thorough

## coverage: lines and branches of `make test` that run, by file; kernels that are compiled are left out
coverage: $(VENV)/.measured
	@rm -f .coverage .coverage.*
	@$(BIN)/python -m coverage run -m pytest -n 2 --dist worksteal -m "not slow"
	@$(BIN)/python -m coverage combine --quiet
	@$(BIN)/python -m coverage report --sort=miss

## mutants: small changes of the privacy core that no test and no type notices, in tests/mutants_alive.txt; an hour or two
mutants: $(VENV)/.measured
	@$(BIN)/python tests/mutants.py

## types: what `make test` checks by mypy and by pyright, which npm installs once: library, pages, examples, benchmarks
types: $(VENV)/.ready
	@$(PYTHON) tests/system_packages.py
	@$(BIN)/python tests/typed/type_checks.py

## lint: style and spelling
lint: $(VENV)/.ready
	@$(BIN)/ruff check .
	@$(BIN)/codespell

## layers: who may import whom
layers: $(VENV)/.ready
	@$(BIN)/lint-imports

## docs: build the pages; every page's code is executed
docs: $(VENV)/.ready
	@$(BIN)/sphinx-build -q -W -b html docs docs/_build/html
	@echo docs/_build/html/index.html

## bench: time, memory and accuracy beside named peers
bench: $(VENV)/.ready
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test,bench]'
	@$(BIN)/python -m benchmarks

## release: sdist and wheel, tried in clean environments, and the notes, in dist/; nothing is uploaded
release: $(VENV)/.ready
	@$(BIN)/python -m releasing

clean:
	rm -rf $(VENV) .venvs docs/_build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(VENV)/.ready: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("confide needs Python 3.11 or later, not " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps 'recbole==1.2.1' || \
	  echo "recbole is missing, so tests on its film casts are skipped (in CI they fail)"
	@touch $@

$(VENV)/.measured: $(VENV)/.ready
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[measured]'
	@touch $@

$(DEMO_VENV)/.ready: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("confide needs Python 3.11 or later, not " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	@echo "setting up $(DEMO_VENV) (once)"
	@test -x $(DEMO_VENV)/bin/python || $(PYTHON) -m venv $(DEMO_VENV)
	@$(DEMO_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[plots,examples]'
	@touch $@
