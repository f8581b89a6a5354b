# Wardround: make run | test | check | docs | bench | ui
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
ARGS ?=
WORKERS ?= $(shell getconf _NPROCESSORS_ONLN)

unexport PYTHONDONTWRITEBYTECODE  # tests start many processes: each would compile everything anew

.PHONY: run test check docs format bench ui clean

run: .venv/.installed  ## install and run the main job on the embedded default
	@$(BIN)/python -m runner $(ARGS)

test: .venv/.installed  ## the default test suite
	@$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(ARGS)

check: .venv/.dev  ## linters, types, import contracts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: .venv/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: .venv/.docs  ## the documentation site, in site/
	$(BIN)/mkdocs build --strict $(ARGS)

bench: .venv/.installed  ## speed and memory against the bare loop
	@$(BIN)/python -m benchmarks $(ARGS)

ui: .venv/.installed  ## the MLflow UI over outputs/
	@$(BIN)/python -m runner.ui $(ARGS)

.venv/.installed: pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed"; exit 2; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[test]'
	@touch $@

.venv/.dev: .venv/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[test,dev]'
	@touch $@

.venv/.docs: .venv/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[docs]'
	@touch $@

clean:
	rm -rf .venv build site *.egg-info
