// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/object_wrapper.h"

#include "base/cleanup.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* Names that begin like this, whole words or not. */
static const char *const sure_prefixes[] = {
	"malloc",
	"calloc",
	"realloc",
	"reallocarray",
	"memalign",
	"aligned_alloc",
	"posix_memalign",
	"valloc",
	"pvalloc",
	"_int_malloc",
	"__libc_",
	"sysmalloc",
	"operator new",
	"std::",
	"__gnu_cxx::",
	"__cxa_",
	"boost::",
	"g_malloc",
	"g_realloc",
	"g_try_",
	"g_slice_",
	"g_new",
	"PyObject_",
	"_PyObject_",
	"PyMem_",
	"_PyMem_",
	"PyType_GenericAlloc",
	"sqlite3Malloc",
	"sqlite3MemMalloc",
	"sqlite3Realloc",
	"sqlite3DbMalloc",
	"sqlite3DbRealloc",
	"sqlite3_malloc",
	"sqlite3_realloc",
	"_gfortran_",
	"_FortranA",
	"Fortran::runtime::",
	"alloc::",
	"__rust_",
	"__rdl_",
	"__rg_",
	"mmap",
	"mremap",
	"sbrk",
	"brk",
	"strdup",
	"strndup",
	"asprintf",
	"vasprintf",
};

static const char *const likely_words[] = { "alloc", "strdup", "strndup", "memdup" };

static bool begins(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

/* The name without what it returns and takes: "T *ns::f<A>(B)" has its name before the bracket. */
static size_t name_length(const char *function)
{
	return strcspn(function, begins(function, "operator") ? "" : "(<");
}

enum loci_wrapper loci_wrapper_of(const char *function)
{
	const char *name = function;
	size_t length;

	if (!name)
		return LOCI_WRAPPER_NONE;
	for (size_t i = 0; i < LOCI_ARRAY_SIZE(sure_prefixes); i++)
		if (begins(name, sure_prefixes[i]))
			return LOCI_WRAPPER_SURE;
	length = name_length(name);
	for (size_t at = 0; at < length; at++)
		for (size_t i = 0; i < LOCI_ARRAY_SIZE(likely_words); i++) {
			size_t word = strlen(likely_words[i]);

			if (at + word <= length && !strncasecmp(name + at, likely_words[i], word))
				return LOCI_WRAPPER_LIKELY;
		}
	return LOCI_WRAPPER_NONE;
}
