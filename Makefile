# The door for people: `make bench` shows everything at work, `make test` runs every check.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
BASE ?= main
SEED ?= $(shell date +%s)
SAMPLE ?= 60
MINUTES ?= 60

# Containers often forbid bytecode: every worker and every command that tests start would compile the package again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: audit bench check docs paper release test types suite coverage soak long mutants train-test test-integrations clean

# uv installs in a quarter of the time; where it finds no index, pip does, which has settings of its own for that.
add = $(BIN)/uv pip install --quiet --system-certs --python $(BIN)/python $(1) || $(BIN)/python -m pip install --quiet $(1)

$(READY): pyproject.toml requirements-dev.lock
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip uv==0.13.7
	$(call add,--require-hashes -r requirements-dev.lock)
	$(BIN)/python -m pip install --quiet --no-deps --editable .
	touch $(READY)

$(VENV)/.bench: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[local]'
	touch $@

bench: $(VENV)/.bench          ## the embedded model on random 3x3 zero-sum games, with table and HTML report
	$(BIN)/bestresponse bench --model smollm2 --num-games 40 --seed 42 --processes 2 --output-dir results

test: $(READY)                 ## style, types and tests, as CI runs them
	scripts/system-packages
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(MAKE) --no-print-directory --jobs 2 types suite

types:                         # one core, beside the tests
	$(BIN)/mypy

# Fast solvers are compiled once beforehand, or every worker that meets one would compile it.
suite:                         # three workers, one of which waits for a browser or a server; in the order of tests/conftest.py
	$(BIN)/bestresponse warm
	$(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder

check: $(READY)                ## the quick part: style, types, and the tests nearest to what changed since BASE (main)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/dmypy run
	tests="$$(scripts/changed_tests.py $(BASE))" && \
	  $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder -m "not slow and not model and not soak" $$tests

coverage: $(READY)             ## the tests again, slower, with the lines and branches of src that they reach
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -n 2 --dist loadfile
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage json --quiet -o build/coverage.json
	$(BIN)/coverage report --skip-covered --sort=miss
	scripts/check_coverage.py build/coverage.json

train-test:                    ## the recipe of training in miniature, in an environment with torch (5 GB) of its own
	$(PYTHON) -m venv build/train
	build/train/bin/pip install --quiet --editable '.[train,parquet]' pytest hypothesis
	build/train/bin/python -m pytest tests/studies/improve

test-integrations:             ## each integration in an environment of its own, made as its page says; ONLY= names some of them
	$(PYTHON) scripts/test_integrations.py $(ONLY)

soak: $(READY)                 ## fuzz everything that reads what others wrote for MINUTES; findings become files in build/findings
	$(BIN)/python scripts/fuzz.py --minutes $(MINUTES) --seed $(SEED) --findings build/findings

long: $(READY)                 ## long checks: commands killed a hundred times, 100,000 games, tests in random order, more examples
	$(BIN)/python scripts/kills.py
	$(BIN)/python scripts/full_disk.py
	$(BIN)/python scripts/fuzz_files.py --settings files=20000 --seed $(SEED)
	$(BIN)/python benchmarks/harness.py --large
	@echo "repeat what follows with: make long SEED=$(SEED)"
	$(BIN)/python -m pytest -m soak -o faulthandler_timeout=0
	PYTHONPATH=tests/support $(BIN)/python -m pytest -p shuffled --shuffle $(SEED)
	$(BIN)/python -m pytest --hypothesis-profile=explore --hypothesis-seed=$(SEED) -m hypothesis

audit: $(READY)                ## known weaknesses of the locked packages (where the network allows), static analysis, hostile programs
	$(call add,--group audit)
	$(BIN)/python scripts/audit_packages.py requirements-dev.lock
	$(BIN)/python -m bandit --quiet --recursive --configfile pyproject.toml src scripts
	$(BIN)/python -m pytest tests/logic/test_hostile_corpus.py tests/logic/confined tests/logic/swi/test_sandbox.py

mutants: $(READY)              ## break every promise of the papers that has a break, then SAMPLE small things of each package
	$(BIN)/python scripts/break_promises.py
	$(BIN)/python scripts/mutants.py --sample $(SAMPLE) --seed $(SEED)

docs: $(READY)                 ## the site, with executed tutorials, in docs/_build
	$(call add,--group docs)
	$(BIN)/python scripts/draw-report
	$(BIN)/python scripts/draw-guides
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs docs/_build

paper:                         ## the paper as a PDF in build; needs pandoc, pdflatex and the fonts of lmodern
	mkdir -p build
	pandoc --citeproc --bibliography paper/paper.bib paper/paper.md -o build/paper.pdf

release:                       ## wheel, source archive and the list of what the wheel installs (SBOM), checked, in dist
	rm -rf dist build/release build/installed
	$(PYTHON) -m venv build/release
	build/release/bin/python -m pip install --quiet --upgrade pip
	build/release/bin/python -m pip install --quiet --group release
	build/release/bin/python -m build
	build/release/bin/python -m twine check --strict dist/*
	$(PYTHON) -m venv build/installed
	build/installed/bin/python -m pip install --quiet dist/*.whl
	build/installed/bin/bestresponse demo --output build/demo
	build/release/bin/cyclonedx-py environment build/installed/bin/python --pyproject pyproject.toml --output-file dist/sbom.cdx.json

clean:
	rm -rf $(VENV) .coverage* .mypy_cache .pytest_cache .ruff_cache build dist
