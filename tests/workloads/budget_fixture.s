# SPDX-License-Identifier: GPL-2.0-or-later
# A function whose budget (DWARF's variable loci.budget) is somewhere else at every byte, from `places` on, as
# tests/unit/symbol_budget_test.c has it, and one that has none.
	.text
	.globl	places, other
	.type	places, @function
places:
	.fill	16, 1, 0x90
	.size	places, . - places
	.type	other, @function
other:
	nop
	.size	other, . - other
end:

	.section .debug_abbrev, "", @progbits
abbrev:
	.uleb128 1, 0x11		# compile unit, with children
	.byte	1
	.uleb128 0x03, 0x08, 0x11, 0x01, 0x12, 0x07, 0, 0	# name, low_pc, high_pc (length)
	.uleb128 2, 0x2e		# subprogram, with children
	.byte	1
	.uleb128 0x03, 0x08, 0x11, 0x01, 0x12, 0x07, 0, 0
	.uleb128 3, 0x34		# variable
	.byte	0
	.uleb128 0x03, 0x08, 0x02, 0x17, 0, 0			# name, location (list)
	.byte	0

	.section .debug_info, "", @progbits
	.long	unit_end - unit
unit:
	.short	4
	.long	abbrev
	.byte	8
	.uleb128 1
	.string	"budget_fixture.s"
	.quad	places, end - places
	.uleb128 2
	.string	"places"
	.quad	places, other - places
	.uleb128 3
	.string	"another"		# not this one
	.long	none
	.uleb128 3
	.string	"loci.budget"
	.long	locations
	.uleb128 3
	.string	"loci.budget"	# a second one
	.long	others
	.byte	0
	.uleb128 2
	.string	"other"
	.quad	other, end - other
	.uleb128 3
	.string	"another"
	.long	none
	.byte	0
	.byte	0
unit_end:

	.macro	place at, ops:vararg
	.quad	\at, \at + 1
	.short	2f - 1f
1:	.byte	\ops
2:
	.endm

	.section .debug_loc, "", @progbits
none:
	.quad	0, 0
locations:
	place	0, 0x53						# reg3
	# breg0 0, breg6 -64, deref, breg13 0, minus, consts 4, div, lit8, mul, plus, stack_value
	place	1, 0x70, 0, 0x76, 0x40, 0x06, 0x7d, 0, 0x1c, 0x11, 4, 0x1b, 0x38, 0x1e, 0x22, 0x9f
	place	2, 0x76, 0x70					# breg6 -16: in the frame
	place	3, 0x76, 0						# breg6 0: not below the frame pointer
	place	4, 0x76, 0x7c					# breg6 -4: no word
	place	5, 0x76, 0xa0, 0x7f				# breg6 -96: further than is known
	place	6, 0x72, 5, 0x33, 0x24, 0x9f		# breg2 5, lit3, shl
	place	7, 0x11, 0x78, 0x31, 0x26, 0x23, 2, 0x9f	# consts -8, lit1, shra, plus_uconst 2
	place	8, 0x0a, 0x34, 0x12, 0x08, 0xf0, 0x1a, 0x9f	# const2u 0x1234, const1u 0xf0, and
	place	9, 0x31, 0x30, 0x1b, 0x9f			# lit1, lit0, div
	place	10, 0x31, 0x31, 0x27, 0x9f			# lit1, lit1, xor: of no budget
	place	11, 0x22, 0x9f					# plus, of nothing
	place	12, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x9f
	.quad	0, 0
others:
	place	3, 0x53						# reg3, which the first one does not tell
	place	13, 0x72, 2, 0x9f				# breg2 2
	.quad	0, 0
	.section .note.GNU-stack, "", @progbits
