// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/choice.h"

#include "collect/instrumented.h"
#include "collect/program.h"
#include "collect/run.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Built by a loci of another version, a program is still a program. */
static void choose_best(const struct loci_instrumented *program, bool readable,
	const struct loci_err *why, struct loci_choice *ret)
{
	ret->collector = !program->found || !readable ? LOCI_COLLECTOR_ANY
		: program->by_gcc                     ? LOCI_COLLECTOR_GCC
						      : LOCI_COLLECTOR_CC;
	if (ret->collector == LOCI_COLLECTOR_GCC)
		snprintf(ret->words, sizeof(ret->words),
			"recording with gcc (built by loci gcc): approximate");
	else if (ret->collector == LOCI_COLLECTOR_CC)
		snprintf(ret->words, sizeof(ret->words), "recording with cc (built by loci cc)");
	else if (why->text[0])
		snprintf(ret->words, sizeof(ret->words),
			"recording with any (Valgrind): it was built by a loci cc of version %u",
			program->version);
}

int loci_choose(const char *named, const struct loci_run_options *run, struct loci_choice *ret,
	struct loci_err *err)
{
	bool wants_gcc = named && !strcmp(named, "gcc"), count = run->count;
	bool wants_cc = wants_gcc || (named && !strcmp(named, "cc"));
	const char *name = run->argv[0];
	struct loci_instrumented program = { 0 };
	struct loci_err why = { "" };
	char path[PATH_MAX];
	int r = 0;

	*ret = (struct loci_choice){ .collector = wants_gcc ? LOCI_COLLECTOR_GCC
			: wants_cc                          ? LOCI_COLLECTOR_CC
							    : LOCI_COLLECTOR_ANY };
	if (run->sampling && named && !wants_cc)
		return loci_err_set(err, EINVAL,
			"-m sample samples in programs built by loci cc; --collector %s is another "
			"way",
			named);
	if (run->watching && named && (!wants_cc || wants_gcc))
		return loci_err_set(err, EINVAL,
			"-m watch watches in programs built by loci cc; --collector %s is another "
			"way",
			named);
	if (count && named && !wants_cc)
		return loci_err_set(err, EINVAL,
			"-m count counts in programs built by loci cc; --collector %s is another "
			"way",
			named);
	if (loci_program_find(name, path) == 0)
		r = loci_instrumented_look(path, &program, &why);
	if (wants_cc && r == -EPROTO)
		return loci_err_set(err, EPROTO, "%s", why.text);
	if (!named)
		choose_best(&program, r == 0, &why, ret);
	if (count && (run->only || run->skip))
		return loci_err_set(err, EINVAL,
			"-m count counts all that was compiled to be counted: --only and --skip "
			"are for loci cc then, when it compiles");
	if (count && !named && !loci_collector_is_inside(ret->collector))
		return loci_err_set(err, EINVAL,
			"-m count: %s was built without loci cc or loci gcc; build it again with "
			"CC='loci cc', "
			"or give --collector cc if it only starts programs that were",
			name);
	if (run->sampling && !named && !loci_collector_is_inside(ret->collector))
		return loci_err_set(err, EINVAL,
			"-m sample: %s was built without loci cc or loci gcc; build it again with "
			"CC='loci cc', "
			"or give --collector cc if it only starts programs that were",
			name);
	if (run->watching && !named && ret->collector != LOCI_COLLECTOR_CC)
		return loci_err_set(err, EINVAL,
			"-m watch: %s was built without loci cc; build it again with CC='loci cc', "
			"or give --collector cc if it only starts programs that were",
			name);
	ret->unwatched = loci_collector_is_inside(ret->collector) && !program.found;
	if (ret->unwatched)
		snprintf(ret->words, sizeof(ret->words),
			"%s was built without loci cc or loci gcc: recording what it starts that "
			"was",
			name);
	return 0;
}
