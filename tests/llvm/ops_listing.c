// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints what src/symbol reads of the operations in a module's definitions, all blocks of a function
 * together:
 *
 *	FUNCTION KIND TYPE LANES BITS COUNT
 *	FUNCTION calls CALLEE COUNT
 *	FUNCTION blocks N, those with operations
 *
 * Spaces in a kind are underscores. The lines of a function may come in any order, and equal ones
 * more than once: sort and add. */
#include "symbol/cc_ops.h"
#include "symbol/module.h"

#include <stdio.h>
#include <string.h>

static void print_kind(uint8_t kind)
{
	for (const char *at = loci_cc_op_kind_text(kind); at && *at; at++)
		putchar(*at == ' ' ? '_' : *at);
}

static void list(const struct loci_cc_section *section, const struct loci_cc_known *known)
{
	const char *name = loci_cc_name(section, known);
	unsigned n_blocks = 0;

	for (uint32_t i = 0; loci_cc_has_ops(known) && i < known->header.n_blocks; i++) {
		struct loci_cc_block_ops block = loci_cc_block_ops(known, i);
		uint32_t first, n = loci_cc_invocations(known, i, &first);

		n_blocks += block.n_ops > 0;
		for (uint32_t k = 0; k < block.n_ops; k++) {
			struct loci_cc_op op = loci_cc_op(known, block.first_op + k);
			const char *type = loci_cc_type_text(op.type);

			printf("%s ", name);
			print_kind(op.kind);
			printf(" %s %u %u %u\n", type ? type : "-", op.lanes, op.bits, op.count);
		}
		for (uint32_t k = 0; k < n; k++)
			printf("%s calls %s %u\n", name,
				loci_cc_invocation_callee(section, known, first + k),
				loci_cc_invocation(known, first + k).count);
	}
	if (n_blocks)
		printf("%s blocks %u\n", name, n_blocks);
}

int main(int argc, char **argv)
{
	struct loci_symbol_module *module;
	struct loci_symbols *symbols;
	struct loci_err err = { "" };
	uint32_t number;
	bool is_damaged;

	if (argc != 2 || loci_symbols_new(&symbols, &err) < 0 ||
		loci_symbols_module(symbols, argv[1], NULL, 0, &number, &err) < 0 ||
		loci_symbols_opened(symbols, number, &module, &err) < 0) {
		fprintf(stderr, "ops_listing MODULE: %s\n", err.text);
		return 2;
	}
	for (size_t i = 0; i < module->cc.n_known; i++)
		list(&module->cc, &module->cc.known[i]);
	is_damaged = module->cc.n_damaged > 0;
	loci_symbols_free(symbols);
	return is_damaged;
}
