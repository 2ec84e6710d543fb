// The one table of the system variables tidesdb_*: their order, values, help, and what docs/variables.md says of them.
//
// X(name, where, type, (values), "meaning"[, check]). where: Start (my.cnf), Global (SET GLOBAL) or Session (SET).
// type and its values: Int, Unsigned, Number, Double: (default, least, most). Bool: (default). Enum: (place of the
// default, choices...). Text: (). check: a function that may refuse what is set; of a ToldNumber: one that stores it.
// After a change: python3 -m tools.variables.
#pragma once

// clang-format off
#define TIDESDB_NO_EFFECT "Accepted for compatibility; has no effect."

#define TIDESDB_SYSTEM_VARIABLES(X) \
  /* Set at the start. */ \
  X(flush_threads, Start, Int, (4, 0, 64), "Threads that write memtables to table files; 0 takes 1.") \
  X(max_concurrent_flushes, Start, Int, (0, 0, 1024), \
    "Flushes that run at once, at most tidesdb_flush_threads; 0: that many. Shows the value in use.") \
  X(compaction_threads, Start, Int, (4, 1, 64), "Threads that merge table files.") \
  X(log_level, Start, Enum, (2, "DEBUG", "INFO", "WARN", "ERROR", "FATAL", "NONE"), \
    "Messages of this level and above go to the error log: DEBUG, INFO, WARN, ERROR, FATAL or NONE.") \
  X(block_cache_size, Start, Number, (256ULL << 20, 0, 1ULL << 50), \
    "Bytes of the block cache; 0: all of tidesdb_max_memory_usage that nothing else needs at the moment. If it is at " \
    "least a quarter of that budget, table files are read and written past the system's page cache.") \
  X(max_open_sstables, Start, Int, (256, 0, 65536), \
    "Table files held open, at least 16; 0: 256. As many runs of spilled transactions, up to 256, may be open " \
    "in addition.") \
  X(max_memory_usage, Start, Number, (0, 0, 1ULL << 50), \
    "Bytes that memtables, caches, indexes, transactions and scans may take together, at least 16M; 0: half of the " \
    "memory of the machine or its cgroup.") \
  X(log_to_file, Start, Bool, (1), TIDESDB_NO_EFFECT) \
  X(log_truncation_at, Start, Number, (24ULL << 20, 0, kUnlimited), TIDESDB_NO_EFFECT) \
  X(unified_memtable, Start, Bool, (1), TIDESDB_NO_EFFECT) \
  X(unified_memtable_write_buffer_size, Start, Number, (128ULL << 20, 64ULL << 10, 1ULL << 40), \
    "Bytes of the memtable; a full memtable is written to table files.") \
  X(unified_memtable_sync_mode, Start, Enum, (2, "NONE", "INTERVAL", "FULL"), \
    "When a commit is durable: FULL syncs before COMMIT returns, INTERVAL syncs every " \
    "tidesdb_unified_memtable_sync_interval, NONE leaves it to the operating system. If the server is killed, " \
    "nothing is lost in any mode.") \
  X(unified_memtable_sync_interval, Start, Number, (128000, 1000, 3600000000ULL), \
    "With INTERVAL: a power loss can take the commits of this many microseconds.") \
  X(unified_memtable_skip_list_max_level, Start, Int, (0, 0, 32), TIDESDB_NO_EFFECT) \
  X(unified_memtable_skip_list_probability, Start, Double, (0.0, 0, 1), TIDESDB_NO_EFFECT) \
  X(data_home_dir, Start, Text, (), "Directory of the database; by default #tidesdb in the data directory.") \
  X(object_store_backend, Start, Enum, (0, "LOCAL"), "Where table files are stored: only LOCAL is supported.") \
  X(force_recovery, Start, Unsigned, (0, 0, 1), \
    "0: if the log is damaged or has lost a part, the server does not start. 1: the log is opened up to that place, " \
    "and later commits are lost. Copy the directory first, set this for one start, then check all tables.") \
  X(finish_compactions_on_close, Start, Bool, (0), \
    "The shutdown runs all pending compactions, however long they take. OFF: the next start runs them.") \
  X(reload_block_cache, Start, Bool, (1), \
    "The shutdown lists the blocks in the block cache (file WARM), and the next start reads them again in the " \
    "background. Like innodb_buffer_pool_dump_at_shutdown and innodb_buffer_pool_load_at_startup.") \
  /* Changed at any time. */ \
  X(backup_dir, Global, Text, (), \
    "Setting it copies all TidesDB tables, as of one moment, into this directory, which must be empty or not exist. " \
    "Shows the last one.", TakeBackup) \
  X(checkpoint_dir, Global, Text, (), \
    "Like tidesdb_backup_dir, but makes hard links to table files if the directory is on the same file system: takes " \
    "moments and almost no space.", TakeCheckpoint) \
  X(print_all_conflicts, Global, Bool, (0), "Writes each conflict and deadlock to the error log.") \
  X(pessimistic_locking, Global, Bool, (1), \
    "Rows are locked when they are written or read for update. OFF: the first to commit wins, the others get " \
    "error 1213. Open transactions keep their mode.") \
  X(promote_primary, Global, Bool, (0), TIDESDB_NO_EFFECT) \
  X(fts_min_word_len, Global, Int, (3, 1, 84), TIDESDB_NO_EFFECT) \
  X(fts_max_word_len, Global, Int, (84, 1, 512), TIDESDB_NO_EFFECT) \
  X(fts_bm25_k1, Global, Double, (1.2, 0, 10), TIDESDB_NO_EFFECT) \
  X(fts_bm25_b, Global, Double, (0.75, 0, 1), TIDESDB_NO_EFFECT) \
  X(fts_blend_chars, Global, Text, (), TIDESDB_NO_EFFECT) \
  X(ft_stopword_table, Global, Text, (), TIDESDB_NO_EFFECT) \
  /* Of a session. */ \
  X(snapshot_isolation, Session, Bool, (TIDESDB_SNAPSHOT_ISOLATION_DEFAULT), \
    "With an open snapshot at REPEATABLE READ or SERIALIZABLE, writing or locking a row that has changed since is " \
    "error 1020. Like innodb_snapshot_isolation.") \
  X(ttl, Session, Number, (0, 0, kUnlimited), "Not supported yet; must be 0.", RefuseTtl) \
  X(skip_unique_check, Session, Bool, (0), "Accepted for compatibility; has no effect: uniqueness is always checked.") \
  X(single_delete_primary, Session, Bool, (0), \
    "Deleting a row that was never updated since its insert leaves no tombstone: in the first flush or compaction that " \
    "has both, row and deletion vanish. Also makes DELETE look once more for each row. For queues and rows that live " \
    "shortly.") \
  X(backpressure_wait_timeout_ms, Session, Number, (60000, 0, 3600000), TIDESDB_NO_EFFECT) \
  X(lock_wait_timeout_ms, Session, Number, (50000, 0, 3600000), \
    "Milliseconds to wait for a row lock; then error 1205.") \
  X(bulk_staging_size, Session, Number, (0, 0, kUnlimited), \
    "Bytes of a transaction's writes that are held in memory, at least 1M; more go to sorted runs on disk. 0: the " \
    "size of a memtable. A transaction that has spilled many times this size holds more. The maximum is an eighth " \
    "of tidesdb_max_memory_usage. Takes effect with the next transaction.") \
  X(index_build_staging_size, Session, Number, (0, 0, kUnlimited), \
    "Memory for rows and entries that ALTER TABLE, CREATE INDEX, DROP INDEX or OPTIMIZE TABLE sorts, before they " \
    "go to disk. If a copy cannot be sorted (as for a partitioned table), it acts like tidesdb_bulk_staging_size.") \
  X(compact_after_range_delete_min_rows, Session, Number, (0, 0, kUnlimited), \
    "After the commit of a DELETE that removed at least this many rows, the background flushes the memtable and merges " \
    "the table's files that overlap the deleted keys. The statement does not wait. Small numbers cost much writing. " \
    "0: never.") \
  /* What CREATE TABLE takes when it says nothing. */ \
  X(default_compression, Session, Enum, (2, "NONE", "SNAPPY", "LZ4", "ZSTD", "LZ4_FAST"), \
    "Compression of new tables: NONE, SNAPPY, LZ4, ZSTD; LZ4_FAST is LZ4.") \
  X(default_write_buffer_size, Session, Number, (64ULL << 20, 1024, kUnlimited), TIDESDB_NO_EFFECT) \
  X(default_bloom_filter, Session, Bool, (1), "Whether new tables have Bloom filters.") \
  X(default_use_btree, Session, Bool, (0), TIDESDB_NO_EFFECT) \
  X(default_block_indexes, Session, Bool, (1), TIDESDB_NO_EFFECT) \
  X(default_sync_mode, Session, Enum, (2, "NONE", "INTERVAL", "FULL"), \
    "Accepted for compatibility; has no effect: tidesdb_unified_memtable_sync_mode is for all tables.") \
  X(default_sync_interval_us, Session, Number, (128000, 0, kUnlimited), TIDESDB_NO_EFFECT) \
  X(default_bloom_fpr, Session, Number, (100, 1, 10000), \
    "False positive rate of the Bloom filters of new tables, in 1/10000.") \
  X(default_klog_value_threshold, Session, Number, (1024, 0, kUnlimited), \
    "In new tables, values of BLOB, TEXT, VARCHAR and similar types with more bytes are stored apart from their rows, " \
    "so that reads and writes of other columns do not touch them. 0: all stay in their rows; 1 to 64 mean 64.") \
  X(default_l0_queue_stall_threshold, Session, ToldNumber, (20, 1, 1024), \
    "The global value: writers slow down when this many memtables wait for their flush, and begin to at half of it. " \
    "It is for all tables: the session's value and the table option have no influence.", TakeStallThreshold) \
  X(default_l1_file_count_trigger, Session, Number, (4, 1, 1024), \
    "Number of files in the first level that starts a compaction, for new tables.") \
  X(default_level_size_ratio, Session, Number, (10, 2, 100), \
    "Size of each level relative to the one before, for new tables.") \
  X(default_min_levels, Session, Number, (1, 1, 64), TIDESDB_NO_EFFECT) \
  X(default_dividing_level_offset, Session, Number, (1, 0, 64), TIDESDB_NO_EFFECT) \
  X(default_skip_list_max_level, Session, Number, (12, 1, 64), TIDESDB_NO_EFFECT) \
  X(default_skip_list_probability, Session, Number, (25, 1, 100), TIDESDB_NO_EFFECT) \
  X(default_index_sample_ratio, Session, Number, (1, 1, 1024), TIDESDB_NO_EFFECT) \
  X(default_block_index_prefix_len, Session, Number, (16, 1, 256), TIDESDB_NO_EFFECT) \
  X(default_min_disk_space, Session, Number, (100ULL << 20, 0, kUnlimited), TIDESDB_NO_EFFECT) \
  X(default_isolation_level, Session, Enum, (2, "READ_UNCOMMITTED", "READ_COMMITTED", "REPEATABLE_READ", "SNAPSHOT", \
    "SERIALIZABLE"), \
    "Of new tables: how sessions at REPEATABLE READ use them. READ_UNCOMMITTED is READ_COMMITTED, SNAPSHOT is " \
    "REPEATABLE_READ. Other sessions use all tables at their own level.") \
  X(default_object_lazy_compaction, Session, Bool, (0), TIDESDB_NO_EFFECT) \
  X(default_object_prefetch_compaction, Session, Bool, (1), TIDESDB_NO_EFFECT) \
  X(default_tombstone_density_trigger, Session, Number, (0, 0, 10000), \
    "In new tables, a table file is merged for the sake of its deletions when they are this share of its entries, in " \
    "1/10000. The lower, the sooner deleted rows leave the disk, and the more is written. 0: automatic, when they are a " \
    "quarter and many.") \
  X(default_tombstone_density_min_entries, Session, Number, (1024, 0, kUnlimited), \
    "With tidesdb_default_tombstone_density_trigger: only table files with at least this many entries.")
// clang-format on
