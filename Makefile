# The front door. `make help` lists what there is.
SHELL := /bin/bash
.DEFAULT_GOAL := help
JOBS ?= $(shell nproc)
TURNO := build/release/turno

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

bootstrap: ## Install the Debian packages that are missing
	@scripts/bootstrap

build: bootstrap release-turno ## Build build/release/turno

# One target of the release: configure once, build always.
release-%:
	@test -f build/release/build.ninja || cmake --preset release > /dev/null
	@cmake --build --preset release -j $(JOBS) --target $*

run: build ## Check and simulate every algorithm: one table, measured beside the formula
	@$(TURNO) compare --check --entries 50000 --arrivals poisson:0.01 --arrivals poisson:1
	@echo
	@echo "Next: $(TURNO) algorithms; $(TURNO) check --help; docs/README.md"

test: bootstrap ## Build and run all tests (dev with sanitizers, release, digests with clang)
	@scripts/test

check-deep: build ## Explore the large configurations (minutes)
	@scripts/check-deep $(TURNO)

bench: bootstrap release-bench_foundation ## Measure the simulator and the checker
	@build/release/bench/bench_foundation

format: bootstrap ## Format the code
	@git ls-files '*.h' '*.cc' | xargs clang-format -i

lint: bootstrap ## clang-format and clang-tidy, warnings are errors
	@scripts/lint

clean: ## Remove the build directory
	@rm -rf build

.PHONY: help bootstrap build run test check-deep bench format lint clean
