// SPDX-License-Identifier: GPL-2.0-or-later
/* A program with a section of definitions as `loci cc` would put there, written by hand: see
 * src/collect/runtime/cc_abi.h. The function's code does not matter. */
__attribute__((noinline, used)) int _Z5outeri(int n);
int _Z5outeri(int n)
{
	return n + 1;
}

/* clang-format off */
__asm__(
	".section loci_def,\"a\"\n"
	".balign 8\n"
	".globl definition\n"
	"definition:\n"
	"	.long 0x4346434c\n"
	"	.short 1, 0\n"
	"	.long end - definition\n"
	"	.long 3, 4, 3, 2, 0\n"
	"	.long _Z5outeri - .\n"
	"	.long symbol - .\n"
	"	.long 0, 0, 0, 0, 0, 0\n"
	/* blocks: first site, sites, flags, depth, loop */
	"	.long 0; .short 1; .byte 1, 0; .long -1, 0\n"
	"	.long 1; .short 1; .byte 2, 1; .long 0, 0\n"
	"	.long 2; .short 2; .byte 2, 2; .long 1, 0\n"
	".globl sites\n"
	"sites:\n"
	"	.long 0; .byte 3, 0; .short 0; .long 9; .short 0, 0; .long 0, 0\n"
	"	.long 8; .byte 0, 0; .short 0; .long 11; .short 4, 0; .long variable - ., 0\n"
	"	.long 4; .byte 1, 0; .short 0; .long 41; .short 5, 2; .long 0, 0\n"
	"	.long 4; .byte 1, 0; .short 0; .long 0; .short 0, 1; .long 0, 0\n"
	/* scopes: name, linkage, file, line, called from line and column, parent */
	"	.long outer - ., 0, file - ., 8, 0; .short 0, -1\n"
	"	.long middle - ., middle_symbol - ., header - ., 30, 12; .short 7, 0\n"
	"	.long inner - ., 0, header - ., 40, 31; .short 6, 1\n"
	/* loops: line, column, scope, parent, depth */
	".globl loops\n"
	"loops:\n"
	"	.long 10; .short 2, 0; .long -1; .short 1, 0\n"
	"	.long 35; .short 3, 1; .long 0; .short 2, 0\n"
	"end:\n"
	".section .rodata\n"
	"symbol: .asciz \"_Z5outeri\"\n"
	"outer: .asciz \"outer\"\n"
	"middle: .asciz \"middle\"\n"
	"middle_symbol: .asciz \"_ZN5space6middleEv\"\n"
	"inner: .asciz \"inner\"\n"
	"file: .asciz \"/source/a.cc\"\n"
	"header: .asciz \"/source/b.h\"\n"
	"variable: .asciz \"node->next\"\n"
	".text\n");
/* clang-format on */

int main(int argc, char **argv)
{
	return _Z5outeri(argc) == 0;
}
