/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/line_header.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#define FORMS_MAX 16

/* What stands of each folder or file (DWARF 5). */
struct forms {
	unsigned n;
	uint64_t content[FORMS_MAX], form[FORMS_MAX];
};

void loci_line_header_fini(struct loci_line_header *header)
{
	free(header->folders);
	free(header->files);
	*header = (struct loci_line_header){ 0 };
}

static int add_folder(struct loci_line_header *header, const char *name)
{
	size_t n = header->n_folders;

	if ((n & (n - 1)) == 0) {
		void *folders = realloc(header->folders, (n ? 2 * n : 1) * sizeof(char *));

		if (!folders)
			return -ENOMEM;
		header->folders = folders;
	}
	header->folders[header->n_folders++] = name;
	return 0;
}

static int add_file(struct loci_line_header *header, const struct loci_line_file *file)
{
	size_t n = header->n_files;

	if ((n & (n - 1)) == 0) {
		void *files = realloc(header->files, (n ? 2 * n : 1) * sizeof(*file));

		if (!files)
			return -ENOMEM;
		header->files = files;
	}
	header->files[header->n_files++] = *file;
	return 0;
}

/* Each list ends with an empty name. */
static int read_names(
	struct loci_line_header *header, struct loci_debug_bytes *head, const char *folder)
{
	struct loci_line_file file = { 0 };
	const char *name;

	if (add_folder(header, folder) < 0 || add_file(header, &file) < 0)
		return -ENOMEM;
	while ((name = loci_debug_string(head)) && *name)
		if (add_folder(header, name) < 0)
			return -ENOMEM;
	while ((file.name = loci_debug_string(head)) && *file.name) {
		file.folder = loci_debug_leb(head, false);
		loci_debug_leb(head, false); /* when it was changed */
		loci_debug_leb(head, false); /* its bytes */
		if (add_file(header, &file) < 0)
			return -ENOMEM;
	}
	return 0;
}

static void read_forms(struct forms *forms, struct loci_debug_bytes *head)
{
	forms->n = (unsigned)loci_debug_fixed(head, 1);
	head->is_short |= forms->n > FORMS_MAX;
	for (unsigned i = 0; i < forms->n && !head->is_short; i++) {
		forms->content[i] = loci_debug_leb(head, false);
		forms->form[i] = loci_debug_leb(head, false);
	}
}

static const char *string_at(const struct loci_debug_bytes *section, uint64_t offset)
{
	struct loci_debug_bytes rest = *section;

	loci_debug_skip(&rest, offset);
	return loci_debug_string(&rest);
}

/* A form's value is a number or a string; of others only the length matters. */
static void read_form(const struct loci_line_header *header,
	const struct loci_line_sections *sections, struct loci_debug_bytes *head, uint64_t form,
	uint64_t *ret, const char **ret_string)
{
	*ret = 0;
	*ret_string = NULL;
	switch (form) {
	case DW_FORM_string:
		*ret_string = loci_debug_string(head);
		break;
	case DW_FORM_line_strp:
		*ret_string = string_at(
			&sections->line_strings, loci_debug_fixed(head, header->offset_bytes));
		break;
	case DW_FORM_strp:
		*ret_string =
			string_at(&sections->strings, loci_debug_fixed(head, header->offset_bytes));
		break;
	case DW_FORM_udata:
		*ret = loci_debug_leb(head, false);
		break;
	case DW_FORM_data1:
		*ret = loci_debug_fixed(head, 1);
		break;
	case DW_FORM_data2:
		*ret = loci_debug_fixed(head, 2);
		break;
	case DW_FORM_data4:
		*ret = loci_debug_fixed(head, 4);
		break;
	case DW_FORM_data8:
		*ret = loci_debug_fixed(head, 8);
		break;
	case DW_FORM_data16:
		loci_debug_skip(head, 16);
		break;
	case DW_FORM_block:
		loci_debug_skip(head, loci_debug_leb(head, false));
		break;
	default:
		head->is_short = true;
	}
}

/* A folder or a file. Without a name it is of no use. */
static struct loci_line_file read_entry(const struct loci_line_header *header,
	const struct loci_line_sections *sections, struct loci_debug_bytes *head,
	const struct forms *forms)
{
	struct loci_line_file entry = { 0 };

	for (unsigned i = 0; i < forms->n; i++) {
		const char *string;
		uint64_t value;

		read_form(header, sections, head, forms->form[i], &value, &string);
		if (forms->content[i] == DW_LNCT_path)
			entry.name = string;
		else if (forms->content[i] == DW_LNCT_directory_index)
			entry.folder = value;
	}
	head->is_short |= !entry.name;
	return entry;
}

static int read_entries(struct loci_line_header *header, const struct loci_line_sections *sections,
	struct loci_debug_bytes *head)
{
	struct forms forms = { 0 };
	uint64_t n;

	read_forms(&forms, head);
	n = loci_debug_leb(head, false);
	for (uint64_t i = 0; i < n && !head->is_short; i++)
		if (add_folder(header, read_entry(header, sections, head, &forms).name) < 0)
			return -ENOMEM;
	read_forms(&forms, head);
	n = loci_debug_leb(head, false);
	for (uint64_t i = 0; i < n && !head->is_short; i++) {
		struct loci_line_file file = read_entry(header, sections, head, &forms);

		if (add_file(header, &file) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* *head begins behind the length of the whole table, and ends where its program begins. */
static void read_numbers(struct loci_line_header *header, struct loci_debug_bytes *head)
{
	uint64_t bytes, address_bytes = 8, selector_bytes = 0;
	unsigned base;

	header->version = (unsigned)loci_debug_fixed(head, 2);
	if (header->version >= 5) {
		address_bytes = loci_debug_fixed(head, 1);
		selector_bytes = loci_debug_fixed(head, 1);
	}
	head->is_short |= address_bytes != 8 || selector_bytes != 0;
	bytes = loci_debug_fixed(head, header->offset_bytes);
	header->program = *head;
	loci_debug_skip(&header->program, bytes);
	head->is_short |= header->program.is_short;
	head->end = header->program.at;
	header->step_bytes = (unsigned)loci_debug_fixed(head, 1);
	if (header->version >= 4)
		head->is_short |= loci_debug_fixed(head, 1) != 1; /* several in one instruction */
	loci_debug_skip(head, 1);
	base = (unsigned)loci_debug_fixed(head, 1);
	header->line_base = (int)base - (base < 128 ? 0 : 256); /* a byte with a sign */
	header->line_range = (unsigned)loci_debug_fixed(head, 1);
	header->opcode_base = (unsigned)loci_debug_fixed(head, 1);
	header->operands = head->at;
	head->is_short |= !header->line_range || !header->opcode_base || header->version < 2 ||
		header->version > 5;
	if (!head->is_short)
		loci_debug_skip(head, header->opcode_base - 1);
}

int loci_line_header_read(struct loci_line_header *ret, const struct loci_line_sections *sections,
	uint64_t offset, const char *folder)
{
	struct loci_debug_bytes head = sections->lines;
	uint64_t bytes;
	int r;

	*ret = (struct loci_line_header){ .offset_bytes = 4 };
	loci_debug_skip(&head, offset);
	bytes = loci_debug_fixed(&head, 4);
	if (bytes == UINT32_MAX) {
		ret->offset_bytes = 8;
		bytes = loci_debug_fixed(&head, 8);
	}
	if (head.is_short || bytes > (size_t)(head.end - head.at))
		return -EPROTO;
	head.end = head.at + bytes;
	read_numbers(ret, &head);
	if (head.is_short)
		return -EPROTO;
	r = ret->version < 5 ? read_names(ret, &head, folder) : read_entries(ret, sections, &head);
	if (r == 0 && head.is_short)
		r = -EPROTO;
	if (r < 0)
		loci_line_header_fini(ret);
	return r;
}
