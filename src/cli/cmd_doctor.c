// SPDX-License-Identifier: GPL-2.0-or-later
/* loci doctor: which collectors work here, and what the others lack. */
#include "cli/command.h"

#include "base/cleanup.h"
#include "base/units.h"
#include "cli/option.h"
#include "collect/probe.h"
#include "collect/toolchain.h"
#include "import/import.h"
#include "report/doctor_table.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

static const char help[] =
	"usage: loci doctor [OPTIONS]\n\n"
	"Tries every way of recording a program and says which work on this machine, why the\n"
	"others do not, and what to do about it.\n\n"
	"      --json       as JSON (doc/doctor.schema.json)\n"
	"      --no-color   plain text on a terminal too, as with NO_COLOR=1\n"
	"  -h, --help       this text\n\n"
	"Exit status: 0 if a program can be recorded, else 1.\n";

enum { OPT_JSON = 256, OPT_NO_COLOR };

static const struct option options[] = {
	{ "json", no_argument, NULL, OPT_JSON },
	{ "no-color", no_argument, NULL, OPT_NO_COLOR },
	{ "no-colour", no_argument, NULL, OPT_NO_COLOR },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static void examine_any(struct loci_launch *launch, struct loci_doctor_row *row)
{
	struct loci_err err = { "" };
	char count[LOCI_UNITS_MAX];
	uint64_t references;

	row->works = loci_probe_any(launch, &references, &err) == 0;
	if (row->works)
		snprintf(row->words, sizeof(row->words),
			"Valgrind %s, tool installed; %s references of /bin/true arrived",
			launch->version, loci_units_count(count, (double)references));
	else
		snprintf(row->words, sizeof(row->words), "%s", err.text);
}

/* Fortran is what one may do without: where it lacks something the rest works all the same. */
static void add_flang(struct loci_doctor_row *row)
{
	struct loci_toolchain toolchain;
	struct loci_err err = { "" };
	size_t used = strlen(row->words);
	int r = loci_toolchain_find(&toolchain, LOCI_FLANG, NULL, &err);

	if (r == 0)
		r = loci_toolchain_try(&toolchain, &err);
	if (r == 0)
		snprintf(row->words + used, sizeof(row->words) - used,
			"; loci flang compiles with flang %u (%.500s)", toolchain.version,
			toolchain.program);
	else
		snprintf(row->words + used, sizeof(row->words) - used, "; no Fortran: %.900s",
			err.text);
}

static void examine_cc(struct loci_launch *launch, struct loci_doctor_row *row)
{
	struct loci_toolchain toolchain;
	struct loci_err err = { "" };
	char count[LOCI_UNITS_MAX];
	uint64_t references;

	(void)launch;
	row->works = loci_probe_cc(&toolchain, &references, &err) == 0;
	if (row->works)
		snprintf(row->words, sizeof(row->words),
			"loci cc compiles with clang %u (%.500s), pass and runtime installed; %s "
			"references of a small program arrived",
			toolchain.version, toolchain.program,
			loci_units_count(count, (double)references));
	else
		snprintf(row->words, sizeof(row->words), "%s", err.text);
	if (row->works)
		add_flang(row);
}

static void examine_gcc(struct loci_launch *launch, struct loci_doctor_row *row)
{
	struct loci_gcc_toolchain gcc;
	struct loci_err err = { "" };
	char count[LOCI_UNITS_MAX];
	uint64_t references;

	(void)launch;
	row->works = loci_probe_gcc(&gcc, &references, &err) == 0;
	if (row->works)
		snprintf(row->words, sizeof(row->words),
			"loci gcc compiles with gcc %.31s (%.900s), runtime installed; %s "
			"references of a small program arrived; approximate",
			gcc.version, gcc.compiler, loci_units_count(count, (double)references));
	else
		snprintf(row->words, sizeof(row->words), "%s", err.text);
}

static void examine_watch(struct loci_launch *launch, struct loci_doctor_row *row)
{
	struct loci_err err = { "" };

	(void)launch;
	row->works = loci_probe_registers(&err) == 0;
	if (row->works)
		snprintf(row->words, sizeof(row->words),
			"loci record -m watch, of code compiled with loci cc: a debug register can "
			"be had");
	else
		snprintf(row->words, sizeof(row->words), "%s", err.text);
}

static void examine_import(struct loci_launch *launch, struct loci_doctor_row *row)
{
	size_t used = (size_t)snprintf(row->words, sizeof(row->words), "loci analyse reads");

	(void)launch;
	row->works = true;
	for (const struct loci_import_format *f = loci_import_formats; f->name; f++)
		used += (size_t)snprintf(row->words + used, sizeof(row->words) - used, "%s%s",
			f == loci_import_formats ? " " : ", ", f->name);
}

/* In the order in which they are worth trying. */
static const struct {
	const char *name, *purpose;
	bool records; /* a program, that is */
	void (*examine)(struct loci_launch *launch, struct loci_doctor_row *row);
} collectors[] = {
	{ "any", "any binary, through Valgrind", true, examine_any },
	{ "cc", "code compiled with loci cc", true, examine_cc },
	{ "gcc", "code compiled with loci gcc or gfortran", true, examine_gcc },
	{ "watch", "code compiled with loci cc, by debug registers", false, examine_watch },
	{ "pmu", "any binary, by the processor's counters", true, NULL },
	{ "step", "a running process", true, NULL },
	{ "import", "traces of other tools", false, examine_import },
	{ "mpi", "parallel jobs", true, NULL },
};

static int parse(int argc, char **argv, bool *ret_json, bool *ret_no_colour)
{
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		switch (c) {
		case OPT_JSON:
			*ret_json = true;
			break;
		case OPT_NO_COLOR:
			*ret_no_colour = true;
			break;
		case 'h':
			fputs(help, stdout);
			return loci_finish(LOCI_EXIT_OK);
		default:
			return loci_option_refused("doctor", c, argv);
		}
	}
	if (optind < argc)
		return loci_usage(
			"doctor", "\"%s\" is one too many: it takes options only", argv[optind]);
	return -1;
}

int loci_cmd_doctor(int argc, char **argv)
{
	struct loci_doctor_row row[LOCI_ARRAY_SIZE(collectors)] = { 0 };
	struct loci_launch launch = { 0 };
	struct loci_doctor doctor = { .row = row, .n = LOCI_ARRAY_SIZE(collectors) };
	bool as_json = false, no_colour = false, can_record = false;
	struct loci_text text;
	struct loci_json json;
	int status = parse(argc, argv, &as_json, &no_colour);

	if (status >= 0)
		return status;
	for (size_t i = 0; i < doctor.n; i++) {
		row[i].name = collectors[i].name;
		row[i].purpose = collectors[i].purpose;
		row[i].built = collectors[i].examine != NULL;
		if (row[i].built)
			collectors[i].examine(&launch, &row[i]);
		else
			snprintf(row[i].words, sizeof(row[i].words), "not in this version (%s)",
				row[i].purpose);
		can_record |= row[i].works && collectors[i].records;
	}
	loci_runner_room(&doctor.directory, &doctor.free_bytes, NULL);
	doctor.valgrind = launch.version[0] ? launch.version : NULL;
	if (as_json) {
		loci_json_begin(&json, stdout);
		loci_doctor_json(&doctor, &json);
		loci_json_end(&json);
	} else {
		loci_text_begin(&text, stdout, no_colour);
		loci_doctor_text(&doctor, &text);
	}
	return loci_finish(can_record ? LOCI_EXIT_OK : LOCI_EXIT_FAILED);
}
