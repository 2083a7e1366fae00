// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/valgrind/control.h"
#include "collect/run_control.h"
#include "collect/valgrind/options.h"
#include "collect/valgrind/out.h"

/* Where code can be. */
#define CODE_START 0x1000
#define CODE_BYTES (0x7ffffffff000ull - CODE_START)

#define MAX_STALE 1024

static struct {
	struct loci_control *shared; /* NULL: none */
	Bool recording;
	Bool was_quiet;
	Addr stale[MAX_STALE];
	UInt n_stale;
} control;

static struct loci_control *map_control(void)
{
	HChar path[LOCI_RING_PATH_MAX + 64];
	SysRes r;
	Int fd;

	if (!options.windows || !options.run_dir)
		return NULL;
	VG_(snprintf)(path, sizeof(path), "%s/" LOCI_CONTROL_FILE, options.run_dir);
	r = VG_(open)(path, VKI_O_RDWR, 0);
	if (sr_isError(r))
		return NULL;
	fd = (Int)sr_Res(r);
	r = VG_(am_shared_mmap_file_float_valgrind)(
		sizeof(struct loci_control), VKI_PROT_READ | VKI_PROT_WRITE, fd, 0);
	VG_(close)(fd);
	return sr_isError(r) ? NULL : (struct loci_control *)sr_Res(r);
}

void control_init(void)
{
	control.shared = map_control();
	control.recording = options.start;
	if (control.shared)
		control.recording = __atomic_load_n(&control.shared->recording, __ATOMIC_RELAXED);
	control_tell();
}

void control_begin(void)
{
	if (control.shared)
		__atomic_store_n(&control.shared->running, 1, __ATOMIC_SEQ_CST);
}

void control_tell(void)
{
	static const uint64_t none[1];

	if (options.windows && control.recording)
		out_mark(LOCI_MARK_WINDOW_BEGIN, 0, 1, none);
}

static void set_recording(Bool recording)
{
	static const uint64_t none[1];

	control.recording = recording;
	out_mark(recording ? LOCI_MARK_WINDOW_BEGIN : LOCI_MARK_WINDOW_END, 0, 1, none);
	VG_(discard_translations)(CODE_START, CODE_BYTES, "loci");
}

void control_obey(void)
{
	UInt i;

	if (control.shared &&
		!!__atomic_load_n(&control.shared->recording, __ATOMIC_RELAXED) !=
			control.recording)
		set_recording(!control.recording);
	if (out_is_quiet() && !control.was_quiet) {
		/* Nobody listens any more: the rest runs as fast as Valgrind lets it. */
		control.was_quiet = True;
		VG_(discard_translations)(CODE_START, CODE_BYTES, "loci");
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
