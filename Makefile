# Every target sets up what it needs in .venv, once; after that nothing needs the network.
# From any folder: make -C /path/to/this lab

PY := .venv/bin/python
LAB := .venv/.ready-lab
DEV := .venv/.ready-dev
LAB_ARGS ?=
PYTEST_ARGS ?=
WORKERS ?= 2
ALLOW_ROOT := $(if $(filter 0,$(shell id -u)),--allow-root)

# The first Python >= 3.11 that can make an environment; or say which: make lab PYTHON=/usr/bin/python3.12
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	"$$p" -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$p" && break; done)

.PHONY: help lab test check build release demo mutants attacks bench bench-grading lock clean
.DEFAULT_GOAL := help

help:  ## show this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{printf "%-20s %s\n", $$1, $$2}'

$(PY):
	@test -n "$(PYTHON)" || { echo "No Python 3.11 or newer that can make environments was found." \
	  "Install one (Debian, Ubuntu: apt-get install python3-venv), or say where: make PYTHON=/path/to/python3"; exit 1; }
	"$(PYTHON)" -m venv .venv

$(LAB): requirements.txt pyproject.toml | $(PY)
	$(PY) -m pip install --quiet --disable-pip-version-check -r requirements.txt
	$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

$(DEV): requirements-dev.txt $(LAB)
	$(PY) -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@touch $@

lab: $(LAB)  ## open the lessons in JupyterLab (your copies are in lessons/; LAB_ARGS="--no-browser --port 8899")
	@$(PY) -m specdec_helpers.authoring.copies release lessons
	$(PY) -m jupyterlab $(ALLOW_ROOT) --LabApp.default_url=/lab/tree/lessons/lesson1/draft_and_verify.ipynb $(LAB_ARGS)

test: $(DEV) check  ## run every check and test (PYTEST_ARGS="tests/lessons -k lesson3", WORKERS=1)
	$(PY) -m pytest -n $(WORKERS) --dist loadfile $(PYTEST_ARGS)

check: $(DEV)  ## style of the code, types, style and drift of the notebooks: the quick part of make test
	$(PY) -m ruff check .
	$(PY) -m mypy
	$(PY) -m specdec_helpers.cli build --check

build: $(LAB)  ## make source/, release/ and the sealed notes from course/
	$(PY) -m specdec_helpers.cli build

release: $(LAB)  ## make dist/student/: the student wheel and the zip to hand out
	$(PY) -m specdec_helpers.cli release

demo: $(LAB)  ## grade a small class from end to end and print its scores
	$(PY) -m specdec_helpers.grading.demo

mutants: $(DEV)  ## show what every known wrong answer earns, and the message it gets
	$(PY) -m tests.lessons.mutants

attacks: $(DEV)  ## run the attack class and show what each attack gains
	$(PY) -m tests.grading.attacks

bench: $(DEV)  ## measure the capstone's speed-ups and the explorers' latency
	$(PY) benchmarks/capstone.py
	$(PY) benchmarks/explorer_latency.py

bench-grading: $(DEV)  ## measure grading beside stock nbgrader
	$(PY) benchmarks/grading.py

LOCK = $(PY) -m uv pip compile --quiet --universal --python-version 3.11 --no-annotate --no-emit-index-url \
	--no-emit-find-links --custom-compile-command "make lock" $(UPGRADE) pyproject.toml

lock: $(DEV)  ## renew the three requirements files after a change in pyproject.toml (UPGRADE=--upgrade: newest)
	$(PY) -m pip install --quiet uv
	$(LOCK) --extra test --output-file requirements-dev.txt
	$(LOCK) --extra grading --constraint requirements-dev.txt --output-file requirements.txt
	$(LOCK) --constraint requirements-dev.txt --output-file requirements-student.txt

clean:  ## remove the environment, caches and dist/ (never your lessons/ or the gradebook)
	rm -rf .venv build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
