// SPDX-License-Identifier: GPL-2.0-or-later
/* Chooses the format of a foreign trace and opens it. */
#include "import/import.h"
#include "base/cleanup.h"
#include "import/emitter.h"
#include "import/format.h"
#include "stream/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Also the order of recognition: what has a magic number or an unmistakable line first, what takes
 * nearly anything last. */
const struct loci_import_format loci_import_formats[] = {
	{ "lcs",
		"libCacheSim's lcs, versions 1 to 8, binary: whole objects; gets and reads are "
		"loads, "
		"sets and writes stores, deletes left out",
		"(binary; begins with f0 de bc 9a 78 56 34 12)", &loci_importer_lcs },
	{ "oracleGeneral",
		"libCacheSim's oracleGeneral, binary: records of time, object, size and next "
		"request; "
		"whole objects, all loads",
		"(binary; 24 bytes a record)", &loci_importer_oracle_general },
	{ "lackey", "Valgrind: valgrind --tool=lackey --trace-mem=yes --log-file=FILE PROGRAM",
		"I  0401ab73,5\n S 1fff000718,8", &loci_importer_lackey },
	{ "drmemtrace",
		"DynamoRIO: drrun -t drmemtrace -tool view -indir DIR 2> FILE, with threads; "
		"prefetches "
		"and flushes left out",
		"          71          50:     3854659 read         8 byte(s) @ 0x00007fdf64e2adc8 "
		"by PC "
		"0x0000000000404a7e",
		&loci_importer_drmemtrace },
	{ "din",
		"Dinero III and IV's din (-informat d): 0 read, 1 write, 2 fetch and a hexadecimal "
		"address, taken as the 4 bytes of its word; 3 and 4 left out",
		"0 7fff5a8c\n2 401000", &loci_importer_din },
	{ "xdin",
		"Dinero IV's extended din (-informat D): r, w, i or m (a read), address and size, "
		"both "
		"hexadecimal; c and v left out",
		"r 7fff5a8c 4\nw 7fff5a90 8", &loci_importer_xdin },
	{ "csv",
		"requests for whole objects, as libCacheSim's csv: columns named in the first line "
		"(id, obj_id, key, lbn..; size; op), or time,id,size without such a line; ids that "
		"are no "
		"numbers are hashed",
		"time,obj_id,size,op\n17,user:4711,512,get", &loci_importer_csv },
	{ "plain",
		"one address a line, of 1 byte; R or W before or after it tells loads from stores. "
		"Hexadecimal if any address in the first 64 KiB begins with 0x or has a digit a-f, "
		"else "
		"decimal",
		"0x7fff5a8c\n0x7fff5a90 W", &loci_importer_plain },
	{ "hex", "plain, all addresses hexadecimal (only with --format)", "1000\nW 1040",
		&loci_importer_hex },
	{ "decimal", "plain, all addresses decimal but those with 0x (only with --format)",
		"4096\n4160 W", &loci_importer_decimal },
	{ NULL, NULL, NULL, NULL },
};

const char *loci_import_choice_text(
	const struct loci_import_choice *choice, char buf[LOCI_CHOICE_TEXT_MAX])
{
	snprintf(buf, LOCI_CHOICE_TEXT_MAX, "(format %s, %s)", choice->format->name,
		choice->forced ? "as --format says"
			       : "recognised from the first lines; --format overrides");
	return buf;
}

void loci_import_fill_info(struct loci_stream_info *info, const struct loci_import_choice *choice,
	enum loci_unit unit, uint32_t capabilities)
{
	*info = (struct loci_stream_info){ .version = LOCI_STREAM_VERSION,
		.collector = LOCI_COLLECTOR_IMPORT,
		.unit = unit,
		.capabilities = capabilities };
	snprintf(info->origin, sizeof(info->origin), "%s", choice->format->name);
}

static void add_note(struct loci_source *source, uint64_t n, const char *text)
{
	size_t used = strlen(source->note);

	if (n)
		snprintf(source->note + used, sizeof(source->note) - used, "%s%" PRIu64 " %s",
			used ? "; " : "", n, text);
}

void loci_import_fill_note(struct loci_source *source, const struct loci_emitter *emitter)
{
	source->note[0] = 0;
	add_note(source, emitter->n_left_out, "records that are no loads or stores left out");
	add_note(source, emitter->n_empty, "accesses of size 0 taken as 1 byte");
	add_note(source, emitter->n_huge, "objects of 2 GiB or more taken as a byte less");
	add_note(source, emitter->n_unknown_op,
		"requests with an operation I do not know taken as loads");
}

static int unknown_format(const char *name, struct loci_err *err)
{
	char names[256] = "";
	size_t used = 0;

	for (const struct loci_import_format *f = loci_import_formats; f->name; f++)
		used += (size_t)snprintf(
			names + used, sizeof(names) - used, "%s%s", used ? ", " : "", f->name);
	return loci_err_set(err, EINVAL,
		"no format is called \"%.60s\"; there are %s (loci analyse --formats explains "
		"them)",
		name, names);
}

/* The format of this name, or NULL. */
static const struct loci_import_format *find_format(const char *name)
{
	const struct loci_import_format *f = loci_import_formats;

	while (f->name && strcmp(f->name, name))
		f++;
	return f->name ? f : NULL;
}

static const struct loci_import_format *recognise(const struct loci_input *input)
{
	const struct loci_import_format *f = loci_import_formats;

	while (f->name && !(f->importer->recognise && f->importer->recognise(input)))
		f++;
	return f->name ? f : NULL;
}

static bool is_own(const struct loci_input *input)
{
	const size_t bytes = sizeof(LOCI_TRACE_MAGIC) - 1;

	return input->end >= bytes && !memcmp(input->data, LOCI_TRACE_MAGIC, bytes);
}

static int open_own(struct loci_input *input, struct loci_source **ret, struct loci_err *err)
{
	int fd, r = loci_input_take_fd(input, &fd, err);

	if (r == 0) {
		r = loci_trace_open_fd(fd, input->name, ret, err);
		if (r < 0)
			close(fd);
	}
	loci_input_close(input);
	return r;
}

static int open_foreign(struct loci_input *input, const struct loci_import_choice *choice,
	struct loci_source **ret, struct loci_err *err)
{
	int r;

	if (choice->format)
		return choice->format->importer->open(input, choice, ret, err);
	r = loci_err_set(err, EBADMSG,
		"%s is not a trace I know (loci analyse --formats lists what I read; --format says "
		"which of them it is)",
		input->name);
	loci_input_close(input);
	return r;
}

int loci_import_open(const char *path, const struct loci_import_options *options,
	struct loci_source **ret, struct loci_err *err)
{
	static const struct loci_import_options defaults;
	struct loci_import_choice choice = { 0 };
	struct loci_input *input = NULL;
	int r;

	if (!options)
		options = &defaults;
	choice.instructions = options->instructions;
	choice.forced = options->format;
	if (choice.forced) {
		choice.format = find_format(options->format);
		if (!choice.format)
			return unknown_format(options->format, err);
	}
	r = loci_input_open(path, &input, err);
	if (r < 0)
		return r;
	if (!choice.forced && is_own(input))
		return open_own(input, ret, err);
	if (!choice.forced)
		choice.format = recognise(input);
	return open_foreign(input, &choice, ret, err);
}
