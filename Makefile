# Everything runs from one virtual environment, .venv, made here on first use.
#   make PYTHON=python3.12 …   choose the interpreter it is made from
#   make demo CORPUS=DIR       run the demonstration on a folder of Markdown of your own

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV := .venv
INSTALLED := $(VENV)/.installed
BIN := $(VENV)/bin
PYTHON ?=
CANDIDATES := $(if $(PYTHON),$(PYTHON),python3 python3.14 python3.13 python3.12 python3.11)
WORKERS ?= 2
SOAK_SECONDS ?= 600

# Through the environment, so that a folder's name may hold spaces and quotes.
export CORPUS

.PHONY: help
help:
	@echo 'make install   make .venv and install the project into it, with its development tools'
	@echo 'make demo      run the main job on the knowledge base of the project (CORPUS=DIR: on a folder of yours)'
	@echo 'make test      run all tests'
	@echo 'make quick     the tests that catch most mistakes, in less than a minute'
	@echo 'make check     formatting, lint, types, import rules'
	@echo 'make catalogues  renew the Chinese catalogue; list what has no translation (references/translating.md)'
	@echo 'make bench     measure speed and memory'
	@echo 'make soak      serve a Root under load for SOAK_SECONDS (600), killing the daemon at random; nothing may be lost'
	@echo 'make clean     remove what these made, .venv included'

.PHONY: install
install: $(INSTALLED)

# Compiled files save each worker 6 of 25 seconds of collection, so they are written even where the environment forbids it.
# Each worker takes a run of neighbours, which share fixtures, and at the end what another one has left.
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal

.PHONY: test
test: $(INSTALLED)
	$(PYTEST)

# The rules of names, links, records and receipts, the store, a write, a delivery and the hook. It leaves out the long
# tables of cases, the laws, the daemon, MCP, the scanners, the slow tests and everything that starts many processes.
QUICK := tests/domain/test_slugs.py tests/domain/test_flat.py tests/domain/test_markers.py tests/domain/test_handoffs.py \
  tests/domain/test_receipts.py tests/domain/test_records.py tests/domain/test_drafts.py tests/domain/test_timestamps.py \
  tests/store tests/app/test_write.py tests/app/test_naming.py tests/app/test_complete.py tests/hook/test_settings.py \
  tests/cli/test_main.py tests/test_startup.py tests/test_wording.py tests/test_architecture.py tests/test_plain_words.py

.PHONY: quick
quick: $(INSTALLED)
	$(PYTEST) -m 'not slow' $(QUICK)

.PHONY: check
check: $(INSTALLED)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

.PHONY: catalogues
catalogues: $(INSTALLED)
	$(BIN)/python -m tests.catalogues

.PHONY: bench
bench: $(INSTALLED)
	$(BIN)/python benchmarks/run.py

.PHONY: soak
soak: $(INSTALLED)
	$(BIN)/python benchmarks/soak.py --seconds $(SOAK_SECONDS)

.PHONY: demo
demo: $(INSTALLED)
	@$(BIN)/python scripts/demo.py $${CORPUS:+--corpus "$$CORPUS"}

.PHONY: clean
clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamp holds the folder it was made for, since commands in a .venv name their interpreter in full and a moved one is broken,
# and the sum of pyproject.toml: a checkout makes that file newer and seldom another.
ifneq ($(shell cat $(INSTALLED) 2>/dev/null),$(CURDIR) $(shell cksum < pyproject.toml))
.PHONY: $(INSTALLED)
endif

# A .venv whose pip starts is kept; a broken one (moved, or its Python was removed) is made anew.
$(INSTALLED):
	@$(BIN)/pip --version >/dev/null 2>&1 || { \
	  for candidate in $(CANDIDATES); do \
	    if "$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then python=$$candidate; break; fi; \
	  done; \
	  if [ -z "$${python:-}" ]; then \
	    echo 'Python 3.11 or newer was not found: install it (Debian, Ubuntu: apt install python3 python3-venv), or name it with make PYTHON=/path/to/python3' >&2; exit 1; \
	  fi; \
	  if ! "$$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then \
	    echo "$$python can't make virtual environments: apt install python3-venv, then run make again" >&2; exit 1; \
	  fi; \
	  rm -rf $(VENV) && "$$python" -m venv $(VENV); \
	}
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@$(BIN)/python -m compileall -q oracle scripts
	@{ pwd -P; cksum < pyproject.toml; } > $@
