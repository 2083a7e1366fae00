/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names as the source has them. */
#include "check.h"
#include "symbol/demangle.h"

#include <stdlib.h>

static const struct {
	const char *mangled, *name; /* NULL: it is no mangled name */
} rows[] = {
	{ "_ZSt4sortIPiEvT_S1_", "std::sort<int*>(int*, int*)" },
	{ "_ZN6shapes4NodeIiE4pushEi", "shapes::Node<int>::push(int)" },
	{ "_ZNSt6vectorIdSaIdEE17_M_realloc_insertIJdEEEvN9__gnu_cxx17__normal_iteratorIPdS1_"
	  "EEDpOT_",
		"std::vector<double, std::allocator<double> >::_M_realloc_insert<double>("
		"__gnu_cxx::__normal_iterator<double*, std::vector<double, std::allocator<double> "
		"> >, double&&)" },
	{ "_ZNK3foo3barEv", "foo::bar() const" },
	{ "_ZNK3foo3barIiEET_S1_", "foo::bar<int>(int) const" },
	{ "_ZN12_GLOBAL__N_13fooIiEEiT_", "(anonymous namespace)::foo<int>(int)" },
	{ "_ZlsRSoi", "operator<<(std::ostream&, int)" },
	{ "_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()() const" },
	{ "_ZN1AC4Ev", "A::A()" },
	{ "_Z3foov.part.0", "foo() [clone .part.0]" },
	{ "_ZTV7Derived", "vtable for Derived" },
	{ "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt" },
	{ "_QMgridPfill", "grid::fill" },
	{ "_QMgridFfillPinner", "grid::fill::inner" },
	{ "_QMgridSpartsPsolve", "grid::parts::solve" },
	{ "_QMgridEcells", "grid::cells" },
	{ "_QMgridFfillEcounter", "counter (grid::fill)" },
	{ "_QMgridFfillB1Ecounter", "counter (grid::fill)" },
	{ "_QMgridECsize", "grid::size" },
	{ "_QFPinner", "inner" },
	{ "_QFEfield", "field (main program)" },
	{ "_QQmain", "main program" },
	{ "_QM", NULL },
	{ "_QMgrid", NULL },
	{ "_QMgridP", NULL },
	{ "_QMgridPfill(x)", NULL },
	{ "_QQclX2F", NULL },
	{ "_Q", NULL },
	{ "__grid_MOD_fill", "grid::fill" },
	{ "__grid_2_MOD_fill_3", "grid_2::fill_3" },
	{ "MAIN__", "main program" },
	{ "__MOD_fill", NULL },
	{ "_MOD_fill", NULL },
	{ "__grid_MOD_", NULL },
	{ "__libc_start_main", NULL },
	{ "main", NULL },
	{ "_Z", NULL },
	{ "_Z999999999999foo", NULL },
	{ "", NULL },
};

int main(void)
{
	struct loci_demangler demangler = { 0 };
	struct loci_pool pool = { 0 };
	char *large = malloc(100001);

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *got = loci_demangle(&demangler, &pool, rows[i].mangled);

		CHECK_STR(got ? got : "(none)", rows[i].name ? rows[i].name : "(none)");
	}
	/* Names that would take the stack. */
	memset(large, 'P', 100000);
	memcpy(large, "_Z1f", 4);
	large[100000] = '\0';
	CHECK(loci_demangle(&demangler, &pool, large) == NULL);
	CHECK(loci_demangle(&demangler, &pool, NULL) == NULL);
	free(large);
	loci_demangler_fini(&demangler);
	loci_pool_fini(&pool);
	return check_status();
}
