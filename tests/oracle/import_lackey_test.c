// SPDX-License-Identifier: GPL-2.0-or-later
/* A real run of Valgrind's Lackey: the references imported are those that awk counts in its text,
 * one by one, by kind and size. Skipped where there is no Valgrind. */
#include "import_words.h"

#include <sys/wait.h>

static int run(const char *command)
{
	int status = system(command);

	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(void)
{
	static const char awk[] =
		"awk '{ split(substr($0, 4), f, \",\"); k = substr($0, 1, 3); a = f[1]; sub(/^0+/, "
		"\"\", a)"
		"; if (a == \"\") a = 0 }"
		" k == \" L \" { print \"L\", a, f[2] } k == \" S \" { print \"S\", a, f[2] }"
		" k == \" M \" { print \"ml\", a, f[2]; print \"ms\", a, f[2] }"
		" k == \"I  \" { print \"I\", a, f[2] }' trace > want";
	struct import_result got;

	if (run("valgrind --version > /dev/null 2>&1")) {
		printf("skipped: no valgrind\n");
		return 77;
	}
	import_enter();
	CHECK(run("valgrind --tool=lackey --trace-mem=yes --log-file=trace true > /dev/null") == 0);
	CHECK(run(awk) == 0);
	got = import_path("trace", NULL, true, 4096);
	CHECK_STR(got.error, "");
	CHECK_STR(got.info.origin, "lackey");
	CHECK(got.n_refs > 10000);
	import_write("got", got.refs.text, got.refs.n);
	CHECK(run("cmp got want") == 0);
	free(got.refs.text);

	got = import_path("trace", NULL, false, 4096);
	import_write("got", got.refs.text, got.refs.n);
	CHECK(run("grep -v '^I' want | cmp got -") == 0);
	free(got.refs.text);
	import_leave();
	return check_status();
}
