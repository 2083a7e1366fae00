/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions, inlined calls and lines of every instruction of the fixtures and of loci itself,
 * against addr2line (binutils), and against llvm-symbolizer where binutils does not read what clang
 * writes.
 */
#include "symbol_fixture.h"

struct level {
	char function[8192];
	char place[4096]; /* file:line, "?" for no line */
};

/* An oracle's answer to one address. */
struct answer {
	uint64_t address;
	struct level levels[64];
	size_t n;
};

/* Fill between functions belongs to none. */
#define INSTRUCTIONS                                                                           \
	"objdump -d -j .text --no-show-raw-insn %s | grep -v '\\bnop\\|\\bxchg.*%%ax,%%ax' | " \
	"sed -n 's/^ *\\([0-9a-f]*\\):.*/0x\\1/p' | "
static const char with_addr2line[] = INSTRUCTIONS "addr2line -a -f -i -e %s";
static const char with_llvm[] =
	INSTRUCTIONS "llvm-symbolizer-14 --output-style=GNU --no-demangle -a -f -i -e %s";

/* Without the newline and what the oracle adds to it. */
static void tidy(char *line)
{
	char *discriminator = strstr(line, " (discriminator");
	char *colon;

	if (discriminator)
		*discriminator = '\0';
	line[strcspn(line, "\n")] = '\0';
	colon = strrchr(line, ':');
	if (colon && !strcmp(colon, ":0"))
		strcpy(colon, ":?");
}

/* "x.cold", "x.part.0", "x.constprop.1 [clone ..]" are x to the debug information. */
static void without_clone(const char *name, char *ret, size_t size)
{
	const char *clone = strstr(name, " [clone");
	size_t length = clone ? (size_t)(clone - name) : strlen(name);
	static const char *const suffixes[] = { ".cold", ".part.", ".constprop.", ".isra.",
		".lto_priv." };

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		const char *at = strstr(name, suffixes[i]);

		if (at && (size_t)(at - name) < length)
			length = (size_t)(at - name);
	}
	snprintf(ret, size, "%.*s", (int)length, name);
	/* The complete and the base constructor are one function where they are the same. */
	for (char *at = ret; (at = strpbrk(at, "CD")) != NULL; at++)
		if (at[1] == '1' || (at[1] == 'I' && at[2] == '1'))
			at[at[1] == '1' ? 1 : 2] = '2';
}

/* Mangled: how names are spelt when they are not is the demanglers' affair. Of a C++ function that
 * no other unit can name the oracle may have the bare name where loci has its symbol. */
static bool same_function(const char *got, const char *want)
{
	char plain[8192], bare[8192], piece[8300];

	without_clone(want, plain, sizeof(plain));
	without_clone(got, bare, sizeof(bare));
	snprintf(piece, sizeof(piece), "%zu%s", strlen(plain), plain);
	return !strcmp(bare, plain) || (!strncmp(bare, "_Z", 2) && strstr(bare, piece));
}

/* binutils now and then has the right line of the wrong file. */
static bool same_line(const char *got, const char *want)
{
	return !strcmp(strrchr(got, ':'), strrchr(want, ':'));
}

static void compare(const struct fixture *fixture, const struct answer *answer, bool binutils,
	unsigned long *checked, unsigned long *other_file)
{
	struct loci_frame_name frames[LOCI_FRAMES_MAX];
	struct loci_err err = { "" };
	size_t n;
	char place[4096];

	/* Fill between functions, and code from objects without debug information. */
	if (!answer->n || !strncmp(answer->levels[answer->n - 1].function, "??", 2) ||
		!strncmp(answer->levels[0].place, "??", 2) || !strchr(answer->levels[0].place, '/'))
		return;
	CHECK(loci_symbols_frames(fixture->symbols, fixture->module, answer->address, frames,
		      LOCI_FRAMES_MAX, &n, &err) == 0);
	if (!n) { /* fill: binutils takes the function before it to go on */
		CHECK(strstr(answer->levels[0].place, ":?") || answer->n == 1);
		return;
	}
	(*checked)++;
	if (n != answer->n) {
		CHECK_FAIL("%s %#lx: %zu levels, want %zu", fixture->path, (long)answer->address, n,
			answer->n);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		char line[16] = "?";

		if (frames[i].line)
			snprintf(line, sizeof(line), "%u", frames[i].line);
		snprintf(place, sizeof(place), "%s:%s", frames[i].file ? frames[i].file : "??",
			line);
		if (strcmp(place, answer->levels[i].place) != 0 && binutils &&
			same_line(place, answer->levels[i].place))
			(*other_file)++;
		else
			CHECK_STR(place, answer->levels[i].place);
		if (!frames[i].mangled ||
			!same_function(frames[i].mangled, answer->levels[i].function))
			CHECK_FAIL("%s %#lx level %zu is \"%s\", want \"%s\"", fixture->path,
				(long)answer->address, i,
				frames[i].mangled ? frames[i].mangled : "(none)",
				answer->levels[i].function);
		CHECK((frames[i].entry != 0) == (i == n - 1));
	}
}

static unsigned long check_against(const char *name, const char *oracle, unsigned stride)
{
	static struct answer answer;
	struct fixture fixture;
	unsigned long checked = 0, count = 0, other_file = 0;
	char *line = NULL;
	size_t cap = 0;
	FILE *output;

	if (!fixture_open(&fixture, name))
		return 0;
	output = fixture_run(&fixture, oracle);
	CHECK(output != NULL);
	answer.n = 0;
	while (output && getline(&line, &cap, output) > 0 && check_failures < 20) {
		tidy(line);
		if (!strncmp(line, "0x", 2)) {
			if (count++ % stride == 0)
				compare(&fixture, &answer, oracle == with_addr2line, &checked,
					&other_file);
			answer.address = strtoull(line, NULL, 16);
			answer.n = 0;
		} else if (*line && answer.n < 64) {
			struct level *level = &answer.levels[answer.n++];

			snprintf(level->function, sizeof(level->function), "%s", line);
			if (getline(&line, &cap, output) <= 0)
				break;
			tidy(line);
			snprintf(level->place, sizeof(level->place), "%s", line);
		}
	}
	if (output)
		pclose(output);
	free(line);
	CHECK(other_file * 20 <= checked);
	printf("%s: %lu addresses as the oracle has them\n", name, checked);
	fixture_close(&fixture);
	return checked;
}

static void check_oracles(void)
{
	static const char *const fixtures[] = { "c-gcc-O0", "c-gcc-O2", "c-gcc-O3-dwarf4",
		"c-gcc-nopie", "c-clang-O0", "c-clang-O2-dwarf4", "c-linked", LOCI_PROGRAM };
	static const char *const by_llvm[] = { "c-clang-O2", "cpp-gcc-O0", "cpp-gcc-O2",
		"cpp-clang-O0-dwarf4", "cpp-clang-O2", "cpp-clang-O2-dwarf4", LOCI_PROGRAM };

	/* The last is loci itself: with a sanitizer in it those to compare with take long. */
	for (size_t i = 0; i < sizeof(fixtures) / sizeof(*fixtures) - CHECK_SANITISED; i++)
		if (*fixtures[i] == '/' || fixture_exists(fixtures[i]))
			CHECK(check_against(fixtures[i], with_addr2line,
				      *fixtures[i] == '/' ? 7 : 1) > 100);
	if (system("command -v llvm-symbolizer-14 >/dev/null") == 0) {
		for (size_t i = 0; i < sizeof(by_llvm) / sizeof(*by_llvm) - CHECK_SANITISED; i++)
			if (*by_llvm[i] == '/' || fixture_exists(by_llvm[i]))
				CHECK(check_against(by_llvm[i], with_llvm,
					      *by_llvm[i] == '/' ? 11 : 1) > 100);
	} else {
		printf("llvm-symbolizer-14 is not installed: C++ and clang's DWARF 5 are left "
		       "out\n");
	}
}

/* The levels of two calls inlined into each other, by hand. */
static void check_inlined(const char *name)
{
	struct loci_frame_name frames[LOCI_FRAMES_MAX];
	struct loci_err err = { "" };
	struct fixture fixture;
	uint64_t entry;
	bool seen = false;
	size_t n;

	if (!fixture_open(&fixture, name))
		return;
	entry = fixture_symbol(&fixture, "locals");
	CHECK(entry != 0);
	for (uint64_t at = entry; at < entry + 4000 && !seen; at++) {
		CHECK(loci_symbols_frames(fixture.symbols, fixture.module, at, frames,
			      LOCI_FRAMES_MAX, &n, &err) == 0);
		if (n < 3 || frames[n - 1].entry != entry)
			continue;
		seen = true;
		CHECK_U64(n, 3);
		CHECK_STR(frames[0].function, "inlined_sum");
		CHECK_STR(frames[1].function, "twice_inlined");
		CHECK_STR(frames[2].function, "locals");
		CHECK_STR(frames[2].mangled, "locals");
		CHECK_U64(frames[2].entry, entry);
		CHECK(strstr(frames[1].file, "names_fixture.c") != NULL);
		CHECK(strstr(loci_symbols_source_line(
				     fixture.symbols, frames[1].file, frames[1].line),
			      "inlined_sum(values, n") != NULL);
		CHECK(strstr(loci_symbols_source_line(
				     fixture.symbols, frames[2].file, frames[2].line),
			      "twice_inlined(array, 10, frame)") != NULL);
		CHECK(strstr(loci_symbols_source_line(
				     fixture.symbols, frames[2].decl_file, frames[2].decl_line),
			      "static int locals(int argument") != NULL);
		CHECK(frames[1].column > 0);
		/* The innermost and the outermost remain when there is little room. */
		CHECK(loci_symbols_frames(
			      fixture.symbols, fixture.module, at, frames, 2, &n, &err) == 0);
		CHECK_U64(n, 2);
		CHECK_STR(frames[0].function, "inlined_sum");
		CHECK_STR(frames[1].function, "locals");
		CHECK_U64(frames[1].entry, entry);
	}
	CHECK(seen);
	fixture_close(&fixture);
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* The same program, its debug information kept in another way. */
static void check_same(const char *name, const char *as)
{
	struct loci_frame_name got[LOCI_FRAMES_MAX], want[LOCI_FRAMES_MAX];
	const struct loci_variable *globals, *wanted;
	struct loci_err err = { "" };
	struct fixture fixture, other;
	size_t n, n_want, lines = 0;

	if (!fixture_open(&fixture, name) || !fixture_open(&other, as))
		return;
	for (uint64_t at = 0x1000; at < 0x3000; at += 3) {
		CHECK(loci_symbols_frames(fixture.symbols, fixture.module, at, got, LOCI_FRAMES_MAX,
			      &n, &err) == 0);
		CHECK(loci_symbols_frames(other.symbols, other.module, at, want, LOCI_FRAMES_MAX,
			      &n_want, &err) == 0);
		CHECK_U64(n, n_want);
		for (size_t i = 0; i < n && i < n_want; i++) {
			CHECK(same_text(got[i].function, want[i].function));
			CHECK(same_text(got[i].file, want[i].file));
			CHECK(same_text(got[i].decl_file, want[i].decl_file));
			CHECK_U64(got[i].line, want[i].line);
			lines += got[i].line > 0;
		}
	}
	CHECK(lines > 100);
	CHECK(loci_symbols_globals(fixture.symbols, fixture.module, &globals, &n, &err) == 0);
	CHECK(loci_symbols_globals(other.symbols, other.module, &wanted, &n_want, &err) == 0);
	CHECK_U64(n, n_want);
	for (size_t i = 0; i < n && i < n_want; i++) {
		CHECK_STR(globals[i].name, wanted[i].name);
		CHECK(same_text(loci_type_name(globals[i].type), loci_type_name(wanted[i].type)));
		CHECK_U64(globals[i].bytes, wanted[i].bytes);
	}
	fixture_close(&fixture);
	fixture_close(&other);
}

static const char *outermost(const struct fixture *fixture, uint64_t address)
{
	static struct loci_frame_name frames[LOCI_FRAMES_MAX];
	struct loci_err err = { "" };
	size_t n;

	CHECK(loci_symbols_frames(fixture->symbols, fixture->module, address, frames,
		      LOCI_FRAMES_MAX, &n, &err) == 0);
	return n && frames[n - 1].function ? frames[n - 1].function : "";
}

/* What nm calls a function, debug information or not. */
static void check_symbols(const char *name, bool lines)
{
	static const char *const functions[] = { "main", "locals", "count_calls", "make",
		"_start" };
	struct fixture whole, fixture;

	if (!fixture_open(&fixture, name) || !fixture_open(&whole, "c-gcc-O2"))
		return;
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		uint64_t address = fixture_symbol(&whole, functions[i]);

		CHECK(address != 0);
		CHECK_STR(outermost(&fixture, address), functions[i]);
		CHECK_STR(outermost(&fixture, address + 1), functions[i]);
	}
	if (lines)
		CHECK(loci_symbols_trouble(fixture.symbols, fixture.module) == NULL);
	else
		CHECK(strstr(loci_symbols_trouble(fixture.symbols, fixture.module),
			      "no debug information") != NULL);
	fixture_close(&fixture);
	fixture_close(&whole);
}

/* Stubs have no symbols; objdump names them by the same relocations. */
static void check_plt(const char *name)
{
	struct fixture fixture;
	char line[4096], target[4000];
	unsigned long address, seen = 0;
	FILE *dump;

	if (!fixture_open(&fixture, name))
		return;
	dump = fixture_run(&fixture, "objdump -d -j .plt -j .plt.sec -j .plt.got %s");
	while (dump && fgets(line, sizeof(line), dump)) {
		char *end;

		if (sscanf(line, "%lx <%3999[^>]>:", &address, target) != 2)
			continue;
		end = strstr(target, "@plt");
		if (!end || end[4])
			continue;
		CHECK_STR(outermost(&fixture, address), target);
		CHECK_STR(outermost(&fixture, address + 4), target);
		seen++;
	}
	if (dump)
		pclose(dump);
	CHECK(seen > 3);
	fixture_close(&fixture);
}

/* flang does not keep the name of the program. */
static void check_fortran(
	const char *name, const char *sweep, const char *program, const char *program_name)
{
	struct fixture fixture;

	if (!fixture_open(&fixture, name))
		return;
	if (fixture_symbol(&fixture, sweep))
		CHECK_STR(outermost(&fixture, fixture_symbol(&fixture, sweep)), "lattice::sweep");
	CHECK_STR(outermost(&fixture, fixture_symbol(&fixture, program)), program_name);
	fixture_close(&fixture);
}

static void check_cpp(const char *name)
{
	struct loci_frame_name frames[LOCI_FRAMES_MAX];
	struct loci_err err = { "" };
	struct fixture fixture;
	uint64_t push;
	size_t n;

	if (!fixture_open(&fixture, name))
		return;
	push = fixture_symbol(&fixture, "_ZN6shapes4NodeIiE4pushEi");
	CHECK(push != 0);
	CHECK(loci_symbols_frames(fixture.symbols, fixture.module, push, frames, LOCI_FRAMES_MAX,
		      &n, &err) == 0);
	CHECK_U64(n, 1);
	CHECK_STR(frames[0].function, "shapes::Node<int>::push(int)");
	CHECK_STR(frames[0].mangled, "_ZN6shapes4NodeIiE4pushEi");
	CHECK_U64(frames[0].entry, push);
	fixture_close(&fixture);
}

int main(void)
{
	check_inlined("c-gcc-O0");
	check_inlined("c-gcc-O2");
	check_inlined("c-gcc-static");
	check_inlined("c-clang-O0");
	check_inlined("c-clang-O2");
	check_symbols("c-gcc-O2", true);
	check_symbols("c-linked", true);
	check_symbols("c-no-debug", false);
	check_symbols("c-packed", false);
	check_plt("c-gcc-O2");
	check_plt("c-stripped");
	check_plt("c-gcc-nopie");
	check_plt("c-clang-O2");
	check_cpp("cpp-gcc-O0");
	check_cpp("cpp-gcc-O2");
	check_cpp("cpp-clang-O2");
	check_same("cpp-dwz", "cpp-gcc-O2");
	check_same("cpp-gcc-types", "cpp-gcc-O2");
	check_same("c-gcc-split", "c-gcc-O2");
	check_same("c-linked", "c-gcc-O2");
	check_fortran("fortran-gfortran-O0", "__lattice_MOD_sweep", "MAIN__", "names");
	check_fortran("fortran-gfortran-O2", "__lattice_MOD_sweep", "MAIN__", "names");
	check_fortran("fortran-flang-O0", "_QMlatticePsweep", "_QQmain", "main program");
	check_fortran("fortran-flang-O2", "_QMlatticePsweep", "_QQmain", "main program");
	check_oracles();
	return check_status();
}
