/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Members of JSON objects: a key and its value in one call. */
#ifndef LOCI_REPORT_PAIRS_H
#define LOCI_REPORT_PAIRS_H

#include "report/json.h"

static inline void loci_pair_string(struct loci_json *json, const char *key, const char *text)
{
	loci_json_key(json, key);
	loci_json_string(json, text);
}

static inline void loci_pair_bool(struct loci_json *json, const char *key, bool value)
{
	loci_json_key(json, key);
	loci_json_bool(json, value);
}

static inline void loci_pair_number(struct loci_json *json, const char *key, double value)
{
	loci_json_key(json, key);
	loci_json_number(json, value);
}

static inline void loci_pair_u64(struct loci_json *json, const char *key, uint64_t value)
{
	loci_json_key(json, key);
	loci_json_u64(json, value);
}

static inline void loci_pair_object(struct loci_json *json, const char *key)
{
	loci_json_key(json, key);
	loci_json_object(json);
}

static inline void loci_pair_array(struct loci_json *json, const char *key)
{
	loci_json_key(json, key);
	loci_json_array(json);
}

/* What every document of ours begins with. Versions only grow, and with them only members. */
static inline void loci_pair_format(struct loci_json *json, const char *format)
{
	loci_pair_string(json, "format", format);
	loci_pair_u64(json, "version", 1);
}

#endif
