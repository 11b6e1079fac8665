# Two commands matter: `make demo` and `make test`. Both set up what they need in .venv.
PYTHON ?= python3
BIN := .venv/bin
ARGS ?=
# Without cached bytecode every Ray process would compile torch and ray again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: install demo test bench check browser datasets pictures clean

install: .venv/installed

.venv/installed: requirements.lock pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	test -x $(BIN)/uv || $(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements.lock
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation -e .
	touch $@

demo: install
	$(BIN)/paretoscope demo $(ARGS)

check: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# As root on Debian the browser of the page tests is installed; elsewhere the tests say how to get one.
browser:
	@if ! command -v chromium >/dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium >/dev/null; \
	fi

# As root on Debian the real Fashion-MNIST is installed; elsewhere the tests that want it are skipped.
datasets:
	@if ! test -d /usr/share/datasets/fashion-mnist && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -qq && apt-get install -y -qq --no-install-recommends dataset-fashion-mnist >/dev/null; \
	fi

# Two processes, a file of tests at a time: most tests wait for Ray, a service or a browser.
test: install browser datasets check
	$(BIN)/pytest -n 2 --dist loadfile $(ARGS)

bench: install
	$(BIN)/python -m tests.benchmarks $(ARGS)

pictures: install browser
	$(BIN)/python -m tests.browser.pictures

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache
