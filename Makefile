# What users and developers run. Python ≥ 3.10 and make are all it needs: each target makes its own environment,
# fills it once, and refills it when pyproject.toml changes.

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python3.10 python; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null && { echo "$$p"; break; }; done)
ARGS ?=
export PIP_DISABLE_PIP_VERSION_CHECK = 1

DEMO  = .venv-demo/bin
TEST  = .venv-test/bin
BENCH = .venv-bench/bin
DOCS  = .venv-docs/bin
NOX   = .venv-nox/bin

.DEFAULT_GOAL := help
.PHONY: help demo test coverage check format integration bench figures train docs pages nox clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

demo: .venv-demo/.ready ## scripted conversations, nothing to configure (ARGS="--all")
	@$(DEMO)/condense-plus demo $(ARGS)

test: .venv-test/.ready ## the fast tests, without network
	@$(TEST)/python -m pytest -m "not integration" $(ARGS)

coverage: .venv-test/.ready ## line and branch coverage of the fast tests
	@$(TEST)/python -m coverage run --branch --source llama_index_condense_plus -m pytest -m "not integration" $(ARGS)
	@$(TEST)/python -m coverage report --skip-covered --show-missing

check: .venv-test/.ready ## ruff, mypy and import-linter
	$(TEST)/ruff check .
	$(TEST)/ruff format --check .
	$(TEST)/mypy
	$(TEST)/lint-imports

format: .venv-test/.ready ## let ruff fix and format
	$(TEST)/ruff check --fix .
	$(TEST)/ruff format .

integration: .venv-test/.ready ## with Qdrant on disk, real embeddings, and the model server in CONDENSE_PLUS_LLM_URL
	@$(TEST)/python -m pytest -m "integration and not huggingface" $(ARGS)

bench: .venv-bench/.ready ## one benchmark (ARGS="-m benchmarks.replay"); data in CONDENSE_PLUS_DATA
	@$(BENCH)/python $(ARGS)

figures: .venv-bench/.ready ## run all benchmarks, or ARGS="replay gate", and write docs/benchmarks.md
	$(BENCH)/python scripts/figures.py $(or $(ARGS),--all)

train: .venv-bench/.ready ## train gate, trust and ranker (ARGS="--without qrecc")
	$(BENCH)/python -m benchmarks.train $(ARGS)

docs: .venv-docs/.ready ## the documentation, into site/
	NO_MKDOCS_2_WARNING=1 $(DOCS)/mkdocs build --strict $(ARGS)

pages: .venv-bench/.ready ## the page of settings, and the pictures of demo, panel, report and spans
	$(BENCH)/python scripts/settings_page.py
	$(BENCH)/python scripts/screenshots.py $(ARGS)

nox: .venv-nox/.ready ## heavy checks before a release (ARGS="-s matrix", "-s mutation", "-s release", "--list")
	@$(NOX)/nox $(ARGS)

clean: ## remove environments, caches and builds
	rm -rf .venv-* .nox dist site .mypy_cache .ruff_cache .pytest_cache .import_linter_cache mutants

# An environment is ready when its stamp is newer than pyproject.toml.
.venv-demo/.ready: INSTALL = -e ".[demo]"
.venv-test/.ready: INSTALL = -e ".[demo]" --group test --group check
.venv-bench/.ready: INSTALL = -e ".[otel,web]" --group bench
.venv-docs/.ready: INSTALL = -e . --group docs
.venv-nox/.ready: INSTALL = nox
.venv-%/.ready: pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.10 or newer was not found. Set PYTHON=/path/to/python3." >&2; exit 1; }
	@echo "preparing .venv-$* (once): pip install $(INSTALL)"
	@test -x .venv-$*/bin/python || $(PYTHON) -m venv .venv-$* || { rm -rf .venv-$*; \
		echo "This Python cannot make environments; on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
	@.venv-$*/bin/python -m pip install -q --upgrade "pip>=25.1"
	@.venv-$*/bin/python -m pip install $(if $(CI),-q) $(INSTALL)
	@touch $@
