/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The code of one process, as its block definitions tell it: modules, blocks, and sites, which are
 * one however many blocks hold the same instruction.
 *
 * Where code was compiled by `loci cc` its definitions are fixed: they say which function a block
 * belongs to and, in the file, which loops are around it, and a site is no address of code but of
 * its definition. Elsewhere sites are addresses of instructions, and functions and loops are found
 * by running them (walk.h). What `loci gcc` compiled is plain: its functions are known as those of
 * fixed code, its sites are addresses of instructions, and its loops are found. */
#ifndef LOCI_ANALYSE_CODE_H
#define LOCI_ANALYSE_CODE_H

#include "analyse/keymap.h"
#include "base/err.h"
#include "stream/decode.h"
#include "symbol/symbol.h"

#include <pthread.h>
#include <stdbool.h>

#define LOCI_NO_MODULE UINT32_MAX

/* One static load or store: what tells it from all others, also of other processes. */
struct loci_site {
	uint64_t offset; /* in the module: address less bias. Without module: the address */
	uint32_t module; /* the symbols' number, or LOCI_NO_MODULE */
	uint32_t size_bytes;
	uint16_t flags;
	uint8_t op;
};
#define LOCI_NO_SITE     0u         /* site 0 is none */
#define LOCI_NO_FUNCTION UINT32_MAX /* code that runs without a frame */

enum loci_code_kind {
	LOCI_CODE_FIRST = 1, /* of its block, or where control goes back within it */
	LOCI_CODE_FRAME = 2, /* no access */
	LOCI_CODE_SKIP = 4,  /* left out */
	LOCI_CODE_OVER = 8,  /* control comes over headers of loops before it */
	LOCI_CODE_SPECIAL = LOCI_CODE_FIRST | LOCI_CODE_FRAME | LOCI_CODE_SKIP | LOCI_CODE_OVER,
	LOCI_CODE_RETURN = 16, /* loads what could be a return address */
	LOCI_CODE_CALLER = 32, /* no access: where an entry's function returns to */
};

/* What the references of the stream need of their definition, small. */
struct loci_code_ref {
	uint32_t site;
	uint16_t size_bytes; /* what does not fit comes with the reference */
	uint8_t is_write;
	uint8_t kind;
	/* The flow of control needs both, which are those of the arrays below, too. */
	uint32_t block;
	int32_t room; /* the last offset in 64 bytes that leaves room for it; -1: none does */
	uint64_t address;
	uint64_t bytes; /* as many bits as bytes; 0: more than 64 */
};

enum loci_code_block_flag {
	LOCI_CODE_KERNEL = 1,  /* takes no part in the flow of control: what the kernel does, and
				  what  the program tells of */
	LOCI_CODE_OUTSIDE = 2, /* before its function's entry: takes no part in its loops */
};

/* A place where blocks begin, or where control goes back within one. */
struct loci_code_block {
	uint64_t address;
	uint32_t symbol_module;
	uint32_t ran; /* of fixed code: who counts its executions (executed.h), or LOCI_RAN_UNASKED;
			 0: nobody */
	uint64_t offset;
	uint32_t module;   /* the stream's id */
	uint32_t function; /* site of the entry of the function it ran in, or LOCI_NO_FUNCTION;
			      LOCI_NO_SITE: not yet. Of fixed code the function's number */
	uint32_t loop;     /* number of the loop it heads plus one; 0: none. Of fixed code the
			      innermost around it */
	uint32_t flags;
};
#define LOCI_LOOP_UNASKED UINT32_MAX /* of fixed code: not known yet */
#define LOCI_RAN_UNASKED  UINT32_MAX

struct loci_code_module {
	uint32_t id; /* the stream's */
	uint32_t symbol_module;
	uint64_t bias, low, bytes;
};

/* A function of fixed code. */
struct loci_code_function {
	uint64_t address; /* run-time, of its first instruction */
	uint32_t module;  /* the stream's id */
	uint32_t site;    /* one of its own, to name it by */
	uint64_t entry;   /* block id of its first block, plus one; 0: not known yet */
	bool unwanted;    /* its references are left out */
	bool plain;       /* its sites are addresses of instructions: its loops are to be found */
};

/* Where fixed code was called from. */
struct loci_code_call {
	uint32_t site;      /* a byte of the call */
	uint32_t function;  /* fixed code around it, or LOCI_NO_FUNCTION */
	uint32_t module;    /* the stream's id */
	uint64_t address;   /* of the first instruction around it, run-time; 0: unknown */
	size_t n_functions; /* .. that were known when function was looked for */
};

/* What the symbols' number of a module stands for. */
struct loci_code_name {
	uint32_t symbol_module;
	char *path, *build_id; /* hexadecimal, or NULL */
};

/* Where a loop begins. */
struct loci_code_header {
	uint64_t address;
	uint32_t block;
};

/* A reference in a list, and the next one's number plus one there. */
struct loci_code_span {
	uint32_t definition, next;
};

struct loci_code_options {
	struct loci_symbols *symbols;
	pthread_mutex_t *symbols_lock;
	bool no_kernel;
	bool fixed;
	/* Of fixed code: names of functions, comma separated, * and ? allowed; NULL: all, none. */
	const char *only, *skip;
};

struct loci_code {
	struct loci_code_options options;
	struct loci_code_ref *ref; /* by definition, as are the next two */
	uint64_t *address;         /* of the instruction, run-time */
	uint32_t *block;           /* the last place before it */
	size_t n_refs, ref_cap, address_cap, block_of_cap;
	struct loci_code_block *blocks;
	size_t n_blocks, block_cap;
	struct loci_keymap block_ids;    /* by stream's module and address */
	struct loci_code_header *header; /* by address */
	size_t n_headers, header_cap;
	/* Which references control comes to over an address, by what the address is in: where their
	 * lists begin, plus one. The first is of all that control comes to from far away. */
	uint32_t *spans;
	size_t n_spans, spans_cap;
	struct loci_keymap span_ids; /* by address, in units */
	struct loci_code_span *span;
	size_t n_span, span_cap;
	struct loci_site *site;
	size_t n_sites, site_cap;
	struct loci_keymap site_ids;
	struct loci_code_module *module;
	size_t n_modules, module_cap;
	struct loci_keymap module_ids; /* by stream's id */
	struct loci_code_function *function;
	size_t n_functions, function_cap;
	struct loci_keymap function_ids; /* by stream's module and address */
	struct loci_code_call *call;
	size_t n_calls, call_cap;
	struct loci_keymap call_ids; /* by the address it returns to */
	bool has_plain;              /* some code is of another compiler than `loci cc`'s */
	bool unlocated;              /* some fixed code was defined before its module was known */
	struct loci_code_name *name;
	size_t n_names, name_cap;
};

int loci_code_init(
	struct loci_code *code, const struct loci_code_options *options, struct loci_err *err);
void loci_code_fini(struct loci_code *code);
/* MODULE_LOAD and MODULE_UNLOAD. */
int loci_code_event(struct loci_code *code, const struct loci_event *event,
	const struct loci_decoder *decoder, struct loci_err *err);
/* A loop begins at a block; control may also fall into it in the middle of another. 0 or -ENOMEM.
 */
int loci_code_header(struct loci_code *code, uint32_t block);
/* A reference is defined: control will come to it over headers that are found later. 0 or -ENOMEM.
 */
int loci_code_span(struct loci_code *code, uint32_t definition);
/* The headers that control comes over before the reference, by address. */
const struct loci_code_header *loci_code_headers(
	const struct loci_code *code, uint32_t definition, size_t *ret_n);
/* Whose a block of fixed code is: the number of its function, new if need be. */
int loci_code_function(struct loci_code *code, const struct loci_ref_site *def, uint32_t site,
	uint32_t *ret, struct loci_err *err);
/* Who calls fixed code that returns to this address. *ret is good until the next call. */
int loci_code_call(struct loci_code *code, uint64_t return_address,
	const struct loci_code_call **ret, struct loci_err *err);
/* Which functions of a module are wanted, and so which of their references count, is known better
 * now. */
int loci_code_choose(struct loci_code *code, uint32_t module, struct loci_err *err);
/* The number of a site, new if need be. 0 or -ENOMEM. */
int loci_code_site(struct loci_code *code, const struct loci_site *site, uint32_t *ret);
static inline uint64_t loci_code_site_key(const struct loci_site *site)
{
	return (uint64_t)site->module << 32 | (uint64_t)(site->flags & 0x7f) << 25 |
		(uint64_t)(site->size_bytes & 0x1fffff) << 3 | (site->op & 7);
}
/* An address, where its module is known as module and offset. */
void loci_code_locate(const struct loci_code *code, uint32_t stream_module, uint64_t address,
	uint32_t *ret_module, uint64_t *ret_offset);
/* The module that has an address; NULL: none that is known. */
const struct loci_code_module *loci_code_module_at(const struct loci_code *code, uint64_t address);
/* Learns what the decoder has that is new. */
int loci_code_learn(
	struct loci_code *code, const struct loci_decoder *decoder, struct loci_err *err);

#endif
