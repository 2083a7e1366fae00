-- SPDX-License-Identifier: GPL-2.0-or-later
-- Added to the profile of matrix_program.h so that the viewer has something in every view: threads,
-- regions, phases, parts of an array, operations. Figures are made up but add up.
INSERT INTO thread (id, process_id, name, refs) SELECT 7, process_id, 'worker', 1000 FROM thread LIMIT 1;
INSERT INTO thread (id, process_id, name, refs) SELECT 8, process_id, NULL, 2000 FROM thread LIMIT 1;
INSERT INTO level_count (level_id, owner, owner_id, first_hits, misses, writebacks) SELECT id, 'thread', 7, 900, 100, 5 FROM level;
INSERT INTO region (id, parent_id, name, entries, refs) VALUES (1, NULL, 'solve', 1, 600), (2, 1, 'smooth', 4, 5000);
INSERT INTO level_count (level_id, owner, owner_id, first_hits, misses, writebacks) SELECT id, 'region', 2, 4000, 1000, 10 FROM level;
INSERT INTO phase (id, name, refs) VALUES (1, NULL, 1000), (2, 'multiply', 9000);
INSERT INTO level_count (level_id, owner, owner_id, first_hits, misses, writebacks) SELECT id, 'phase', 1, 950, 50, 0 FROM level;
INSERT INTO level_count (level_id, owner, owner_id, first_hits, misses, writebacks) SELECT id, 'phase', 2, 5000, 4000, 10 FROM level;
INSERT INTO stretch (first_refs, refs, phase_id) VALUES (0, 500, 1), (500, 4000, 2), (4500, 500, 1), (5000, 5000, 2);
INSERT INTO piece (object_id, axis, low, high, block_bytes, touches, cold, reuses, distance_blocks, misses)
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 23)
SELECT (SELECT owner_id FROM level_count WHERE owner = 'object' ORDER BY misses DESC LIMIT 1), 'index',
	i * 24, (i + 1) * 24, 64, 600, 3, 597, 597 * (20 + i), 500 + i FROM n;
INSERT INTO block (id, function_id, source_id, line, entry, contents, executions, range_loaded_bytes,
	range_stored_bytes) SELECT 1, id, source_id, line, 1, 12345, 1000, 0, 0 FROM function LIMIT 1;
INSERT INTO operation (block_id, kind, type, lanes, count, bits) VALUES
	(1, 'load', 'f64', 1, 2, 128), (1, 'float fma', 'f64', 4, 1, 1024), (1, 'int add', 'i64', 1, 1, 192),
	(1, 'branch cond', NULL, 1, 1, 0);

-- Two threads apart, as a pair and together: distances in stacks of their own, what they met of each
-- other, and who took what from whom.
INSERT INTO histogram (id, owner, owner_id, distance, block_bytes, set_bits, scheme, sampled, cold, coherence)
SELECT 90000 + n, o.owner, o.owner_id, 'private', 64, 0, scheme, 0, cold, 40 * n FROM histogram h,
	(SELECT 1 AS n, 'thread' AS owner, 7 AS owner_id UNION SELECT 2, 'thread', 8 UNION SELECT 3, 'thread_group', 1) o
	WHERE h.owner = 'whole' AND h.distance = 'stack';
INSERT INTO bin (histogram_id, low, high, weight) SELECT 90000 + n, low, high, weight * n / 3 + 1 FROM bin
	JOIN histogram h ON h.id = histogram_id AND h.owner = 'whole' AND h.distance = 'stack',
	(SELECT 1 AS n UNION SELECT 2 UNION SELECT 3);
UPDATE level_count SET transfers = 3 * level_id WHERE owner = 'whole';
INSERT INTO thread_group (id, share, thread_id, threads) VALUES (1, 2, 7, '7,8');
INSERT INTO coherence (id, owner, owner_id, block_bytes, touches, true_sharing, false_sharing, remote) VALUES
	(1, 'whole', 0, 64, 31227, 50, 70, 900), (2, 'thread', 7, 64, 10000, 10, 30, 400),
	(3, 'thread', 8, 64, 21227, 40, 40, 500), (4, 'thread_group', 1, 64, 31227, 0, 0, 0);
INSERT INTO coherence (id, owner, owner_id, block_bytes, touches, true_sharing, false_sharing, remote)
	SELECT 10 + id, 'object', id, 64, refs, 5, 70, 90 FROM object WHERE id = 1;
INSERT INTO shared_blocks (id, block_bytes, alone, read_only, written) VALUES (1, 64, 150, 40, 26);
INSERT INTO sharing (id, write_site_id, miss_site_id, object_id, write_object_id, kind, misses, threads)
	SELECT 1, min(id), max(id), 1, 2, 'false', 70, 2 FROM site;
INSERT INTO sharing (id, write_site_id, miss_site_id, object_id, write_object_id, kind, misses, threads)
	SELECT 2, max(id), max(id), 1, 1, 'true', 50, 2 FROM site;
