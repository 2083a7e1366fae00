// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/export.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void put_text(FILE *out, const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

static void put_number(FILE *out, double value)
{
	fprintf(out, value == floor(value) && value < 0x1p63 ? "%.0f" : "%.17g", value);
}

/* The columns that are the same in all lines of a histogram. */
static void put_key(FILE *out, const char *path, const struct loci_hist_key *key)
{
	put_text(out, path);
	fprintf(out, ",%s,%" PRIu64 ",%u,%s,%" PRId64, loci_distance_name(key->distance),
		key->block_bytes, key->set_bits, loci_owner_name(key->owner), key->owner_id);
}

static void put_infinite(FILE *out, const char *path, const struct loci_hist_key *key,
	const char *kind, double weight)
{
	put_key(out, path, key);
	fprintf(out, ",%s,,,", kind);
	put_number(out, weight);
	fputs(",\n", out);
}

static void put_bin(FILE *out, const char *path, const struct loci_hist_key *key,
	const struct loci_hist *hist, uint32_t bin)
{
	uint64_t high = loci_bin_high(hist->scheme, bin);

	put_key(out, path, key);
	fprintf(out, ",reuse,%" PRIu64 ",", loci_bin_low(hist->scheme, bin));
	if (high != LOCI_INFINITE)
		fprintf(out, "%" PRIu64, high);
	fputc(',', out);
	put_number(out, hist->weight[bin]);
	fputc(',', out);
	if (hist->square)
		put_number(out, hist->square[bin]);
	fputc('\n', out);
}

int loci_export_csv(struct loci_profile *profile, FILE *out, struct loci_err *err)
{
	const char *path = loci_profile_path(profile);
	size_t n;
	const struct loci_hist_key *key = loci_profile_hist_keys(profile, &n);
	const struct loci_hist *hist;

	fputs("profile,distance,block_bytes,set_bits,owner,owner_id,kind,low,high,weight,square\n",
		out);
	for (size_t i = 0; i < n; i++) {
		int r = loci_profile_hist(profile, &key[i], &hist, err);

		if (r < 0)
			return r;
		for (uint32_t bin = 0; bin < hist->n_bins; bin++)
			if (hist->weight[bin])
				put_bin(out, path, &key[i], hist, bin);
		put_infinite(out, path, &key[i], "cold", hist->cold);
		put_infinite(out, path, &key[i], "coherence", hist->coherence);
	}
	return 0;
}
