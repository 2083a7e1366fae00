// SPDX-License-Identifier: GPL-2.0-or-later
/* A file is what anybody has made of it: whatever it says is checked against its size before it is
 * believed. Only tables are read, never the whole. */
#include "collect/instrumented.h"

#include "base/cleanup.h"
#include "collect/runtime/cc_abi.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#define SECTIONS_MAX 1000000
#define NAMES_MAX    (64u << 20) /* bytes */

struct file {
	int fd;
	uint64_t bytes;
	Elf64_Ehdr head;
	Elf64_Shdr *section;
	size_t n_sections;
	char *names;
	size_t name_bytes;
};

static void file_fini(struct file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	free(file->section);
	free(file->names);
}

static bool get(const struct file *file, void *to, size_t bytes, uint64_t at)
{
	if (at > file->bytes || bytes > file->bytes - at)
		return false;
	return pread(file->fd, to, bytes, (off_t)at) == (ssize_t)bytes;
}

/* NULL unless all of it is there; ends with a NUL that is not counted. */
static void *get_new(const struct file *file, uint64_t at, uint64_t bytes, uint64_t max)
{
	char *memory;

	if (bytes > max || at > file->bytes || bytes > file->bytes - at)
		return NULL;
	memory = malloc(bytes + 1);
	if (memory && get(file, memory, bytes, at)) {
		memory[bytes] = 0;
		return memory;
	}
	free(memory);
	return NULL;
}

static bool is_of_this_machine(const Elf64_Ehdr *head)
{
	return !memcmp(head->e_ident, ELFMAG, SELFMAG) && head->e_ident[EI_CLASS] == ELFCLASS64 &&
		head->e_ident[EI_DATA] == ELFDATA2LSB && head->e_machine == EM_X86_64 &&
		head->e_shentsize == sizeof(Elf64_Shdr);
}

/* Numbers that do not fit into the header stand in the first section's. */
static bool get_sections(struct file *file)
{
	uint64_t n = file->head.e_shnum, names = file->head.e_shstrndx;
	const Elf64_Shdr *name_section;
	Elf64_Shdr first;

	if (!file->head.e_shoff || !get(file, &first, sizeof(first), file->head.e_shoff))
		return false;
	if (n == 0)
		n = first.sh_size;
	if (names == SHN_XINDEX)
		names = first.sh_link;
	if (n > SECTIONS_MAX || names >= n)
		return false;
	file->section = get_new(file, file->head.e_shoff, n * sizeof(Elf64_Shdr),
		SECTIONS_MAX * sizeof(Elf64_Shdr));
	if (!file->section)
		return false;
	file->n_sections = n;
	name_section = &file->section[names];
	file->name_bytes = name_section->sh_size;
	file->names = get_new(file, name_section->sh_offset, name_section->sh_size, NAMES_MAX);
	return file->names;
}

static const Elf64_Shdr *find_section(const struct file *file, const char *name)
{
	for (size_t i = 0; i < file->n_sections; i++) {
		const Elf64_Shdr *section = &file->section[i];

		if (section->sh_name < file->name_bytes &&
			!strcmp(file->names + section->sh_name, name))
			return section;
	}
	return NULL;
}

/* Of the first definition; zeros may stand before it. */
static unsigned definition_version(const struct file *file)
{
	const Elf64_Shdr *section = find_section(file, LOCI_CC_DEFINITIONS);
	struct loci_cc_definition definition;

	if (!section || section->sh_type == SHT_NOBITS)
		return 0;
	for (uint64_t at = 0; at + sizeof(definition) <= section->sh_size && at < 4096; at += 8) {
		if (!get(file, &definition, sizeof(definition), section->sh_offset + at))
			return 0;
		if (definition.magic == LOCI_CC_DEFINITION_MAGIC)
			return definition.version;
		if (definition.magic)
			return 0;
	}
	return 0;
}

/* Libraries are asked for by name or by path. */
static bool is_called(const char *path, const char *library)
{
	const char *slash = strrchr(path, '/');

	return !strcmp(slash ? slash + 1 : path, library);
}

/* Whether a text stands among those of the dynamic linker, which are the names of functions asked
 * for, too. */
static bool names(const char *text, size_t bytes, const char *name)
{
	return memmem(text, bytes, name, strlen(name) + 1) != NULL;
}

/* A library that it asks for; *ret_named: and a name. */
static bool needs(const struct file *file, const char *library, const char *name, bool *ret_named)
{
	const Elf64_Shdr *dynamic = find_section(file, ".dynamic");
	const Elf64_Shdr *strings = find_section(file, ".dynstr");
	loci_autofree Elf64_Dyn *entry = NULL;
	loci_autofree char *text = NULL;

	if (!dynamic || !strings)
		return false;
	entry = get_new(file, dynamic->sh_offset, dynamic->sh_size, NAMES_MAX);
	text = get_new(file, strings->sh_offset, strings->sh_size, NAMES_MAX);
	*ret_named = text && names(text, strings->sh_size, name);
	for (size_t i = 0; entry && text && i < dynamic->sh_size / sizeof(*entry); i++)
		if (entry[i].d_tag == DT_NEEDED && entry[i].d_un.d_val < strings->sh_size &&
			is_called(text + entry[i].d_un.d_val, library))
			return true;
	return false;
}

int loci_instrumented_look(const char *path, struct loci_instrumented *ret, struct loci_err *err)
{
	loci_cleanup(file_fini) struct file file = { .fd = open(path, O_RDONLY | O_CLOEXEC) };
	const Elf64_Shdr *functions;
	bool calls = false;
	struct stat st;

	*ret = (struct loci_instrumented){ 0 };
	if (file.fd < 0 || fstat(file.fd, &st) < 0)
		return loci_err_set(err, errno, "%s: cannot read: %s", path, strerror(errno));
	file.bytes = (uint64_t)st.st_size;
	if (!get(&file, &file.head, sizeof(file.head), 0) || !is_of_this_machine(&file.head))
		return 0;
	ret->is_elf = true;
	if (!get_sections(&file))
		return 0;
	functions = find_section(&file, LOCI_CC_FUNCTIONS);
	ret->found = functions && functions->sh_size >= sizeof(struct loci_cc_function);
	ret->needs_runtime = needs(&file, LOCI_RUNTIME_NAME, LOCI_CC_ENTRY, &calls);
	ret->version = ret->found ? definition_version(&file) : 0;
	ret->by_gcc = !ret->found &&
		((ret->needs_runtime && calls) || find_section(&file, LOCI_CC_RUNTIME));
	ret->found |= ret->by_gcc;
	if (ret->version && !loci_cc_is_known(ret->version))
		return loci_err_set(err, EPROTO,
			"%s: was built by a loci cc of another version (its definitions have "
			"version "
			"%u, this loci reads %d): build it again, or use --collector any",
			path, ret->version, LOCI_CC_VERSION);
	return 0;
}
