// SPDX-License-Identifier: GPL-2.0-or-later
/* Options are recognised only as far as needed: whether the compiler will link and what, and which
 * words are the value of an option before them. An option that is not in the table and has a
 * separate value makes that look like a file, which is harmless as soon as there is another. */
#include "cli/compile_line.h"

#include "base/cleanup.h"

#include <ctype.h>
#include <string.h>

#define RESPONSE_DEPTH 16 /* files that name files: a circle ends somewhere */

enum meaning {
	VALUE,         /* the next word belongs to it */
	LINKER_VALUE,  /* the next word is for the linker */
	MACHINE_VALUE, /* the next word is a triple */
	LANGUAGE_VALUE,
	STOPS, /* before linking */
	SHARED,
	STATIC,
	RELOCATABLE,
	WITHOUT_LIBC,
	FREESTANDING,
	HOSTED,
	FOREIGN,
	NATIVE,
	LTO,
	NO_LTO,
	INTERNAL,
};

static const struct {
	const char *name;
	enum meaning meaning;
} options[] = {
	{ "-c", STOPS },
	{ "--compile", STOPS },
	{ "-S", STOPS },
	{ "--assemble", STOPS },
	{ "-E", STOPS },
	{ "--preprocess", STOPS },
	{ "-M", STOPS },
	{ "-MM", STOPS },
	{ "--dependencies", STOPS },
	{ "--user-dependencies", STOPS },
	{ "-fsyntax-only", STOPS },
	{ "--precompile", STOPS },
	{ "-emit-ast", STOPS },
	{ "--analyze", STOPS },
	{ "-extract-api", STOPS },
	{ "-emit-interface-stubs", STOPS },
	{ "-module-file-info", STOPS },
	{ "-verify-pch", STOPS },
	{ "-rewrite-objc", STOPS },
	{ "-shared", SHARED },
	{ "--shared", SHARED },
	{ "-static", STATIC },
	{ "--static", STATIC },
	{ "-static-pie", STATIC },
	{ "-r", RELOCATABLE },
	{ "-nostdlib", WITHOUT_LIBC },
	{ "--no-standard-libraries", WITHOUT_LIBC },
	{ "-nodefaultlibs", WITHOUT_LIBC },
	{ "-nolibc", WITHOUT_LIBC },
	{ "-ffreestanding", FREESTANDING },
	{ "-fhosted", HOSTED },
	{ "-m32", FOREIGN },
	{ "-mx32", FOREIGN },
	{ "-m16", FOREIGN },
	{ "-m64", NATIVE },
	{ "-flto", LTO },
	{ "-fno-lto", NO_LTO },
	{ "-cc1", INTERNAL },
	{ "-cc1as", INTERNAL },
	{ "-cc1gen-reproducer", INTERNAL },
	{ "-fc1", INTERNAL },
	{ "-target", MACHINE_VALUE },
	{ "--target", MACHINE_VALUE },
	{ "-Xlinker", LINKER_VALUE },
	{ "--for-linker", LINKER_VALUE },
	{ "-o", VALUE },
	{ "--output", VALUE },
	{ "-x", LANGUAGE_VALUE },
	{ "--language", LANGUAGE_VALUE },
	{ "-I", VALUE },
	{ "-D", VALUE },
	{ "-U", VALUE },
	{ "-L", VALUE },
	{ "-l", VALUE },
	{ "-F", VALUE },
	{ "-B", VALUE },
	{ "-T", VALUE },
	{ "-u", VALUE },
	{ "-e", VALUE },
	{ "-z", VALUE },
	{ "-A", VALUE },
	{ "-G", VALUE },
	{ "-MF", VALUE },
	{ "-MT", VALUE },
	{ "-MQ", VALUE },
	{ "-MJ", VALUE },
	{ "-include", VALUE },
	{ "-include-pch", VALUE },
	{ "-imacros", VALUE },
	{ "-isystem", VALUE },
	{ "-isystem-after", VALUE },
	{ "-idirafter", VALUE },
	{ "-iquote", VALUE },
	{ "-iprefix", VALUE },
	{ "-iwithprefix", VALUE },
	{ "-iwithprefixbefore", VALUE },
	{ "-iwithsysroot", VALUE },
	{ "-isysroot", VALUE },
	{ "-iframework", VALUE },
	{ "-ivfsoverlay", VALUE },
	{ "-cxx-isystem", VALUE },
	{ "-stdlib++-isystem", VALUE },
	{ "--sysroot", VALUE },
	{ "-Xclang", VALUE },
	{ "-Xflang", VALUE },
	{ "-Xassembler", VALUE },
	{ "-Xpreprocessor", VALUE },
	{ "-Xanalyzer", VALUE },
	{ "-Xopenmp-target", VALUE },
	{ "-mllvm", VALUE },
	{ "-mmlir", VALUE },
	{ "-mthread-model", VALUE },
	{ "-arch", VALUE },
	{ "-gcc-toolchain", VALUE },
	{ "--gcc-toolchain", VALUE },
	{ "--config", VALUE },
	{ "--param", VALUE },
	{ "--prefix", VALUE },
	{ "-rpath", VALUE },
	{ "-working-directory", VALUE },
	{ "-serialize-diagnostics", VALUE },
	{ "--serialize-diagnostics", VALUE },
	{ "-dumpbase", VALUE },
	{ "-dumpdir", VALUE },
	{ "-fmodule-name", VALUE },
	{ "-module-dir", VALUE },
	{ "-J", VALUE },
	{ "-fintrinsic-modules-path", VALUE },
	{ "--include-directory", VALUE },
	{ "--define-macro", VALUE },
	{ "--library-directory", VALUE },
};

struct reading {
	struct loci_compile_line *line;
	int at;      /* of argv: the word, or the response file it stands in */
	int pending; /* enum meaning of the option whose value is next, or -1 */
	bool only_files, stops, has_object;
	enum { BY_NAME, HEADERS, NO_HEADERS } kind; /* of the files to come: what -x said */
	unsigned depth;
};

static void read_word(struct reading *reading, const char *word);

/* What goes to the linker by -Wl and -Xlinker. */
static void read_for_linker(struct loci_compile_line *line, const char *word, size_t n)
{
	static const struct {
		const char *name;
		enum meaning meaning;
	} table[] = { { "-r", RELOCATABLE }, { "-i", RELOCATABLE },
		{ "--relocatable", RELOCATABLE }, { "-static", STATIC }, { "-shared", SHARED },
		{ "-Bshareable", SHARED } };

	for (size_t i = 0; i < LOCI_ARRAY_SIZE(table); i++) {
		if (n != strlen(table[i].name) || strncmp(word, table[i].name, n) != 0)
			continue;
		line->relocatable |= table[i].meaning == RELOCATABLE;
		line->makes_static |= table[i].meaning == STATIC;
		line->makes_shared |= table[i].meaning == SHARED;
	}
}

static void read_list_for_linker(struct loci_compile_line *line, const char *list)
{
	for (;;) {
		size_t n = strcspn(list, ",");

		read_for_linker(line, list, n);
		if (!list[n])
			return;
		list += n + 1;
	}
}

static bool is_native(const char *triple)
{
	return (!strncmp(triple, "x86_64-", 7) || !strncmp(triple, "amd64-", 6)) &&
		strstr(triple, "linux") && !strstr(triple, "x32");
}

static bool is_lld(const char *linker)
{
	const char *name = strrchr(linker, '/') ? strrchr(linker, '/') + 1 : linker;

	return !strncmp(name, "lld", 3) || !strncmp(name, "ld.lld", 6);
}

static bool starts(const char *word, const char *start, const char **ret_rest)
{
	size_t n = strlen(start);

	if (strncmp(word, start, n) != 0)
		return false;
	*ret_rest = word + n;
	return true;
}

static void read_language(struct reading *reading, const char *language)
{
	if (!strcmp(language, "none"))
		reading->kind = BY_NAME;
	else
		reading->kind = strstr(language, "-header") ? HEADERS : NO_HEADERS;
}

/* Options that have their value in the same word. */
static void read_joined(struct reading *reading, const char *word)
{
	struct loci_compile_line *line = reading->line;
	const char *value;

	if (starts(word, "-Wl,", &value))
		read_list_for_linker(line, value);
	else if (starts(word, "-Xlinker=", &value) || starts(word, "--for-linker=", &value))
		read_for_linker(line, value, strlen(value));
	else if (starts(word, "--target=", &value))
		line->foreign = !is_native(value);
	else if (starts(word, "-fuse-ld=", &value) || starts(word, "--ld-path=", &value))
		line->lld = is_lld(value);
	else if (starts(word, "-flto=", &value))
		line->lto = strcmp(value, "thin") != 0;
	else if (starts(word, "-x", &value) || starts(word, "--language=", &value))
		read_language(reading, value);
}

static void read_option(struct reading *reading, enum meaning meaning)
{
	struct loci_compile_line *line = reading->line;

	switch (meaning) {
	case VALUE:
	case LINKER_VALUE:
	case MACHINE_VALUE:
	case LANGUAGE_VALUE:
		reading->pending = (int)meaning;
		break;
	case STOPS:
		reading->stops = true;
		break;
	case SHARED:
		line->makes_shared = true;
		break;
	case STATIC:
		line->makes_static = true;
		break;
	case RELOCATABLE:
		line->relocatable = true;
		break;
	case WITHOUT_LIBC:
		line->without_libc = true;
		break;
	case FREESTANDING:
	case HOSTED:
		line->freestanding = meaning == FREESTANDING;
		break;
	case FOREIGN:
	case NATIVE:
		line->foreign = meaning == FOREIGN;
		break;
	case LTO:
	case NO_LTO:
		line->lto = meaning == LTO;
		break;
	case INTERNAL:
		line->internal = true;
		break;
	}
}

/* The next word of a response file, in place, by the shell's rules as far as gcc and clang know
 * them. NULL: there is none. */
static char *next_word(char **text)
{
	char *in = *text, *out, *word, quote = 0;

	while (isspace((unsigned char)*in))
		in++;
	if (!*in)
		return NULL;
	for (word = out = in; *in && (quote || !isspace((unsigned char)*in)); in++) {
		if (*in == '\\' && in[1])
			*out++ = *++in;
		else if (quote && *in == quote)
			quote = 0;
		else if (!quote && (*in == '"' || *in == '\''))
			quote = *in;
		else
			*out++ = *in;
	}
	*text = *in ? in + 1 : in;
	*out = 0;
	return word;
}

/* False: there is no such file, and clang takes the word for what it is. */
static bool read_response(struct reading *reading, const char *path)
{
	loci_autofclose FILE *file = fopen(path, "re");
	loci_autofree char *text = NULL;
	char *rest, *word;
	size_t size = 0;

	if (!file)
		return false;
	if (reading->depth == RESPONSE_DEPTH || getdelim(&text, &size, 0, file) <= 0)
		return true;
	reading->depth++;
	for (rest = text; (word = next_word(&rest));)
		read_word(reading, word);
	reading->depth--;
	return true;
}

/* Of headers alone clang makes precompiled ones. */
static bool is_header(const char *file)
{
	static const char *const endings[] = { ".h", ".H", ".hh", ".hp", ".hpp", ".hxx", ".h++",
		".tcc" };
	const char *ending = strrchr(file, '.');

	for (size_t i = 0; ending && i < LOCI_ARRAY_SIZE(endings); i++)
		if (!strcmp(ending, endings[i]))
			return true;
	return false;
}

/* What is not there clang says itself, and then takes the line as if it were not named. */
static void read_input(struct reading *reading, const char *file)
{
	if (strcmp(file, "-") != 0 && access(file, F_OK) < 0)
		return;
	reading->line->has_input = true;
	if (reading->kind == NO_HEADERS || (reading->kind == BY_NAME && !is_header(file)))
		reading->has_object = true;
}

static void read_value(struct reading *reading, const char *word)
{
	if (reading->pending == LINKER_VALUE)
		read_for_linker(reading->line, word, strlen(word));
	else if (reading->pending == MACHINE_VALUE)
		reading->line->foreign = !is_native(word);
	else if (reading->pending == LANGUAGE_VALUE)
		read_language(reading, word);
	reading->pending = -1;
}

static void read_word(struct reading *reading, const char *word)
{
	if (word[0] == '@' && read_response(reading, word + 1))
		return;
	if (reading->pending >= 0) {
		read_value(reading, word);
	} else if (reading->only_files || word[0] != '-' || !word[1]) {
		read_input(reading, word);
	} else if (!strcmp(word, "--")) {
		reading->only_files = true;
		reading->line->end = reading->at;
	} else {
		for (size_t i = 0; i < LOCI_ARRAY_SIZE(options); i++) {
			if (!strcmp(word, options[i].name)) {
				read_option(reading, options[i].meaning);
				return;
			}
		}
		read_joined(reading, word);
	}
}

void loci_compile_line_read(struct loci_compile_line *ret, int argc, char **argv)
{
	struct reading reading = { .line = ret, .pending = -1 };

	*ret = (struct loci_compile_line){ .end = argc };
	for (; reading.at < argc; reading.at++)
		read_word(&reading, argv[reading.at]);
	ret->links = reading.has_object && !reading.stops;
}
