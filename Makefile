# make setup | run | test | test-all | lint | check | wheel-check | docs | site | screens | lock | items | oracles | interop-check | bench | simulations | clean

PYTHON := $(shell sh .ci/pythons first)
VENV := .venv
BIN := $(VENV)/bin
SITE := site
DOCTREES := build/doctrees
# One worker more than cores: many tests wait for a process or an endpoint of their own.
PYTEST = $(BIN)/python -m pytest -rs --numprocesses $$(( $$(getconf _NPROCESSORS_ONLN) + 1 )) --dist loadfile
export PYTHONDONTWRITEBYTECODE :=

.PHONY: setup run test test-slow test-others test-all lint check wheel-check docs site screens lock items oracles interop-check bench simulations clean

setup: $(VENV)/.ready

# pip compiles modules one after the other; the environment to work in compiles them on all cores, others when they are first imported.
# Some packages hold examples that no Python of today compiles: that is no error.
PIP_INSTALL = -m pip install --quiet --disable-pip-version-check --no-compile

# The model comes last: it is fetched into the user's cache, once for all checkouts.
$(VENV)/.ready: requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python $(PIP_INSTALL) --no-deps --require-hashes -r requirements.lock
	$(BIN)/python $(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	$(BIN)/python -m compileall -q -j 0 $(VENV)/lib >/dev/null || true
	$(BIN)/harness models pull smollm2-135m
	sh .ci/axe-core $(VENV)
	@touch $@

# Of the board 'controls', the two metrics with the most labelled texts and the two tasks with the shortest prompts: 40 of its 114 calls.
# 'harness run --langs ja,cs' asks the other 74 too, and none of these again.
run: setup
	$(BIN)/harness run --langs ja,cs --metrics linguistic_acceptability,problematic_content --tasks open_prompt,continue_writing

# Units, content, golden numbers and the main paths end to end, on one Python.
test: setup
	$(PYTEST) -m "not slow"

# Simulations, browsers, Ray, kills, full disks, endpoints that misbehave, and the commands of whole documents.
test-slow: setup
	$(PYTEST) -m slow tests

test-all: lint test test-slow test-others

# The other Pythons that are here, each in its own environment (.ci/others says which tests).
test-others: setup
	@sh .ci/others

lint: setup
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/harness check
	$(BIN)/harness board check || test $$? -eq 6  # 6: no problem but boards whose data are not here
	$(BIN)/zizmor --offline --quiet .github action.yml
	@$(BIN)/python .ci/release-check --list

check: setup
	$(BIN)/harness check

# The wheel, built and installed into an empty environment outside the checkout, as a stranger would use it.
wheel-check: setup
	sh .ci/wheel-check "$(PYTHON)" "$(BIN)/python"

# The pages of docs/ as a site, with search, and the page of the example table. A dead link or reference is an error.
docs: setup
	$(BIN)/sphinx-build -q -W --keep-going -c docs -d $(DOCTREES) $(BESIDE) . $(SITE)/docs
	$(BIN)/harness compare docs/start/answers.csv --html $(SITE)/docs/docs/answers.html

# The atlas, the boards and the documentation as one site, which works from a folder too. SITE_URL is its address, for previews of links.
site: BESIDE = -t beside_atlas
site: docs
	$(BIN)/harness atlas --html $(SITE) --beside "Boards=boards/index.html" --beside "Docs=docs/docs/index.html" --beside "Cite=docs/docs/cite.html" $(if $(SITE_URL),--url $(SITE_URL))
	$(BIN)/harness board build --site $(SITE)/boards --beside "Atlas=../index.html" --beside "Docs=../docs/docs/index.html" --beside "Cite=../docs/docs/cite.html"
	$(BIN)/python .ci/site-check $(SITE)

# Every kind of page at three widths, light, dark and on paper, to be looked at: into the folder build/screens.
screens: site
	SITE=$(SITE) $(BIN)/python tests/e2e/screens.py build/screens

# Needs uv: resolves pyproject.toml for all supported Pythons.
lock:
	{ echo "# Every package that a checkout uses, pinned and hashed, for Python 3.11 and newer. Made by 'make lock'."; \
	  echo "# Installed with --no-deps --require-hashes: nothing that is not named here comes in."; \
	  uv pip compile --quiet --universal --generate-hashes --no-header --no-annotate --python-version 3.11 --extra dev pyproject.toml; } > requirements.lock.new
	mv requirements.lock.new requirements.lock

# Derives the control items and their labels from the packs' base texts.
items: setup
	$(BIN)/python languages/derive.py

# Asks other libraries for the values that tests/golden/test_oracles.py holds ours against. Two of them are GPL, so they have an
# environment of their own; answers.json, with the versions that answered, is committed.
oracles: .venv-oracles/.ready
	.venv-oracles/bin/python tests/golden/oracles/ask.py

.venv-oracles/.ready: tests/golden/oracles/requirements.txt
	$(PYTHON) -m venv .venv-oracles
	.venv-oracles/bin/python $(PIP_INSTALL) --no-deps -r tests/golden/oracles/requirements.txt
	@touch $@

# Runs our judge inside Inspect and promptfoo, in an environment of their own, and writes the fixtures that the tests hold it against.
interop-check: .venv-interop/.ready
	.venv-interop/bin/python $(PIP_INSTALL) --no-deps --force-reinstall .
	.venv-interop/bin/python tests/e2e/programs/try_programs.py

.venv-interop/.ready: tests/e2e/programs/requirements.txt tests/e2e/programs/package.json
	$(PYTHON) -m venv .venv-interop
	.venv-interop/bin/python $(PIP_INSTALL) -r tests/e2e/programs/requirements.txt .
	mkdir -p .venv-interop/programs
	cp tests/e2e/programs/package.json .venv-interop/programs
	npm install --prefix .venv-interop/programs --no-audit --no-fund --loglevel error
	@touch $@

bench: setup
	$(BIN)/python benchmarks/structure.py
	$(BIN)/python benchmarks/start.py
	$(BIN)/python benchmarks/stats.py
	$(BIN)/python benchmarks/decide.py
	$(BIN)/python benchmarks/calibrate.py
	$(BIN)/python benchmarks/same_texts.py
	$(BIN)/python benchmarks/continuous.py
	$(BIN)/python benchmarks/labels.py
	$(BIN)/python benchmarks/published.py
	$(BIN)/python benchmarks/cells.py
	$(BIN)/python benchmarks/rows.py
	$(BIN)/python benchmarks/page.py
	$(BIN)/python benchmarks/labelling.py
	$(BIN)/python benchmarks/perturb.py
	$(BIN)/python benchmarks/plan.py
	$(BIN)/python benchmarks/store.py
	$(BIN)/python benchmarks/transport.py
	$(BIN)/python benchmarks/engine.py
	$(BIN)/python benchmarks/decision_models.py
	$(BIN)/python benchmarks/boards.py
	$(BIN)/python benchmarks/one_table.py
	$(BIN)/python benchmarks/million.py
	$(BIN)/python benchmarks/local.py

# How often verdicts, plans and intervals are wrong in made worlds: the tables of docs/error-rates.md and docs/improve.md.
simulations: setup
	$(BIN)/python -m tests.unit.decide.test_simulations
	$(BIN)/python -m tests.unit.stats.estimation.test_selection_simulations
	$(BIN)/python -m tests.unit.improvement.test_calibrated_simulations
	$(BIN)/python -m tests.unit.stats.estimation.test_cascade_simulations
	$(BIN)/python -m tests.unit.stats.intervals.test_regression_simulations
	$(BIN)/python -m tests.unit.correction.test_probability_simulations
	$(BIN)/python -m tests.worlds.test_correct_intervals
	$(BIN)/python -m tests.worlds.test_verdicts
	$(BIN)/python -m tests.worlds.test_differences
	$(BIN)/python -m tests.worlds.test_probabilities
	$(BIN)/python -m tests.worlds.test_acceptance
	$(BIN)/python -m tests.worlds.test_borrow
	$(BIN)/python -m tests.worlds.test_label_sets
	$(BIN)/python -m tests.worlds.test_watch
	$(BIN)/python -m tests.worlds.test_anchors
	$(BIN)/python -m tests.worlds.test_guarded
	$(BIN)/python -m tests.worlds.test_extend
	$(BIN)/python -m tests.worlds.test_calibrated_sets
	$(BIN)/python -m tests.worlds.test_cascades
	$(BIN)/python -m tests.worlds.test_confirmation
	$(BIN)/python -m tests.worlds.test_recall_bar
	$(BIN)/python -m tests.worlds.test_recall_bar verdicts
	$(BIN)/python -m tests.worlds.test_planned_texts
	$(BIN)/python -m tests.worlds.test_explain
	$(BIN)/python -m tests.worlds.test_retests

clean:
	rm -rf .venv .venv-* dist build site results .mypy_cache .ruff_cache .pytest_cache .hypothesis
