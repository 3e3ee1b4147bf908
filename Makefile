# The door for people: `make bench` shows everything at work, `make test` runs every check.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: bench test soak clean

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[local,fast,cost,parquet,web,embed]' --group dev
	touch $(READY)

$(VENV)/.bench: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[local]'
	touch $@

bench: $(VENV)/.bench          ## the embedded model on random 3x3 zero-sum games, with table and HTML report
	$(BIN)/bestresponse bench --num-games 40 --seed 42 --processes 2 --output-dir results

test: $(READY)                 ## style, types and tests, as CI runs them
	scripts/system-packages
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/python -m pytest -n 2 --dist loadfile

soak: $(READY)                 ## long checks: a run killed twenty times, 100,000 games
	$(BIN)/python benchmarks/kills.py
	$(BIN)/python benchmarks/harness.py --large
	$(BIN)/python -m pytest --hypothesis-profile=explore -k "agree or fuzz or propert"

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache build dist
