# The same commands for everybody. Each sets up .venv by itself; a second run finds its stamps and starts at once.
.DEFAULT_GOAL := help
.PHONY: help demo reproduce test test-extras lint bench figures docs sanitize wheel clean
.DELETE_ON_ERROR:

PY := .venv/bin/python
WORKERS ?= 2

help:  ## list the commands
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

demo: .venv/.package  ## grow trees on two built-in logs, ask them, and write their reports into out/
	@$(PY) -m tripletree demo

reproduce: .venv/.test  ## run the paper's experiments, check its claims and say where the page is
	@$(PY) -m tripletree reproduce $(ARGS)

test: .venv/.test  ## run all tests (WORKERS=1 for one process, ARGS="..." for pytest)
	$(PY) -m pytest -n $(WORKERS) -q $(ARGS)

test-extras: .venv/.extras  ## tests with the real libraries of others: Stable-Baselines3, MuJoCo, ONNX, Minari, ...
	$(PY) -m pytest -n $(WORKERS) -q tests/extras $(ARGS)

lint: .venv/.lint .venv/.test .venv/.types  ## style, types, which room may import which, and the kernel's format
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	.venv/bin/lint-imports --no-cache
	.venv/bin/clang-format --dry-run -Werror src/kernel/*
	node .venv/types/node_modules/typescript/bin/tsc --project tsconfig.json

bench: .venv/.bench  ## measure against scikit-learn and XGBoost, side by side
	$(PY) -m benchmarks $(ARGS)

figures: .venv/.test  ## draw the paper's figures from the road and the lander into out/figures (ARGS="road" for some)
	$(PY) -m figures $(ARGS)

docs: .venv/.docs  ## build the manual into docs/_build (no network; warnings are errors)
	$(PY) -m sphinx -W --keep-going -q -b html docs docs/_build
	@echo "Open docs/_build/index.html"

sanitize: .venv/.test  ## tests of growth, linear leaves, contributions and CSV on a build with AddressSanitizer and UndefinedBehaviorSanitizer
	@sh scripts/sanitize.sh $(ARGS)

wheel: .venv/.wheel  ## wheels for every Python at hand, into dist/; each is installed and tried without a compiler
	@sh scripts/wheel.sh

clean:  ## remove everything that make has made
	rm -rf .venv build dist out docs/_build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/.package: pyproject.toml CMakeLists.txt scripts/setup.sh $(wildcard src/kernel/*)
	@sh scripts/setup.sh
	@touch $@

.venv/.extras: .venv/.test

.venv/.types: scripts/types.sh | .venv/.package
	@sh scripts/types.sh
	@touch $@

.venv/.test .venv/.extras .venv/.lint .venv/.bench .venv/.docs .venv/.wheel: .venv/.%: pyproject.toml | .venv/.package
	@echo "Installing what 'make $*' needs ..."
	@$(PY) -m pip --disable-pip-version-check --quiet install --group $*
	@[ $* != test ] || sh scripts/browser.sh
	@touch $@
