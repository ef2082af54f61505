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
HF    = .venv-hf/bin
FAULT = .venv-mutation/bin
OTEL  = .venv-otel/bin
BUILD = .venv-build/bin
CLEAN = .venv-wheel/bin

.DEFAULT_GOAL := help
.PHONY: help demo test test-otel fuzz soak mutation coverage check format audit integration integration-hf bench docs pages matrix release clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-19s %s\n", $$1, $$2 }' Makefile

demo: .venv-demo/.ready ## scripted conversations, nothing to configure (ARGS="--ask", ARGS="--docs DIR", …)
	@$(DEMO)/condense-plus demo $(ARGS)

test: .venv-test/.ready ## the fast tests, no network
	@$(TEST)/python -m pytest -m "not integration" $(ARGS)

test-otel: .venv-otel/.ready ## the events in OpenTelemetry, whose extra holds back other packages
	@$(OTEL)/python -m pytest tests/observability $(ARGS)

fuzz: .venv-test/.ready ## hostile texts for a minute (ARGS="--seconds 600"); crashes are kept in tests/fuzz/corpus
	@$(TEST)/python -m tests.fuzz.run $(ARGS)

mutation: .venv-mutation/.ready ## what share of small faults in retrieval/ and rewriting/ the tests notice (ARGS="--sample 0")
	@nice -n 19 $(FAULT)/python scripts/mutation.py $(ARGS)

coverage: .venv-mutation/.ready ## the fast tests' coverage of lines and branches
	@$(FAULT)/coverage run --branch --source llama_index_condense_plus -m pytest -m "not integration" $(ARGS)
	@$(FAULT)/coverage report --skip-covered --show-missing
	@$(FAULT)/coverage json -q -o .venv-mutation/coverage.json
	@$(FAULT)/python -c "import json; totals = json.load(open('.venv-mutation/coverage.json'))['totals']; \
		print(f\"branches: {totals['percent_branches_covered']:.1f} %\")"

soak: .venv-test/.ready ## 20,000 turns with faults in 50 conversations; ends with an error if memory grows or a turn is lost
	@$(TEST)/python -W ignore benchmarks/soak.py $(ARGS)

check: .venv-test/.ready ## ruff, mypy and the direction of imports
	$(TEST)/ruff check .
	$(TEST)/ruff format --check .
	$(TEST)/mypy
	$(TEST)/lint-imports

format: .venv-test/.ready ## mend what ruff can mend
	$(TEST)/ruff check --fix .
	$(TEST)/ruff format .

audit: .venv-test/.ready ## known vulnerabilities of what is installed; says so when it cannot be looked up
	@$(TEST)/python -m pip install -q pip-audit
	@$(TEST)/pip-audit --local --skip-editable --progress-spinner off > .venv-test/audit.txt 2>&1; status=$$?; \
	cat .venv-test/audit.txt; \
	if [ $$status -ne 0 ] && ! grep -q 'known vulnerabilit' .venv-test/audit.txt; then \
		echo "pip-audit could not look up vulnerabilities; nothing was audited."; exit 0; fi; exit $$status

integration: .venv-test/.ready ## with Qdrant on disk, real embeddings, and the model server in CONDENSE_PLUS_LLM_URL
	@$(TEST)/python -m pytest -m "integration and not huggingface" $(ARGS)

integration-hf: .venv-hf/.ready ## HuggingFaceEmbedding on a model that comes in a package; installs PyTorch
	@$(HF)/python -m pytest -m huggingface $(ARGS)

bench: .venv-bench/.ready ## every benchmark but training, tables on the screen; development data in CONDENSE_PLUS_DATA
	@for script in $$(ls benchmarks/[!_]*.py | grep -v -e /train_ -e /soak); do \
		echo "== $$script"; $(BENCH)/python "$$script" $(ARGS) || exit 1; done

docs: .venv-docs/.ready ## the documentation, into site/
	NO_MKDOCS_2_WARNING=1 $(DOCS)/mkdocs build --strict $(ARGS)

pages: .venv-bench/.ready ## the pages that scripts write; ARGS="--all" or names run benchmarks first
	$(BENCH)/python scripts/settings_page.py
	$(BENCH)/python scripts/benchmarks_page.py $(ARGS)

matrix: ## Python 3.10 to 3.13 with the oldest and the newest llama-index-core
	@$(PYTHON) scripts/matrix.py $(ARGS)

release: .venv-build/.ready ## build wheel and sdist and verify them in a clean environment; uploads nothing
	rm -rf dist .venv-wheel
	$(BUILD)/python -m build --outdir dist .
	$(BUILD)/twine check --strict dist/*
	$(BUILD)/check-wheel-contents dist/*.whl
	$(PYTHON) -m venv .venv-wheel
	$(CLEAN)/python -m pip install -q dist/*.whl
	cd .venv-wheel && bin/condense-plus --version && bin/condense-plus --help > /dev/null
	cd .venv-wheel && printf 'Which plans are there?\nBasic and Pro.\n' | bin/condense-plus explain "And the price of Pro?" --history -
	$(CLEAN)/python -m pip install -q mypy
	cd .venv-wheel && bin/mypy --config-file= --strict -c 'from llama_index_condense_plus import CondensePlusSettings; CondensePlusSettings().to_toml()'
	@ls dist && echo "verified; nothing was uploaded"

clean: ## remove environments, caches and builds
	rm -rf .venv-* dist site .mypy_cache .ruff_cache .pytest_cache .import_linter_cache

# An environment is ready when its stamp is newer than pyproject.toml.
.venv-demo/.ready: INSTALL = -e ".[demo]"
.venv-test/.ready: INSTALL = -e ".[demo]" --group test --group check
.venv-bench/.ready: INSTALL = -e ".[demo]" --group bench
.venv-docs/.ready: INSTALL = -e . --group docs
.venv-hf/.ready: INSTALL = -e ".[demo,huggingface]" --group test --group hf
.venv-otel/.ready: INSTALL = -e ".[otel]" --group test
.venv-mutation/.ready: INSTALL = -e ".[demo]" --group test --group mutation
.venv-build/.ready: INSTALL = --group release
.venv-%/.ready: pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.10 or newer was not found. Set PYTHON=/path/to/python3." >&2; exit 1; }
	@echo "preparing .venv-$* (once) …"
	@test -x .venv-$*/bin/python || $(PYTHON) -m venv .venv-$* || { rm -rf .venv-$*; \
		echo "This Python cannot make environments; on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
	@.venv-$*/bin/python -m pip install -q --upgrade "pip>=25.1"
	@.venv-$*/bin/python -m pip install -q $(INSTALL)
	@touch $@
