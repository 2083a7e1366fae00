/* SPDX-License-Identifier: BSD-2-Clause */
/* Marks: what a program says of itself to loci, in C and C++. Fortran: loci_mark.F90.
 *
 *	loci_region_begin("assemble");		a name for a part of the run; regions nest, per
 *	...					thread, and their ends name them
 *	loci_region_end("assemble");
 *	{ loci::region r("solve"); ... }	the same in C++, ended by whatever leaves the block
 *
 *	loci_phase("time step");		of the whole process, until the next
 *
 *	loci_object(grid, bytes, sizeof(*grid), "grid");	memory with a name and elements ..
 *	loci_object_part(grid, halo, bytes, "halo");		.. a part of it with one of its own
 *.. loci_object_end(grid);					.. and no longer
 *
 *	loci_disable(); ... loci_enable();	the process's references in between do not count;
 *						pairs nest
 *
 *	loci_access(address, 8, LOCI_STORE);	a reference that loci does not see by itself: for
 *						interpreters, simulators, instrumentors
 *
 * A mark does something under `loci record`; else it is some fifteen instructions, a nanosecond.
 * Nothing is linked: under Valgrind a mark is one of its client requests, and where the program has
 * loci's runtime (loci cc) it calls that. -DLOCI_MARK_OFF leaves nothing of marks but their
 * arguments' types.
 *
 * Names are any strings, which need not outlive the call (those of loci::region: the object); up to
 * 255 bytes count. What is wrong (a region ended that is not open, the end of an object that is
 * none) is counted and reported, and does no harm. Marks may be made anywhere: before main, in
 * signal handlers, in any thread. */
#ifndef LOCI_MARK_H
#define LOCI_MARK_H

enum loci_access_kind { LOCI_LOAD = 0, LOCI_STORE = 1 };

/* What is told, and with what: a number for each, and words as the comments say. A name is where it
 * stands and how long it is; LOCI_MARK_NUL_: it ends with NUL. */
enum loci_mark_request_ {
	LOCI_MARK_REGION_BEGIN_ = 0x4c4f0001, /* "LO", name */
	LOCI_MARK_REGION_END_ = 0x4c4f0002,   /* name */
	LOCI_MARK_PHASE_ = 0x4c4f0003,        /* name */
	LOCI_MARK_OBJECT_ = 0x4c4f0004,       /* name, base, bytes, bytes of an element */
	LOCI_MARK_OBJECT_PART_ = 0x4c4f0005,  /* name, base, entry, bytes */
	LOCI_MARK_OBJECT_END_ = 0x4c4f0006,   /* base */
	LOCI_MARK_ACCESS_ = 0x4c4f0007,       /* address, bytes, kind, code address or 0: here */
	LOCI_MARK_DISABLE_ = 0x4c4f0008,
	LOCI_MARK_ENABLE_ = 0x4c4f0009
};

#ifdef LOCI_MARK_OFF

#define loci_region_begin(name) ((void)sizeof(name))
#define loci_region_end(name)   ((void)sizeof(name))
#define loci_phase(name)        ((void)sizeof(name))
#define loci_object(base, bytes, element_bytes, name) \
	((void)sizeof(base), (void)sizeof(bytes), (void)sizeof(element_bytes), (void)sizeof(name))
#define loci_object_part(base, entry, bytes, name) \
	((void)sizeof(base), (void)sizeof(entry), (void)sizeof(bytes), (void)sizeof(name))
#define loci_object_end(base) ((void)sizeof(base))
#define loci_access(address, bytes, kind) \
	((void)sizeof(address), (void)sizeof(bytes), (void)sizeof(kind))
#define loci_disable() ((void)0)
#define loci_enable()  ((void)0)

#else

#include <stddef.h>

#define LOCI_MARK_NUL_    (~(size_t)0)
#define LOCI_MARK_INLINE_ static __inline__ __attribute__((always_inline, unused))

#ifdef __cplusplus
extern "C" {
#endif

typedef void loci_mark_tell_(unsigned long request, unsigned long a, unsigned long b,
	unsigned long c, unsigned long d, unsigned long e);

#if defined(__x86_64__) && !defined(__ILP32__)
/* Valgrind knows the five instructions, which do nothing else: a request is where rax points, its
 * answer in rdx. The words are in registers, so that a mark makes no references of its own; asking
 * for the runtime may be one, and is done by who gets no answer. It is assembly, too, lest the
 * compiler asks elsewhere. */
#define LOCI_MARK_TELL_(number, a, b, c, d, e)                                               \
	do {                                                                                 \
		static const unsigned long loci_request_[6] = { (number), 0, 0, 0, 0, 0 };   \
		register unsigned long loci_d_ __asm__("r8") = (d);                          \
		register unsigned long loci_e_ __asm__("r9") = (e);                          \
		unsigned long loci_told_;                                                    \
		__asm__ __volatile__("rolq $3, %%rdi; rolq $13, %%rdi\n\t"                   \
				     "rolq $61, %%rdi; rolq $51, %%rdi\n\t"                  \
				     "xchgq %%rbx, %%rbx"                                    \
				     : "=d"(loci_told_)                                      \
				     : "0"(0ul), "a"(loci_request_), "D"(a), "S"(b), "c"(c), \
				     "r"(loci_d_), "r"(loci_e_)                              \
				     : "cc", "memory");                                      \
		if (!loci_told_) {                                                           \
			loci_mark_tell_ *loci_runtime_;                                      \
			__asm__ __volatile__(".weak __loci_tell\n\t"                         \
					     "movq __loci_tell@GOTPCREL(%%rip), %0"          \
					     : "=r"(loci_runtime_));                         \
			if (loci_runtime_)                                                   \
				loci_runtime_(number, a, b, c, d, e);                        \
		}                                                                            \
	} while (0)
#else
extern loci_mark_tell_ __loci_tell __attribute__((weak));
#define LOCI_MARK_TELL_(number, a, b, c, d, e)              \
	do {                                                \
		if (__loci_tell)                            \
			__loci_tell(number, a, b, c, d, e); \
	} while (0)
#endif
#define LOCI_MARK_WORD_(pointer) ((unsigned long)(pointer))

LOCI_MARK_INLINE_ void loci_region_begin(const char *name)
{
	LOCI_MARK_TELL_(
		LOCI_MARK_REGION_BEGIN_, LOCI_MARK_WORD_(name), LOCI_MARK_NUL_, 0ul, 0ul, 0ul);
}

LOCI_MARK_INLINE_ void loci_region_end(const char *name)
{
	LOCI_MARK_TELL_(
		LOCI_MARK_REGION_END_, LOCI_MARK_WORD_(name), LOCI_MARK_NUL_, 0ul, 0ul, 0ul);
}

LOCI_MARK_INLINE_ void loci_phase(const char *name)
{
	LOCI_MARK_TELL_(LOCI_MARK_PHASE_, LOCI_MARK_WORD_(name), LOCI_MARK_NUL_, 0ul, 0ul, 0ul);
}

/* Memory from base on. Until its end its references are those of the object `name`, whatever it is
 * part of; again at the same base replaces it. Objects nest, and end with what they are in; one
 * that overlaps another otherwise ends it. element_bytes 0: it has no elements. */
LOCI_MARK_INLINE_ void loci_object(
	const void *base, size_t bytes, size_t element_bytes, const char *name)
{
	LOCI_MARK_TELL_(LOCI_MARK_OBJECT_, LOCI_MARK_WORD_(name), LOCI_MARK_NUL_,
		LOCI_MARK_WORD_(base), (unsigned long)bytes, (unsigned long)element_bytes);
}

/* A part of the object at base that is used through a pointer of its own. bytes 0: to the object's
 * end. */
LOCI_MARK_INLINE_ void loci_object_part(
	const void *base, const void *entry, size_t bytes, const char *name)
{
	LOCI_MARK_TELL_(LOCI_MARK_OBJECT_PART_, LOCI_MARK_WORD_(name), LOCI_MARK_NUL_,
		LOCI_MARK_WORD_(base), LOCI_MARK_WORD_(entry), (unsigned long)bytes);
}

/* Before the memory is given back. */
LOCI_MARK_INLINE_ void loci_object_end(const void *base)
{
	LOCI_MARK_TELL_(LOCI_MARK_OBJECT_END_, LOCI_MARK_WORD_(base), 0ul, 0ul, 0ul, 0ul);
}

/* One reference, at the place of this call: a macro, so that its place is the program's. */
#define loci_access(address, bytes, kind)                                                       \
	do {                                                                                    \
		const void *loci_address_ = (address);                                          \
		unsigned long loci_bytes_ = (bytes);                                            \
		enum loci_access_kind loci_kind_ = (kind);                                      \
		LOCI_MARK_TELL_(LOCI_MARK_ACCESS_, LOCI_MARK_WORD_(loci_address_), loci_bytes_, \
			(unsigned long)loci_kind_, 0ul, 0ul);                                   \
	} while (0)

LOCI_MARK_INLINE_ void loci_disable(void)
{
	LOCI_MARK_TELL_(LOCI_MARK_DISABLE_, 0ul, 0ul, 0ul, 0ul, 0ul);
}

LOCI_MARK_INLINE_ void loci_enable(void)
{
	LOCI_MARK_TELL_(LOCI_MARK_ENABLE_, 0ul, 0ul, 0ul, 0ul, 0ul);
}

#ifdef __cplusplus
}
#endif

#endif

#ifdef __cplusplus
namespace loci
{

/* A region as long as the object lives. */
class region
{
      public:
#ifdef LOCI_MARK_OFF
	explicit region(const char *)
	{
	}
	~region()
	{
	}
#else
	explicit region(const char *name) : name_(name)
	{
		loci_region_begin(name_);
	}
	~region()
	{
		loci_region_end(name_);
	}
#endif

      private:
	region(const region &);
	region &operator=(const region &);
#ifndef LOCI_MARK_OFF
	const char *name_;
#endif
};

} // namespace loci
#endif

#endif
