// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs a program under the collector and writes down the streams of its processes as text, to be
 * compared with what is known otherwise:
 *
 *	listen [-c|-w] OUT COMMAND...	"{}" in COMMAND is the run's directory
 *
 * Every stream becomes OUT/PID.N: "L address bytes site", "S ...", with " K" for the kernel's, "F
 * frame site" and "MARKER payload raw..."; with -c only the words are counted, and the
 * program's time, with -w recording
 * starts after a while, and stops and starts again. Exits as the command
 * does, by its status or 128 and the signal. */
#include "collect/run_control.h"
#include "stream/decode.h"
#include "stream/ring.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS 65536

struct listener {
	struct listener *next;
	char name[NAME_MAX + 1];
	struct loci_source *source;
	pthread_t thread;
};

static const char *out_path;
static bool count_only, windows;
static struct loci_rundir *dir;
static struct listener *listeners;

/* clang-format off */
static const char *const marker_names[128] = {
	[LOCI_MARK_THREAD_START] = "THREAD_START", [LOCI_MARK_THREAD_EXIT] = "THREAD_EXIT",
	[LOCI_MARK_FORK] = "FORK", [LOCI_MARK_EXEC] = "EXEC", [LOCI_MARK_END] = "END",
	[LOCI_MARK_PROCESS] = "PROCESS", [LOCI_MARK_ALLOC] = "ALLOC", [LOCI_MARK_FREE] = "FREE",
	[LOCI_MARK_RESIZE] = "RESIZE", [LOCI_MARK_MAP] = "MAP", [LOCI_MARK_UNMAP] = "UNMAP",
	[LOCI_MARK_MODULE_LOAD] = "MODULE_LOAD", [LOCI_MARK_MODULE_UNLOAD] = "MODULE_UNLOAD",
	[LOCI_MARK_SYNC] = "SYNC", [LOCI_MARK_SIGNAL_ENTER] = "SIGNAL_ENTER",
	[LOCI_MARK_SIGNAL_LEAVE] = "SIGNAL_LEAVE", [LOCI_MARK_TIME] = "TIME",
	[LOCI_MARK_WINDOW_BEGIN] = "WINDOW_BEGIN", [LOCI_MARK_WINDOW_END] = "WINDOW_END",
	[LOCI_MARK_LOST] = "LOST",
};
/* clang-format on */

/* Raw words that are ids of strings, printed as such. */
static int string_of(unsigned kind)
{
	switch (kind) {
	case LOCI_MARK_MAP:
		return 4;
	case LOCI_MARK_MODULE_LOAD:
		return 3;
	default:
		return -1;
	}
}

static void print_event(
	FILE *file, const struct loci_decoder *decoder, const struct loci_event *event)
{
	const char *name = marker_names[event->kind & 0x7f];

	if (name)
		fprintf(file, "%s", name);
	else
		fprintf(file, "MARKER-%x", event->kind);
	fprintf(file, " t%u %" PRIx64, event->thread, event->payload);
	for (unsigned i = 0; i < event->n_raw; i++) {
		const char *text = (int)i == string_of(event->kind)
			? loci_decoder_string(decoder, event->raw[i])
			: NULL;

		if (text)
			fprintf(file, " %s", text);
		else
			fprintf(file, " %" PRIx64, event->raw[i]);
	}
	if (event->kind == LOCI_MARK_EXEC)
		fprintf(file, " %s", loci_decoder_string(decoder, event->payload));
	fputc('\n', file);
}

static void print_ref(FILE *file, const struct loci_decoder *decoder, const struct loci_ref *ref)
{
	struct loci_ref_site site = { 0 };

	loci_decoder_site(decoder, ref->definition, &site);
	if (ref->op == LOCI_OP_FRAME)
		fprintf(file, "F t%u %" PRIx64 " %" PRIx64 "\n", ref->thread, ref->address,
			site.site);
	else
		fprintf(file, "%c t%u %" PRIx64 " %" PRIu64 " %" PRIx64 "%s%s%s\n",
			ref->op == LOCI_OP_LOAD ? 'L' : 'S', ref->thread, ref->address,
			ref->size_bytes, site.site, ref->flags & LOCI_REF_KERNEL ? " K" : "",
			ref->flags & LOCI_REF_ATOMIC ? " A" : "",
			ref->flags & LOCI_REF_MODIFY ? " M" : "");
}

static int print_words(FILE *file, struct loci_decoder *decoder, const uint64_t *words, size_t n,
	struct loci_err *err)
{
	static _Thread_local struct loci_ref refs[1024];
	size_t pos = 0;

	while (pos < n) {
		struct loci_event event = { 0 };
		size_t n_refs = 0;
		int r = loci_decoder_next(
			decoder, words, n, &pos, refs, 1024, &n_refs, &event, err);

		for (size_t i = 0; i < n_refs; i++)
			print_ref(file, decoder, &refs[i]);
		if (event.kind != LOCI_MARK_PAD)
			print_event(file, decoder, &event);
		if (r < 0)
			return r;
	}
	return 0;
}

static void *listen_to(void *arg)
{
	struct listener *listener = arg;
	struct loci_decoder *decoder = NULL;
	struct loci_err err = { 0 };
	uint64_t *words = malloc(WORDS * sizeof(*words)), n_words = 0;
	char path[PATH_MAX];
	FILE *file;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/%.*s", out_path,
		(int)(strlen(listener->name) - strlen(".ring")), listener->name);
	file = fopen(path, "w");
	if (!words || !file || loci_decoder_new(&decoder, &err) < 0) {
		perror(path);
		exit(99);
	}
	while ((n = listener->source->ops->read(listener->source, words, WORDS, &err)) > 0) {
		n_words += (uint64_t)n;
		if (!count_only && print_words(file, decoder, words, (size_t)n, &err) < 0) {
			n = -1;
			break;
		}
	}
	if (n < 0)
		fprintf(file, "ERROR %s\n", err.text);
	if (listener->source->note[0])
		fprintf(file, "NOTE %s\n", listener->source->note);
	fprintf(file, "WORDS %" PRIu64 "\n", n_words);
	fclose(file);
	loci_decoder_free(decoder);
	loci_source_close(listener->source);
	free(words);
	return NULL;
}

static bool is_known(const char *name)
{
	for (struct listener *l = listeners; l; l = l->next)
		if (!strcmp(l->name, name))
			return true;
	return false;
}

static void listen_to_new(void)
{
	DIR *d = opendir(loci_rundir_path(dir));
	struct dirent *entry;

	while (d && (entry = readdir(d))) {
		size_t len = strlen(entry->d_name);
		struct loci_err err = { 0 };
		struct listener *listener;

		if (entry->d_name[0] == '.' || len < 6 ||
			strcmp(entry->d_name + len - 5, ".ring") || is_known(entry->d_name))
			continue;
		listener = calloc(1, sizeof(*listener));
		if (!listener)
			exit(99);
		strcpy(listener->name, entry->d_name);
		if (loci_ring_open(dir, listener->name, &listener->source, &err) < 0) {
			fprintf(stderr, "listen: %s\n", err.text);
			exit(99);
		}
		listener->next = listeners;
		listeners = listener;
		pthread_create(&listener->thread, NULL, listen_to, listener);
	}
	if (d)
		closedir(d);
}

static pid_t start(char **argv)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	for (int i = 0; argv[i]; i++) {
		char *at = strstr(argv[i], "{}"), *text;

		if (!at)
			continue;
		*at = '\0';
		if (asprintf(&text, "%s%s%s", argv[i], loci_rundir_path(dir), at + 2) > 0)
			argv[i] = text;
	}
	execvp(argv[0], argv);
	perror(argv[0]);
	_exit(98);
}

static double seconds(const struct rusage *usage)
{
	return (double)usage->ru_utime.tv_sec + (double)usage->ru_stime.tv_sec +
		(double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1e6;
}

/* The file through which recording is started and stopped. */
static struct loci_control *make_control(void)
{
	struct loci_control *control;
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/" LOCI_CONTROL_FILE, loci_rundir_path(dir));
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, sizeof(*control)) < 0)
		exit(99);
	control = mmap(NULL, sizeof(*control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (control == MAP_FAILED)
		exit(99);
	return control;
}

static int parse(int argc, char **argv)
{
	int n = 1;

	if (argc > 1 && argv[1][0] == '-') {
		count_only = argv[1][1] == 'c';
		windows = argv[1][1] == 'w';
		n++;
	}
	if (argc < n + 2) {
		fprintf(stderr, "usage: listen [-c|-w] OUT COMMAND...\n");
		exit(99);
	}
	return n;
}

int main(int argc, char **argv)
{
	struct loci_control *control = NULL;
	struct loci_err err = { 0 };
	struct rusage usage = { 0 };
	int status = 0, n = parse(argc, argv);
	pid_t pid;

	out_path = argv[n];
	if (loci_rundir_new(&dir, &err) < 0) {
		fprintf(stderr, "listen: %s\n", err.text);
		return 99;
	}
	if (windows)
		control = make_control();
	pid = start(argv + n + 1);
	for (unsigned ms = 0; wait4(pid, &status, WNOHANG, &usage) == 0; ms++) {
		listen_to_new();
		if (control)
			__atomic_store_n(&control->recording, ms / 300 % 2, __ATOMIC_RELAXED);
		usleep(1000);
	}
	if (count_only)
		fprintf(stderr, "%.3f s of processor time\n", seconds(&usage));
	listen_to_new();
	for (struct listener *l = listeners, *next; l; l = next) {
		next = l->next;
		pthread_join(l->thread, NULL);
		free(l);
	}
	loci_rundir_free(dir);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
