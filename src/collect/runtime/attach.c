// SPDX-License-Identifier: BSD-2-Clause
/* Whether and how this process is watched. */
#include "collect/runtime/level.h"
#include "collect/runtime/own_masks.h"
#include "collect/runtime/sync.h"
#include "collect/runtime/watching.h"
#include "collect/runtime/wrap.h"
#include "stream/ring_x86_64.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SYS_GETPPID 110

struct rt_image rt;
pthread_key_t rt_key;

static void set_mode(enum rt_mode mode)
{
	__atomic_store_n(&rt.mode, mode, __ATOMIC_RELEASE);
}

/* Threads may still be appending. What they append is not read: the place says nothing any more.
 * Rings are unmapped with the lock held. */
void rt_go_off(void)
{
	if (rt.watches)
		rt_watch_end();
	set_mode(RT_OFF);
	rt_own_stacks_off();
	__atomic_store_n(&rt_synced, 0, __ATOMIC_RELAXED);
	for (struct rt_thread *thread = rt_threads(); thread; thread = thread->next)
		for (unsigned i = 0; i < RT_LEVELS; i++) {
			struct loci_cc_state *live =
				__atomic_load_n(&thread->level[i].live, __ATOMIC_ACQUIRE);

			if (live)
				__atomic_store_n(&((struct loci_ring_inline *)live)->chunk, 0,
					__ATOMIC_RELEASE);
		}
}

static uint64_t rank(void)
{
	static const char *const name[] = { "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK" };

	for (unsigned i = 0; i < sizeof(name) / sizeof(*name); i++) {
		const char *text = getenv(name[i]);

		if (text && *text >= '0' && *text <= '9')
			return (uint64_t)atoi(text) + 1;
	}
	return 0;
}

bool rt_begin_image(void)
{
	uint64_t raw[3] = { (uint64_t)loci_syscall3(SYS_GETPPID, 0, 0, 0), rt_now_ns(), rank() };

	rt.pid = (pid_t)loci_syscall3(LOCI_SYS_GETPID, 0, 0, 0);
	rt.sequence = rt.n_strings = 0;
	rt.n_rings = 0;
	rt.ended = false;
	if (rt_take_number() < 0)
		return false;
	rt.mapped = rt_make_ring(&rt.ring, 0, true, rt.path, &rt.mapped_bytes);
	if (!rt.mapped) {
		rt_leave_unheard();
		return false;
	}
	rt_process_mark(LOCI_MARK_PROCESS, (uint64_t)rt.pid, 3, raw);
	return true;
}

/* The program sees the environment it would have alone. */
static void hide_run(void)
{
	size_t n = 0;

	for (size_t i = 0; environ[i]; i++)
		if (strncmp(environ[i], LOCI_RUN_VARIABLE "=", sizeof(LOCI_RUN_VARIABLE)))
			environ[n++] = environ[i];
	environ[n] = NULL;
}

static bool find_run(void)
{
	const char *dir = getenv(LOCI_RUN_VARIABLE);

	if (!dir || strlen(dir) + 8 > sizeof(rt.dir))
		return false;
	strcpy(rt.dir, dir);
	rt_text(rt.variable, sizeof(rt.variable), LOCI_RUN_VARIABLE "=%s", dir);
	rt_text(rt.path[0], RT_PATH_BYTES, "%s/" LOCI_CONTROL_FILE, dir);
	rt.control = rt_map_control(rt.path[0]);
	if (!rt.control)
		return false;
	hide_run();
	return true;
}

bool rt_is_chosen(void)
{
	uint32_t only = __atomic_load_n(&rt.control->only_pid, __ATOMIC_ACQUIRE);

	return !only || only == (uint32_t)loci_syscall3(LOCI_SYS_GETPID, 0, 0, 0);
}

/* Destructors of others may still run code: a thread ends in the last round of them, and where the
 * thread sanitizer watches the runtime itself, which ends there too, in the one before. */
#ifdef __SANITIZE_THREAD__
#define ROUNDS (PTHREAD_DESTRUCTOR_ITERATIONS - 1)
#else
#define ROUNDS PTHREAD_DESTRUCTOR_ITERATIONS
#endif

static void end_thread(void *data)
{
	struct rt_thread *thread = data;

	if (++thread->rounds < ROUNDS)
		pthread_setspecific(rt_key, thread);
	else if (rt_mode() != RT_OFF)
		rt_thread_end(thread);
	else
		rt_own_signals_thread_end();
}

RT_PUBLIC uint32_t __loci_runs;

static enum rt_mode attach(void)
{
	if (!find_run() || !rt_is_chosen() || pthread_key_create(&rt_key, end_thread))
		return RT_OFF;
	rt.is_plain = !rt_has_definitions();
	if (!rt_begin_image())
		return RT_OFF;
	rt.samples = rt.control->mode == LOCI_CONTROL_SAMPLE;
	rt.watches = rt.control->mode == LOCI_CONTROL_WATCH;
	if (rt.control->mode == LOCI_CONTROL_TRACE && !rt.control->windows)
		rt.turn_shift = rt.control->turn_shift;
	rt.learns = rt.control->windows || rt.control->mode == LOCI_CONTROL_COUNT;
	rt_fork_init();
	rt_end_init();
	rt_modules_begin();
	if (!rt.ring.shared)
		return RT_OFF;
	__loci_runs = rt.control->runs;
	__atomic_store_n(&rt.control->running, 1, __ATOMIC_SEQ_CST);
	return rt.control->mode == LOCI_CONTROL_COUNT ? RT_COUNT : RT_TRACE;
}

/* A static program allocates before it knows where it is itself. */
#ifdef LOCI_RT_STATIC
static bool has_begun;
#else
static const bool has_begun = true;
#endif

enum rt_mode rt_attach(void)
{
	static __thread bool is_attaching __attribute__((tls_model("initial-exec")));
	int error = errno;
	enum rt_mode mode;
	uint64_t mask;

	if (!environ || is_attaching || !has_begun)
		return RT_OFF; /* for now: the C library has not begun, or allocates for us */
	mask = rt_block();
	rt_lock();
	is_attaching = true;
	if (__atomic_load_n(&rt.mode, __ATOMIC_ACQUIRE) == RT_UNKNOWN)
		set_mode(attach());
	is_attaching = false;
	mode = (enum rt_mode)rt.mode;
	rt_unlock();
	rt_unblock(rt_own_masks_adopt(mask));
	errno = error;
	return mode;
}

/* Before the constructors of the program and of the libraries that need the runtime. */
__attribute__((constructor(101))) static void begin(void)
{
#ifdef LOCI_RT_STATIC
	has_begun = true;
#endif
	rt_next_all();
	if (rt_mode() != RT_OFF)
		rt_thread();
}
