# SPDX-License-Identifier: GPL-2.0-or-later
BUILD ?= build
JOBS ?= $(shell nproc)

all: $(BUILD)/Makefile
	@cmake --build $(BUILD) -j $(JOBS)

$(BUILD)/Makefile: CMakeLists.txt
	@cmake -S . -B $(BUILD) -DCMAKE_BUILD_TYPE=Release

test: all
	@cd $(BUILD) && ctest --output-on-failure -j $(JOBS)

clean:
	rm -rf $(BUILD) build-*

.PHONY: all test clean
