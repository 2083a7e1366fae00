/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text of schema.sql, which makes an empty profile. */
#ifndef LOCI_PROFILE_SCHEMA_H
#define LOCI_PROFILE_SCHEMA_H

#define LOCI_PROFILE_APPLICATION_ID 0x6c6f6369 /* "loci" */

extern const char loci_schema_sql[];

#endif
