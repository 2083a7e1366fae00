// SPDX-License-Identifier: BSD-2-Clause
/* The C library's functions behind ours. */
#include "collect/runtime/wrap.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#ifndef LOCI_RT_STATIC
__attribute__((visibility("hidden"))) extern const struct rt_real __start_loci_real[],
	__stop_loci_real[];

/* Of libraries that a process may have or not: looked for when first asked for. One that came by
 * dlopen is not in the order in which the next one is looked for. */
static bool is_elsewheres(const char *name)
{
	static const char *const begin[] = { "_Z", "__cxa_", "GOMP_", "__kmpc_", "omp_" };
	bool found = false;

	for (unsigned i = 0; i < sizeof(begin) / sizeof(*begin); i++)
		found |= !strncmp(name, begin[i], strlen(begin[i]));
	return found;
}

/* A program that needs no other function of a library than one we are in front of may have been
 * linked without it (--as-needed): it is loaded then. */
static void *look_farther(const char *name)
{
	bool is_libomp = !strncmp(name, "__kmpc_", 7);
	void *handle = NULL;

	if (is_libomp || !strncmp(name, "GOMP_", 5) || !strncmp(name, "omp_", 4))
		handle = dlopen(is_libomp ? "libomp.so.5" : "libgomp.so.1", RTLD_NOW | RTLD_GLOBAL);
	return handle ? dlsym(handle, name) : NULL;
}

static void *look_elsewhere(const char *name)
{
	static const char *const library[] = { "libstdc++.so.6", "libc++.so.1", "libc++abi.so.1",
		"libgomp.so.1", "libomp.so.5", "libomp.so", "libiomp5.so" };
	void *found = NULL;

	for (unsigned i = 0; i < sizeof(library) / sizeof(*library) && !found; i++) {
		void *handle = dlopen(library[i], RTLD_LAZY | RTLD_NOLOAD);

		if (handle)
			found = dlsym(handle, name);
	}
	return found ? found : look_farther(name);
}

void *rt_next(const struct rt_real *real)
{
	void *function = NULL;

	if (!strncmp(real->name, "pthread_cond_", 13)) /* there are older ones */
		function = dlvsym(RTLD_NEXT, real->name, "GLIBC_2.3.2");
	if (!function)
		function = dlsym(RTLD_NEXT, real->name);
	if (!function && is_elsewheres(real->name))
		function = look_elsewhere(real->name);
	if (function)
		__atomic_store_n(real->function, function, __ATOMIC_RELEASE);
	return function;
}

void rt_next_all(void)
{
	for (const struct rt_real *real = __start_loci_real; real < __stop_loci_real; real++)
		if (!*real->function && !is_elsewheres(real->name))
			rt_next(real);
}
#else
void rt_next_all(void)
{
}
#endif
