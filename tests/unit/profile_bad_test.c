// SPDX-License-Identifier: GPL-2.0-or-later
/* Files that are no profiles, or no longer, or pretend to be: each is refused with a message that
 * says what is wrong, nothing crashes, and reading never writes. */
#include "check.h"

#include "base/cleanup.h"
#include "profile/profile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[] = "/tmp/loci-bad-XXXXXX";
static char path[64];
static unsigned char *golden;
static size_t golden_bytes;

static void write_bytes(const void *bytes, size_t n)
{
	loci_autofclose FILE *file = fopen(path, "w");

	CHECK(file && fwrite(bytes, 1, n, file) == n && fflush(file) == 0);
}

/* Opens the file at path and reads everything in it. */
static int read_all(struct loci_err *err)
{
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;
	const struct loci_hist_key *key;
	const struct loci_hist *hist;
	size_t n;
	int r = loci_profile_open(path, &profile, err);

	if (r < 0)
		return r;
	key = loci_profile_hist_keys(profile, &n);
	for (size_t i = 0; r == 0 && i < n; i++)
		r = loci_profile_hist(profile, &key[i], &hist, err);
	return r;
}

static void expect_refusal(const char *want, const char *what)
{
	struct loci_err err = { "" };
	int r = read_all(&err);

	check_count++;
	if (r == 0)
		CHECK_FAIL("accepted: %s", what);
	else if (!strstr(err.text, want) || strncmp(err.text, path, strlen(path)))
		CHECK_FAIL("%s: says \"%s\", want \"%s\"", what, err.text, want);
}

static void expect_acceptance(const char *what)
{
	struct loci_err err = { "" };

	check_count++;
	if (read_all(&err) < 0)
		CHECK_FAIL("%s: refused: %s", what, err.text);
}

static int sql(const char *statements)
{
	sqlite3 *db = NULL;
	char *message = NULL;
	int rc = sqlite3_open(path, &db);

	if (rc == SQLITE_OK)
		rc = sqlite3_exec(db, "PRAGMA synchronous = OFF", NULL, NULL, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(db, statements, NULL, NULL, &message);
	if (rc != SQLITE_OK)
		CHECK_FAIL("%s: %s", statements, message ? message : "?");
	sqlite3_free(message);
	sqlite3_close(db);
	return rc;
}

/* The golden profile, spoilt by plain SQL. */
static const struct {
	const char *sql, *want;
} spoilt[] = {
	{ "UPDATE run SET refs = -1", "run.refs holds nonsense" },
	{ "UPDATE run SET refs = 'many'", "run.refs holds nonsense" },
	{ "UPDATE run SET loads = 1.5", "run.loads holds nonsense" },
	{ "UPDATE run SET seconds = -1", "run.seconds holds nonsense" },
	{ "UPDATE run SET seconds = 9e999", "run.seconds holds nonsense" },
	{ "UPDATE run SET seconds = 'NaN'", "run.seconds holds nonsense" },
	{ "UPDATE run SET complete = 2", "run.complete holds nonsense" },
	{ "UPDATE run SET unit = 'bit'", "run.unit holds nonsense" },
	{ "UPDATE run SET command = x'6162'", "run.command holds nonsense" },
	{ "UPDATE run SET command = CAST(x'610062' AS TEXT)", "run.command holds nonsense" },
	{ "UPDATE run SET note = printf('%.*c', 20000000, 'x')", "too big" },
	{ "DELETE FROM run", "0 rows in run" },
	{ "UPDATE machine SET caches = 7e3", "" }, /* text affinity makes it text: fine */
	{ "UPDATE machine SET caches = x'00'", "machine.caches holds nonsense" },
	{ "DELETE FROM grain", "no block size" },
	{ "DELETE FROM grain WHERE block_bytes = 64",
		"a histogram of 64-byte blocks but no totals" },
	{ "UPDATE grain SET block_bytes = 48 WHERE block_bytes = 64",
		"a block of 48 bytes makes no sense" },
	{ "UPDATE grain SET block_bytes = 1 << 40 WHERE block_bytes = 64", "makes no sense" },
	{ "UPDATE grain SET block_bytes = -64 WHERE block_bytes = 64",
		"grain.block_bytes holds nonsense" },
	{ "UPDATE grain SET touches = -5", "grain.touches holds nonsense" },
	{ "UPDATE grain SET blocks = 'few'", "grain.blocks holds nonsense" },
	{ "UPDATE grain SET sampling_rate = 0", "sampling_rate" },
	{ "UPDATE grain SET sampling_rate = 2", "sampling_rate" },
	{ "UPDATE thread SET id = -1 WHERE id = 1", "thread.id holds nonsense" },
	{ "UPDATE thread SET id = 4294967296 WHERE id = 1", "thread.id holds nonsense" },
	{ "UPDATE histogram SET owner = '' WHERE id = 1", "a row of histogram holds nonsense" },
	{ "UPDATE histogram SET owner_id = -1 WHERE id = 1", "a row of histogram" },
	{ "UPDATE histogram SET distance = '' WHERE id = 1", "a row of histogram" },
	{ "UPDATE histogram SET set_bits = 41 WHERE id = 1", "a row of histogram" },
	{ "UPDATE histogram SET set_bits = -1 WHERE id = 1", "a row of histogram" },
	{ "UPDATE histogram SET scheme = x'00' WHERE id = 1", "a row of histogram" },
	{ "UPDATE histogram SET cold = -1 WHERE id = 1", "a row of histogram" },
	{ "UPDATE histogram SET coherence = 9e999 WHERE id = 1", "a row of histogram" },
	{ "UPDATE histogram SET sampled = 2 WHERE id = 1", "a row of histogram" },
	{ "UPDATE histogram SET sampled = 1 WHERE id = 1", "a row of bin holds nonsense" },
	{ "UPDATE histogram SET scheme = 'linear' WHERE id = 1",
		"is no bin of a linear histogram" },
	{ "UPDATE histogram SET block_bytes = 128 WHERE id = 1", "128-byte blocks but no totals" },
	{ "PRAGMA legacy_alter_table = ON; CREATE TABLE h AS SELECT * FROM histogram;"
	  "INSERT INTO h SELECT * FROM histogram WHERE id = 1; DROP TABLE histogram;"
	  "ALTER TABLE h RENAME TO histogram",
		"a histogram twice" },
	{ "UPDATE bin SET low = -1 WHERE histogram_id = 1 AND low = 0", "a row of bin" },
	{ "UPDATE bin SET weight = -1 WHERE histogram_id = 1", "a row of bin" },
	{ "UPDATE bin SET weight = 9e999 WHERE histogram_id = 1", "a row of bin" },
	{ "UPDATE bin SET weight = 'heavy' WHERE histogram_id = 1", "a row of bin" },
	{ "UPDATE bin SET square = 1 WHERE histogram_id = 1", "a row of bin" },
	{ "UPDATE bin SET high = 9 WHERE histogram_id = 1 AND low = 0", "0 to 9 is no bin" },
	{ "INSERT INTO bin VALUES (1, 257, 258, 1, NULL)", "257 to 258 is no bin of a fine" },
	{ "INSERT INTO bin VALUES (1, 1e19, 2e19, 1, NULL)", "a row of bin" },
	{ "INSERT INTO bin VALUES (4, 64, 65, 1, NULL)", "64 to 65 is no bin of a linear" },
	{ "DROP TABLE run", "of its tables it has only: bin grain histogram machine thread" },
	{ "DROP TABLE bin", "of its tables it has only: grain" },
	{ "DROP TABLE run; CREATE VIEW run AS WITH RECURSIVE n(i) AS"
	  " (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS id FROM n",
		"of its tables it has only" },
	{ "DROP TABLE thread; CREATE VIRTUAL TABLE thread USING fts5(id, refs)",
		"of its tables it has only" },
	{ "ALTER TABLE run RENAME COLUMN lost TO found", "no such column: lost" },
	{ "DROP VIEW v_bin; DROP VIEW v_curve; DROP VIEW v_histogram; DROP VIEW v_cache;"
	  "ALTER TABLE bin RENAME TO b;"
	  "CREATE TABLE bin (histogram_id, low, high, square, w,"
	  " weight AS (w + length(zeroblob(20000000))));"
	  "INSERT INTO bin SELECT histogram_id, low, high, square, weight FROM b",
		"too big" },
	{ "PRAGMA user_version = 2",
		"written by a newer loci (profile version 2, this is 1): upgrade" },
	{ "PRAGMA user_version = 0", "has no version" },
	{ "PRAGMA user_version = -1", "has no version" },
	{ "PRAGMA application_id = 0", "an SQLite database, but not a loci profile" },
};

static void check_spoilt(void)
{
	for (size_t i = 0; i < LOCI_ARRAY_SIZE(spoilt); i++) {
		write_bytes(golden, golden_bytes);
		if (sql(spoilt[i].sql) != SQLITE_OK)
			continue;
		if (spoilt[i].want[0])
			expect_refusal(spoilt[i].want, spoilt[i].sql);
		else
			expect_acceptance(spoilt[i].sql);
	}
}

/* What a user adds does not disturb. */
static void check_additions(void)
{
	write_bytes(golden, golden_bytes);
	sql("CREATE TABLE mine (x); CREATE INDEX mine_bin ON bin (weight);"
	    "ALTER TABLE run ADD COLUMN mood TEXT; UPDATE run SET mood = 'good';"
	    "CREATE VIEW v_mine AS SELECT * FROM no_such_table;"
	    "CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM run; END");
	expect_acceptance("additions");
}

static size_t count_histograms(void)
{
	struct loci_profile *profile = NULL;
	struct loci_err err = { "" };
	size_t n = 0;

	CHECK(loci_profile_open(path, &profile, &err) == 0);
	if (profile)
		loci_profile_hist_keys(profile, &n);
	loci_profile_close(profile);
	return n;
}

/* Kinds of histograms that a later loci adds are passed over, the others read. */
static void check_later_kinds(void)
{
	static const char *const change[] = { "owner = 'galaxy'", "distance = 'hops'",
		"scheme = 'golden'" };
	size_t n;

	write_bytes(golden, golden_bytes);
	n = count_histograms();
	CHECK(n > 1);
	for (size_t i = 0; i < LOCI_ARRAY_SIZE(change); i++) {
		char text[128];

		write_bytes(golden, golden_bytes);
		snprintf(text, sizeof(text), "UPDATE histogram SET %s WHERE id = 2", change[i]);
		CHECK(sql(text) == SQLITE_OK);
		expect_acceptance(text);
		CHECK_U64(count_histograms(), n - 1);
	}
}

static void check_not_sqlite(void)
{
	static const unsigned char trace[] = "\x89loci\r\n\x1a etc.";
	unsigned char header[100];

	write_bytes("", 0);
	expect_refusal("empty, not a profile", "empty");
	write_bytes("I am text\n", 10);
	expect_refusal("not a loci profile", "text");
	write_bytes(trace, sizeof(trace));
	expect_refusal("a trace, not a profile; make a profile of it: loci analyse ", "trace");
	write_bytes(golden, 15);
	expect_refusal("not a loci profile", "15 bytes");
	write_bytes(golden, 99);
	expect_refusal("truncated after 99 bytes", "99 bytes");
	memcpy(header, golden, sizeof(header));
	write_bytes(header, sizeof(header));
	expect_refusal("truncated: 100 of ", "100 bytes");
	unlink(path);
	expect_refusal("cannot open: No such file or directory", "missing");
	CHECK(mkdir(path, 0700) == 0);
	expect_refusal("a directory, not a profile", "directory");
	rmdir(path);
	CHECK(mkfifo(path, 0600) == 0);
	expect_refusal("not a regular file", "fifo");
	unlink(path);
	if (geteuid() != 0) {
		write_bytes(golden, golden_bytes);
		chmod(path, 0);
		expect_refusal("cannot open: Permission denied", "unreadable");
		unlink(path);
	}
}

/* Every torn length is refused: SQLite's header knows how long the file is. */
static void check_truncation(void)
{
	for (size_t n = 16; n < golden_bytes; n += 509) {
		write_bytes(golden, n);
		expect_refusal("truncated", "a torn file");
	}
}

/* Flipped bytes: any answer will do, as long as there is one. */
static void check_corruption(void)
{
	unsigned char *copy = malloc(golden_bytes);
	uint64_t random = 42;
	unsigned refused = 0;

	for (unsigned round = 0; round < 1500; round++) {
		struct loci_err err = { "" };

		memcpy(copy, golden, golden_bytes);
		for (unsigned i = 0; i <= round % 8; i++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			copy[(random >> 20) % golden_bytes] = (unsigned char)(random >> 12);
		}
		write_bytes(copy, golden_bytes);
		if (read_all(&err) < 0) {
			refused++;
			CHECK(err.text[0]);
		}
	}
	CHECK(refused > 300);
	free(copy);
}

static unsigned count_files(void)
{
	DIR *dir = opendir(directory);
	unsigned n = 0;

	while (dir && readdir(dir))
		n++;
	closedir(dir);
	return n - 2;
}

/* Another program's unfinished business is not read over, and not finished for it. */
static void check_journals(void)
{
	char side[80];
	sqlite3 *db = NULL;
	struct stat before, after;

	write_bytes(golden, golden_bytes);
	sql("PRAGMA journal_mode = WAL; UPDATE run SET note = 'edited'");
	CHECK(chmod(path, 0444) == 0 && stat(path, &before) == 0);
	expect_acceptance("a profile left in WAL mode");
	CHECK(stat(path, &after) == 0);
	CHECK(before.st_mtim.tv_nsec == after.st_mtim.tv_nsec && before.st_size == after.st_size);
	CHECK_U64(count_files(), 1);

	CHECK(chmod(path, 0644) == 0 && sqlite3_open(path, &db) == SQLITE_OK);
	CHECK(sqlite3_exec(db, "UPDATE run SET note = 'again'", NULL, NULL, NULL) == SQLITE_OK);
	expect_refusal("another program is changing it", "write-ahead log");
	sqlite3_close(db);
	expect_acceptance("the log checkpointed");

	snprintf(side, sizeof(side), "%s-journal", path);
	CHECK(symlink("/etc/passwd", side) == 0);
	expect_refusal("another program is changing it", "journal");
	unlink(side);
}

static void load_golden(void)
{
	loci_autofclose FILE *file = fopen("golden/profile-v1.loci", "r");
	struct stat st;

	if (!file || fstat(fileno(file), &st) < 0)
		exit(1);
	golden_bytes = (size_t)st.st_size;
	golden = malloc(golden_bytes);
	CHECK(fread(golden, 1, golden_bytes, file) == golden_bytes);
}

int main(void)
{
	if (!mkdtemp(directory))
		return 1;
	snprintf(path, sizeof(path), "%s/p.loci", directory);
	load_golden();
	write_bytes(golden, golden_bytes);
	expect_acceptance("golden");
	check_spoilt();
	check_additions();
	check_later_kinds();
	check_not_sqlite();
	check_truncation();
	check_corruption();
	check_journals();
	unlink(path);
	CHECK(rmdir(directory) == 0);
	free(golden);
	return check_status();
}
