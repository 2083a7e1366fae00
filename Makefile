# SPDX-License-Identifier: GPL-2.0-or-later
# A thin front for CMake; everything lands in build/. `make help` lists the targets.
BUILD  ?= build
PREFIX ?= /usr/local
JOBS   ?= $(shell nproc 2>/dev/null || echo 2)
export BUILD JOBS PREFIX

# Our own flags out of its environment, the make beneath CMake neither announces directories nor
# looks for a job server.
CMAKE := env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL cmake
SH    := env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL

all: $(BUILD)/Makefile
	@$(CMAKE) --build $(BUILD) -j $(JOBS)

$(BUILD)/Makefile:
	@scripts/deps.sh --dry-run build
	@$(CMAKE) -S . -B $(BUILD) -DCMAKE_INSTALL_PREFIX=$(PREFIX) >/dev/null

demo: # build, trace the bundled program, show its report
	@scripts/deps.sh demo
	@$(SH) scripts/build.sh $(BUILD) --target loci --target matmul --target loci-valgrind
	@$(SH) scripts/demo.sh

test: # everything: unit, oracle, command line, sanitizers, fuzzing, lint, installation
	@scripts/deps.sh test
	@$(SH) scripts/web_tools.sh
	@$(SH) scripts/test.sh

check: all # only the tests of the plain build, without installing anything
	@cd $(BUILD) && $(SH) ctest --output-on-failure -j $(JOBS) -LE 'asan|tsan|fuzz|lint|install|package|long'

check-long: # what takes longer than a coffee: fuzzing at length, other people's packages, lintian
	@scripts/deps.sh test deb long
	@$(SH) scripts/web_tools.sh
	@$(SH) scripts/test.sh --long

bench: # speed and size against the bars in doc/performance.md
	@scripts/deps.sh bench
	@$(SH) bench/suite.sh

bench-cc: # what loci cc costs: counting, streaming, recording, compiling; half an hour
	@scripts/deps.sh bench
	@$(SH) scripts/build.sh $(BUILD) -DCMAKE_BUILD_TYPE=Release -DLOCI_SANITIZE=
	@$(SH) scripts/build.sh $(BUILD) --target benchmarks
	@$(SH) bench/cc.sh $(BUILD) $(BUILD)/bench/cc

bench-threads: # what threads cost, exactly and sampled, and how near samples come; hours, QUICK=1 minutes
	@scripts/deps.sh bench
	@$(SH) scripts/build.sh $(BUILD) -DCMAKE_BUILD_TYPE=Release -DLOCI_SANITIZE=
	@$(SH) bench/thread_costs.sh $(BUILD) $(BUILD)/bench/threads

accuracy: # how true and how dear `record -m watch` is; an hour at a time, goes on where it stopped, QUICK=1 ten minutes
	@scripts/deps.sh bench
	@$(SH) scripts/build.sh $(BUILD) -DCMAKE_BUILD_TYPE=Release -DLOCI_SANITIZE=
	@$(SH) bench/accuracy.sh $(BUILD) $(BUILD)/bench/accuracy

lint: # layering, formatting, clang-tidy
	@scripts/deps.sh lint
	@$(SH) scripts/build.sh $(BUILD) --configure-only
	@$(SH) scripts/lint.sh

fuzz: # each parser for FUZZ_SECONDS (600)
	@scripts/deps.sh fuzz
	@$(SH) scripts/fuzz.sh $(or $(FUZZ_SECONDS),600)

install: # to DESTDIR/PREFIX
	@scripts/deps.sh --dry-run build
	@$(CMAKE) -S . -B $(BUILD) -DCMAKE_INSTALL_PREFIX=$(PREFIX) >/dev/null
	@$(CMAKE) --build $(BUILD) -j $(JOBS) >/dev/null
	@DESTDIR=$(DESTDIR) $(CMAKE) --install $(BUILD)

deb: # Debian packages in build/deb
	@scripts/deps.sh deb
	@$(SH) scripts/deb.sh

clean:
	rm -rf $(BUILD)

help:
	@echo 'make            build loci into $(BUILD)'
	@sed -n 's/^\([a-z-]*\):[^#=]*# /make \1\t/p' Makefile | expand -t 16

.PHONY: all demo test check check-long bench bench-cc bench-threads accuracy lint fuzz install deb clean help
