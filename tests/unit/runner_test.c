// SPDX-License-Identifier: GPL-2.0-or-later
/* The runner against a collector that this program itself plays: started as Valgrind would be, it
 * makes rings as the tool does and does what the program's arguments say.
 *
 *	refs=N   a ring, and N references in it
 *	fork=N   N children that do the rest, and wait for them; the parent then exits with 0
 *	leave    a child that does the rest, left behind when it says it is ready
 *	exec     the rest as another program, in the same process
 *	exit=N   end in order;  kill=N: by a signal;  loop: write for ever;  pause: until a signal
 *	ready    say so on descriptor 9 */
#include "check.h"

#include "base/cleanup.h"
#include "collect/launch.h"
#include "collect/program.h"
#include "collect/run.h"
#include "stream/ring.h"
#include "stream/ring_producer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define READY_FD 9

static char self[PATH_MAX];

/* The collector. */

struct fake {
	const char *run_dir;
	char **options; /* of the collector, up to and with "--" and the program's name */
	int n_options;
	int image;
	struct loci_ring_producer ring;
};

static void fake_fail(const char *what)
{
	fprintf(stderr, "collector: %s: %s\n", what, strerror(errno));
	_Exit(99);
}

static void fake_ring(struct fake *fake)
{
	static const struct loci_stream_info info = { .version = LOCI_STREAM_VERSION,
		.collector = LOCI_COLLECTOR_ANY,
		.capabilities = LOCI_CAP_COMPLETE,
		.origin = "fake" };
	const size_t bytes = LOCI_RING_HEADER_BYTES + LOCI_RING_WORDS * sizeof(uint64_t);
	char made[PATH_MAX], final[PATH_MAX], lock[PATH_MAX];
	void *memory;
	int fd;

	snprintf(made, sizeof(made), "%s/.%d.%d.ring", fake->run_dir, getpid(), fake->image);
	snprintf(final, sizeof(final), "%s/%d.%d.ring", fake->run_dir, getpid(), fake->image);
	snprintf(lock, sizeof(lock), "%s/lock", fake->run_dir);
	fd = open(made, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || posix_fallocate(fd, 0, (off_t)bytes))
		fake_fail(made);
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED ||
		loci_ring_format(memory, bytes, &info, LOCI_RING_WORDS / LOCI_RING_CHUNKS, lock) <
			0 ||
		loci_ring_producer_attach(&fake->ring, memory, bytes) < 0 ||
		rename(made, final) < 0)
		fake_fail(final);
	close(fd);
}

static void fake_words(struct fake *fake, const uint64_t *words, size_t n)
{
	uint64_t *at = loci_ring_reserve(&fake->ring, n);

	memcpy(at, words, n * sizeof(*words));
	loci_ring_commit(&fake->ring, at + n);
}

static void fake_refs(struct fake *fake, unsigned long n)
{
	const uint64_t start[] = {
		loci_mark_word(LOCI_MARK_PROCESS, 3, (uint64_t)getpid()),
		(uint64_t)getppid(),
		0,
		0,
		loci_mark_word(LOCI_MARK_DEFINE, 4, 1),
		0,
		0x1000,
		loci_ref_word(8, LOCI_OP_LOAD, 0),
		0x1000,
		loci_mark_word(LOCI_MARK_BLOCK, 0, 1),
	};

	loci_ring_producer_init(&fake->ring);
	fake_ring(fake);
	fake_words(fake, start, LOCI_ARRAY_SIZE(start));
	for (unsigned long i = 0; i < n; i++)
		fake_words(fake, (const uint64_t[]){ 0x10000 + i % 1000 * 64 }, 1);
}

static void fake_end(struct fake *fake, int code)
{
	const uint64_t end = loci_mark_word(LOCI_MARK_END, 0, (uint64_t)code << 8);

	if (fake->ring.shared) {
		fake_words(fake, &end, 1);
		loci_ring_producer_close(&fake->ring);
	}
	_Exit(code);
}

static void fake_ready(void)
{
	if (write(READY_FD, "r", 1) != 1)
		fake_fail("ready");
}

static void fake_exec(struct fake *fake, char **rest)
{
	char *argv[64];
	int n = 0;

	for (; n < fake->n_options; n++)
		argv[n] = fake->options[n];
	if (asprintf(&argv[n++], "image=%d", fake->image + 1) < 0)
		fake_fail("exec");
	for (; *rest && n < 63; rest++)
		argv[n++] = *rest;
	argv[n] = NULL;
	execv(self, argv);
	fake_fail("exec");
}

static void fake_fork(struct fake *fake, long n, char **rest);

static void fake_do(struct fake *fake, char **step)
{
	for (; *step; step++) {
		const char *value = strchr(*step, '=');
		long n = value ? strtol(value + 1, NULL, 10) : 0;

		if (!strncmp(*step, "image=", 6))
			fake->image = (int)n;
		else if (!strncmp(*step, "refs=", 5))
			fake_refs(fake, (unsigned long)n);
		else if (!strncmp(*step, "fork=", 5))
			fake_fork(fake, n, step + 1);
		else if (!strcmp(*step, "leave") && fork() == 0)
			fake->image = 0;
		else if (!strcmp(*step, "leave"))
			fake_end(fake, 0);
		else if (!strcmp(*step, "exec"))
			fake_exec(fake, step + 1);
		else if (!strncmp(*step, "exit=", 5))
			fake_end(fake, (int)n);
		else if (!strncmp(*step, "kill=", 5))
			raise((int)n);
		else if (!strcmp(*step, "ready"))
			fake_ready();
		else if (!strcmp(*step, "pause"))
			pause();
		else if (!strcmp(*step, "loop"))
			for (unsigned i = 0;; i++)
				fake_words(fake, (const uint64_t[]){ i }, 1);
		else
			fake_fail(*step);
	}
	fake_end(fake, 0);
}

static void fake_fork(struct fake *fake, long n, char **rest)
{
	for (long i = 0; i < n; i++)
		if (fork() == 0) {
			fake->image = 0;
			fake_do(fake, rest);
		}
	while (wait(NULL) > 0)
		;
	fake_end(fake, 0);
}

static void play_collector(int argc, char **argv)
{
	struct fake fake = { .options = argv };
	int i = 1;

	for (; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (!strncmp(argv[i], "--run-dir=", 10))
			fake.run_dir = argv[i] + 10;
	if (!fake.run_dir || i + 1 >= argc)
		_Exit(98);
	fake.n_options = i + 2;
	fake_do(&fake, argv + fake.n_options);
}

/* The recorder. */

struct reader {
	struct loci_source *source;
	pthread_t thread;
	pid_t pid;
	unsigned image;
	uint64_t references, words;
	bool incomplete;
	char note[256];
	int failed;
};

struct result {
	struct reader reader[128];
	unsigned n;
	uint64_t references;
	int status;
	pid_t pid;
	char complaint[256];
};

static bool reads_slowly; /* the program can always be ahead */

static void *read_all(void *data)
{
	struct reader *reader = data;
	static __thread uint64_t words[4096];
	ssize_t n;

	while ((n = reader->source->ops->read(reader->source, words, 4096, NULL)) > 0) {
		if (reads_slowly)
			usleep(200);
		reader->words += (uint64_t)n;
		for (ssize_t i = 0; i < n; i++)
			if (!loci_word_is_marker(words[i]))
				reader->references++;
			else
				i += loci_word_n_raw(words[i]);
	}
	reader->failed = (int)n;
	reader->incomplete = reader->source->incomplete;
	strcpy(reader->note, reader->source->note);
	loci_source_close(reader->source);
	return NULL;
}

static struct loci_launch fake_launch(void)
{
	struct loci_launch launch = { .version = "0" };

	strcpy(launch.launcher, self);
	return launch;
}

static struct loci_runner *begin(const char *script, bool follow)
{
	static char words[256];
	struct loci_launch launch = fake_launch();
	char *argv[32] = { "/bin/true" };
	struct loci_run_options options = { .argv = argv, .follow = follow, .launch = &launch };
	struct loci_runner *runner = NULL;
	struct loci_err err = { "" };
	int n = 1, status = -1;

	snprintf(words, sizeof(words), "%s", script);
	for (char *word = strtok(words, " "); word && n < 31; word = strtok(NULL, " "))
		argv[n++] = word;
	CHECK_U64(loci_runner_start(&options, &runner, &status, &err), 0);
	if (err.text[0])
		fprintf(stderr, "%s\n", err.text);
	return runner;
}

static void finish(struct loci_runner *runner, struct result *result)
{
	struct loci_source *source;
	struct loci_err err = { "" };

	memset(result, 0, sizeof(*result));
	while (loci_runner_next(runner, &source, &err) == 0 && source && result->n < 128) {
		struct reader *reader = &result->reader[result->n++];

		reader->source = source;
		reader->pid = loci_runner_source_pid(source);
		reader->image = loci_runner_source_image(source);
		pthread_create(&reader->thread, NULL, read_all, reader);
	}
	CHECK(!err.text[0]);
	for (unsigned i = 0; i < result->n; i++) {
		pthread_join(result->reader[i].thread, NULL);
		CHECK_U64(result->reader[i].failed, 0);
		result->references += result->reader[i].references;
	}
	result->status = loci_runner_status(runner);
	result->pid = loci_runner_pid(runner);
	snprintf(result->complaint, sizeof(result->complaint), "%s", loci_runner_complaint(runner));
	loci_runner_free(runner);
}

static void run(const char *script, struct result *result)
{
	struct loci_runner *runner = begin(script, true);

	if (!runner)
		exit(1);
	finish(runner, result);
}

/* Waits for "ready" of the program; returns its end of the pipe closed. */
static int ready_pipe(void)
{
	int fds[2];

	if (pipe(fds) < 0 || dup2(fds[1], READY_FD) < 0)
		exit(1);
	close(fds[1]);
	fcntl(fds[0], F_SETFD, FD_CLOEXEC);
	return fds[0];
}

static void await_ready(int fd)
{
	char byte;

	CHECK_U64(read(fd, &byte, 1), 1);
}

static void test_one(void)
{
	struct result result;

	run("refs=100000 exit=3", &result);
	CHECK_U64(result.n, 1);
	CHECK_U64(result.references, 100000);
	CHECK(WIFEXITED(result.status) && WEXITSTATUS(result.status) == 3);
	CHECK_U64(result.reader[0].pid, result.pid);
	CHECK(!result.reader[0].incomplete);
	CHECK(!result.reader[0].note[0]);
	CHECK(!result.complaint[0]);
}

static void test_many(void)
{
	struct result result;

	run("refs=10 fork=50 refs=1000 exit=1", &result);
	CHECK_U64(result.n, 51);
	CHECK_U64(result.references, 50 * 1000 + 10);
	CHECK_U64(result.status, 0);
	run("fork=3 fork=3 refs=100 exit=0", &result); /* grandchildren */
	CHECK_U64(result.n, 9);
	CHECK_U64(result.references, 900);
}

static void test_exec(void)
{
	struct result result;
	unsigned images = 0;

	/* The old image does not close its ring, and the process lives on. */
	run("refs=100 exec refs=200 exec refs=300 exit=7", &result);
	CHECK_U64(result.n, 3);
	CHECK_U64(result.references, 600);
	CHECK_U64(WEXITSTATUS(result.status), 7);
	for (unsigned i = 0; i < result.n; i++) {
		images |= 1u << result.reader[i].image;
		CHECK_U64(result.reader[i].references, 100 * (result.reader[i].image + 1));
		CHECK(!result.reader[i].incomplete);
	}
	CHECK_U64(images, 7);
}

/* The stream of what the process was ends when it is something else, not when it ends. */
static void test_exec_lives(void)
{
	int fd = ready_pipe();
	struct loci_runner *runner = begin("refs=100 exec refs=200 ready pause", true);
	struct reader reader[2] = { 0 };
	struct loci_source *end;

	for (unsigned i = 0; i < 2; i++) {
		CHECK(loci_runner_next(runner, &reader[i].source, NULL) == 0);
		pthread_create(&reader[i].thread, NULL, read_all, &reader[i]);
	}
	pthread_join(reader[0].thread, NULL); /* hangs if it waits for the process */
	CHECK_U64(reader[0].references, 100);
	await_ready(fd);
	loci_runner_signal(runner, SIGTERM);
	CHECK(loci_runner_next(runner, &end, NULL) == 0 && !end);
	pthread_join(reader[1].thread, NULL);
	CHECK_U64(reader[1].references, 200);
	loci_runner_free(runner);
	close(READY_FD);
	close(fd);
}

static void test_killed(void)
{
	struct result result;

	run("refs=50000 kill=9", &result);
	CHECK_U64(result.references, 50000);
	CHECK(WIFSIGNALED(result.status) && WTERMSIG(result.status) == SIGKILL);
	CHECK(result.reader[0].incomplete);
	CHECK(strstr(result.reader[0].note, "signal 9 (SIGKILL)") != NULL);
	/* A child's death is the parent's business. */
	run("fork=2 refs=500 kill=9", &result);
	CHECK_U64(result.references, 1000);
	CHECK_U64(result.status, 0);
	CHECK(!result.reader[0].incomplete);
	CHECK(strstr(result.reader[0].note, "was killed") != NULL);
}

static void test_none(void)
{
	struct result result;

	run("exit=4", &result);
	CHECK_U64(result.n, 0);
	CHECK_U64(WEXITSTATUS(result.status), 4);
	CHECK(strstr(result.complaint, "sent nothing") != NULL);
}

/* What the program leaves behind ends with it, also where it writes faster than it is read. */
static void test_left(void)
{
	static const char *const scripts[] = { "refs=10 leave refs=5000 ready pause",
		"refs=10 leave refs=5000 ready loop" };

	for (unsigned i = 0; i < 2; i++) {
		int fd = ready_pipe();
		struct loci_runner *runner = begin(scripts[i], true);
		struct result result;
		pid_t left = 0;

		await_ready(fd);
		reads_slowly = true;
		finish(runner, &result);
		reads_slowly = false;
		CHECK_U64(result.status, 0);
		CHECK_U64(result.n, 2);
		for (unsigned k = 0; k < result.n; k++) {
			const struct reader *reader = &result.reader[k];

			if (reader->pid == result.pid)
				continue;
			left = reader->pid;
			CHECK(reader->references >= 5000);
			CHECK(reader->incomplete);
			CHECK(strstr(reader->note, "still ran") != NULL);
		}
		CHECK(left > 0 && kill(left, SIGKILL) == 0);
		close(READY_FD);
		close(fd);
	}
}

static void test_signals(void)
{
	int fd = ready_pipe();
	struct loci_runner *runner = begin("refs=700 ready pause", true);
	struct result result;

	await_ready(fd);
	loci_runner_signal(runner, SIGTERM);
	finish(runner, &result);
	CHECK(WIFSIGNALED(result.status) && WTERMSIG(result.status) == SIGTERM);
	CHECK_U64(result.references, 700);
	CHECK(result.reader[0].incomplete);
	close(READY_FD);
	close(fd);
}

static void test_no_follow(void)
{
	struct loci_runner *runner = begin("refs=10 fork=3 refs=1000000 exit=0", false);
	struct result result;

	finish(runner, &result);
	CHECK_U64(result.n, 1);
	CHECK_U64(result.references, 10);
}

/* What the program inherits is what this process has, and the descriptors are as many. */
static void test_inherits(void)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, usual = { .sa_handler = SIG_DFL };
	struct result result;
	sigset_t mask, old;

	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR1);
	sigprocmask(SIG_BLOCK, &mask, &old);
	run("refs=1 kill=10 exit=5", &result); /* blocked: nothing happens */
	CHECK_U64(WEXITSTATUS(result.status), 5);
	sigprocmask(SIG_SETMASK, &old, NULL);
	run("refs=1 kill=10 exit=5", &result);
	CHECK_U64(WTERMSIG(result.status), SIGUSR1);
	sigaction(SIGUSR1, &ignore, NULL);
	run("refs=1 kill=10 exit=6", &result);
	CHECK_U64(WEXITSTATUS(result.status), 6);
	sigaction(SIGUSR1, &usual, NULL);
	sigaction(SIGCHLD, &ignore, NULL); /* would lose the status */
	run("refs=1 exit=7", &result);
	CHECK_U64(WEXITSTATUS(result.status), 7);
	sigaction(SIGCHLD, &usual, NULL);
}

static unsigned count_open(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

static unsigned count_dirs(void)
{
	char prefix[64];
	DIR *dir = opendir("/dev/shm");
	struct dirent *entry;
	unsigned n = 0;

	snprintf(prefix, sizeof(prefix), "loci-run-%d-", getpid());
	while (dir && (entry = readdir(dir)))
		n += !strncmp(entry->d_name, prefix, strlen(prefix));
	if (dir)
		closedir(dir);
	return n;
}

static int start_fails(char *program, const struct loci_launch *launch, struct loci_err *err)
{
	char *argv[] = { program, NULL };
	struct loci_run_options options = { .argv = argv, .launch = launch };
	struct loci_runner *runner;
	int status = 0;

	err->text[0] = 0;
	CHECK(loci_runner_start(&options, &runner, &status, err) < 0);
	CHECK(err->text[0]);
	return status;
}

static void test_cannot(void)
{
	char dir[] = "/tmp/runner_test_XXXXXX", path[64];
	struct loci_launch launch = fake_launch();
	struct loci_err err;
	int fd;

	CHECK(mkdtemp(dir) != NULL);
	snprintf(path, sizeof(path), "%s/file", dir);
	CHECK_U64(start_fails("/no/such/program", &launch, &err), 127);
	CHECK_U64(start_fails("no-such-program", &launch, &err), 127);
	CHECK(strstr(err.text, "PATH") != NULL);
	CHECK_U64(start_fails("", &launch, &err), 127);
	CHECK_U64(start_fails(dir, &launch, &err), 126);
	CHECK(strstr(err.text, "directory") != NULL);

	fd = open(path, O_WRONLY | O_CREAT, 0644);
	CHECK_U64(start_fails(path, &launch, &err), 126);
	CHECK(strstr(err.text, "chmod") != NULL);
	CHECK_U64(fchmod(fd, 0755), 0);
	CHECK_U64(write(fd, "#!/no/such/interpreter\n", 23), 23);
	CHECK_U64(start_fails(path, &launch, &err), 127);
	CHECK(strstr(err.text, "/no/such/interpreter") != NULL);
	CHECK_U64(pwrite(fd, "\177ELF\1\1\1\0\0\0\0\0\0\0\0\0\2\0\3\0", 20, 0), 20);
	CHECK_U64(ftruncate(fd, 4096), 0);
	CHECK_U64(start_fails(path, &launch, &err), 126);
	CHECK(strstr(err.text, "32 bits") != NULL);
	CHECK_U64(pwrite(fd, "\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\2\0\267\0", 20, 0), 20);
	CHECK_U64(start_fails(path, &launch, &err), 126);
	CHECK(strstr(err.text, "aarch64") != NULL);
	CHECK_U64(pwrite(fd, "\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\1\0\76\0", 20, 0), 20);
	CHECK_U64(start_fails(path, &launch, &err), 126);
	CHECK(strstr(err.text, "object file") != NULL);
	CHECK_U64(pwrite(fd, "\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\2\0\76\0", 20, 0), 20);
	CHECK_U64(fchmod(fd, 04755), 0);
	CHECK_U64(start_fails(path, &launch, &err), 126);
	CHECK(strstr(err.text, "setuid") != NULL);
	CHECK_U64(pwrite(fd, "\1\2\3\0", 4, 0), 4);
	CHECK_U64(fchmod(fd, 0755), 0);
	CHECK_U64(start_fails(path, &launch, &err), 126);

	strcpy(launch.launcher, "/no/such/valgrind");
	CHECK_U64(start_fails("/bin/true", &launch, &err), 1);
	CHECK(strstr(err.text, "/no/such/valgrind") != NULL);
	close(fd);
	unlink(path);
	rmdir(dir);
}

static void test_names(void)
{
	char path[PATH_MAX];

	CHECK_U64(loci_program_find("sh", path), 0);
	CHECK(path[0] == '/');
	setenv("PATH", "/nonexistent::/dev", 1);
	CHECK(loci_program_find("sh", path) == -ENOENT);
	CHECK(loci_program_find("null", path) == -EACCES);
}

int main(int argc, char **argv)
{
	unsigned before;

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return 1;
	if (argc > 1 && !strncmp(argv[1], "--tool=", 7))
		play_collector(argc, argv);
	alarm(120); /* rather than hang */
	before = count_open();
	test_one();
	test_many();
	test_exec();
	test_exec_lives();
	test_killed();
	test_none();
	test_left();
	test_signals();
	test_no_follow();
	test_inherits();
	test_cannot();
	CHECK_U64(count_open(), before);
	CHECK_U64(count_dirs(), 0);
	test_names();
	return check_status();
}
