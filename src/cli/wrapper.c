// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/wrapper.h"

#include "base/cleanup.h"
#include "cli/command.h"
#include "collect/program.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PREFIX "--loci-"

/* The value of --loci-NAME=VALUE, or NULL if the word is another. */
static const char *value_of(const char *word, const char *name)
{
	size_t n = strlen(name);

	word += strlen(PREFIX);
	return !strncmp(word, name, n) && word[n] == '=' ? word + n + 1 : NULL;
}

static int take(
	struct loci_wrapper *wrapper, const char *word, enum loci_compiler compiler, bool mpi)
{
	const char *value;

	if (!strcmp(word, PREFIX "ops")) {
		wrapper->ops = true;
		return 0;
	}
	if ((value = value_of(word, loci_compiler_name(compiler))))
		wrapper->compiler = value;
	else if (compiler != LOCI_GCC && (value = value_of(word, "only")))
		wrapper->only = value;
	else if (compiler != LOCI_GCC && (value = value_of(word, "skip")))
		wrapper->skip = value;
	else if (mpi && (value = value_of(word, "mpi")))
		wrapper->mpi = value;
	else
		return -EINVAL;
	return *value ? 0 : -ENODATA;
}

int loci_wrapper_read(struct loci_wrapper *ret, const char *help, enum loci_compiler compiler,
	bool mpi, int argc, char **argv)
{
	*ret = (struct loci_wrapper){ .command = argv[0], .argv = argv + 1 };
	for (int i = 1; i < argc; i++) {
		/* the compilers have no -h; with more on the line it shall say so itself */
		if (!strcmp(argv[i], PREFIX "help") || (argc == 2 && !strcmp(argv[i], "-h"))) {
			fputs(help, stdout);
			return loci_finish(LOCI_EXIT_OK);
		}
		if (strncmp(argv[i], PREFIX, strlen(PREFIX)) != 0) {
			ret->argv[ret->argc++] = argv[i];
			continue;
		}
		switch (take(ret, argv[i], compiler, mpi)) {
		case -EINVAL:
			return loci_usage(ret->command, "there is no option %s", argv[i]);
		case -ENODATA:
			return loci_usage(ret->command, "%s needs a value", argv[i]);
		}
	}
	ret->argv[ret->argc] = NULL;
	return -1;
}

void loci_words_add(struct loci_words *words, const char *fmt, ...)
{
	char **at = words->failed ? NULL : reallocarray(words->at, words->n + 2, sizeof(*at));
	va_list args;

	if (!at) {
		words->failed = true;
		return;
	}
	words->at = at;
	va_start(args, fmt);
	words->failed = vasprintf(&at[words->n], fmt, args) < 0;
	va_end(args);
	if (!words->failed)
		words->n++;
	at[words->n] = NULL;
}

void loci_words_free(struct loci_words *words)
{
	for (size_t i = 0; i < words->n; i++)
		free(words->at[i]);
	free(words->at);
	*words = (struct loci_words){ 0 };
}

int loci_words_execute(struct loci_words *words, const char *command)
{
	if (words->failed) {
		errno = ENOMEM;
	} else {
		signal(SIGXFSZ, SIG_DFL); /* main() ignores it */
		execv(words->at[0], words->at);
	}
	fprintf(stderr, "loci %s: %s: %s\n", command, words->n ? words->at[0] : "",
		strerror(errno));
	return errno == ENOENT ? LOCI_PROGRAM_NOT_FOUND : LOCI_PROGRAM_CANNOT;
}
