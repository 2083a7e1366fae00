/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions of the C library that the runtime puts itself in front of. In the shared runtime they
 * have the library's names, and the library's own are the next of that name. In a static program
 * the linker puts them in front (--wrap); wrapped.txt is the list for it. */
#ifndef LOCI_COLLECT_RUNTIME_WRAP_H
#define LOCI_COLLECT_RUNTIME_WRAP_H

#include <stdint.h>

struct rt_real {
	const char *name;
	void **function;
};

#define RT_PUBLIC __attribute__((visibility("default")))

/* RT_WRAP(result, name, parameters) begins the definition of such a function; RT_REAL(name) is the
 * library's, NULL if there is none. */
#ifdef LOCI_RT_STATIC
#define RT_WRAP(result, name, ...)                \
	extern result __real_##name(__VA_ARGS__); \
	result __wrap_##name(__VA_ARGS__);        \
	RT_PUBLIC result __wrap_##name(__VA_ARGS__)
#define RT_REAL(name)    (&__real_##name)
#define RT_WRAPPED(name) __wrap_##name
#else
#define RT_WRAP(result, name, ...)                                                               \
	static result (*real_##name)(__VA_ARGS__);                                               \
	__attribute__((section("loci_real"),                                                     \
		used)) static const struct rt_real to_##name = { #name, (void **)&real_##name }; \
	RT_PUBLIC result name(__VA_ARGS__);                                                      \
	RT_PUBLIC result name(__VA_ARGS__)
#define RT_REAL(name)                                        \
	(__builtin_expect(real_##name != 0, 1) ? real_##name \
					       : (__typeof__(real_##name))rt_next(&to_##name))
#define RT_WRAPPED(name) name
#endif

/* The next function of that name; NULL: there is none. */
void *rt_next(const struct rt_real *real);
/* All of them, before anybody needs one. */
void rt_next_all(void);

#endif
