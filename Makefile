# make serve: install and serve on 127.0.0.1:8000.  make test: install what tests need and run all.  make check: ruff, mypy, tsc, links, lessons.
# make test-outside: what needs other programs, nginx and Caddy, and is not part of make test.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# browser tests wait a good deal, so one more at once than a small machine has cores
JOBS ?= 3

.PHONY: serve test test-outside check bench picture browser scripts

serve: .venv/served scripts
	$(BIN)/python -m app $(ARGS)

test: .venv/tested scripts browser
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal $(ARGS)

OUTSIDE := nginx caddy openssl systemd-analyze
test-outside: export PATH := $(PATH):/usr/sbin
test-outside: .venv/tested scripts
	@for one in $(OUTSIDE); do command -v $$one >/dev/null || { echo "make test-outside needs $$one: as root, 'apt-get install nginx caddy openssl systemd'"; exit 1; }; done
	$(BIN)/python -m pytest -n $(JOBS) tests/outside $(ARGS)

check: .venv/tested scripts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	@command -v npx >/dev/null || { echo "make check types the scripts with tsc, which needs Node.js: install nodejs and npm"; exit 1; }
	npx --no-install tsc --project static/js/tsconfig.json
	$(BIN)/python -m tests.links
	$(BIN)/python -m app check

bench: .venv/tested scripts browser
	$(BIN)/python -m tests.bench $(ARGS)

picture: .venv/served
	$(BIN)/python -m app figure "online-softmax?scores=6,5,7,6,7,9,8,6&step=6" static/shrink.gif --moving 5
	$(BIN)/python -m app figure "online-softmax?scores=6,5,7,6,7,9,8,6&offset=80&step=6" static/overflow.gif --moving 5
	$(BIN)/python -m app figure "tiled-attention?step=2" static/tile.gif --moving 1

.venv/served: pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed: install python3.11 and python3.11-venv"; exit 1; }
	$(PYTHON) -m venv .venv
	$(PIP) install -c constraints.txt -e .
	@touch $@

.venv/tested: .venv/served
	$(PIP) install -c constraints.txt -e ".[dev]"
	@touch $@

# The small Plotly and tsc come from npm. Without npm the site serves the Plotly in plotly's own wheel.
scripts: node_modules/installed
node_modules/installed: package.json package-lock.json
	@if command -v npm >/dev/null && npm ci --no-audit --no-fund --loglevel=error; then touch $@; \
	else mkdir -p node_modules; echo "npm has not installed anything: the Plotly of the Python package is served instead"; fi

# The headless shell is Chromium without windows: the same pages in half the time. Where it cannot be had, Chromium or Chrome does.
browser:
	@command -v chromium-headless-shell >/dev/null || \
	{ command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ] && apt-get update -qq && apt-get install -y -qq chromium-headless-shell >/dev/null 2>&1; } || \
	command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || \
	{ command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ] && apt-get install -y -qq chromium >/dev/null; } || \
	{ echo "The page tests need Chromium: run 'sudo apt-get install chromium-headless-shell' or 'sudo apt-get install chromium' (or install Google Chrome), then 'make test' again."; exit 1; }
