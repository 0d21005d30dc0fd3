# Two commands on a fresh machine: `make demo` (the main job, end to end) and `make test`.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
# Byte-compiled once at install: great-expectations alone costs four seconds at each start without it.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test check bench notebooks docs wheel lock clean

$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' \
	  || { echo "bathtub needs Python 3.11 to 3.14; say which: make PYTHON=python3.12 …" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

demo: $(STAMP)
	$(BIN)/bathtub demo

test: $(STAMP)
	$(BIN)/python -m pytest -n 2

check: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m tests.layout

bench: $(STAMP)
	for file in bench/bench_*.py; do $(BIN)/python $$file || exit 1; done

notebooks: $(STAMP)
	$(BIN)/python -m tests.run_notebooks

docs: $(STAMP)
	$(BIN)/python -m tests.generate_docs --write

wheel: $(STAMP)
	rm -rf build/wheel && $(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir build/wheel .

# The tool that resolves is not part of the environment: `pip install uv` once, anywhere on PATH.
lock:
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --all-extras pyproject.toml -o requirements.lock

clean:
	rm -rf build dist demo-out .pytest_cache .mypy_cache .ruff_cache
