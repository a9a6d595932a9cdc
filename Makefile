PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
ARCHIVE := $(VENV)/.archive
# Where uv is there, it installs faster than pip does.
INSTALL := $(if $(shell command -v uv),VIRTUAL_ENV=$(VENV) uv pip install --quiet,\
	$(BIN)/python -m pip install --quiet --disable-pip-version-check)

.PHONY: replay test lint typing docs bench matrix clean

replay: $(READY)
	$(BIN)/onceproof replay $(ARGS)

test: $(READY) $(ARCHIVE)
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder $(ARGS)

lint: $(READY) typing
	$(BIN)/ruff check .
	MYPYPATH=build/typing $(BIN)/mypy -p onceproof.model.protocols \
		-p onceproof.properties -p onceproof.spark_checks
	$(BIN)/pyright
	$(BIN)/lint-imports

docs: $(READY)
	$(BIN)/sphinx-build -W --keep-going -q -b html docs build/docs

bench: $(READY)
	$(BIN)/python -m tests.benchmarks.peers
	$(BIN)/python -m tests.benchmarks.drivers
	$(BIN)/python -m tests.benchmarks.startup
	$(BIN)/python -m tests.benchmarks.archive

# Each version of PySpark has an environment of its own; all five take some 7 GB.
matrix: $(READY)
	$(BIN)/python -m tests.matrix $(ARGS)

# Type checkers do not see how setuptools maps the package onto the folders.
typing:
	@mkdir -p build/typing/onceproof
	@for room in model properties spark_checks; do \
		ln -sfn ../../../$$room build/typing/onceproof/$$room; done

# It halves the start of each of the tests' Spark sessions; they do without, too.
$(ARCHIVE): $(READY)
	-$(BIN)/onceproof doctor --class-archive >/dev/null
	@touch $@

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or later is needed; set PYTHON to one" >&2; exit 2; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(INSTALL) -r requirements.lock
	@$(INSTALL) --no-deps --no-build-isolation -e .
	touch $(READY)

clean:
	rm -rf build .pytest_cache .mypy_cache .ruff_cache .hypothesis
