// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/gate.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define LONGEST_MS 1000000 /* a wait of poll(2) */
#define BEGIN_MS   5       /* how often to look whether the program has begun */
#define TURN_SHIFT 9       /* of turns that threads take: doc/performance.md */

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void set(struct loci_gate *gate, uint32_t recording)
{
	__atomic_store_n(&gate->shared->recording, recording, __ATOMIC_SEQ_CST);
}

static bool is_allowed(const char *variable)
{
	const char *asked = getenv(variable);
	return !asked || strcmp(asked, "0") != 0;
}

bool loci_gate_runs(void)
{
	return is_allowed("LOCI_RUNS");
}

static void set_sampling(struct loci_control *control, const struct loci_run_sampling *sampling)
{
	control->mode = LOCI_CONTROL_SAMPLE;
	control->windows = 1;
	control->period = sampling->period;
	control->seed = sampling->seed;
	control->doubling = sampling->doubling;
	control->skew = sampling->skew;
}

static void set_watching(struct loci_control *control, const struct loci_run_watching *watching)
{
	control->mode = LOCI_CONTROL_WATCH;
	control->windows = 1;
	control->period = watching->period;
	control->seed = watching->seed;
	control->watching = (struct loci_control_watching){
		.by = watching->by,
		.watches = watching->watches,
		.replace = watching->replace,
		.writes_only = watching->writes_only,
		.block_shift = watching->block_shift,
		.burst_refs = watching->burst_refs,
		.overhead = watching->overhead,
		.far = watching->far,
		.per_second = watching->per_second,
		.last_period = watching->period,
	};
}

int loci_gate_init(struct loci_gate *gate, const char *run_dir,
	const struct loci_run_options *options, struct loci_err *err)
{
	loci_autoclose int fd = -1;
	char path[PATH_MAX];
	void *memory;
	int r;

	*gate = (struct loci_gate){ 0 };
	gate->windows = loci_run_has_windows(options);
	if (!gate->windows && !loci_collector_is_inside(options->collector))
		return 0;
	snprintf(path, sizeof(path), "%s/" LOCI_CONTROL_FILE, run_dir);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	r = fd < 0 ? errno : posix_fallocate(fd, 0, sizeof(struct loci_control));
	if (r > 0)
		return loci_err_set(err, r, "%s: cannot create: %s", path, strerror(r));
	memory = mmap(NULL, sizeof(struct loci_control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		return loci_err_set(err, errno, "%s: cannot map: %s", path, strerror(errno));
	gate->shared = memory;
	gate->delay_s = options->delay_s;
	gate->duration_s = options->duration_s;
	gate->shared->mode = options->count ? LOCI_CONTROL_COUNT : LOCI_CONTROL_TRACE;
	gate->shared->windows = gate->windows;
	/* A thread that is to stop sees it when a chunk is full: few words would keep it from that.
	 */
	gate->shared->runs = !gate->windows && loci_gate_runs();
	if (options->turns && !gate->windows && is_allowed("LOCI_TURNS"))
		gate->shared->turn_shift = TURN_SHIFT;
	if (options->sampling)
		set_sampling(gate->shared, options->sampling);
	if (options->watching)
		set_watching(gate->shared, options->watching);
	set(gate, !options->start_disabled && !(options->delay_s > 0));
	return 0;
}

/* Before the first instruction Valgrind reads the program's debug information, which takes a while
 * and is no part of the program. */
static bool begin(struct loci_gate *gate, double now)
{
	if (gate->begun_s > 0)
		return true;
	if (!__atomic_load_n(&gate->shared->running, __ATOMIC_SEQ_CST))
		return false;
	gate->begun_s = now;
	if (gate->delay_s > 0)
		gate->on_s = now + gate->delay_s;
	if (gate->duration_s > 0)
		gate->off_s = now + gate->delay_s + gate->duration_s;
	return true;
}

/* Toggled by a signal too, which ends the wait that this is called after. */
static void count(struct loci_gate *gate, double now)
{
	bool on = __atomic_load_n(&gate->shared->recording, __ATOMIC_SEQ_CST);

	if (on && !(gate->since_s > 0)) {
		gate->since_s = now;
	} else if (!on && gate->since_s > 0) {
		gate->recorded_s += now - gate->since_s;
		gate->since_s = 0;
	}
}

int loci_gate_keep(struct loci_gate *gate)
{
	double now = now_s(), next, ms;

	if (!gate->windows)
		return -1;
	if (!begin(gate, now))
		return BEGIN_MS;
	if (gate->on_s > 0 && gate->on_s <= now) {
		set(gate, 1);
		gate->on_s = 0;
	}
	count(gate, now);
	if (gate->off_s > 0 && gate->off_s <= now) {
		set(gate, 0);
		gate->off_s = 0;
		count(gate, now);
	}
	next = gate->on_s > 0 ? gate->on_s : gate->off_s;
	if (!(next > 0))
		return -1;
	ms = (next - now) * 1000 + 1;
	return ms < LONGEST_MS ? (int)ms : LONGEST_MS;
}

void loci_gate_times(struct loci_gate *gate, double *ret_recorded_s, double *ret_all_s)
{
	double now = now_s();

	*ret_recorded_s = *ret_all_s = 0;
	if (!gate->windows || !(gate->begun_s > 0))
		return;
	count(gate, now);
	*ret_recorded_s = gate->recorded_s + (gate->since_s > 0 ? now - gate->since_s : 0);
	*ret_all_s = now - gate->begun_s;
}

void loci_gate_toggle(struct loci_gate *gate)
{
	if (gate->windows)
		__atomic_fetch_xor(&gate->shared->recording, 1, __ATOMIC_SEQ_CST);
}

void loci_gate_closed(struct loci_gate *gate, pid_t pid, uint32_t n)
{
	if (gate->shared)
		__atomic_fetch_add(&gate->shared->slot[(uint32_t)pid % LOCI_CONTROL_SLOTS].closed,
			n, __ATOMIC_SEQ_CST);
}

void loci_gate_fini(struct loci_gate *gate)
{
	if (gate->shared)
		munmap(gate->shared, sizeof(*gate->shared));
	gate->shared = NULL;
}
