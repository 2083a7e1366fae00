/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Callers of what is recorded: what starts a program and its threads is called the same with and
 * without the C library's debug information, which is not opened for it; all others are as
 * loci_symbols_frames() has them. The addresses are of this program's own run. */
#include "symbol/module.h"

#include "check.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static bool is(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* Returns whether libc's debug information tells of it. */
static bool check_call(const char *starter, const void *return_address)
{
	struct loci_frame_name caller[LOCI_FRAMES_MAX], frames[LOCI_FRAMES_MAX];
	struct loci_symbols *symbols = NULL;
	struct loci_err err = { "" };
	size_t n_caller = 0, n_frames = 0;
	bool opened, placed, named;
	uint32_t module;
	uint64_t address;
	Dl_info info;

	if (!dladdr(return_address, &info)) {
		CHECK(!"dladdr knows the address");
		return false;
	}
	address = (uint64_t)((const char *)return_address - (const char *)info.dli_fbase) - 1;
	CHECK(loci_symbols_new(&symbols, &err) == 0);
	CHECK(loci_symbols_module(symbols, info.dli_fname, NULL, 0, &module, &err) == 0);
	CHECK(loci_symbols_caller(
		      symbols, module, address, caller, LOCI_FRAMES_MAX, &n_caller, &err) == 0);
	opened = symbols->modules[module]->debug_opened;
	CHECK(loci_symbols_frames(
		      symbols, module, address, frames, LOCI_FRAMES_MAX, &n_frames, &err) == 0);
	CHECK_U64(n_caller, n_frames);
	CHECK(n_frames > 0);
	for (size_t i = 0; i < n_frames && i < n_caller; i++) {
		CHECK_STR(caller[i].function, frames[i].function);
		CHECK_STR(caller[i].mangled, frames[i].mangled);
		CHECK_U64(caller[i].entry, frames[i].entry);
	}
	named = starter && n_frames && is(frames[0].function, starter);
	placed = n_frames && frames[0].line;
	CHECK(opened == !named);
	if (n_frames && !named) {
		CHECK(is(caller[0].file, frames[0].file));
		CHECK_U64(caller[0].line, frames[0].line);
	} else if (n_frames) {
		CHECK(!caller[0].file && !caller[0].line && !caller[0].decl_file);
	}
	loci_symbols_free(symbols);
	return placed;
}

static void *thread(void *unused)
{
	(void)unused;
	return __builtin_return_address(0);
}

/* Of the same name as one of libc's, but none of its own. */
__attribute__((noinline)) void *start_thread(void *(*called)(void *));
__attribute__((noinline)) void *start_thread(void *(*called)(void *))
{
	void *ret = called(NULL);

	__asm__ volatile("" : "+r"(ret));
	return ret;
}

int main(void)
{
	void *from = NULL;
	pthread_t id;

	if (!check_call("__libc_start_call_main", __builtin_return_address(0)))
		printf("no debug information of libc: only names were compared\n");
	CHECK(pthread_create(&id, NULL, thread, NULL) == 0);
	CHECK(pthread_join(id, &from) == 0);
	check_call("start_thread", from);
	CHECK(check_call(NULL, start_thread(thread)));
	return check_status();
}
