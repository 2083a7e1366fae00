// SPDX-License-Identifier: BSD-2-Clause
/* What include/loci_mark.F90 binds to: marks as functions, for a header's inlines have no names to
 * link with. Names come with their lengths. */
#include <loci/mark.h>

#define FOR_FORTRAN(name, ...)  \
	void name(__VA_ARGS__); \
	void name(__VA_ARGS__)

FOR_FORTRAN(__loci_f_region_begin, const char *name, size_t n)
{
	LOCI_MARK_TELL_(LOCI_MARK_REGION_BEGIN_, LOCI_MARK_WORD_(name), n, 0ul, 0ul, 0ul);
}

FOR_FORTRAN(__loci_f_region_end, const char *name, size_t n)
{
	LOCI_MARK_TELL_(LOCI_MARK_REGION_END_, LOCI_MARK_WORD_(name), n, 0ul, 0ul, 0ul);
}

FOR_FORTRAN(__loci_f_phase, const char *name, size_t n)
{
	LOCI_MARK_TELL_(LOCI_MARK_PHASE_, LOCI_MARK_WORD_(name), n, 0ul, 0ul, 0ul);
}

FOR_FORTRAN(__loci_f_object, const void *base, long bytes, long element_bytes, const char *name,
	size_t n)
{
	LOCI_MARK_TELL_(LOCI_MARK_OBJECT_, LOCI_MARK_WORD_(name), n, LOCI_MARK_WORD_(base),
		(unsigned long)bytes, (unsigned long)element_bytes);
}

FOR_FORTRAN(__loci_f_object_part, const void *base, const void *entry, long bytes, const char *name,
	size_t n)
{
	LOCI_MARK_TELL_(LOCI_MARK_OBJECT_PART_, LOCI_MARK_WORD_(name), n, LOCI_MARK_WORD_(base),
		LOCI_MARK_WORD_(entry), (unsigned long)bytes);
}

FOR_FORTRAN(__loci_f_object_end, const void *base)
{
	loci_object_end(base);
}

/* At the place of the call. */
FOR_FORTRAN(__loci_f_access, const void *address, long bytes, int kind)
{
	unsigned long site = LOCI_MARK_WORD_(__builtin_return_address(0)) - 1;

	LOCI_MARK_TELL_(LOCI_MARK_ACCESS_, LOCI_MARK_WORD_(address), (unsigned long)bytes,
		(unsigned long)kind, site, 0ul);
}

FOR_FORTRAN(__loci_f_disable, void)
{
	loci_disable();
}

FOR_FORTRAN(__loci_f_enable, void)
{
	loci_enable();
}
