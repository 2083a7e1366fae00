/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The code of one process, as its block definitions tell it: modules, blocks, and sites, which are
 * one however many blocks hold the same instruction. */
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
};

/* What the references of the stream need of their definition, small. */
struct loci_code_ref {
	uint32_t site;
	uint16_t size_bytes; /* what does not fit comes with the reference */
	uint8_t is_write;
	uint8_t kind;
	/* The flow of control needs both, which are those of the arrays below, too. */
	uint32_t block;
	uint64_t address;
	uint64_t bytes; /* as many bits as bytes; 0: more than 64 */
};

enum loci_code_block_flag {
	LOCI_CODE_KERNEL = 1,  /* takes no part in the flow of control */
	LOCI_CODE_OUTSIDE = 2, /* before its function's entry: takes no part in its loops */
};

/* A place where blocks begin, or where control goes back within one. */
struct loci_code_block {
	uint64_t address;
	uint32_t symbol_module;
	uint64_t offset;
	uint32_t module;   /* the stream's id */
	uint32_t function; /* site of the entry of the function it ran in, or LOCI_NO_FUNCTION;
			      LOCI_NO_SITE: not yet */
	uint32_t loop;     /* number of the loop it heads plus one; 0: none */
	uint32_t flags;
};

struct loci_code_module {
	uint32_t symbol_module;
	uint64_t bias;
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

struct loci_code {
	struct loci_symbols *symbols;
	pthread_mutex_t *symbols_lock;
	bool no_kernel;
	struct loci_code_ref *ref; /* by definition, as are the next two */
	uint64_t *address;         /* of the instruction, run-time */
	uint32_t *block;           /* the last place before it */
	size_t n_refs, ref_cap, address_cap, block_of_cap;
	struct loci_code_block *blocks;
	size_t n_blocks, block_cap;
	struct loci_keymap block_ids;    /* by stream's module and address */
	struct loci_code_header *header; /* by address */
	size_t n_headers, header_cap;
	struct loci_site *site;
	size_t n_sites, site_cap;
	struct loci_keymap site_ids;
	struct loci_code_module *module;
	size_t n_modules, module_cap;
	struct loci_keymap module_ids; /* by stream's id */
	struct loci_code_name *name;
	size_t n_names, name_cap;
};

int loci_code_init(struct loci_code *code, struct loci_symbols *symbols, pthread_mutex_t *lock,
	bool no_kernel, struct loci_err *err);
void loci_code_fini(struct loci_code *code);
/* MODULE_LOAD and MODULE_UNLOAD. */
int loci_code_event(struct loci_code *code, const struct loci_event *event,
	const struct loci_decoder *decoder, struct loci_err *err);
/* A loop begins at a block; control may also fall into it in the middle of another. 0 or -ENOMEM.
 */
int loci_code_header(struct loci_code *code, uint32_t block);
/* The headers that control comes over before the reference, by address. */
const struct loci_code_header *loci_code_headers(
	const struct loci_code *code, uint32_t definition, size_t *ret_n);
/* Learns what the decoder has that is new. */
int loci_code_learn(
	struct loci_code *code, const struct loci_decoder *decoder, struct loci_err *err);

#endif
