# The front door. `make help` lists what there is.
SHELL := /bin/bash
.DEFAULT_GOAL := help
JOBS ?= $(shell nproc)
TURNO := build/release/turno

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

bootstrap: ## Install the Debian packages that are missing
	@scripts/bootstrap

build: bootstrap build-release ## Build build/release/turno

# Internal: configure once, build always.
build-%:
	@test -f build/$*/build.ninja || cmake --preset $* > /dev/null
	@cmake --build --preset $* -j $(JOBS)

run: build ## Check and simulate every algorithm: one table, measured beside the formula
	@$(TURNO) compare --check --entries 50000 --arrivals poisson:0.01 --arrivals poisson:1
	@echo
	@echo "Next: $(TURNO) algorithms; $(TURNO) check --help; docs/README.md"

test: bootstrap ## Build and run all tests (dev with sanitizers, release, digests with clang)
	@scripts/test

check-deep: build ## Explore the large configurations (minutes)
	@scripts/check-deep $(TURNO)

bench: build ## Measure the simulator and the checker
	@build/release/bench/bench_foundation

format: bootstrap ## Format the code
	@git ls-files '*.h' '*.cc' | xargs clang-format -i

lint: bootstrap ## clang-format and clang-tidy, warnings are errors
	@scripts/lint

clean: ## Remove the build directory
	@rm -rf build

.PHONY: help bootstrap build run test check-deep bench format lint clean
