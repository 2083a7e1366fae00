// SPDX-License-Identifier: GPL-2.0-or-later
/* Opening a profile. The file may come from anywhere and hold anything: it is probed before SQLite
 * sees it, opened so that nothing is ever written (no journal, no lock, no recovery) and nothing of
 * its schema but plain tables is run, and every value is checked. */
#include "profile/column.h"
#include "profile/schema.h"

#include "base/cleanup.h"
#include "base/units.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEADER_BYTES    100
#define MAX_VALUE_BYTES (1 << 24) /* of one text */
#define MAX_BLOCK_BYTES (UINT64_C(1) << 30)
/* Files up to this size have their structure checked at once (5 ms a megabyte), larger ones as they
 * are read. */
#define CHECKED_BYTES   (4 << 20)

int loci_profile_damaged(
	const struct loci_profile *profile, struct loci_err *err, const char *fmt, ...)
{
	char what[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	if (profile->replace.temporary) /* being written, and checked before it is done */
		return loci_err_set(err, EINVAL, "%s: cannot write: %s", profile->path, what);
	return loci_err_set(err, EBADMSG, "%s: damaged profile: %s; copy it again or make it anew",
		profile->path, what);
}

int loci_profile_db_error(const struct loci_profile *profile, struct loci_err *err)
{
	bool writing = profile->replace.temporary != NULL;
	int code = sqlite3_extended_errcode(profile->db) & 0xff, system = 0;

	if (code == SQLITE_NOMEM || !profile->db)
		return loci_err_nomem(err);
	if (code == SQLITE_FULL)
		system = ENOSPC;
	else if (code == SQLITE_CANTOPEN)
		system = sqlite3_system_errno(profile->db);
	else if (code == SQLITE_IOERR) /* of the file: the connection's own is not set by COMMIT */
		sqlite3_file_control(profile->db, "main", SQLITE_FCNTL_LAST_ERRNO, &system);
	if (system)
		return loci_err_set(err, system, "%s: cannot %s: %s", profile->path,
			writing ? "write" : "read", strerror(system));
	if (writing)
		return loci_err_set(err, EIO, "%s: cannot write: %s", profile->path,
			sqlite3_errmsg(profile->db));
	return loci_profile_damaged(profile, err, "%s", sqlite3_errmsg(profile->db));
}

static uint32_t big_endian(const unsigned char *bytes, unsigned n)
{
	uint32_t value = 0;

	for (unsigned i = 0; i < n; i++)
		value = value << 8 | bytes[i];
	return value;
}

/* SQLite's header (its file format is documented and stable): what the file is, who wrote it and
 * whether it is all there. */
static int check_header(struct loci_profile *profile, const unsigned char *header, uint64_t size,
	struct loci_err *err)
{
	uint32_t page_bytes = big_endian(header + 16, 2), pages = big_endian(header + 28, 4);
	uint32_t version = big_endian(header + 60, 4);

	if (big_endian(header + 68, 4) != LOCI_PROFILE_APPLICATION_ID)
		return loci_err_set(err, EBADMSG,
			"%s: an SQLite database, but not a loci profile (loci record makes them)",
			profile->path);
	if (version > INT32_MAX || version == 0)
		return loci_profile_damaged(profile, err, "it has no version");
	if (version > LOCI_PROFILE_VERSION)
		return loci_err_set(err, ENOTSUP,
			"%s: written by a newer loci (profile version %" PRIu32
			", this is %d): upgrade loci",
			profile->path, version, LOCI_PROFILE_VERSION);
	if (page_bytes == 1)
		page_bytes = 65536;
	if ((uint64_t)pages * page_bytes > size)
		return loci_profile_damaged(profile, err,
			"truncated: %" PRIu64 " of %" PRIu64 " bytes are there", size,
			(uint64_t)pages * page_bytes);
	profile->version = (int)version;
	return 0;
}

static int not_a_profile(
	const char *path, const unsigned char *header, ssize_t n, struct loci_err *err)
{
	if (n >= 8 && !memcmp(header, "\x89loci\r\n\x1a", 8))
		return loci_err_set(err, EBADMSG,
			"%s: a trace, not a profile; make a profile of it: loci analyse %s", path,
			path);
	return loci_err_set(err, EBADMSG,
		"%s: not a loci profile (loci record and loci analyse make them)", path);
}

static int probe(struct loci_profile *profile, uint64_t *ret_bytes, struct loci_err *err)
{
	const char *path = profile->path;
	loci_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	unsigned char header[HEADER_BYTES];
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) < 0)
		return loci_err_set(err, errno, "%s: cannot open: %s", path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return loci_err_set(err, EISDIR, "%s: a directory, not a profile", path);
	if (!S_ISREG(st.st_mode))
		return loci_err_set(err, EINVAL,
			"%s: not a regular file; a profile cannot be read from a pipe or device",
			path);
	if (st.st_size == 0)
		return loci_err_set(err, EBADMSG, "%s: empty, not a profile", path);
	n = pread(fd, header, sizeof(header), 0);
	if (n < 0)
		return loci_err_set(err, errno, "%s: cannot read: %s", path, strerror(errno));
	if (n < 16 || memcmp(header, "SQLite format 3", 16))
		return not_a_profile(path, header, n, err);
	if (n < HEADER_BYTES)
		return loci_profile_damaged(profile, err, "truncated after %zd bytes", n);
	*ret_bytes = (uint64_t)st.st_size;
	return check_header(profile, header, *ret_bytes, err);
}

/* An SQLite program left its journal: what the file holds is not what that program wrote. */
static int check_journals(const struct loci_profile *profile, struct loci_err *err)
{
	static const char *const suffixes[] = { "-wal", "-journal" };

	for (size_t i = 0; i < LOCI_ARRAY_SIZE(suffixes); i++) {
		char *side = sqlite3_mprintf("%s%s", profile->path, suffixes[i]);
		struct stat st;
		bool pending = side && stat(side, &st) == 0 && st.st_size > 0;

		sqlite3_free(side);
		if (pending)
			return loci_err_set(err, EBUSY,
				"%s: another program is changing it, or died doing so (%s%s is "
				"there); finish that, or run: sqlite3 %s 'PRAGMA "
				"journal_mode=DELETE'",
				profile->path, profile->path, suffixes[i], profile->path);
	}
	return 0;
}

/* immutable: SQLite takes no lock and never looks for a journal to play back. */
static char *immutable_uri(const char *path)
{
	static const char plain[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-~";
	sqlite3_str *uri = sqlite3_str_new(NULL);

	sqlite3_str_appendall(uri, path[0] == '/' ? "file://" : "file:");
	for (; *path; path++) {
		if (strchr(plain, *path))
			sqlite3_str_appendchar(uri, 1, *path);
		else
			sqlite3_str_appendf(uri, "%%%02x", (unsigned char)*path);
	}
	sqlite3_str_appendall(uri, "?immutable=1");
	return sqlite3_str_finish(uri);
}

static int open_database(struct loci_profile *profile, struct loci_err *err)
{
	int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX |
		SQLITE_OPEN_EXRESCODE;
	char *uri = immutable_uri(profile->path);
	int rc = uri ? sqlite3_open_v2(uri, &profile->db, flags, NULL) : SQLITE_NOMEM;

	sqlite3_free(uri);
	if (rc != SQLITE_OK)
		return loci_profile_db_error(profile, err);
	sqlite3_db_config(profile->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(profile->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(profile->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(profile->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_limit(profile->db, SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES);
	if (sqlite3_exec(profile->db, "PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY",
		    NULL, NULL, NULL) != SQLITE_OK)
		return loci_profile_db_error(profile, err);
	return 0;
}

/* Runs sql, whose only value must be the text given. */
static int expect_text(struct loci_profile *profile, const char *sql, const char *want,
	const char *what, struct loci_err *err)
{
	sqlite3_stmt *stmt = NULL;
	const char *got = NULL;
	int r = 0;

	if (sqlite3_prepare_v2(profile->db, sql, -1, &stmt, NULL) != SQLITE_OK ||
		sqlite3_step(stmt) != SQLITE_ROW)
		r = loci_profile_db_error(profile, err);
	else
		got = loci_column_text(stmt, 0);
	if (r == 0 && (!got || strcmp(got, want)))
		r = loci_profile_damaged(profile, err, "%s%s", what, got ? got : "nothing");
	sqlite3_finalize(stmt);
	return r;
}

/* The tables read here are plain tables, neither views nor virtual tables, whatever they are
 * called; and small files are sound throughout. */
#define NAME(name, names) ",'" #name "'"
static int check_structure(struct loci_profile *profile, uint64_t bytes, struct loci_err *err)
{
	static const char tables[] =
		"SELECT group_concat(name, ' ') FROM (SELECT name FROM sqlite_schema "
		"WHERE type = 'table' AND rootpage > 0 AND name IN "
		"('bin', 'grain', 'histogram', 'machine', 'run', 'thread') ORDER BY name)";
	static const char others[] = /* dimensions, which may be missing */
		"SELECT coalesce(group_concat(name, ' '), 'none') FROM sqlite_schema "
		"WHERE (type != 'table' OR rootpage = 0) AND lower(name) IN "
		"('unseen'" LOCI_DIMENSIONS(NAME) ")";
	int r = expect_text(profile, tables, "bin grain histogram machine run thread",
		"of its tables it has only: ", err);

	if (r == 0)
		r = expect_text(profile, others, "none", "these are no plain tables: ", err);
	if (r == 0 && bytes <= CHECKED_BYTES)
		r = expect_text(profile, "PRAGMA quick_check(1)", "ok", "", err);
	return r;
}

static int read_run(struct loci_profile *profile, struct loci_err *err)
{
	loci_autofree struct loci_run *run = NULL, *machine = NULL;
	size_t n_runs = 0, n_machines = 0;
	int r = loci_table_select(profile, &loci_table_run, (void **)&run, &n_runs, err);

	if (r < 0)
		return r;
	for (size_t i = 1; i < n_runs; i++)
		loci_run_fini(&run[i]);
	if (n_runs)
		profile->run = run[0];
	if (n_runs != 1)
		return loci_profile_damaged(
			profile, err, "it has %zu rows in run, not one", n_runs);
	if (!profile->run.unit ||
		(strcmp(profile->run.unit, "byte") && strcmp(profile->run.unit, "object")))
		return loci_profile_damaged(profile, err, "run.unit holds nonsense");
	r = loci_table_select(profile, &loci_table_machine, (void **)&machine, &n_machines, err);
	if (r < 0)
		return r;
	for (size_t i = 1; i < n_machines; i++)
		loci_run_fini(&machine[i]);
	if (n_machines) {
		profile->run.machine = machine[0].machine;
		profile->run.caches = machine[0].caches;
	}
	return 0;
}

static int read_grains(struct loci_profile *profile, struct loci_err *err)
{
	int r = loci_table_select(
		profile, &loci_table_grain, (void **)&profile->grain, &profile->n_grains, err);

	if (r < 0)
		return r;
	if (!profile->n_grains)
		return loci_profile_damaged(profile, err, "it has no block size");
	for (size_t i = 0; i < profile->n_grains; i++) {
		const struct loci_grain *grain = &profile->grain[i];

		if (!loci_is_power_of_2(grain->block_bytes) ||
			grain->block_bytes > MAX_BLOCK_BYTES ||
			(i && grain->block_bytes == grain[-1].block_bytes))
			return loci_profile_damaged(profile, err,
				"a block of %" PRIu64 " bytes makes no sense", grain->block_bytes);
		if (!(grain->sampling_rate > 0 && grain->sampling_rate <= 1))
			return loci_profile_damaged(
				profile, err, "grain.sampling_rate is not between 0 and 1");
	}
	return 0;
}

static int read_profile(struct loci_profile *profile, struct loci_err *err)
{
	uint64_t bytes = 0;
	int r = probe(profile, &bytes, err);

	if (r == 0)
		r = check_journals(profile, err);
	if (r == 0)
		r = open_database(profile, err);
	if (r == 0)
		r = check_structure(profile, bytes, err);
	if (r == 0)
		r = read_run(profile, err);
	if (r == 0)
		r = read_grains(profile, err);
	if (r == 0)
		r = loci_table_select(profile, &loci_table_thread, (void **)&profile->thread,
			&profile->n_threads, err);
	if (r == 0 && loci_profile_has_table(profile, "unseen"))
		r = loci_table_select(profile, &loci_table_unseen, (void **)&profile->unseen,
			&profile->n_unseen, err);
	return r < 0 ? r : loci_profile_load_index(profile, err);
}

int loci_profile_probe(const char *path, struct loci_err *err)
{
	loci_autofree char *copy = strdup(path);
	struct loci_profile profile = { .path = copy };
	uint64_t bytes;
	int r = copy ? probe(&profile, &bytes, err) : loci_err_nomem(err);

	return r < 0 ? r : check_journals(&profile, err);
}

int loci_profile_open(const char *path, struct loci_profile **ret, struct loci_err *err)
{
	struct loci_profile *profile = calloc(1, sizeof(*profile));
	int r;

	if (!profile)
		return loci_err_nomem(err);
	profile->replace.fd = -1;
	profile->path = strdup(path);
	r = profile->path ? read_profile(profile, err) : loci_err_nomem(err);
	if (r < 0) {
		loci_profile_close(profile);
		return r;
	}
	*ret = profile;
	return 0;
}

void loci_profile_finalize(struct loci_profile *profile)
{
	sqlite3_finalize(profile->bins);
	sqlite3_finalize(profile->hist);
	profile->bins = profile->hist = NULL;
	for (size_t i = 0; i < LOCI_ARRAY_SIZE(profile->insert); i++) {
		sqlite3_finalize(profile->insert[i]);
		profile->insert[i] = NULL;
	}
}

void loci_profile_close(struct loci_profile *profile)
{
	if (!profile)
		return;
	loci_profile_finalize(profile);
	sqlite3_close(profile->db);
	loci_replace_fini(&profile->replace);
	loci_profile_free_index(profile);
	loci_profile_free_dimensions(profile);
	loci_run_fini(&profile->run);
	free(profile->grain);
	free(profile->thread);
	free(profile->unseen);
	free(profile->path);
	free(profile);
}

const char *loci_profile_path(const struct loci_profile *profile)
{
	return profile->path;
}

int loci_profile_version(const struct loci_profile *profile)
{
	return profile->version;
}

const struct loci_run *loci_profile_run(const struct loci_profile *profile)
{
	return &profile->run;
}

const struct loci_grain *loci_profile_grains(const struct loci_profile *profile, size_t *ret_n)
{
	*ret_n = profile->n_grains;
	return profile->grain;
}

const struct loci_grain *loci_profile_grain(
	const struct loci_profile *profile, uint64_t block_bytes)
{
	for (size_t i = 0; i < profile->n_grains; i++)
		if (profile->grain[i].block_bytes == block_bytes)
			return &profile->grain[i];
	return NULL;
}

const struct loci_thread_totals *loci_profile_threads(
	const struct loci_profile *profile, size_t *ret_n)
{
	*ret_n = profile->n_threads;
	return profile->thread;
}

const struct loci_unseen_calls *loci_profile_unseen(
	const struct loci_profile *profile, size_t *ret_n)
{
	*ret_n = profile->n_unseen;
	return profile->unseen;
}
