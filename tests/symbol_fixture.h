/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For the tests of src/symbol: the programs of tests/fixtures.cmake. */
#ifndef LOCI_TESTS_SYMBOL_FIXTURE_H
#define LOCI_TESTS_SYMBOL_FIXTURE_H

#include "check.h"
#include "symbol/symbol.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fixture {
	char path[4096];
	struct loci_symbols *symbols;
	uint32_t module;
};

static inline bool fixture_exists(const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), FIXTURES "/%s", name);
	return access(path, R_OK) == 0;
}

/* A name of tests/fixtures.cmake, or a path. false: its compiler is not installed. */
static inline bool fixture_open(struct fixture *fixture, const char *name)
{
	struct loci_err err = { "" };

	snprintf(fixture->path, sizeof(fixture->path), "%s%s", *name == '/' ? "" : FIXTURES "/",
		name);
	if (access(fixture->path, R_OK) != 0) {
		printf("%s: not built, left out\n", name);
		return false;
	}
	CHECK(loci_symbols_new(&fixture->symbols, &err) == 0);
	CHECK(loci_symbols_module(
		      fixture->symbols, fixture->path, NULL, 0, &fixture->module, &err) == 0);
	return true;
}

static inline void fixture_close(struct fixture *fixture)
{
	loci_symbols_free(fixture->symbols);
}

/* The output of a command of which %s is the fixture's path; lines are read by getline. */
static inline FILE *fixture_run(const struct fixture *fixture, const char *fmt)
{
	char command[9000];

	snprintf(command, sizeof(command), fmt, fixture->path, fixture->path);
	return popen(command, "r");
}

/* The address of a symbol by nm; 0: there is none. */
static inline uint64_t fixture_symbol(const struct fixture *fixture, const char *name)
{
	FILE *nm = fixture_run(fixture, "nm %s 2>/dev/null");
	char line[4096], type, found[4000];
	unsigned long address, result = 0;

	while (nm && fgets(line, sizeof(line), nm))
		if (sscanf(line, "%lx %c %3999s", &address, &type, found) == 3 &&
			!strcmp(found, name))
			result = address;
	if (nm)
		pclose(nm);
	return result;
}

#endif
