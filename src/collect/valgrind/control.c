// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/valgrind/control.h"
#include "collect/valgrind/options.h"
#include "collect/valgrind/out.h"
#include "stream/ring_x86_64.h"

/* Where code can be. */
#define CODE_START 0x1000
#define CODE_BYTES (0x7ffffffff000ull - CODE_START)

#define SYS_RT_SIGPROCMASK  14
#define SYS_RT_SIGTIMEDWAIT 128
#define MAX_STALE           1024

static struct {
	Bool toggled; /* an odd number of times */
	Bool recording;
	Bool was_quiet;
	Long run_began_ms; /* by the clock on the wall */
	Addr stale[MAX_STALE];
	UInt n_stale;
} control;

static uint64_t signal_set(void)
{
	return 1ull << (options.toggle_signal - 1);
}

static Long now_ms(void)
{
	struct vki_timespec now;

	VG_(clock_gettime)(&now, VKI_CLOCK_REALTIME);
	return (Long)now.tv_sec * 1000 + (Long)now.tv_nsec / 1000000;
}

/* The run's directory is as old as the run, which may have had other processes before this one. */
static Long run_began_ms(void)
{
	HChar path[LOCI_RING_PATH_MAX + 64];
	struct vg_stat st;

	VG_(snprintf)(path, sizeof(path), "%s/lock", options.run_dir ? options.run_dir : "");
	if (sr_isError(VG_(stat)(path, &st)))
		return now_ms();
	return (Long)st.mtime * 1000 + (Long)st.mtime_nsec / 1000000;
}

static Bool is_time(void)
{
	Long ms;

	if (!options.delay_ms && !options.duration_ms)
		return True;
	ms = now_ms() - control.run_began_ms - options.delay_ms;
	return ms >= 0 && (!options.duration_ms || ms < options.duration_ms);
}

static Bool wants_to_record(void)
{
	return is_time() && control.toggled == options.start_disabled;
}

/* Whether the signal has come. */
static Bool take_signal(void)
{
	static const Long no_time[2];
	uint64_t set = signal_set();

	return loci_syscall6(SYS_RT_SIGTIMEDWAIT, (long)&set, 0, (long)no_time, sizeof(set), 0,
		       0) == options.toggle_signal;
}

void control_init(void)
{
	uint64_t set;

	if (options.toggle_signal) {
		/* The core has not looked yet at what the program's signal mask is. */
		set = signal_set();
		loci_syscall6(SYS_RT_SIGPROCMASK, VKI_SIG_BLOCK, (long)&set, 0, sizeof(set), 0, 0);
	}
	control.run_began_ms = run_began_ms();
	control.recording = wants_to_record();
	control_tell();
}

/* How many references there were in between is not known. */
static void tell(enum loci_marker kind)
{
	static const uint64_t none[1];

	out_mark(kind, 0, 1, none);
}

void control_tell(void)
{
	if (options_have_windows() && control.recording)
		tell(LOCI_MARK_WINDOW_BEGIN);
}

static void drop_translations(void)
{
	VG_(discard_translations)(CODE_START, CODE_BYTES, "loci");
}

void control_obey(void)
{
	UInt i;

	if (options.toggle_signal && take_signal())
		control.toggled = !control.toggled;
	if (options_have_windows() && wants_to_record() != control.recording) {
		control.recording = !control.recording;
		tell(control.recording ? LOCI_MARK_WINDOW_BEGIN : LOCI_MARK_WINDOW_END);
		drop_translations();
	}
	if (out_is_quiet() && !control.was_quiet) {
		/* Nobody listens any more: the rest runs as fast as Valgrind lets it. */
		control.was_quiet = True;
		drop_translations();
	}
	for (i = 0; i < control.n_stale; i++)
		VG_(discard_translations)(control.stale[i], 1, "loci");
	control.n_stale = 0;
}

void control_retranslate(Addr code)
{
	if (control.n_stale < MAX_STALE)
		control.stale[control.n_stale++] = code;
}

static Bool matches(const HChar *patterns, const HChar *name)
{
	HChar pattern[256];
	const HChar *end;

	for (;; patterns = end + 1) {
		SizeT n;

		end = VG_(strchr)(patterns, ',');
		n = end ? (SizeT)(end - patterns) : VG_(strlen)(patterns);
		if (n && n < sizeof(pattern)) {
			VG_(memcpy)(pattern, patterns, n);
			pattern[n] = '\0';
			if (VG_(string_match)(pattern, name))
				return True;
		}
		if (!end)
			return False;
	}
}

/* The name as the linker knows it, as the source has it, and that without the parameters. */
static Bool matches_any_form(const HChar *patterns, Addr code)
{
	HChar name[1024];
	const HChar *found;
	HChar *parameters;
	Bool yes;

	if (!VG_(get_fnname)(VG_(current_DiEpoch)(), code, &found))
		return False;
	if (matches(patterns, found))
		return True;
	VG_(clo_demangle) = True;
	yes = VG_(get_fnname)(VG_(current_DiEpoch)(), code, &found) && matches(patterns, found);
	if (!yes) {
		VG_(strncpy)(name, found, sizeof(name) - 1);
		name[sizeof(name) - 1] = '\0';
		parameters = VG_(strchr)(name, '(');
		if (parameters && parameters != name) {
			*parameters = '\0';
			yes = matches(patterns, name);
		}
	}
	VG_(clo_demangle) = False;
	return yes;
}

Bool control_wants(Addr code)
{
	if (!control.recording || control.was_quiet)
		return False;
	if (options.only && !matches_any_form(options.only, code))
		return False;
	return !options.skip || !matches_any_form(options.skip, code);
}
