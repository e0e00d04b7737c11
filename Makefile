# Every command a developer or CI runs. `make help` lists them.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

GO ?= go
# Tools of this checkout come first, so that everyone uses the same ones.
export PATH := $(CURDIR)/bin:$(PATH)
INSTALL := GOBIN="$(CURDIR)/bin" $(GO) install
# Tests start servers of their own and never see the one a developer works with.
TEST := env -u TEMPORAL_ADDRESS -u TEMPORAL_NAMESPACE -u TEMPORAL_PROFILE -u TEMPORAL_CONFIG_FILE -u TEMPORAL_API_KEY $(GO) test

GOLANGCI_VERSION := v2.15.0
WORKFLOWCHECK_VERSION := v0.6.0
TEMPORAL_VERSION := v1.5.1

# Which packages to test, lint and bench: `make test PKG=./deltaio/...`.
PKG ?= ./...
TEST_TIMEOUT ?= 20m
# Scenarios run whole purges hundreds of times or against a real server: after
# the other tests, alone, and without -race, which would make their deadlines
# measure the machine. What they run has its own tests under -race.
SCENARIOS := %/internal/matrix %/internal/e2e
ALL = $(shell $(GO) list $(PKG))
UNIT = $(filter-out $(SCENARIOS),$(ALL))
SCENARIO = $(filter $(SCENARIOS),$(ALL))
# Property tests draw other inputs in every run; SEED=1 repeats the same ones, so
# that a red CI is about the change. Only packages that use rapid take the flag.
USES_RAPID = $(shell $(GO) list -f '{{.ImportPath}} {{.TestImports}} {{.XTestImports}}' $(1) | awk '/pgregory.net\/rapid/ {print $$1}')
PROPERTY = $(if $(UNIT),$(call USES_RAPID,$(UNIT)))
EXAMPLE = $(filter-out $(PROPERTY),$(UNIT))
SEED ?=
RAPID = $(if $(SEED),-rapid.seed=$(SEED))
# The dev server needs no network; without this it asks for newer versions.
export TEMPORAL_VERSION_CHECK_DISABLED := 1

.PHONY: help
help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## the command line and the worker, into bin/
	$(GO) build -o bin/lakewarden ./starter
	$(GO) build -o bin/worker ./worker

.PHONY: demo
demo: server build ## a purge from start to certificate on a sample lakehouse; KEEP=1 leaves server and worker up
	bin/lakewarden demo $(if $(filter-out 0 no false,$(KEEP)),--keep)

.PHONY: test
test: unit scenarios ## all that a developer needs: unit, replay, scenarios with faults, end-to-end on a dev server

.PHONY: unit
unit: ## tests of single packages, replay of recorded histories included
	$(if $(UNIT),$(TEST) -timeout $(TEST_TIMEOUT) $(UNIT))

.PHONY: scenarios
scenarios: temporal ## whole purges with a fault at every point, and on a dev server with workers killed
	$(if $(filter %/matrix,$(SCENARIO)),$(TEST) -timeout $(TEST_TIMEOUT) $(filter %/matrix,$(SCENARIO)) $(RAPID))
	$(if $(filter %/e2e,$(SCENARIO)),$(TEST) -timeout $(TEST_TIMEOUT) $(filter %/e2e,$(SCENARIO)))

# What CI runs. Cheap checks come first; each can be run alone.
.PHONY: check
check: fmt vet lint workflowcheck imports race scenarios ## all checks: format, vet, lint, determinism, imports, unit and replay with -race, scenarios, end-to-end

.PHONY: fmt
fmt: ## fails when a file is not as gofmt writes it
	@files=$$(find . -name '*.go' -not -path './.*' -not -path './bin/*' -exec gofmt -l {} +); \
	if [ -n "$$files" ]; then echo "run gofmt -w on:"; echo "$$files"; exit 1; fi

.PHONY: vet
vet:
	$(GO) vet $(PKG)

.PHONY: lint
lint: bin/.golangci-lint-$(GOLANGCI_VERSION) ## golangci-lint as .golangci.yml says
	bin/golangci-lint run $(PKG)

.PHONY: workflowcheck
workflowcheck: bin/.workflowcheck-$(WORKFLOWCHECK_VERSION) ## workflow code is deterministic
	bin/workflowcheck -config workflowcheck.config.yaml ./workflows/...

.PHONY: imports
imports: ## the import rules and the package docs
	$(TEST) ./internal/arch

.PHONY: race
race: ## unit tests under the race detector
	$(if $(EXAMPLE),$(TEST) -race -timeout $(TEST_TIMEOUT) $(EXAMPLE))
	$(if $(PROPERTY),$(TEST) -race -timeout $(TEST_TIMEOUT) $(PROPERTY) $(RAPID))

.PHONY: bench
bench: ## benchmarks; `make bench PKG=./deltaio/internal/pq BENCH=Split`
	$(TEST) -run '^$$' -bench '$(or $(BENCH),.)' -benchmem -timeout $(TEST_TIMEOUT) $(PKG)

.PHONY: bench-peers
bench-peers: ## whole operations beside DuckDB, delta-rs and Spark; ARGS="--repeat 1 --without spark" for a quick look
	bench/run $(ARGS)

.PHONY: interop
interop: ## Spark, delta-rs and DuckDB judge our tables, and we read theirs; LAKEWARDEN_INTEROP=full for the long form
	interop/run $(ARGS)

.PHONY: tools
tools: bin/.golangci-lint-$(GOLANGCI_VERSION) bin/.workflowcheck-$(WORKFLOWCHECK_VERSION) server ## what the targets above need, into bin/

# An empty file named by the version stands for each tool, so that another
# version is installed when this file asks for it.
bin/.golangci-lint-$(GOLANGCI_VERSION):
	$(INSTALL) github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)
	@rm -f bin/.golangci-lint-* && touch $@

bin/.workflowcheck-$(WORKFLOWCHECK_VERSION):
	$(INSTALL) go.temporal.io/sdk/contrib/tools/workflowcheck@$(WORKFLOWCHECK_VERSION)
	@rm -f bin/.workflowcheck-* && touch $@

# The Temporal CLI holds the dev server and its Web UI. It is built (about two
# minutes, once) only when none is installed; the demo also takes the server at
# TEMPORAL_ADDRESS.
.PHONY: temporal server
temporal:
	@if command -v temporal >/dev/null; then echo "Temporal CLI: $$(command -v temporal)"; else \
	echo "Temporal CLI: building $(TEMPORAL_VERSION) into bin/, which takes two minutes, once"; \
	$(INSTALL) github.com/temporalio/cli/cmd/temporal@$(TEMPORAL_VERSION); fi

server: $(if $(TEMPORAL_ADDRESS),,temporal)

.PHONY: demo-stop
demo-stop: build ## stops what `make demo KEEP=1` left up
	bin/lakewarden demo --stop

.PHONY: clean
clean: ## removes bin/ and the demo's data
	rm -rf bin .demo
