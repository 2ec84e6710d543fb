"""The differences from InnoDB in the server's own suites that are meant. docs/engine-suites.md tells of each group."""

import re
from dataclasses import dataclass
from fnmatch import fnmatch


@dataclass(frozen=True)
class Explained:
    """Covers a difference that all its patterns cover."""
    group: str
    test: str = "*"
    statement: str = ""   # Is found in the statement.
    says: str = ""        # Is found in a line of ours that InnoDB does not say.
    lines: str = ""       # Is found in every line that only one of them says.
    after: str = ""       # A group: something of it was met earlier in the test.

    def covers(self, test, difference, met):
        return (fnmatch(test, self.test) and bool(re.search(self.statement, difference.statement))
                and (not self.says or any(re.search(self.says, line) for line in difference.ours))
                and (not self.lines or all(re.search(self.lines, line) for line in difference.lines or [""]))
                and (not self.after or self.after in met))


_MISSING = (r"doesn't exist|Unknown table|already exists|does not exist|Can't DROP|check that it exists|"
            r"check that column/key exists|Can't find FULLTEXT")

# Tests that have nothing more to say once the group was met.
_REST = {
    "foreign-key": ["main/multi_update", "main/partition_innodb", "main/trigger-trans", "main/long_unique_bugs",
                    "main/alter_table_combinations", "main/create",
                    "suite/storage_engine/foreign_keys"],
    "fulltext": ["main/union", "main/view", "main/opt_trace"],
    "collation": ["main/ctype_cp1250_ch", "main/ctype_latin2_ch"],
    "spatial": ["suite/storage_engine/type_spatial_indexes"],
    "files": ["suite/storage_engine/alter_tablespace", "suite/storage_engine/tbl_opt_*_dir",
              "suite/innodb/alter_missing_tablespace", "suite/innodb/instant_alter_import",
              "suite/innodb/instant_alter_bugs", "suite/innodb/instant_alter_extend"],
    "alter-algorithm": ["main/alter_table_online", "suite/innodb/alter_algorithm*", "suite/innodb/alter_not_null",
                        "suite/innodb/innodb-alter*", "suite/innodb/instant_alter*"],
    "innodb-views": ["main/auto_increment_ranges_innodb", "main/innodb_mysql_lock"],
    "limits": ["main/long_unique_innodb", "main/long_unique_bugs"],
}

_PLAN = (r"(?i)^\s*(explain|analyze)\b|^\s*desc(ribe)?\s+(select|extended|format|update|delete)|"
         r"^id\tselect_type|optimizer_trace")
_STATISTICS = (r"(?i)^\s*show\s+(keys|index|indexes|((session|global|local)\s+)?status|table\s+status)|"
               r"\b(session|global)_status|(table|index|column)_(stats|statistics)|"
               r"information_schema\.(statistics|tables)|^Variable_name\t|last_query_cost|^Table\tNon_unique")
_COUNTS = r"Cardinality|Index_type|\tLSM\t|\tBTREE\t|^(Handler|Created_tmp|Rows|Sort|Select|Key)_|^p\d+\tsp\d+\t\d+$"
_EVENTS = (r"\t(Query|Annotate_rows|Table_map|Write_rows_v1|Update_rows_v1|Delete_rows_v1|Xid|Gtid|Intvar|User var)"
           r"\t#\t#\t")

DIFFERENCES = [
    Explained("plan", statement=_PLAN),
    Explained("plan", lines=r"\"(cost|cost_for_plan|rows|filtered|rows_estimation|selectivity_from_index|read_cost)\": "),
    Explained("statistics", statement=_STATISTICS),
    Explained("statistics", lines=_COUNTS),
    Explained("unsteady", statement=r"(?i)show (full )?processlist|connection_id\(\)"),
    Explained("foreign-key", says=r"FOREIGN KEY|foreign key"),
    Explained("foreign-key", lines=r"foreign key constraint"),
    Explained("foreign-key", says=r"should have failed with error ER_(DROP_INDEX_FK|FK_|NO_REFERENCED|ROW_IS_REF)"),
    Explained("foreign-key", test="suite/innodb/innodb-index-online-norebuild", says=_MISSING),
    Explained("innodb-names", test="suite/innodb/*", statement=r"(?i)\bdb_(row_id|trx_id|roll_ptr)\b"),
    Explained("fulltext", says=r"FULLTEXT"),
    Explained("spatial", says=r"SPATIAL|spatial"),
    *[Explained(group, test=test, statement=r"^Table\tCreate", after=group)
      for group in ("foreign-key", "fulltext", "spatial") for test in ("main/alter_table", "suite/innodb/*")],
    Explained("innodb-views", statement=r"(?i)information_schema\.innodb_|\bsys_(tables|indexes|foreign)\b"),
    Explained("innodb-views", statement=r"(?i)call (check_table|get_(table|index)_id)|select @(tbl|idx)1_id = "),
    Explained("binlog-rows", lines=_EVENTS),
    Explained("binlog-rows", test="main/ctype_gbk_binlog"),
    Explained("alter-algorithm", says=r"(ALGORITHM|LOCK)=\w+ is not supported"),
    Explained("alter-algorithm", says=r"succeeded - should have failed with error ER_ALTER_OPERATION_NOT_SUPPORTED"),
    Explained("alter-algorithm", lines=r"^(affected rows: |info: Records: )"),
    Explained("alter-order", statement=r"(?i)alter table .* add (primary|unique)", lines=r"Duplicate entry"),
    Explained("optimize-note", lines=r"^\S+\toptimize\tnote\tTable does not support optimize"),
    Explained("read-uncommitted", test="suite/storage_engine/trx/level_read_uncommitted"),
    Explained("files", test="suite/storage_engine/*repair_table"),
    Explained("files", says=r"doesn't have this option|does not support DATA DIRECTORY"),
    Explained("files", test="suite/innodb/alter_rename_existing"),
    Explained("files", test="suite/innodb/alter_table_upgrade"),  # Reads a table of an old InnoDB.
    Explained("files", says=r'command "((remove|copy)_file|perl)" failed'),
    Explained("files", says=r"should have failed with error ER_TABLESPACE_DISCARDED"),
    Explained("files", lines=r"Tablespace has been discarded|^Warnings:$"),
    Explained("files", lines=r"\.(ibd|frm|par)$|FOUND \d+ /.*in mysqld"),
    Explained("auto-increment", test="main/auto_increment", lines=r"^[23]$"),
    Explained("auto-increment", test="suite/innodb/alter_table", says=r"HA_ERR_AUTOINC_ERANGE"),
    Explained("collation", test="main/ctype_*uca*", says=r"ER_DUP_ENTRY"),
    Explained("collation", test="main/ctype_*uca*", statement=r"^Table\tCreate", after="collation"),
    Explained("collation", says=r"does not support an index on"),
    Explained("order", test="main/join_outer*", statement=r"ORDER BY t1\.b"),
    Explained("row-format", test="main/partition_exchange"),
    Explained("row-format", says=r"Unknown option '(?i:page_compressed)'|ER_ILLEGAL_HA_CREATE_OPTION"),
    Explained("row-format", lines=r"ignoring KEY_BLOCK_SIZE|Row size too large|^Warnings:$"),
    Explained("row-format", statement=r"(?i)row_format=(fixed|page)"),
    Explained("row-format", statement=r"^Table\tCreate", says=r"ROW_FORMAT="),
    Explained("row-format", lines=r"(?i)ROW_FORMAT"),
    Explained("limits", says=r"key was too long|failed with error ER_(INDEX_COLUMN_TOO_LONG|TOO_LONG_KEY|TOO_BIG_ROWSIZE)"),
    Explained("limits", test="main/order_by", says=r"ER_OUT_OF_SORTMEMORY"),
    Explained("limits", test="main/count_distinct3"),
    Explained("limits", test="main/alter_table", lines=r"ER_(NO_SUCH|BAD)_TABLE(_ERROR)? .*'test\.t1'"),
    Explained("words", lines=r"limited to row-based logging|\.\.\.' at line|already exist"),
    Explained("innodb-views", test="main/partition_innodb_plugin"),
    Explained("innodb-views", says=r"(?i)timeout in wait_condition.*innodb_|innodb_trx|innodb_locks"),
    Explained("backup-lock", lines=r"^MDL_BACKUP_DML\t"),
    Explained("victim", lines=r"ER_LOCK_DEADLOCK|^ERROR 40001: Deadlock"),
    # A test may go on without the table that was refused, up to where it ends.
    Explained("fulltext", test="main/ctype_*", statement=r"^Table\tCreate", after="fulltext"),
    *[Explained(group, says=_MISSING, after=group)
      for group in ("foreign-key", "fulltext", "spatial", "files", "collation")],
    *[Explained(group, test=test, after=group) for group, tests in _REST.items() for test in tests],
]


def explain(test, differences):
    """Pairs: each difference, and its group or None. A change of order alone, without ORDER BY, is "order"."""
    met = set()
    found = []
    for difference in differences:
        unordered = difference.only_order and not re.search(r"(?i)order\s+by", difference.statement)
        group = "order" if unordered else next(
            (one.group for one in DIFFERENCES if one.covers(test, difference, met)), None)
        met.add(group)
        found.append((difference, group))
    return found
