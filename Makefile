# Every target sets up what it needs; PYTHON names the interpreter that the virtual environment is made with.
PYTHON ?= python3.11
VENV ?= .venv
READY := $(VENV)/.ready
RUN := $(VENV)/bin/python

# One thread per process: the solvers use one core each, and the service runs several of them.
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1

# Compiled kernels are kept beside the code, for tests, demo and service alike.
export NUMBA_CACHE_DIR ?= $(CURDIR)/.cache/kernels
export FORESOLVE_KERNELS_DIR ?= $(NUMBA_CACHE_DIR)

.PHONY: setup demo serve test test-long lint bench bench-gam bench-auctions bench-long secrets clean

setup: $(READY)

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(RUN) -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $@

demo: $(READY)
	$(RUN) -m examples.max_cut_demo

serve: $(READY)
	$(VENV)/bin/foresolve serve

test: $(READY)
	$(RUN) -m pytest -q

test-long: $(READY)
	$(RUN) -m pytest -q -m long --timeout 1800

lint: $(READY)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

bench: $(READY)
	$(RUN) -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev,bench]'
	$(RUN) -m benchmarks.peers --tables benchmarks/results/peers.md
	$(RUN) -m benchmarks.predictions
	$(RUN) -m benchmarks.machinery
	$(RUN) -m benchmarks.large
	$(MAKE) bench-gam
	$(MAKE) bench-auctions

# The peers of the additive models want an older SciPy than those of the graph problems, so they have an environment of their own.
bench-gam:
	$(PYTHON) -m venv $(VENV)-gam
	$(VENV)-gam/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[bench-gam]'
	$(VENV)-gam/bin/python -m benchmarks.gam.scale
	$(VENV)-gam/bin/python -m benchmarks.gam.peers

# Hours, on two processes; what is there is not run again, so it may be stopped and started at will.
bench-auctions: $(READY)
	$(RUN) -m benchmarks.auctions.mechanisms

bench-long: $(READY)
	$(RUN) -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev,bench]'
	$(RUN) -m benchmarks.peers --solvers foresolve --limits 60 --tables benchmarks/results/one_minute.md
	$(RUN) -m benchmarks.auctions.mechanisms --long

# What docker-compose.yml reads: random values, made once. The folder is closed to other users of this machine.
secrets: secrets/foresolve_database_url

secrets/foresolve_database_url:
	mkdir -p -m 700 secrets
	openssl rand -hex 32 > secrets/bootstrap_key
	openssl rand -hex 24 > secrets/postgres_password
	printf 'postgresql://foresolve:%s@postgres/foresolve\n' "$$(cat secrets/postgres_password)" > $@
	chmod 444 secrets/*

clean:
	rm -rf $(VENV) $(VENV)-gam build dist .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis
