// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/units.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int loci_units_parse_u64(const char *text, uint64_t *ret, struct loci_err *err)
{
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return loci_err_set(err, EINVAL, "\"%.60s\" is not a number", text);
	errno = 0;
	*ret = strtoull(text, &end, hex ? 16 : 10);
	if (errno == ERANGE)
		return loci_err_set(err, ERANGE, "\"%.60s\" is more than 64 bits hold", text);
	if (*end)
		return loci_err_set(err, EINVAL, "\"%.60s\" is not a number", text);
	return 0;
}

int loci_units_parse_bytes(const char *text, uint64_t *ret, struct loci_err *err)
{
	static const char prefix[] = "KMGTPE";
	long double value, scale = 1;
	const char *found;
	char *end;

	if (!isdigit((unsigned char)text[0]) || !strncasecmp(text, "0x", 2))
		goto bad;
	value = strtold(text, &end);
	if (*end && (found = strchr(prefix, toupper((unsigned char)*end))) && *found) {
		scale = ldexpl(1, 10 * (int)(found - prefix + 1));
		end++;
		if (end[0] == 'i' && end[1] == 'B')
			end += 2;
		else if (end[0] == 'B')
			end++;
	} else if (end[0] == 'B') {
		end++;
	}
	if (*end)
		goto bad;
	value *= scale;
	if (!(value < 0x1p64L))
		return loci_err_set(err, ERANGE, "size \"%.60s\" is more than 64 bits hold", text);
	if (value != floorl(value))
		return loci_err_set(
			err, EINVAL, "size \"%.60s\" is not a whole number of bytes", text);
	*ret = (uint64_t)value;
	return 0;
bad:
	return loci_err_set(
		err, EINVAL, "\"%.60s\" is not a size (write 64, 32K, 1.25M or 2G)", text);
}

/* Three significant digits, never in exponent notation. */
static const char *three_digits(char buf[LOCI_UNITS_MAX], double value, const char *unit)
{
	int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;

	if (value == floor(value) && value < 1000)
		decimals = 0;
	snprintf(buf, LOCI_UNITS_MAX, "%.*f%s%s", decimals, value, *unit ? " " : "", unit);
	return buf;
}

const char *loci_units_bytes(char buf[LOCI_UNITS_MAX], double bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	unsigned i = 0;

	while (bytes >= 1023.5 && i + 1 < sizeof(units) / sizeof(units[0])) {
		bytes /= 1024;
		i++;
	}
	return three_digits(buf, bytes, units[i]);
}

const char *loci_units_size(char buf[LOCI_UNITS_MAX], uint64_t bytes)
{
	static const char *const units[] = { "", "K", "M", "G", "T" };

	for (int i = 4; i > 0; i--) {
		double value = (double)bytes / ldexp(1, 10 * i);

		if (value >= 1 && value * 100 == floor(value * 100) && value < 1e6) {
			snprintf(buf, LOCI_UNITS_MAX, "%.10g%s", value, units[i]);
			return buf;
		}
	}
	snprintf(buf, LOCI_UNITS_MAX, "%llu", (unsigned long long)bytes);
	return buf;
}

const char *loci_units_count(char buf[LOCI_UNITS_MAX], double count)
{
	static const char *const units[] = { "", "k", "M", "G", "T", "P", "E" };
	unsigned i = 0;

	while (count >= 999.5 && i + 1 < sizeof(units) / sizeof(units[0])) {
		count /= 1000;
		i++;
	}
	return three_digits(buf, count, units[i]);
}

const char *loci_units_points(char buf[LOCI_UNITS_MAX], double points)
{
	snprintf(buf, LOCI_UNITS_MAX, points < 99.5 ? "%.2g" : "%.0f", points);
	return buf;
}

const char *loci_units_seconds(char buf[LOCI_UNITS_MAX], double seconds)
{
	if (seconds < 1)
		snprintf(buf, LOCI_UNITS_MAX, "%.0f ms", seconds * 1e3);
	else if (seconds < 60)
		snprintf(buf, LOCI_UNITS_MAX, "%.1f s", seconds);
	else if (seconds < 3600)
		snprintf(
			buf, LOCI_UNITS_MAX, "%d min %02d s", (int)seconds / 60, (int)seconds % 60);
	else
		snprintf(buf, LOCI_UNITS_MAX, "%d h %02d min", (int)(seconds / 3600),
			(int)(seconds / 60) % 60);
	return buf;
}
