// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/gcc_toolchain.h"

#include "collect/program.h"
#include "collect/toolchain.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* clang knows no such option. */
static int ask_version(struct loci_gcc_toolchain *gcc, struct loci_err *err)
{
	char *argv[] = { gcc->compiler, "-dumpfullversion", NULL };
	int status = loci_toolchain_ask(argv, gcc->version, sizeof(gcc->version));
	unsigned major;

	gcc->version[strcspn(gcc->version, "\n")] = 0;
	if (status == 0 && sscanf(gcc->version, "%u.", &major) == 1)
		return 0;
	gcc->version[0] = 0;
	return loci_err_set(err, ENOEXEC,
		"%s is no gcc, or does not run: loci gcc, g++ and gfortran compile with gcc "
		"(for clang there is loci cc)",
		gcc->compiler);
}

static const char *package_of(const char *driver)
{
	return !strcmp(driver, "gcc") || !strcmp(driver, "g++") ? driver : "gfortran";
}

int loci_gcc_toolchain_find(struct loci_gcc_toolchain *ret, const char *driver, const char *named,
	bool ask, struct loci_err *err)
{
	const char *name = named ? named : driver;
	char numbered[64];
	int r;

	*ret = (struct loci_gcc_toolchain){ 0 };
	r = loci_toolchain_dir(ret->dir, err);
	if (r == 0)
		r = loci_toolchain_file(ret->dir, "gcc.specs", ret->specs, err);
	if (r < 0)
		return r;
	if (named && named[0] && !named[strspn(named, "0123456789")]) {
		snprintf(numbered, sizeof(numbered), "%s-%.32s", driver, named);
		name = numbered;
	}
	r = loci_program_find(name, ret->compiler);
	if (r < 0 && named)
		return loci_err_set(err, -r, "there is no compiler %s: %s", name, strerror(-r));
	if (r < 0)
		return loci_err_set(err, -r,
			"loci %s compiles with %s, and there is none in PATH: apt install %s",
			driver, driver, package_of(driver));
	return named || ask ? ask_version(ret, err) : 0;
}
