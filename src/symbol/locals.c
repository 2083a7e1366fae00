/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/module.h"

int loci_symbols_locals(struct loci_symbols *symbols, uint32_t number, uint64_t address,
	const struct loci_variable **ret, size_t *ret_n, struct loci_err *err)
{
	struct loci_symbol_module *module;

	*ret = NULL;
	*ret_n = 0;
	return loci_symbols_opened(symbols, number, &module, err);
}
