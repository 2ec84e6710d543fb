"""Settings for how the engine stores rows, and statements that move rows from one place to another."""

from test.differential.sql import Statement


def settings(rng):
    """SET statements. Half of the cases have the server's own settings."""
    if rng.random() < 0.5:
        return []
    return [
        f"SET tidesdb_default_klog_value_threshold = {rng.choice([0, 64, 200, 1024])}",
        f"SET tidesdb_default_l1_file_count_trigger = {rng.choice([1, 2, 4])}",
        f"SET tidesdb_default_level_size_ratio = {rng.choice([2, 10])}",
        f"SET tidesdb_default_compression = {rng.choice(['NONE', 'LZ4', 'ZSTD'])}",
        f"SET tidesdb_default_bloom_filter = {rng.choice(['ON', 'OFF'])}",
        f"SET tidesdb_single_delete_primary = {rng.choice(['ON', 'OFF'])}",
        f"SET tidesdb_compact_after_range_delete_min_rows = {rng.choice([0, 1, 5])}",
    ]


def upkeep(rng, table):
    """Statements that move the same rows elsewhere. InnoDB runs other ones with the same answer."""
    draw, flush = rng.random(), Statement("set", f"FLUSH TABLES {table.name}")
    if draw < 0.4:
        return [flush]
    if draw < 0.7 and not table.temporary:  # OPTIMIZE reopens the table, which some answers depend on.
        return [Statement("optimize", f"OPTIMIZE TABLE {table.name}", theirs=f"CHECK TABLE {table.name}"), flush]
    how = rng.choice(["", "", ", ALGORITHM=COPY"])
    apart = f"ALTER TABLE {table.name} KLOG_VALUE_THRESHOLD={rng.choice([0, 64, 100, 500])}{how}"
    return [Statement("alter", apart, theirs=f"ALTER TABLE {table.name} COMMENT = ''")]
