-- SPDX-License-Identifier: GPL-2.0-or-later
-- The profile's tables, version 1. doc/profile-format.md explains them and has a cookbook.
--
-- Counts are whole numbers wherever they are exact; estimates are REAL and come with their sums of
-- squares. Units are in the names: _bytes, _refs, _ns; refs are references (loads and stores),
-- touches are references split at block edges. A name ending in _id is the id of another table's
-- row. What is unknown is NULL. Tables of dimensions that a run did not record are empty.
--
-- user_version is the version. It changes only when something that stands here changes its
-- meaning; tables and columns may be added without, and a reader ignores those it does not know.
PRAGMA application_id = 1819239273; -- "loci"
PRAGMA user_version = 1;

-- What was run, where, and how it was watched.

CREATE TABLE machine (
	id INTEGER PRIMARY KEY,
	processor TEXT,
	caches TEXT,          -- in the cache grammar: L1=48K/12,L2=1.25M/20,L3=48M/12:shared
	cores INTEGER,
	memory_bytes INTEGER,
	page_bytes INTEGER,
	kernel TEXT
);

CREATE TABLE run ( -- exactly one row
	id INTEGER PRIMARY KEY CHECK (id = 1),
	command TEXT,         -- the program's command line, or the trace's path
	collector TEXT,       -- import, any, cc, gcc, pmu, step
	origin TEXT,          -- an import's format, or the collector's version
	mode TEXT,            -- exact, sample, watch
	unit TEXT NOT NULL,   -- byte, or object: whole objects with ids, where a block is an object
	capabilities TEXT,    -- words: complete windows samples stores sites partial approximate
	                      -- statement: an element counts once per execution of a statement
	loci_version TEXT,
	machine_id INTEGER REFERENCES machine,
	started TEXT,         -- UTC, ISO 8601
	seconds REAL,         -- wall time
	complete INTEGER NOT NULL, -- 0: interrupted, torn or lossy; note says which
	note TEXT,
	refs INTEGER NOT NULL,     -- loads + stores + fetches
	loads INTEGER NOT NULL,
	stores INTEGER NOT NULL,
	fetches INTEGER NOT NULL,
	bulk INTEGER NOT NULL,     -- of refs: made by memcpy, memset and their like
	lost INTEGER NOT NULL,     -- references known to be missing
	threads INTEGER NOT NULL,
	merged INTEGER NOT NULL    -- runs added up in this profile
);

CREATE TABLE environment ( -- the few variables that matter, never all of them
	name TEXT PRIMARY KEY,
	value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE unseen ( -- code that ran unobserved
	library TEXT PRIMARY KEY,
	calls INTEGER NOT NULL,
	ns INTEGER
) WITHOUT ROWID;

CREATE TABLE process (
	id INTEGER PRIMARY KEY,
	parent_id INTEGER REFERENCES process,
	pid INTEGER,
	rank INTEGER,         -- in MPI_COMM_WORLD
	machine_id INTEGER REFERENCES machine,
	command TEXT
);

CREATE TABLE thread (
	id INTEGER PRIMARY KEY, -- as in the stream; merging renumbers
	process_id INTEGER REFERENCES process,
	name TEXT,
	refs INTEGER NOT NULL
);

-- Code.

CREATE TABLE module (
	id INTEGER PRIMARY KEY,
	path TEXT NOT NULL,
	build_id TEXT         -- hexadecimal
);

CREATE TABLE source (
	id INTEGER PRIMARY KEY,
	path TEXT NOT NULL
);

CREATE TABLE excerpt ( -- source lines around sites
	source_id INTEGER NOT NULL REFERENCES source,
	line INTEGER NOT NULL,
	text TEXT NOT NULL,
	PRIMARY KEY (source_id, line)
) WITHOUT ROWID;

CREATE TABLE function (
	id INTEGER PRIMARY KEY,
	module_id INTEGER REFERENCES module,
	name TEXT NOT NULL,   -- as in the source
	mangled TEXT,         -- as in the symbol table, where that differs
	source_id INTEGER REFERENCES source,
	line INTEGER
);

CREATE TABLE inlined ( -- a call that the compiler inlined; site.inlined_id is the innermost
	id INTEGER PRIMARY KEY,
	parent_id INTEGER REFERENCES inlined,
	function_id INTEGER NOT NULL REFERENCES function, -- the one inlined
	source_id INTEGER REFERENCES source,              -- the place of the call
	line INTEGER,
	column_number INTEGER
);

CREATE TABLE loop ( -- found in the code that ran
	id INTEGER PRIMARY KEY,
	parent_id INTEGER REFERENCES loop, -- the loop around it
	function_id INTEGER REFERENCES function,
	source_id INTEGER REFERENCES source,
	line INTEGER,         -- of its header
	last_line INTEGER,
	iterations INTEGER NOT NULL -- times its header was reached from inside
);

CREATE TABLE site ( -- one static load or store
	id INTEGER PRIMARY KEY,
	site_key TEXT NOT NULL, -- survives rebuilding: mangled function, line offset in it, chain of
	                        -- inlined calls, ordinal; the same site in two profiles has one key
	function_id INTEGER REFERENCES function,
	module_id INTEGER REFERENCES module, -- where the function is unknown
	inlined_id INTEGER REFERENCES inlined,
	loop_id INTEGER REFERENCES loop, -- the innermost around it
	source_id INTEGER REFERENCES source,
	line INTEGER,
	column_number INTEGER,
	op TEXT NOT NULL,     -- load, store, fetch
	size_bytes INTEGER,   -- 0: a range
	flags TEXT,           -- words: atomic kernel bulk streaming vector modify prefetch
	code_offset INTEGER,  -- in the module
	refs INTEGER NOT NULL
);

CREATE TABLE site_thread ( -- one site in one thread, as the owner of a histogram
	id INTEGER PRIMARY KEY,
	site_id INTEGER NOT NULL REFERENCES site,
	thread_id INTEGER NOT NULL REFERENCES thread,
	refs INTEGER NOT NULL
);

CREATE TABLE context ( -- a node of the calling context tree
	id INTEGER PRIMARY KEY,
	parent_id INTEGER REFERENCES context, -- NULL: a root
	function_id INTEGER REFERENCES function,
	source_id INTEGER REFERENCES source,  -- the place of the call
	line INTEGER,
	refs INTEGER NOT NULL -- of this context itself, not of those below it
);

-- Operations, of code that was compiled to have them counted: how often a block ran, times what
-- it does.

CREATE TABLE block ( -- straight-line code; calls end it
	id INTEGER PRIMARY KEY,
	function_id INTEGER REFERENCES function,
	loop_id INTEGER REFERENCES loop, -- the innermost around it
	source_id INTEGER REFERENCES source,
	line INTEGER,
	entry INTEGER NOT NULL,      -- 1: executing it is an invocation of the function
	contents INTEGER NOT NULL,   -- a digest of what it does: tells blocks of one line apart
	executions INTEGER NOT NULL,
	range_loaded_bytes INTEGER NOT NULL, -- by memcpy, strlen and their like, in all of them ..
	range_stored_bytes INTEGER NOT NULL  -- .. and by memcpy, memset
);

CREATE TABLE operation ( -- what a block does each time it runs
	id INTEGER PRIMARY KEY,
	block_id INTEGER NOT NULL REFERENCES block,
	kind TEXT NOT NULL,          -- load, store, int add, float mul, branch cond, ..
	type TEXT,                   -- i32, f64, pointer; NULL: none
	lanes INTEGER NOT NULL,      -- of a vector; 1: scalar
	count INTEGER NOT NULL,
	bits INTEGER NOT NULL        -- of operands and result of one of them
);

CREATE TABLE invocation ( -- direct calls in a block, each time it runs
	id INTEGER PRIMARY KEY,
	block_id INTEGER NOT NULL REFERENCES block,
	callee TEXT NOT NULL,        -- as in the symbol table, instrumented or not
	count INTEGER NOT NULL
);

CREATE TABLE execution ( -- a block's, by where and when; their sum is at most the block's
	id INTEGER PRIMARY KEY,
	block_id INTEGER NOT NULL REFERENCES block,
	context_id INTEGER REFERENCES context,
	region_id INTEGER REFERENCES region,
	executions INTEGER NOT NULL
);

CREATE TABLE footprint ( -- distinct bytes
	id INTEGER PRIMARY KEY,
	owner TEXT NOT NULL,         -- whole, function
	owner_id INTEGER NOT NULL,   -- 0 with whole
	loaded_bytes NUMERIC NOT NULL,
	stored_bytes NUMERIC NOT NULL,
	touched_bytes NUMERIC NOT NULL, -- loaded or stored
	error REAL NOT NULL          -- relative, 95 %; 0: exact
);

CREATE TABLE memory_use ( -- the smallest memory that holds this share of the accesses
	percent INTEGER PRIMARY KEY, -- 5, 10, .. 100
	bytes INTEGER NOT NULL       -- of 8-byte words, the most used first
);

-- Data.

CREATE TABLE object (
	id INTEGER PRIMARY KEY,
	kind TEXT NOT NULL,   -- global, heap, stack, registered, other
	name TEXT,
	type TEXT,
	size_bytes INTEGER,   -- the largest, where allocations differ
	allocations INTEGER,
	module_id INTEGER REFERENCES module,
	function_id INTEGER REFERENCES function,
	source_id INTEGER REFERENCES source, -- declared or allocated here
	line INTEGER,
	context_id INTEGER REFERENCES context, -- of the allocation
	born_refs INTEGER,    -- references executed before the first allocation ..
	died_refs INTEGER,    -- .. and before the last release; NULL: never released
	refs INTEGER NOT NULL,
	element_bytes INTEGER -- of one that the program registered, as it says; NULL: it does not
);

CREATE TABLE field ( -- of an object's type, or of the object
	id INTEGER PRIMARY KEY,
	object_id INTEGER NOT NULL REFERENCES object,
	name TEXT NOT NULL,   -- with its path: node.key[]; or of a part that the program registered
	type TEXT,
	offset_bytes INTEGER NOT NULL,
	size_bytes INTEGER
);

CREATE TABLE piece ( -- of an array, cut by index: what its touches met; where it was asked for
	id INTEGER PRIMARY KEY,
	object_id INTEGER NOT NULL REFERENCES object,
	axis TEXT NOT NULL,          -- index; of several dimensions inner, in which elements lie side by
	                             -- side, and outer, all others; byte: elements are not known
	low INTEGER NOT NULL,        -- holds low <= index < high
	high INTEGER NOT NULL,
	block_bytes INTEGER NOT NULL REFERENCES grain,
	touches INTEGER NOT NULL,    -- of blocks of that size
	cold INTEGER NOT NULL,       -- of touches: the first of a block
	reuses INTEGER NOT NULL,     -- of touches: those whose stack distance is known ..
	distance_blocks INTEGER NOT NULL, -- .. and the sum of these distances
	misses INTEGER NOT NULL      -- of the first level
);

CREATE TABLE access ( -- one site's references to one object or field, and how it walks there
	id INTEGER PRIMARY KEY,
	site_id INTEGER NOT NULL REFERENCES site,
	object_id INTEGER REFERENCES object,
	field_id INTEGER REFERENCES field,
	refs INTEGER NOT NULL,
	stride_bytes INTEGER NOT NULL, -- from one reference to the next: the most frequent one
	regular_refs INTEGER NOT NULL, -- of refs: within runs of one stride, which a prefetcher can
	                               -- follow; 0: no stride stands out
	fills INTEGER NOT NULL,        -- blocks these references brought into the first level ..
	used_bytes INTEGER NOT NULL    -- .. and how many of their bytes were touched until they left
);

CREATE TABLE pair ( -- use and reuse
	id INTEGER PRIMARY KEY,
	use_site_id INTEGER REFERENCES site,
	reuse_site_id INTEGER REFERENCES site,
	object_id INTEGER REFERENCES object,
	kind TEXT NOT NULL,   -- RAR, RAW (reuse reads what use wrote), WAR, WAW
	use_context_id INTEGER REFERENCES context,
	reuse_context_id INTEGER REFERENCES context,
	common_context_id INTEGER REFERENCES context, -- the two contexts' least common ancestor
	loop_id INTEGER REFERENCES loop,              -- carries the reuse: the innermost around both
	recycled INTEGER NOT NULL DEFAULT 0,          -- 1: the memory was freed in between
	refs INTEGER NOT NULL DEFAULT 0               -- reuses
);

-- Time.

CREATE TABLE region ( -- marked by the program
	id INTEGER PRIMARY KEY,
	parent_id INTEGER REFERENCES region,
	name TEXT NOT NULL,
	entries INTEGER NOT NULL,
	refs INTEGER NOT NULL -- its own, not those of regions in it
);

CREATE TABLE phase (
	id INTEGER PRIMARY KEY,
	name TEXT,            -- NULL: what came before the first that the program named
	refs INTEGER NOT NULL
);

CREATE TABLE stretch ( -- the run from its start to its end, cut by phase
	first_refs INTEGER PRIMARY KEY, -- references executed before it
	refs INTEGER NOT NULL,
	phase_id INTEGER REFERENCES phase -- NULL: several, too short to be told apart
);

CREATE TABLE mistake ( -- what the program did wrong when it marked regions and objects
	id INTEGER PRIMARY KEY,
	what TEXT NOT NULL,
	times INTEGER NOT NULL
);

CREATE TABLE sampling ( -- a row for each run that was sampled: how references were chosen
	id INTEGER PRIMARY KEY,
	period INTEGER NOT NULL,        -- mean gap between samples of a thread, at first, in references
	last_period INTEGER NOT NULL,   -- at the end; more where it was to keep to an error
	seed INTEGER NOT NULL,
	samples INTEGER NOT NULL,       -- that something is known of
	pruned INTEGER NOT NULL,        -- of these, given up: see at_least in histogram
	lost INTEGER NOT NULL,          -- samples that nothing is known of
	analysed_refs INTEGER NOT NULL, -- references recorded because samples were open
	refs INTEGER NOT NULL,          -- references in all, counted
	effective REAL NOT NULL,        -- samples of one weight that would say as much
	-- Of samples that were watched until their reuse, else NULL:
	watched_by TEXT,      -- registers (of the processor), pages, replay (of a trace)
	in_burst INTEGER,     -- samples whose reuse came while they were followed
	by_watch INTEGER,     -- whose reuse a watch met
	never INTEGER,        -- watched to the end; of all others the watch went to a later sample
	abandoned INTEGER,    -- watches given up that no other sample took
	traps INTEGER,        -- watches that met their block
	false_faults INTEGER, -- of pages: faults beside it
	steps INTEGER,        -- of pages: single steps
	syscalls INTEGER,     -- of pages: calls of the kernel that had to be led past them
	burst_ns INTEGER,     -- spent following samples
	trap_ns INTEGER,      -- spent in handlers
	by_time INTEGER,      -- of by_watch: whose distance is estimated by time, and may be off by more than one part in 128; the others are counted
	unknown REAL          -- share of the touches whose samples were given up and that no other sample stands for: when they are reused is not known
);

-- Caches named at record time and what each owner met there.

CREATE TABLE level (
	id INTEGER PRIMARY KEY, -- from the processor outwards
	name TEXT NOT NULL,     -- L1
	size_bytes INTEGER NOT NULL,
	ways INTEGER NOT NULL,  -- 0: fully associative
	line_bytes INTEGER NOT NULL,
	share TEXT NOT NULL     -- private, shared, share4
);

CREATE TABLE level_count ( -- an owner that met nothing at a level has no row
	level_id INTEGER NOT NULL REFERENCES level,
	owner TEXT NOT NULL,    -- as in histogram; also access
	owner_id INTEGER NOT NULL,
	first_hits NUMERIC NOT NULL, -- touches whose first level to hit was this one
	misses NUMERIC NOT NULL,
	writebacks NUMERIC,     -- lines made dirty there, each of which leaves it once
	coherence NUMERIC,      -- of misses: another thread's write had taken the line
	transfers NUMERIC,      -- writes that took a dirty line from another's cache, which is
	                        -- among writebacks and not written back
	PRIMARY KEY (level_id, owner, owner_id)
) WITHOUT ROWID;

-- Distances.

CREATE TABLE grain ( -- totals at one block size
	block_bytes INTEGER PRIMARY KEY, -- a power of two; 1 where the unit is object
	touches INTEGER NOT NULL,
	writes INTEGER NOT NULL,         -- of touches
	straddles INTEGER NOT NULL,      -- references that touched more than one block
	blocks NUMERIC NOT NULL,         -- distinct
	sampling_rate REAL NOT NULL,     -- of blocks; 1: exact
	error_points REAL NOT NULL,      -- 95 % half-width of miss ratios, in percentage points
	sampled_from INTEGER NOT NULL    -- the touch at which sampling began
);

-- Threads and the blocks they share. There where a process had more than one.

CREATE TABLE thread_group ( -- threads that share a cache, where groups were asked for
	id INTEGER PRIMARY KEY,
	share INTEGER NOT NULL,      -- threads of a group: share4 has 4
	thread_id INTEGER NOT NULL REFERENCES thread, -- of the group's first
	threads TEXT NOT NULL        -- their ids, comma separated
);

CREATE TABLE coherence ( -- what a thread, or a group, met of others
	id INTEGER PRIMARY KEY,
	owner TEXT NOT NULL,             -- whole, thread, thread_group, site, object
	owner_id INTEGER NOT NULL,
	block_bytes INTEGER NOT NULL REFERENCES grain,
	touches INTEGER NOT NULL,
	true_sharing INTEGER NOT NULL,   -- misses, as the next: of bytes that another wrote
	false_sharing INTEGER NOT NULL,  -- of a block of which another wrote other bytes
	remote INTEGER NOT NULL,         -- touches of blocks whose last toucher was another
	UNIQUE (owner, owner_id, block_bytes)
);

CREATE TABLE shared_blocks ( -- distinct blocks by who touched them
	id INTEGER PRIMARY KEY,
	block_bytes INTEGER NOT NULL UNIQUE REFERENCES grain,
	alone INTEGER NOT NULL,      -- one thread
	read_only INTEGER NOT NULL,  -- several, none of whom wrote after another had touched it
	written INTEGER NOT NULL     -- several
);

CREATE TABLE sharing ( -- coherence misses by who wrote, who missed, and what it was
	id INTEGER PRIMARY KEY,
	write_site_id INTEGER REFERENCES site, -- took the block away
	miss_site_id INTEGER REFERENCES site,  -- touched it next, in a thread that had lost it
	object_id INTEGER REFERENCES object,   -- that was touched
	write_object_id INTEGER REFERENCES object, -- that was written; of false sharing often another
	field_id INTEGER REFERENCES field,
	write_field_id INTEGER REFERENCES field,
	kind TEXT NOT NULL,          -- true, false
	misses INTEGER NOT NULL,
	threads INTEGER NOT NULL     -- pairs of threads seen, at least
);

CREATE TABLE histogram (
	id INTEGER PRIMARY KEY,
	owner TEXT NOT NULL,        -- whole, or the table whose row it belongs to: thread, site,
	                            -- site_thread, context, object, field, pair, phase, region,
	                            -- loop, thread_group
	owner_id INTEGER NOT NULL,  -- 0 with whole
	distance TEXT NOT NULL,     -- stack: distinct other blocks since the last use, in blocks
	                            -- time: touches since the last use, at least 1
	                            -- dirty: largest stack distance since the last write, of writes
	                            -- set: position in the LRU list of the block's set
	                            -- set_dirty: largest position since the last write, of writes
	                            -- set_both: lower position of the two, of references that
	                            -- straddle two blocks
	                            -- private: stack distance in the thread's own stack, from
	                            -- which others' writes take blocks (in the group's, of a
	                            -- thread_group); a block so lost still counts as one
	                            -- at_least, private_at_least: of samples that were given up,
	                            -- which stack, or private, has among the cold: the distance
	                            -- that they have at least
	                            -- where asked for: alone: the same, nothing taken away;
	                            -- alone_remote: of blocks that another thread touched last,
	                            -- read or written; remote: of these, in the stack of all
	                            -- time_remote: of samples that were watched: those of time
	                            -- whose reuse is another thread's; near: stack distances of
	                            -- those whose touches until then were seen or, by other samples
	                            -- in between, estimated; near_time: the time distances of the
	                            -- same, which are among those of time
	block_bytes INTEGER NOT NULL REFERENCES grain,
	set_bits INTEGER NOT NULL,  -- set, set_dirty, set_both: 2^set_bits sets; else 0
	scheme TEXT NOT NULL,       -- fine: 128 bins per power of two, exact below 256
	                            -- coarse: 4 per power of two, exact below 16; linear: exact
	sampled INTEGER NOT NULL,   -- 0: counts; 1: weights, and bins have squares
	cold NUMERIC NOT NULL,      -- infinite: first touches; set: also those beyond position 63
	coherence NUMERIC NOT NULL, -- infinite: lost to another thread's write
	UNIQUE (owner, owner_id, distance, block_bytes, set_bits)
);

CREATE TABLE bin ( -- finite distances; empty bins have no row
	histogram_id INTEGER NOT NULL REFERENCES histogram,
	low INTEGER NOT NULL,    -- holds low <= distance < high
	high INTEGER NOT NULL,
	weight NUMERIC NOT NULL,
	square NUMERIC,          -- sum of the squared weights of samples; NULL in an exact histogram
	PRIMARY KEY (histogram_id, low)
) WITHOUT ROWID;

-- For people. loci itself reads no view.

CREATE VIEW v_histogram AS -- one line per histogram, with its totals
SELECT id AS histogram_id, owner, owner_id, distance, block_bytes, 1 << set_bits AS sets, sampled,
	(SELECT coalesce(sum(weight), 0) FROM bin WHERE histogram_id = id) AS finite,
	cold, coherence,
	(SELECT coalesce(sum(weight), 0) FROM bin WHERE histogram_id = id) + cold + coherence AS total
FROM histogram;

CREATE VIEW v_bin AS -- one line per bin; share: of the histogram's total, infinite ones included
SELECT histogram_id, owner, owner_id, distance, block_bytes, sets, low, high, weight, square,
	1.0 * weight / total AS share
FROM v_histogram JOIN bin USING (histogram_id);

CREATE VIEW v_curve AS -- misses of fully associative LRU caches, the whole run, at every step
SELECT block_bytes, high AS cache_blocks, high * block_bytes AS cache_bytes, misses,
	1.0 * misses / total AS miss_ratio
FROM (
	SELECT block_bytes, high, total,
		total - sum(weight) OVER (PARTITION BY histogram_id ORDER BY low) AS misses
	FROM v_histogram JOIN bin USING (histogram_id)
	WHERE owner = 'whole' AND distance = 'stack');

CREATE VIEW v_cache AS -- misses and write-backs of every set-associative LRU cache, the whole run;
	-- reference_misses: a reference that misses in two blocks counted once
WITH RECURSIVE way(ways) AS (SELECT 1 UNION ALL SELECT ways + 1 FROM way WHERE ways < 64)
SELECT h.block_bytes, 1 << h.set_bits AS sets, ways, h.block_bytes * ways << h.set_bits AS cache_bytes,
	h.cold + h.coherence + (SELECT coalesce(sum(weight), 0) FROM bin
		WHERE histogram_id = h.id AND low >= ways) AS misses,
	w.cold + w.coherence + (SELECT coalesce(sum(weight), 0) FROM bin
		WHERE histogram_id = w.id AND low >= ways) AS writebacks,
	h.cold + h.coherence + (SELECT coalesce(sum(weight), 0) FROM bin
		WHERE histogram_id = h.id AND low >= ways)
	- b.cold - b.coherence - (SELECT coalesce(sum(weight), 0) FROM bin
		WHERE histogram_id = b.id AND low >= ways) AS reference_misses
FROM histogram h JOIN way LEFT JOIN histogram w ON w.owner = h.owner AND w.owner_id = h.owner_id
	AND w.distance = 'set_dirty' AND w.block_bytes = h.block_bytes AND w.set_bits = h.set_bits
	LEFT JOIN histogram b ON b.owner = h.owner AND b.owner_id = h.owner_id
	AND b.distance = 'set_both' AND b.block_bytes = h.block_bytes AND b.set_bits = h.set_bits
WHERE h.owner = 'whole' AND h.distance = 'set';
