// SPDX-License-Identifier: BSD-2-Clause
/* The C library's functions behind ours. */
#include "collect/runtime/wrap.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#ifndef LOCI_RT_STATIC
__attribute__((visibility("hidden"))) extern const struct rt_real __start_loci_real[],
	__stop_loci_real[];

/* A C++ library that came by dlopen is not in the order in which the next one is looked for. */
static void *look_elsewhere(const char *name)
{
	static const char *const library[] = { "libstdc++.so.6", "libc++.so.1", "libc++abi.so.1" };
	void *found = NULL;

	for (unsigned i = 0; i < sizeof(library) / sizeof(*library) && !found; i++) {
		void *handle = dlopen(library[i], RTLD_LAZY | RTLD_NOLOAD);

		if (handle)
			found = dlsym(handle, name);
	}
	return found;
}

void *rt_next(const struct rt_real *real)
{
	void *function = NULL;

	if (!strncmp(real->name, "pthread_cond_", 13)) /* there are older ones */
		function = dlvsym(RTLD_NEXT, real->name, "GLIBC_2.3.2");
	if (!function)
		function = dlsym(RTLD_NEXT, real->name);
	if (!function && real->name[0] == '_' && real->name[1] == 'Z')
		function = look_elsewhere(real->name);
	if (function)
		__atomic_store_n(real->function, function, __ATOMIC_RELEASE);
	return function;
}

void rt_next_all(void)
{
	for (const struct rt_real *real = __start_loci_real; real < __stop_loci_real; real++)
		if (!*real->function && !(real->name[0] == '_' && real->name[1] == 'Z'))
			rt_next(real);
}
#else
void rt_next_all(void)
{
}
#endif
