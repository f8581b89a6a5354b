# Wardround: make run | test | test-all | check | docs | screenshots | bench | bench-peers | soak | ui | lock
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
ARGS ?=
WORKERS ?= $(shell getconf _NPROCESSORS_ONLN)
INSTALL := $(BIN)/uv pip install --quiet --python $(BIN)/python --constraint requirements.lock --editable
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(ARGS)

unexport PYTHONDONTWRITEBYTECODE  # tests start many processes: without bytecode, each compiles everything again

.PHONY: run test test-all check docs screenshots format bench bench-peers soak ui lock clean

run: .venv/.installed  ## install and run the main job on the embedded default
	@$(BIN)/python -m runner $(ARGS)

test: .venv/.test  ## the default test suite
	@$(PYTEST)

test-all: check  ## every check and every test, the slow ones and the whole attack matrix of the sandbox too
	@WARDROUND_TEST_SLOW=1 $(PYTEST)

check: .venv/.dev  ## linters, types, import contracts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: .venv/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: .venv/.docs  ## the documentation site, in site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict $(ARGS)

screenshots: .venv/.test  ## the pictures of the documentation, of this version; needs Chromium
	@$(BIN)/python docs/screenshots.py

bench: .venv/.installed  ## speed and memory against the bare loop
	@$(BIN)/python -m benchmarks $(ARGS)

soak: .venv/.installed  ## many calls under faults and kills
	@$(BIN)/python -m benchmarks.soak $(ARGS)

bench-peers: .venv-peers/.installed  ## the same calls by inspect_ai, lm-evaluation-harness, openai and litellm
	@$(BIN)/python -m benchmarks peers $(ARGS)

ui: .venv/.installed  ## the MLflow UI over outputs/
	@$(BIN)/python -m runner.ui $(ARGS)

.venv/.installed: pyproject.toml requirements.lock
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed"; exit 2; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint requirements.lock uv
	$(INSTALL) .
	@touch $@

.venv/.test: .venv/.installed
	$(INSTALL) '.[test]'
	@touch $@

.venv/.dev: .venv/.test
	$(INSTALL) '.[test,dev]'
	@touch $@

.venv-peers/.installed: benchmarks/peers.txt .venv/.installed  ## an environment of their own
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python .venv-peers
	$(BIN)/uv pip install --quiet --python .venv-peers/bin/python --requirement benchmarks/peers.txt
	@touch $@

.venv-llama/.installed: .venv/.installed  ## llama.cpp's server from its source, for a slow test
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python .venv-llama
	$(BIN)/uv pip install --quiet --python .venv-llama/bin/python gguf==0.19.0
	$(BIN)/python -m pip download --quiet --no-deps --no-binary llama-cpp-python --dest .venv-llama llama-cpp-python==0.3.36
	tar -C .venv-llama -xzf .venv-llama/llama_cpp_python-*.tar.gz
	cmake -S .venv-llama/llama_cpp_python-*/vendor/llama.cpp -B .venv-llama -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF \
	  -DCMAKE_CXX_FLAGS_RELEASE=-O1 -DGGML_NATIVE=OFF -DGGML_OPENMP=OFF -DLLAMA_OPENSSL=OFF -DLLAMA_USE_PREBUILT_UI=OFF \
	  -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_APP=OFF
	nice cmake --build .venv-llama --target llama-server --parallel $(WORKERS)
	@touch $@

.venv-mlflow/.installed: .venv/.installed  ## MLflow's server with users and PostgreSQL, for a slow test
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python .venv-mlflow
	$(BIN)/uv pip install --quiet --python .venv-mlflow/bin/python --constraint requirements.lock 'mlflow[auth]' psycopg2-binary
	@touch $@

.venv-launchers/.installed: .venv/.installed  ## launchers and searches of sweeps, for slow tests
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python .venv-launchers
	$(BIN)/uv pip install --quiet --python .venv-launchers/bin/python --constraint requirements.lock \
	  --editable '.[test,joblib,submitit,ray,optuna]'
	@touch $@

.venv-agents/.installed: docs/examples/agents.txt .venv/.installed  ## frameworks of agents from outside, for a slow test
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python .venv-agents
	$(BIN)/uv pip install --quiet --python .venv-agents/bin/python --requirement docs/examples/agents.txt
	@touch $@

.venv/.docs: .venv/.installed
	$(INSTALL) '.[docs]'
	@touch $@

lock: .venv/.installed  ## pin the newest releases that pyproject.toml allows
	$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --strip-extras --no-annotate \
	  --custom-compile-command 'make lock' --extra test --extra dev --extra docs --extra datasets pyproject.toml --output-file requirements.lock

clean:
	rm -rf .venv .venv-agents .venv-launchers .venv-llama .venv-mlflow .venv-peers .venv-proxy build site *.egg-info
