/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/demangle.h"

#include "base/cleanup.h"

#include <dlfcn.h>
#include <string.h>

/* The demangler's stack grows with the name. What is longer stays mangled. */
#define MANGLED_MAX 16384

void loci_demangler_fini(struct loci_demangler *demangler)
{
	if (demangler->library)
		dlclose(demangler->library);
	memset(demangler, 0, sizeof(*demangler));
}

static void load(struct loci_demangler *demangler)
{
	static const char *const libraries[] = { "libstdc++.so.6", "libc++abi.so.1" };

	demangler->tried = true;
	for (size_t i = 0; i < LOCI_ARRAY_SIZE(libraries) && !demangler->library; i++) {
		demangler->library = dlopen(libraries[i], RTLD_LAZY | RTLD_LOCAL);
		if (demangler->library)
			*(void **)&demangler->demangle =
				dlsym(demangler->library, "__cxa_demangle");
	}
}

/* "::h" and 16 hexadecimal digits end a Rust name and say nothing to a person. */
static size_t without_rust_hash(const char *name)
{
	size_t length = strlen(name);
	const char *tail = name + length - 19;

	if (length > 19 && !strncmp(tail, "::h", 3) && strspn(tail + 3, "0123456789abcdef") == 16)
		length -= 19;
	return length;
}

/* From a closing bracket back to the one that opens it; NULL: there is none. */
static const char *opening(const char *low, const char *at)
{
	static const char open[] = "(<[{", close[] = ")>]}";
	int depth = 0;

	for (;; at--) {
		depth += strchr(close, *at) != NULL;
		depth -= strchr(open, *at) != NULL;
		if (!depth)
			return at;
		if (at == low)
			return NULL;
	}
}

/* The demangler shows what an instance of a template returns, "void std::sort<int*>(int*, int*)",
 * which the source does not have in front of the name. Names with "operator" in them are left as
 * they are: their signs are no brackets. */
static const char *without_result(const char *name)
{
	const char *end = strrchr(name, ')'), *at;

	if (!end || strstr(name, "operator"))
		return name;
	at = opening(name, end);
	if (!at || at == name || at[-1] != '>')
		return name;
	for (at--; at > name && *at != ' '; at--)
		if (strchr(")>]}", *at) && !(at = opening(name, at)))
			return name;
	return *at == ' ' ? at + 1 : name;
}

const char *loci_demangle(
	struct loci_demangler *demangler, struct loci_pool *pool, const char *mangled)
{
	loci_autofree char *name = NULL;
	const char *bare;
	int status = 0;

	if (!mangled || strnlen(mangled, MANGLED_MAX) == MANGLED_MAX)
		return NULL;
	if (strncmp(mangled, "_Z", 2) != 0)
		return loci_demangle_fortran(pool, mangled);
	if (!demangler->tried)
		load(demangler);
	if (!demangler->demangle)
		return NULL;
	name = demangler->demangle(mangled, NULL, NULL, &status);
	if (!name || status)
		return NULL;
	bare = without_result(name);
	return loci_pool_bytes(pool, bare, without_rust_hash(bare));
}
