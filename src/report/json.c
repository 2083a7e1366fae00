// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

void loci_json_begin(struct loci_json *json, FILE *out)
{
	*json = (struct loci_json){ .out = out };
}

void loci_json_end(struct loci_json *json)
{
	assert(json->depth == 0);
	fputc('\n', json->out);
}

static void new_line(struct loci_json *json)
{
	if (json->is_compact)
		return;
	fputc('\n', json->out);
	for (unsigned i = 0; i < json->depth; i++)
		fputs("  ", json->out);
}

static void before_value(struct loci_json *json)
{
	if (json->after_key) {
		json->after_key = false;
		return;
	}
	if (json->depth) {
		if (json->has_member[json->depth - 1])
			fputc(',', json->out);
		json->has_member[json->depth - 1] = true;
		new_line(json);
	}
}

static void open_scope(struct loci_json *json, char bracket)
{
	before_value(json);
	assert(json->depth < LOCI_JSON_DEPTH);
	fputc(bracket, json->out);
	json->has_member[json->depth++] = false;
}

static void close_scope(struct loci_json *json, char bracket)
{
	assert(json->depth > 0);
	json->depth--;
	if (json->has_member[json->depth])
		new_line(json);
	fputc(bracket, json->out);
}

void loci_json_object(struct loci_json *json)
{
	open_scope(json, '{');
}

void loci_json_object_end(struct loci_json *json)
{
	close_scope(json, '}');
}

void loci_json_array(struct loci_json *json)
{
	open_scope(json, '[');
}

void loci_json_array_end(struct loci_json *json)
{
	close_scope(json, ']');
}

/* Length of the UTF-8 sequence at s, or 0 if it is none. Overlong forms and surrogates are left to
 * the reader; what matters is that the output stays decodable. */
static unsigned utf8_length(const unsigned char *s)
{
	unsigned n = s[0] >= 0xf0 && s[0] < 0xf5 ? 4
		: s[0] >= 0xe0 && s[0] < 0xf0    ? 3
		: s[0] >= 0xc2 && s[0] < 0xe0    ? 2
						 : 0;

	for (unsigned i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

static void quoted(struct loci_json *json, const char *text)
{
	FILE *out = json->out;

	fputc('"', out);
	for (const unsigned char *s = (const unsigned char *)text; *s; s++) {
		unsigned n;

		if (*s == '"' || *s == '\\')
			fprintf(out, "\\%c", *s);
		else if (*s < 0x20)
			fprintf(out, "\\u%04x", *s);
		else if (*s < 0x80)
			fputc(*s, out);
		else if ((n = utf8_length(s)) > 0) {
			fwrite(s, 1, n, out);
			s += n - 1;
		} else {
			fputs("\\ufffd", out);
		}
	}
	fputc('"', out);
}

void loci_json_key(struct loci_json *json, const char *key)
{
	before_value(json);
	quoted(json, key);
	fputs(json->is_compact ? ":" : ": ", json->out);
	json->after_key = true;
}

void loci_json_string(struct loci_json *json, const char *text)
{
	before_value(json);
	if (text)
		quoted(json, text);
	else
		fputs("null", json->out);
}

void loci_json_bool(struct loci_json *json, bool value)
{
	before_value(json);
	fputs(value ? "true" : "false", json->out);
}

void loci_json_number(struct loci_json *json, double value)
{
	char buf[40];

	before_value(json);
	if (!isfinite(value)) {
		fputs("null", json->out);
		return;
	}
	if (value == floor(value) && fabs(value) < 0x1p53) {
		fprintf(json->out, "%.0f", value == 0 ? 0.0 : value);
		return;
	}
	for (int digits = 6; digits <= 17; digits++) {
		snprintf(buf, sizeof(buf), "%.*g", digits, value);
		if (strtod(buf, NULL) == value)
			break;
	}
	fputs(buf, json->out);
}

void loci_json_u64(struct loci_json *json, uint64_t value)
{
	before_value(json);
	fprintf(json->out, "%" PRIu64, value);
}
