// SPDX-License-Identifier: GPL-2.0-or-later
/* Which files were built by `loci cc`: small ELF files made here, with and without its sections,
 * then cut short at every length and with every byte of their tables changed. */
#define _GNU_SOURCE
#include "check.h"

#include "collect/instrumented.h"
#include "collect/runtime/cc_abi.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { NONE, FUNCTIONS, DEFINITIONS, DYNAMIC, STRINGS, NAMES, N_SECTIONS };

static const char names[] = "\0loci_fn\0loci_def\0.dynamic\0.dynstr\0.shstrtab";
static const char strings[] = "\0libc.so.6\0/opt/loci/lib/libloci-rt.so";

/* As it stands in the file. */
struct image {
	Elf64_Ehdr head;
	Elf64_Shdr section[N_SECTIONS];
	struct loci_cc_function function;
	uint64_t zero;
	struct loci_cc_definition definition;
	Elf64_Dyn dynamic[3];
	char strings[sizeof(strings)];
	char names[sizeof(names)];
};

static char path[] = "/tmp/loci-instrumented-XXXXXX";

static Elf64_Shdr section(const char *name, size_t offset, size_t bytes)
{
	const char *at = memmem(names, sizeof(names), name, strlen(name) + 1);

	return (Elf64_Shdr){ .sh_name = (Elf64_Word)(at - names),
		.sh_type = SHT_PROGBITS,
		.sh_offset = offset,
		.sh_size = bytes };
}

static struct image make(void)
{
	struct image image = {
		.head = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			.e_machine = EM_X86_64,
			.e_shoff = offsetof(struct image, section),
			.e_shentsize = sizeof(Elf64_Shdr),
			.e_shnum = N_SECTIONS,
			.e_shstrndx = NAMES }
	};

	image.section[FUNCTIONS] =
		section("loci_fn", offsetof(struct image, function), sizeof(image.function));
	image.section[DEFINITIONS] = section("loci_def", offsetof(struct image, zero),
		sizeof(image.zero) + sizeof(image.definition));
	image.section[DYNAMIC] =
		section(".dynamic", offsetof(struct image, dynamic), sizeof(image.dynamic));
	image.section[STRINGS] =
		section(".dynstr", offsetof(struct image, strings), sizeof(strings));
	image.section[NAMES] = section(".shstrtab", offsetof(struct image, names), sizeof(names));
	image.definition.magic = LOCI_CC_DEFINITION_MAGIC;
	image.definition.version = LOCI_CC_VERSION;
	image.dynamic[0] = (Elf64_Dyn){ DT_NEEDED, { 1 } };
	image.dynamic[1] = (Elf64_Dyn){ DT_NEEDED, { 11 } };
	memcpy(image.strings, strings, sizeof(strings));
	memcpy(image.names, names, sizeof(names));
	return image;
}

static int look(const void *image, size_t bytes, struct loci_instrumented *ret)
{
	int fd = open(path, O_WRONLY | O_TRUNC);
	struct loci_err err = { "" };
	int r;

	CHECK(write(fd, image, bytes) == (ssize_t)bytes);
	close(fd);
	r = loci_instrumented_look(path, ret, &err);
	CHECK((r < 0) == (err.text[0] != 0));
	return r;
}

static void test_whole(void)
{
	struct image image = make();
	struct loci_instrumented is;

	CHECK_U64(look(&image, sizeof(image), &is), 0);
	CHECK(is.is_elf && is.found && is.needs_runtime);
	CHECK_U64(is.version, LOCI_CC_VERSION);
	image.dynamic[1].d_un.d_val = 1;
	CHECK_U64(look(&image, sizeof(image), &is), 0);
	CHECK(is.found && !is.needs_runtime);
	/* numbers that are too large for the header */
	image.section[NONE].sh_size = N_SECTIONS;
	image.section[NONE].sh_link = NAMES;
	image.head.e_shnum = 0;
	image.head.e_shstrndx = SHN_XINDEX;
	CHECK_U64(look(&image, sizeof(image), &is), 0);
	CHECK(is.found);
	image.definition.version = LOCI_CC_VERSION + 1;
	CHECK_U64(look(&image, sizeof(image), &is), (uint64_t)-EPROTO);
	CHECK(is.found);
	CHECK_U64(is.version, LOCI_CC_VERSION + 1);
}

static void test_others(void)
{
	struct image image = make();
	struct loci_instrumented is;

	image.section[FUNCTIONS].sh_size = 0; /* all were dropped by the linker */
	CHECK_U64(look(&image, sizeof(image), &is), 0);
	CHECK(is.is_elf && !is.found);
	image = make();
	memcpy(memmem(image.names, sizeof(names), "loci_fn", 7), "loci_fm", 7);
	CHECK_U64(look(&image, sizeof(image), &is), 0);
	CHECK(is.is_elf && !is.found);
	image = make();
	image.head.e_machine = EM_AARCH64;
	CHECK_U64(look(&image, sizeof(image), &is), 0);
	CHECK(!is.is_elf && !is.found);
	CHECK_U64(look("#!/bin/sh\n", 10, &is), 0);
	CHECK(!is.is_elf);
	CHECK_U64(look("", 0, &is), 0);
	CHECK_U64(loci_instrumented_look("/nonexistent", &is, NULL), (uint64_t)-ENOENT);
	CHECK_U64(loci_instrumented_look("/proc/self/exe", &is, NULL), 0);
	CHECK(is.is_elf && !is.found);
}

/* It may be taken for what it is not, but never for more than there is of it. */
static void test_damaged(void)
{
	struct image image = make();
	struct loci_instrumented is;

	for (size_t n = 0; n < sizeof(image); n++) {
		CHECK(look(&image, n, &is) == 0);
		CHECK(!is.found || n >= offsetof(struct image, names));
	}
	for (size_t i = 0; i < offsetof(struct image, function); i++)
		for (unsigned bits = 0xff; bits; bits >>= 7) {
			unsigned char *byte = (unsigned char *)&image + i;
			unsigned char before = *byte;
			int r;

			*byte ^= (unsigned char)bits;
			r = look(&image, sizeof(image), &is);
			CHECK(r == 0 || r == -EPROTO);
			*byte = before;
		}
}

int main(void)
{
	int fd = mkstemp(path);

	CHECK(fd >= 0);
	close(fd);
	test_whole();
	test_others();
	test_damaged();
	unlink(path);
	return check_status();
}
