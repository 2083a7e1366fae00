/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/module.h"

int loci_symbols_assigned(struct loci_symbols *symbols, uint32_t number, uint64_t return_address,
	const char **ret_name, const struct loci_type **ret_type, struct loci_err *err)
{
	struct loci_symbol_module *module;

	*ret_name = NULL;
	*ret_type = NULL;
	return loci_symbols_opened(symbols, number, &module, err);
}
