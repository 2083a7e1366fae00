// SPDX-License-Identifier: GPL-2.0-or-later
/* The line's words, and on a pseudo-terminal that it appears, keeps its pace and clears itself. */
#include "check.h"

#include "base/progress.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

static void line_is(const struct loci_progress *progress, double seconds, uint64_t count,
	uint64_t done, uint64_t total, const char *want)
{
	char buf[256];

	CHECK_STR(
		loci_progress_line(progress, seconds, count, done, total, buf, sizeof(buf)), want);
}

static void check_lines(void)
{
	struct loci_progress wide = { .label = "references", .columns = 100, .has_unicode = true };
	struct loci_progress plain = { .label = "references", .columns = 100 };
	struct loci_progress narrow = { .label = "references", .columns = 30 };

	line_is(&wide, 8, 500000000, 50, 100,
		"loci: 500 M references  62.5 M/s  ██████████░░░░░░░░░░  50 %  8.0 s left");
	line_is(&plain, 8, 500000000, 25, 100,
		"loci: 500 M references  62.5 M/s  #####...............  25 %  24.0 s left");
	line_is(&plain, 90, 1030000000, 0, 0, "loci: 1.03 G references  11.4 M/s  1 min 30 s");
	/* a file that grew while it was read */
	line_is(&plain, 1, 10, 120, 100,
		"loci: 10 references  10/s  ####################  100 %  0 ms left");
	line_is(&plain, 0, 0, 0, 100, "loci: 0 references  ....................   0 %");
	line_is(&narrow, 8, 500000000, 50, 100, "loci: 500 M references  62.5 ");
}

static size_t drain(int fd, char *buf, size_t size)
{
	ssize_t n = read(fd, buf, size - 1);

	buf[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

static void check_terminal(void)
{
	struct winsize size = { .ws_row = 24, .ws_col = 60 };
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
	struct loci_progress progress;
	char buf[4096];
	FILE *slave;

	CHECK(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
	slave = fopen(ptsname(master), "w");
	CHECK(slave != NULL);
	if (!slave)
		return;
	ioctl(fileno(slave), TIOCSWINSZ, &size);
	setenv("TERM", "xterm", 1);
	loci_progress_begin(&progress, slave, "references");
	CHECK_U64(progress.columns, 60);
	for (int i = 0; i < 1000; i++)
		loci_progress_update(&progress, 1000, 1, 2);
	loci_progress_end(&progress);
	CHECK_U64(drain(master, buf, sizeof(buf)), 0); /* over before it was worth a line */

	loci_progress_begin(&progress, slave, "references");
	progress.shown_ns -= 300000000;
	loci_progress_update(&progress, 1000, 1, 2);
	loci_progress_update(&progress, 2000, 2, 2); /* too soon */
	drain(master, buf, sizeof(buf));
	CHECK(strstr(buf, "\rloci: 1 k references") == buf);
	CHECK(strstr(buf, "2 k") == NULL);
	loci_progress_end(&progress);
	loci_progress_end(&progress);
	drain(master, buf, sizeof(buf));
	CHECK_STR(buf, "\r\033[K");

	setenv("TERM", "dumb", 1);
	loci_progress_begin(&progress, slave, "references");
	CHECK(progress.out == NULL);
	fclose(slave);
	close(master);
}

static void check_file(void)
{
	struct loci_progress progress;
	FILE *file = tmpfile();

	setenv("TERM", "xterm", 1);
	loci_progress_begin(&progress, file, "references");
	CHECK(progress.out == NULL);
	loci_progress_update(&progress, 1000, 1, 2);
	loci_progress_end(&progress);
	CHECK(ftell(file) == 0);
	fclose(file);
}

int main(void)
{
	check_lines();
	check_terminal();
	check_file();
	return check_status();
}
