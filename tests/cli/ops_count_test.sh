# SPDX-License-Identifier: GPL-2.0-or-later
# Blocks execute as often by `record -m count`, where threads count, as by `record`, where each stands
# in the stream: with threads, some of them never waited for, handlers, children, libraries that come
# and go, calls that do not come back, exceptions, and an end in the middle of something.
# Not under sanitizers.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/clangs.sh"

loci -h | grep -q '^ *ops ' || {
	echo "there is no loci ops"
	exit 77
}
cat >counted.c <<'END'
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static jmp_buf back;
static pthread_barrier_t met;
static volatile long sink;

static long series(long n)
{
	long s = 0;
	for (long i = 0; i < n; i++)
		s += i * i % 7;
	return s;
}

static void *work(void *n)
{
	for (int k = 0; k < 100; k++)
		sink = series((long)n) + k;
	return NULL;
}

static void *wait_for_ever(void *n)
{
	sink = series((long)n);
	pthread_barrier_wait(&met);
	for (;;)
		pause();
	return NULL;
}

static void hop(int i)
{
	if (i % 3 == 0)
		longjmp(back, 1);
	sink = i;
}

static void on_signal(int number)
{
	sink = series(number);
}

static void child(void)
{
	if (fork() == 0) {
		sink = series(55);
		_exit(0);
	}
	wait(NULL);
}

static void visit(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	long (*f)(long) = library ? (long (*)(long))dlsym(library, "squares") : NULL;
	if (!f)
		exit(9);
	sink = f(20);
	dlclose(library);
}

int main(int argc, char **argv)
{
	pthread_t thread[4], idle;
	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, work, (void *)(long)(1000 + i));
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	for (volatile int i = 0; i < 10; i++) {
		if (setjmp(back))
			continue;
		hop(i);
	}
	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
	child();
	visit(argv[1]);
	visit(argv[1]);
	pthread_barrier_init(&met, NULL, 2);
	pthread_create(&idle, NULL, wait_for_ever, (void *)333L);
	pthread_barrier_wait(&met);
	for (int i = 0; i < 10; i++)
		if (i == argc + 3)
			exit(3);
	return 0;
}
END
cat >library.c <<'END'
long squares(long n);
long squares(long n)
{
	long s = 0;
	for (long i = 0; i < n; i++)
		s += i % 3 ? i * i : i;
	return s;
}
END
cat >thrown.cpp <<'END'
#include <stdexcept>
#include <vector>
static long odd(long i)
{
	if (i % 5 == 0)
		throw std::runtime_error("five");
	return i;
}
int main()
{
	std::vector<long> kept;
	for (long i = 0; i < 40; i++)
		try {
			kept.push_back(odd(i));
		} catch (const std::exception &) {
			kept.push_back(-1);
		}
	return kept.size() == 40 ? 0 : 1;
}
END

# same STATUS PROGRAM ARGUMENT..: executions of both ways, in executions.count and executions.exact.
# How far the thread comes that is not waited for is nobody's to say.
same() {
	local status=$1 mode
	shift
	for mode in count exact; do
		expect "$status" loci record -q -m $mode -o "$mode.loci" "$@"
		sqlite3 $mode.loci "SELECT function.name, block.line, entry, executions,
			(SELECT group_concat(kind || coalesce(type, '') || count) FROM operation WHERE block_id = block.id)
			FROM block JOIN function ON function.id = function_id
			WHERE function.name != 'wait_for_ever' ORDER BY 1, 2, 3, 4, 5" >executions.$mode
	done
	[ -s executions.exact ] || fail "$*: no executions"
	cmp -s executions.count executions.exact || fail "$*: $(diff executions.count executions.exact | head -8)"
}

ran() { # FUNCTION TIMES: by its entry
	[ "$(awk -F'|' -v f="$1" '$1 == f && $3 == 1 { print $4 }' executions.count)" = "$2" ] ||
		fail "$1 was not invoked $2 times: $(grep "^$1|" executions.count)"
}

for version in $clangs; do
	for level in -O0 -O2; do
		built="--loci-clang=$version --loci-ops -g $level"
		expect 0 loci cc $built -fPIC -shared library.c -o library.so
		expect 0 loci cc $built -fno-inline counted.c -o counted -lpthread -ldl
		same 3 ./counted ./library.so
		[ $level != -O0 ] || ran series 403
		ran squares 2
		expect 0 loci c++ $built thrown.cpp -o thrown
		same 0 ./thrown
	done
done
finish
