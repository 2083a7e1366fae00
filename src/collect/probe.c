// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/probe.h"

#include "base/cleanup.h"
#include "stream/decode.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#define PROGRAM "/bin/true"
#define WORDS   4096
#define REFS    256

static void free_decoder(struct loci_decoder **decoder)
{
	loci_decoder_free(*decoder);
}

static int count(struct loci_source *source, uint64_t *ret_references, struct loci_err *err)
{
	loci_cleanup(free_decoder) struct loci_decoder *decoder = NULL;
	struct loci_ref refs[REFS];
	struct loci_event event;
	uint64_t words[WORDS];
	int r = loci_decoder_new(&decoder, err);
	ssize_t n;

	while (r == 0 && (n = source->ops->read(source, words, WORDS, err)) != 0) {
		size_t pos = 0, n_refs;

		r = n < 0 ? (int)n : 0;
		while (r == 0 && pos < (size_t)n) {
			r = loci_decoder_next(
				decoder, words, (size_t)n, &pos, refs, REFS, &n_refs, &event, err);
			for (size_t i = 0; i < n_refs; i++)
				*ret_references += refs[i].op < LOCI_OP_FRAME;
		}
	}
	return r;
}

/* One process, so it may be read by this very thread. */
static int read_run(struct loci_runner *runner, uint64_t *ret_references, struct loci_err *err)
{
	struct loci_source *source;
	int r;

	while ((r = loci_runner_next(runner, &source, err)) == 0 && source) {
		r = count(source, ret_references, err);
		loci_source_close(source);
		if (r < 0)
			return r;
	}
	return r;
}

static int judge(struct loci_runner *runner, uint64_t references, struct loci_err *err)
{
	int status = loci_runner_status(runner);
	const char *complaint = loci_runner_complaint(runner);

	if (complaint[0])
		return loci_err_set(err, EIO, "%s", complaint);
	if (WIFSIGNALED(status))
		return loci_err_set(err, EIO, PROGRAM " was ended by signal %d (SIG%s) under it",
			WTERMSIG(status), sigabbrev_np(WTERMSIG(status)) ?: "?");
	if (status)
		return loci_err_set(
			err, EIO, PROGRAM " ended with status %d under it", WEXITSTATUS(status));
	return references ? 0 : loci_err_set(err, EIO, "no reference of " PROGRAM " arrived");
}

int loci_probe_any(struct loci_launch *ret_launch, uint64_t *ret_references, struct loci_err *err)
{
	char *argv[] = { PROGRAM, NULL };
	struct loci_run_options options = { .argv = argv, .launch = ret_launch };
	struct loci_runner *runner = NULL;
	int status, r = loci_launch_find(ret_launch, err);

	*ret_references = 0;
	if (r == 0)
		r = loci_runner_start(&options, &runner, &status, err);
	if (r == 0)
		r = read_run(runner, ret_references, err);
	if (r == 0)
		r = judge(runner, *ret_references, err);
	loci_runner_free(runner);
	return r;
}
