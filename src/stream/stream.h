/* SPDX-License-Identifier: BSD-2-Clause */
/* The stream: what passes from collecting to analysing. This header is the format's documentation.
 *
 * A stream is a sequence of 64-bit little-endian words: what one thread of a process executed, in
 * order, or what several did, told apart by SWITCH.
 *
 *	bit 63 clear   an address (or, where a definition says so, a length)
 *	bit 63 set     a marker:   62..56 kind   55..48 n   47..0 payload
 *	               followed by n raw words, which are data whatever their bits
 *
 * Because every marker carries n, a reader skips kinds it does not know, and raw words beyond
 * those it knows: both may grow, nothing may change. Kinds and their meaning are fixed for ever. A
 * marker with fewer raw words than the list below gives it is malformed; so is one that is cut off.
 *
 * Ids (of blocks, strings, threads, modules, samples) are the collector's choice and hold within
 * the stream. Block, string and sample ids have 48 bits and may be sparse (a code address is a good
 * block id); below 2^22 they are fastest. Thread and module ids have 32 bits.
 *
 * References. `BLOCK id` says that a block starts: straight-line code defined once by `DEFINE id`.
 * The address words that follow belong to the block's references in order. When all of them are
 * used up a further address starts the same block again, so that a block repeated without another
 * in between needs no BLOCK. Any other BLOCK may come early (a side exit): only what executed is in
 * the stream. Every thread has its own current block and position in it. Markers other than BLOCK,
 * RESUME and the definition of the very block may stand between its words without disturbing it.
 * An address or length that needs bit 63 is `WIDE` with one raw word in its place.
 *
 * A reference of size 0 is a range: the word after its address is its length in bytes (0 allowed:
 * nothing was touched). A reference of op FRAME stands first in a function's entry block and
 * carries the frame address in its one word, whatever its size; it is no access, and no more are
 * CALLER and TURN. References of an op that the reader does not know follow the same rule of one or
 * two words and are passed over. A reference that runs past the last address ends there.
 *
 * It is an error to give an address where no block is current (before the first BLOCK of a thread
 * or signal handler, after its definition changed), to start a block that has no definition, or to
 * give an address to one that has no references.
 *
 * This file is part of the closure of code that runs inside users' programs: freestanding C. */
#ifndef LOCI_STREAM_H
#define LOCI_STREAM_H

#include <stddef.h>
#include <stdint.h>

#define LOCI_STREAM_VERSION 2

#define LOCI_WORD_MARKER  (1ull << 63)
#define LOCI_PAYLOAD_BITS 48
#define LOCI_PAYLOAD_MASK ((1ull << LOCI_PAYLOAD_BITS) - 1)
#define LOCI_RAW_MAX      255

/* clang-format off */
enum loci_marker {
	/* kind                       payload            raw words */
	LOCI_MARK_PAD = 0x00,      /* -                  any; means nothing */
	LOCI_MARK_BLOCK = 0x01,    /* block id           */
	LOCI_MARK_WIDE = 0x02,     /* -                  0: an address or length of 64 bits */
	LOCI_MARK_RESUME = 0x03,   /* block id           0: words of the block already given (WIDE is
	                              one), 1: the address, where the next word is its length. Sets the
	                              current block and position without starting it: so a reader that
	                              begins in the middle of a trace learns where every thread was */
	LOCI_MARK_DEFINE = 0x04,   /* block id           0: module id << 32 | enum loci_block_flag,
	                              1: code address, then two words per reference: descriptor (see
	                              loci_ref_word) and site, a number that the collector's symbol
	                              source understands (a code address; an index into a section).
	                              A second DEFINE of an id replaces the first and ends the block
	                              wherever it is current or interrupted: BLOCK or RESUME must come
	                              before its next address. One that equals it changes nothing */
	LOCI_MARK_DEFINE_MORE = 0x05, /* block id        two words per reference, appended. Belongs to
	                                 the DEFINE or DEFINE_MORE before it: same id, no other
	                                 definition between; ends the block as a second DEFINE does */
	LOCI_MARK_UNDEFINE = 0x06, /* block id           (its translation was discarded); ends the
	                              block as a second DEFINE does */
	LOCI_MARK_STRING = 0x07,   /* string id          bytes, the first in bits 7..0, padded with NULs
	                              to a word; the last word of a string holds at least one NUL. A
	                              further STRING of an id appends while it has no NUL so far, and
	                              replaces it when it has */
	LOCI_MARK_SWITCH = 0x08,   /* thread id          what follows belongs to this thread; thread 0
	                              is current until the first */
	LOCI_MARK_THREAD_START = 0x09, /* thread id      0: parent's thread id, 1: system's id,
	                                  2: ns, monotonic, 3: sequence */
	LOCI_MARK_THREAD_EXIT = 0x0a,  /* thread id      0: ns, 1: sequence */
	LOCI_MARK_FORK = 0x0b,     /* child's process id (its words are a stream of their own) */
	LOCI_MARK_EXEC = 0x0c,     /* string id of path  the new program's words are a stream of their
	                              own; references after it mean that the call failed */
	LOCI_MARK_END = 0x0d,      /* exit status as wait(2) gives it; the stream ended in order */
	LOCI_MARK_PROCESS = 0x0e,  /* process id         whose stream this is. 0: parent's process id,
	                              1: ns, monotonic, 2: rank + 1 of a parallel job, 0: none */

	LOCI_MARK_RUN = 0x0f,      /* block id           0: how often it ran, one time after the
	                              other, 1: zero; then for each of its references, in order, its
	                              address the first time and what is added to that each further
	                              time (modulo 2^64). The same as a BLOCK and all those addresses;
	                              afterwards all references of the block are used up. Only of
	                              blocks that were defined with no ranges and no FRAME, CALLER or
	                              TURN, and at most 126 references. From version 2 on */

	/* Memory. Sequence numbers are global to the process and order these events between threads.
	 * Memory that the kernel moves (mremap) is unmapped and mapped. */
	LOCI_MARK_ALLOC = 0x10,    /* bytes              0: address, 1: sequence, 2: site of the call. An
	                              address of 0 and 3 (may be absent): so many have come and gone,
	                              the largest of these bytes, that nothing else tells of */
	LOCI_MARK_FREE = 0x11,     /* -                  0: address, 1: sequence */
	LOCI_MARK_RESIZE = 0x12,   /* new bytes          0: old address, 1: new, 2: sequence, 3: site */
	LOCI_MARK_MAP = 0x13,      /* PROT_* | MAP_* << 8  0: address, 1: bytes, 2: sequence, 3: site,
	                              4: string id of the file, 0: none */
	LOCI_MARK_UNMAP = 0x14,    /* -                  0: address, 1: bytes, 2: sequence */
	LOCI_MARK_OBJECT = 0x15,   /* bytes              0: address, 1: sequence, 2: string id of name,
	                              3 (may be absent): bytes of an element, 0: not known */
	LOCI_MARK_OBJECT_END = 0x16,  /* -               0: address, 1: sequence */
	LOCI_MARK_OBJECT_PART = 0x17, /* bytes, 0: to the object's end
	                                 0: address of the object, 1: address in it where the part
	                                 begins, 2: sequence, 3: string id of name, 0: none. A new
	                                 entry point: what is in the part belongs to the object */
	LOCI_MARK_MODULE_LOAD = 0x18, /* module id       0: load bias, 1: lowest address, 2: bytes,
	                                 3: string id of path, 4: sequence (0: before the
	                                 definitions that follow), 5: build-id's length in
	                                 bytes, then its bytes padded with NULs */
	LOCI_MARK_MODULE_UNLOAD = 0x19, /* module id     0: sequence */

	/* Order and time. */
	LOCI_MARK_SYNC = 0x20,     /* enum loci_sync     0: object, 1: its number among the SYNCs of
	                              that object in this process, from 1, without gaps. A number
	                              is taken before others can see what it stands for (RELEASE,
	                              ARRIVE, CREATE, FINISH) or after its thread has seen it
	                              (ACQUIRE, LEAVE, BEGIN, JOIN): an order that keeps the
	                              numbers keeps all that happens before something else. Objects
	                              are any numbers; different things may share one */
	LOCI_MARK_BLOCKED = 0x21,  /* -                  the thread may wait from here on: do not wait
	                              for its words */
	LOCI_MARK_RUNNING = 0x22,  /* -                  it runs again */
	LOCI_MARK_SIGNAL_ENTER = 0x23, /* signal number  the handler's words follow, bracketed, and
	                                  begin with a BLOCK; the interrupted block continues after the
	                                  matching LEAVE. Handlers nest; one left by longjmp may lack
	                                  its LEAVE, so a reader need keep no more than the innermost
	                                  LOCI_SIGNAL_DEPTH interrupted blocks of a thread */
	LOCI_MARK_SIGNAL_LEAVE = 0x24, /* signal number  where no interrupted block is known (recording
	                                  began in the handler) none is current after it */
	LOCI_MARK_TIME = 0x25,     /* -                  0: ns, monotonic */
	LOCI_MARK_REGION_BEGIN = 0x28, /* string id of name; regions nest per thread */
	LOCI_MARK_REGION_END = 0x29,   /* string id of name */
	LOCI_MARK_PHASE = 0x2a,    /* string id of name  a phase of the whole process begins here, as
	                              the program says. 0: sequence */
	LOCI_MARK_PAUSE = 0x2b,    /* 1: references of the process that follow are not to count, as
	                              the program says; 0: they count again. 0: sequence */

	/* Sampling. References are counted per thread from its start, the current one included;
	 * frames are none. */
	LOCI_MARK_WINDOW_BEGIN = 0x30, /* -              0: references counted so far */
	LOCI_MARK_WINDOW_END = 0x31,   /* -              0: references counted so far */
	LOCI_MARK_SAMPLE_OPEN = 0x32,  /* sample id      0: address, 1: references so far, 2: site,
	                                  3: reference descriptor, 4: watch, LOCI_WATCH_NONE or
	                                  LOCI_WATCH_BURST, 5: frame address, 6 (may be absent):
	                                  the mean of the gap before it. A sample whose watch another
	                                  had takes it from that. Of a collector that has windows the
	                                  sample is the reference with the number that 1 gives, which
	                                  follows: all else is 0 but 6. Of one that watches the address
	                                  is in the block that is watched, one of those that the
	                                  reference touches, chosen at random, and there may be 7:
	                                  thread, 8: how many it touches, 9: references that it was
	                                  followed for, 10: touches of blocks by these, 11: the
	                                  last sequence number of the process so far, 12
	                                  (LOCI_OPEN_AROUND): how many references up to it, itself
	                                  the last, the rest is about: pairs of a site and how often
	                                  these touch a block there. If the descriptor has
	                                  LOCI_REF_PARTS, parts of a large reference are sampled by
	                                  themselves: 6 is how many touches the sample stands for,
	                                  and the site is an address of code, just behind it.
	                                  STACK may follow: return addresses of the calls that led
	                                  there */
	LOCI_MARK_SAMPLE_EVICT = 0x33, /* sample id      0: references so far, 1: id of the sample that
	                                  took its place */
	LOCI_MARK_SAMPLE_FIRE = 0x34,  /* sample id      0: address, 1: references so far, 2: site,
	                                  3: reference descriptor, 4: thread, 5: frame address. May
	                                  have 6: touches of blocks since the sample, itself included,
	                                  0: not known; without a descriptor, or if that has
	                                  LOCI_REF_PARTS, those by large references alone, 7: by how
	                                  many references 1 may be off, and 8: as 11 of OPEN. One
	                                  that was seen while its sample was
	                                  followed may have 9 (LOCI_FIRE_DISTINCT): its stack distance
	                                  among the touches of its thread, and 1 more; 0: not known.
	                                  References are those of the sample's thread. A site without
	                                  a descriptor is an address of code, just behind the reference.
	                                  Where the thread's count was not at hand, words from 9 on say
	                                  instead where it is (enum loci_fire_word).
	                                  STACK may follow, as of OPEN */
	LOCI_MARK_STACK = 0x35,    /* -                  code addresses, innermost first, of the marker
	                              before it; a further STACK continues the list */
	LOCI_MARK_SAMPLE_LOT = 0x36, /* sample id        a lot was drawn whether it is watched on, which
	                                takes more time than others: 0: references so far, 1: one in so
	                                many is, 2: 1 if it is. If not its watch is free */
	LOCI_MARK_WATCHED = 0x37,  /* -                  how samples were watched, first in a trace of
	                              them: 0: bytes of a block, 1: mean gap between samples, as asked
	                              for, 2: seed, 3: 1 if only writes are reuses, 4: by debug
	                              registers 0, by pages 1, 5: references for which each was
	                              followed before, 6: how the run weighed them: inverse 0,
	                              unscaled, proportional, kaplan-meier, plain 4 */

	/* Bookkeeping. */
	LOCI_MARK_COUNT = 0x38,    /* -                  0: references executed so far by this thread */
	LOCI_MARK_UNSEEN = 0x39,   /* string id of library  0: calls into it, 1: ns in it, 0 if unknown */
	LOCI_MARK_LOST = 0x3a,     /* references lost here (a lower bound) */
	LOCI_MARK_EXECUTED = 0x3b, /* block id           0: how often this thread executed it so far
	                              without its words standing here; the last one counts */
	LOCI_MARK_MISTAKE = 0x3c,  /* string id          what the program did wrong with marks, in
	                              words; 0: how often so far */
};
/* clang-format on */

/* Of SAMPLE_FIRE: what was in the thread when it touched the block. Its references are EMPTY less
 * its budget, which its code may have kept in a register, or in memory. */
enum loci_fire_word {
	LOCI_FIRE_EMPTY = 9,  /* references, if no budget were left */
	LOCI_FIRE_LEAST = 10, /* that it had, whatever is found, .. */
	LOCI_FIRE_MOST = 11,
	LOCI_FIRE_CODE = 12,      /* what it executes next */
	LOCI_FIRE_REGISTERS = 13, /* sixteen, in DWARF's order */
	LOCI_FIRE_MEMORY = 29,    /* words below where the frame pointer points, from the top */
};

#define LOCI_OPEN_AROUND   12 /* word of SAMPLE_OPEN */
#define LOCI_FIRE_DISTINCT 9  /* word of SAMPLE_FIRE that has no registers */

#define LOCI_SIGNAL_DEPTH 64

/* Of a sample, beside the numbers of watches, which are below LOCI_WATCHES. */
#define LOCI_WATCH_NONE  UINT32_MAX       /* there was no watch for it */
#define LOCI_WATCH_BURST (UINT32_MAX - 1) /* its reuse was seen in the words that followed */
#define LOCI_WATCHES     64

enum loci_sync {
	LOCI_SYNC_ACQUIRE = 0,
	LOCI_SYNC_RELEASE = 1,
	LOCI_SYNC_BARRIER_ARRIVE = 2,
	LOCI_SYNC_BARRIER_LEAVE = 3,
	LOCI_SYNC_THREAD_CREATE = 4, /* object: thread id */
	LOCI_SYNC_THREAD_BEGIN = 5,
	LOCI_SYNC_THREAD_FINISH = 6,
	LOCI_SYNC_THREAD_JOIN = 7,
};

enum loci_block_flag {
	LOCI_BLOCK_ENTRY = 1,  /* a function's first block: its first reference is a FRAME */
	LOCI_BLOCK_LOOP = 2,   /* a loop's header */
	LOCI_BLOCK_KERNEL = 4, /* memory touched by the kernel on the program's behalf */
	LOCI_BLOCK_PLAIN = 8, /* its sites are code addresses, where the collector's others are not:
				 code of another compiler in a program of `loci cc` */
	LOCI_BLOCK_TOLD = 16, /* a reference that the program itself tells of: no code runs */
};

enum loci_op {
	LOCI_OP_LOAD = 0,
	LOCI_OP_STORE = 1,
	LOCI_OP_FETCH = 2,  /* of an instruction */
	LOCI_OP_FRAME = 3,  /* a frame address, no access */
	LOCI_OP_CALLER = 4, /* the address that the function returns to, no access: second in an
			       entry block. So callers are known, who need not run a block of
			       their own between two calls */
	LOCI_OP_TURN = 5,   /* no access, and its word means nothing: a loop begins or goes round,
			       and has no reference to show it */
};

enum loci_ref_flag {
	LOCI_REF_ATOMIC = 1,
	LOCI_REF_KERNEL = 2,
	LOCI_REF_BULK = 4,      /* memcpy, memset and their like */
	LOCI_REF_STREAMING = 8, /* non-temporal */
	LOCI_REF_VECTOR = 16,
	LOCI_REF_MODIFY = 32, /* load or store half of a read-modify-write */
	LOCI_REF_PREFETCH = 64,
	LOCI_REF_PARTS = 128, /* of SAMPLE_OPEN and SAMPLE_FIRE: see there */
};

/* A reference's descriptor: 0..31 size in bytes (0: a range), 32..39 enum loci_op, 40..55 flags,
 * 56..63 zero (readers ignore them). */
static inline uint64_t loci_ref_word(uint32_t size_bytes, enum loci_op op, unsigned flags)
{
	return size_bytes | (uint64_t)op << 32 | (uint64_t)(flags & 0xffff) << 40;
}

static inline uint32_t loci_ref_word_bytes(uint64_t word)
{
	return (uint32_t)word;
}

static inline uint8_t loci_ref_word_op(uint64_t word)
{
	return (uint8_t)(word >> 32);
}

static inline uint16_t loci_ref_word_flags(uint64_t word)
{
	return (uint16_t)(word >> 40);
}

static inline uint64_t loci_mark_word(enum loci_marker kind, unsigned n_raw, uint64_t payload)
{
	return LOCI_WORD_MARKER | (uint64_t)kind << 56 | (uint64_t)(n_raw & 0xff) << 48 |
		(payload & LOCI_PAYLOAD_MASK);
}

static inline int loci_word_is_marker(uint64_t word)
{
	return word >> 63;
}

static inline unsigned loci_word_kind(uint64_t word)
{
	return (unsigned)(word >> 56) & 0x7f;
}

static inline unsigned loci_word_n_raw(uint64_t word)
{
	return (unsigned)(word >> 48) & 0xff;
}

static inline uint64_t loci_word_payload(uint64_t word)
{
	return word & LOCI_PAYLOAD_MASK;
}

/* What a stream's header says, in a ring, a trace file or memory. Numbers are fixed for ever. */
enum loci_arch {
	LOCI_ARCH_UNKNOWN = 0,
	LOCI_ARCH_X86_64 = 1,
	LOCI_ARCH_AARCH64 = 2,
};

enum loci_collector {
	LOCI_COLLECTOR_IMPORT = 0,
	LOCI_COLLECTOR_ANY = 1, /* Valgrind */
	LOCI_COLLECTOR_CC = 2,
	LOCI_COLLECTOR_GCC = 3,
	LOCI_COLLECTOR_PMU = 4,
	LOCI_COLLECTOR_STEP = 5,
};

/* Those whose code is in the program, and has a ring for each thread. */
static inline int loci_collector_is_inside(uint32_t collector)
{
	return collector == LOCI_COLLECTOR_CC || collector == LOCI_COLLECTOR_GCC;
}

enum loci_unit {
	LOCI_UNIT_BYTE = 0, /* addresses, divided by the block size */
	LOCI_UNIT_OBJECT =
		1, /* ids of whole objects, never divided; size: the object's bytes, or 1 */
};

enum loci_capability {
	LOCI_CAP_COMPLETE = 1,  /* every reference */
	LOCI_CAP_WINDOWS = 2,   /* every reference within windows */
	LOCI_CAP_SAMPLES = 4,   /* samples opened, evicted, fired */
	LOCI_CAP_STORES = 8,    /* loads and stores are told apart */
	LOCI_CAP_SITES = 16,    /* references have sites */
	LOCI_CAP_FETCHES = 32,  /* instruction fetches are recorded too */
	LOCI_CAP_FRAMES = 64,   /* entry blocks carry frames: contexts can be kept */
	LOCI_CAP_OBJECTS = 128, /* allocations are recorded */
	LOCI_CAP_ORDER = 256,   /* words of different threads stand in the order they executed */
	LOCI_CAP_PARTIAL =
		512, /* some of the program's references cannot be seen by this collector */
};

/* 64 bytes, little-endian. Readers refuse a newer version and an unknown unit, and ignore
 * capabilities they do not know. */
struct loci_stream_info {
	uint32_t version;      /* LOCI_STREAM_VERSION */
	uint32_t arch;         /* enum loci_arch */
	uint32_t collector;    /* enum loci_collector */
	uint32_t unit;         /* enum loci_unit */
	uint32_t capabilities; /* of enum loci_capability */
	char origin[44]; /* format of an import ("lackey"), or the collector's own version; padded
			    with NULs, at least one */
};
_Static_assert(sizeof(struct loci_stream_info) == 64, "the header's layout is fixed");

#endif
