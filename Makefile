# Two commands do all the set-up: make demo, make test. Both are thin; README.md has the plain ones.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: demo test lint types check clean

demo: $(VENV)/.installed  ## install, fetch the demo data, compare five recommenders on it
	@$(BIN)/samepool compare experiment=movielens
	@echo "open the report in a browser, or the MLflow UI with: $(BIN)/samepool ui"

test: $(VENV)/.dev  ## install the development extra and run all tests
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

lint: $(VENV)/.dev  ## format, style, architecture
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports --cache-dir .cache/imports

types: $(VENV)/.dev  ## mypy, strict
	$(BIN)/mypy

check: lint types test  ## everything that CI runs

$(VENV)/.installed: pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "samepool needs Python 3.11 or later; set PYTHON=..."; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(PIP) install -c constraints.txt -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.installed
	$(PIP) install -c constraints.txt -e ".[dev]"
	@touch $@

clean:
	rm -rf $(VENV) .cache .coverage* build dist outputs
