// SPDX-License-Identifier: GPL-2.0-or-later
/* schema.sql, taken into the program as it stands. The assembler finds it along the include path,
 * as the preprocessor finds "profile/schema.h". */
#include "profile/schema.h"

__asm__(".pushsection .rodata\n"
	".global loci_schema_sql\n"
	".hidden loci_schema_sql\n"
	".type loci_schema_sql, %object\n"
	"loci_schema_sql:\n"
	".incbin \"profile/schema.sql\"\n"
	".byte 0\n"
	".size loci_schema_sql, . - loci_schema_sql\n"
	".popsection\n");
