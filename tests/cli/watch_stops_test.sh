# SPDX-License-Identifier: GPL-2.0-or-later
# What loci record -m watch cannot watch: the profile says so, and says of far reuses what its samples tell and no
# more. Half of the references of the program come again after 2 others, half after 40000. Not under sanitizers.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/clangs.sh"

cat >halves.c <<'END_C'
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { N = 20000, ROUNDS = 1500 };
static volatile long many[N][8], one[8];

__attribute__((noinline)) static long sweep(int rounds)
{
	long sum = 0;

	for (int round = 0; round < rounds; round++)
		for (int i = 0; i < N; i++)
			sum += many[i][0] + one[0];
	return sum;
}

int main(int argc, char **argv)
{
	const char *when = argc > 1 ? argv[1] : "";
	unsigned long context = 0;
	long sum = 0;

	sum += many[0][0];
	if (!strcmp(when, "first"))
		syscall(SYS_io_setup, 1, &context);
	if (!strcmp(when, "tried"))
		syscall(SYS_io_uring_setup, 0, NULL);
	sum += sweep(ROUNDS / 2);
	if (!strcmp(when, "halfway"))
		syscall(SYS_io_setup, 1, &context);
	sum += sweep(ROUNDS / 2);
	printf("%ld\n", sum);
	return 0;
}
END_C
# Runs a program that may not open perf events.
cat >denied.c <<'END_C'
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };

	if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		return 77;
	execvp(argv[1], argv + 1);
	return 127;
}
END_C
major=${clangs##* }
expect 0 cc "$major" -O1 -g -o halves halves.c
expect 0 gcc -o denied denied.c

# holds WHAT CONDITION: of the samples
holds() {
	[ "$(sqlite3 p.loci "select $2 from sampling")" = 1 ] ||
		fail "$1: not $2: $(sqlite3 -line p.loci 'select * from sampling')"
}
# far WHAT: half of the time distances are far ones
far() {
	[ "$(sqlite3 p.loci "select abs(sum(weight) filter (where low > 30000) / sum(weight) - 0.5) < 0.1
		from bin join histogram on histogram.id = histogram_id where owner = 'whole' and distance = 'time'")" = 1 ] ||
		fail "$1: not half of the reuses are far"
}
# knows_not WHAT: neither how well far reuses are known, nor a cache that holds all
knows_not() {
	holds "$1" "by_watch = 0 and never = 0 and abs(unknown - 0.5) < 0.1"
	lacks err "+-"
	lacks err "any cache holds it"
	has err "none of these was watched until then"
	expect 0 loci report p.loci
	has out "sampled, short reuses only"
	has out "unknown"
	lacks out "any cache holds it"
	lacks out "±"
	lacks out "Effective cache sizes"
	expect 0 loci report --json p.loci
	has out '"kind": "unknown"'
}
watched() {
	local status=$1
	shift
	expect "$status" "$@" -m watch -c 50000 --seed 1 --far 0% -o p.loci ./halves "$when"
}

# Pages: all the time, until halfway, and hardly ever.
by_pages="loci record --watch-by pages -b 64"
when=never
watched 0 $by_pages
lacks err "watching of a process stopped"
far never
when=tried # a call that fails makes nothing that works on memory later
watched 0 $by_pages
lacks err "watching of a process stopped"
far tried
when=halfway
watched 0 $by_pages
has err "watching of a process stopped when the program called io_setup, "
has err "--watch-by registers"
lacks err "too hot"
lacks err "any cache holds it"
far halfway
holds halfway "by_watch > 50 and unknown < 0.1"
when=first
watched 0 $by_pages
has err "watching of a process stopped when the program called io_setup, "
lacks err "too hot"
knows_not first

# No sample at all, or none that was reused: there is a report, and sums have what others say.
when=never
expect 0 loci record -m watch -c 1000000000 -o none.loci ./halves
expect 0 loci report none.loci
has out "nothing to judge"
expect 0 loci report --json none.loci
cat >once.c <<'END_C'
static volatile long all[8000000];

int main(void)
{
	long sum = 0;

	for (int i = 0; i < 8000000; i++)
		sum += all[i];
	return sum != 0;
}
END_C
expect 0 cc "$major" -O1 -g -o once once.c
expect 0 loci record -m watch -c 1000000 -o once.loci ./once
lacks err "+-0 points"
expect 0 loci report once.loci
has out "Nothing is used twice"
watched 0 loci record
expect 0 loci merge -o sum.loci none.loci p.loci
[ "$(sqlite3 sum.loci "select count(*) from histogram where owner = 'whole' and distance in ('time', 'near')")" = 2 ] ||
	fail "of a run without samples and another the sum lacks distances"

# No perf events: pages are watched instead, unless these were not wanted.
when=never
if ./denied true; then
	expect 0 ./denied loci record --light -o p.loci ./halves
	has err "watched by pages: no debug register can be had here"
	holds denied "watched_by = 'pages' and by_watch + never > 0"
	watched 0 ./denied loci record --watch-by registers
	has err "nothing could be watched (Operation not permitted)"
	has err "kernel.perf_event_paranoid"
	knows_not denied
fi

# No descriptors: for two registers, and for none.
expect 0 loci doctor --json
if python3 -c 'import json, sys
row = [row for row in json.load(open("out"))["collectors"] if row["name"] == "watch"][0]
sys.exit(not row["works"])'; then
	expect 0 loci record --collector cc -m watch --watch-by registers -c 50000 -o p.loci \
		sh -c 'ulimit -n 8; exec ./halves'
	has err "of 4 debug registers could be had (no file descriptors are left"
	far "few descriptors"
fi
finish
