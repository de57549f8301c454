# The front door. `make help` lists what there is.
SHELL := /bin/bash
.DEFAULT_GOAL := help
JOBS ?= $(shell nproc)
TURNO := build/release/turno
LOCKS := $(shell awk '$$1 == "lock" { print $$2 }' src/protocols/algorithms.list)
ALLOCATORS := $(shell awk '$$1 == "reservation" { print $$2 }' src/protocols/algorithms.list)
TORTURE := build/release/torture/turno-torture --binary $(TURNO) --seconds 10

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

bootstrap: ## Install the Debian packages that are missing
	@scripts/bootstrap

build: bootstrap page release-turno ## Build build/release/turno: nodes and clients

# The page goes into the programs if it can be built: seconds, and the first time its packages are fetched.
page:
	@scripts/web --if-possible

web: bootstrap ## Build the page that replays traces, and the programs with it
	@scripts/web
	@$(MAKE) --no-print-directory release-turno release-turno-lab

web-test: web ## Test the page, also in a real browser: Chromium, which is installed if missing
	@scripts/bootstrap chromium
	@scripts/test-web $(TURNO)

lab-program: build release-turno-lab ## Build build/release/turno-lab too: the simulator and the checker

# One target of the release: configure once, build always.
release-%:
	@test -f build/release/build.ninja || cmake --preset release > /dev/null
	@cmake --build --preset release -j $(JOBS) --target $*

run: build ## See it work: five processes on a cluster of five nodes write one file in turns
	@$(TURNO) demo shared-file
	@echo
	@echo "Next:"
	@echo "  $(TURNO) demo shared-file --without-lock      the same without turns"
	@echo "  $(TURNO) up -n 5                              a cluster; it says what to try on it:"
	@echo "  $(TURNO) lock backup -- sleep 10              hold a lock while a command runs"
	@echo "  $(TURNO) why backup                           who holds it, who waits"
	@echo "  redis-cli -s SOCKET LOCK backup                          the same from any Redis client"
	@echo "  $(TURNO) sim nxr --nodes 7 --open             look at a run (make lab-program)"
	@echo "  make compare                                             every algorithm, checked and measured (turno-lab)"
	@echo "  docs/README.md                                           the manual"

compare: lab-program ## Check and simulate every algorithm: one table, measured beside the formula
	@$(TURNO) compare --check --entries 50000 --arrivals poisson:0.01 --arrivals poisson:1
	@echo
	@echo "Next: $(TURNO) algorithms; $(TURNO) check --help; docs/README.md"

test: bootstrap ## Build and run all tests
	@scripts/bootstrap etcd-server
	@scripts/test

mpi: bootstrap ## Build build/release/turno-mpi: turno run on the ranks of Open MPI, which is installed if missing
	@scripts/bootstrap libopenmpi-dev openmpi-bin
	@cmake --preset release > /dev/null
	@cmake --build --preset release -j $(JOBS) --target turno-mpi

mpi-test: lab-program mpi ## Test turno-mpi: the same experiment with eight ranks and with processes
	@scripts/test-mpi

examples: bootstrap ## Install the library into a directory of its own, build the examples with it, and run them
	@scripts/test-examples

PREFIX ?= /usr/local
install: bootstrap page release-turno release-turno-lab release-turno_library ## Install programs and library into PREFIX (/usr/local)
	@cmake --install build/release --prefix "$(PREFIX)" > /dev/null
	@echo "Installed turno, turno-lab and the library (find_package(turno)) into $(PREFIX)."

clients: build ## Test with real Redis libraries: ioredis, node-redis, redis-py
	@scripts/test-clients $(TURNO)

sanitize: bootstrap ## Test what has memory, sockets or threads with the sanitizers
	@scripts/bootstrap etcd-server
	@scripts/sanitize

check-deep: lab-program mpi release-recovery_test release-cluster_test release-catalogue_test release-turno-torture ## Explore the large configurations (minutes)
	@scripts/check-deep $(TURNO)

lab: lab-program ## Run the papers' experiments and ours, judge them, write results/report.html (minutes)
	@scripts/bootstrap gnuplot-nox fonts-dejavu-core
	@$(TURNO) lab all --jobs $(JOBS)

bench: build release-bench_foundation release-bench_network release-bench_names ## Measure the simulator, the checker, and all primitives beside Redis, PostgreSQL, etcd and flock
	@build/release/bench/bench_foundation
	@build/release/bench/bench_network $(TURNO)
	@build/release/bench/bench_names $(TURNO)
	@scripts/bootstrap postgresql libpq-dev etcd-server
	@cmake --preset release > /dev/null
	@cmake --build --preset release -j $(JOBS) --target bench_primitives
	@build/release/bench/bench_primitives $(TURNO)

torture: build release-turno-torture ## Torture a real cluster for ten seconds with everything that it offers and every algorithm
	@for algorithm in $(LOCKS); do $(TORTURE) --algorithm $$algorithm || exit 1; done
	@$(TORTURE) --permits 3
	@$(TORTURE) --groups 3
	@for allocator in $(ALLOCATORS); do $(TORTURE) --resources 3,2 --allocator $$allocator || exit 1; done
	@$(TORTURE) --elections
	@$(TORTURE) --deadlock abort
	@$(TORTURE) --deadlock ordered
	@$(TORTURE) --turno $(TURNO) --lock-delay 2000 --all-kinds
	@build/release/torture/turno-torture --binary $(TURNO) --stopped 20

held: build release-turno-torture ## Hold 40,000 and 60,000 locks while nodes leave, die and are stopped (an hour)
	@scripts/held

fuzz: bootstrap ## Fuzz the decoders for a minute each (clang, libFuzzer)
	@scripts/fuzz

build-times: ## Show which sources took longest to compile in build/release
	@scripts/build-times

format: bootstrap ## Format the code
	@git ls-files '*.h' '*.cc' | xargs clang-format -i

lint: bootstrap ## clang-format and clang-tidy, warnings are errors
	@scripts/lint

clean: ## Remove the build directory
	@rm -rf build

.PHONY: help bootstrap build page web web-test lab lab-program mpi mpi-test build-times run compare test sanitize check-deep bench torture held fuzz format lint clean
