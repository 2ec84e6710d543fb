"""The intended differences from InnoDB in the server's own suites. docs/engine-suites.md explains each group."""

import re
from dataclasses import dataclass
from fnmatch import fnmatch


@dataclass(frozen=True)
class Explained:
    """Explains a difference that matches all its patterns."""
    group: str
    test: str = "*"
    statement: str = ""   # Matches the statement.
    says: str = ""        # Matches every line of ours that InnoDB does not print.
    lines: str = ""       # Matches every line that only one of them prints.
    less: bool = False     # Ours prints nothing that InnoDB does not.
    spoiled: bool = False  # The statement names a table that the group has spoiled: see explain().

    def covers(self, test, difference, met):
        return (fnmatch(test, self.test) and bool(re.search(self.statement, difference.statement))
                and (not self.says or _only(rf"{self.says}|{_BESIDE}", difference.ours)
                     and any(re.search(self.says, line) for line in difference.ours))
                and (not self.lines or _only(self.lines, difference.lines or [""]))
                and not (self.less and difference.ours)
                and (not self.spoiled or self.group in met))


def _only(pattern, lines):
    return all(re.search(pattern, line) for line in lines)


# A statement's output besides its rows.
_BESIDE = r"^(affected rows: |info: |Warnings:$|(Note|Warning|Error)\t\d+\t|Level\tCode\t)"

# A refusal spoils the table: statements about it differ until both engines create it again.
SPOILING = {"foreign-key", "encryption", "fulltext", "spatial", "collation", "files", "limits", "innodb-names",
            "row-format", "trx-versioning"}

_PLAN = (r"(?i)^\s*(explain|analyze)\b|^\s*desc(ribe)?\s+(select|extended|format|update|delete)|"
         r"^id\tselect_type|optimizer_trace|@trace\b")
# Not the contents of the query cache.
_STATISTICS = (r"(?i)^\s*show\s+(keys|index|indexes|((session|global|local)\s+)?status(?!.*qcache)|table\s+status)|"
               r"\b(session|global)_status|(table|index|column)_(stats|statistics)|"
               r"information_schema\.(statistics|tables)|^Variable_name\t(?!.*qcache)|last_query_cost|^Table\tNon_unique")
_COUNTS = r"Cardinality|^Last_query_cost\t|Index_type|\tLSM\t|\tBTREE\t|^(Handler|Created_tmp|Rows|Sort|Select|Key)_"
_EVENTS = (r"\t(Query|Annotate_rows|Table_map|Write_rows_v1|Update_rows_v1|Delete_rows_v1|Xid|Gtid|Intvar|User var)"
           r"\t#\t#\t")

# Of a log that a test prints: events, settings, rows, statements, and the table of a CREATE ... SELECT.
_PRINTED = (r"\t(#|1)\t#\t|^Log_name\t|^#|^/\*!|/\*!\*/;?$|^(BINLOG '|DELIMITER|')|^[\w+/]{20,}=*$|^File master-bin|"
            r"^/\* GTID \*/|^(?i:insert|replace|update|delete|select|drop|create|alter|commit|start transaction)\b|"
            r"^  (`\w+`|PRIMARY KEY|KEY) |^\)( ENGINE=ENGINE)?")
# Of a list of connections.
_CONNECTIONS = (r"^\d+\t(root|rl_\w+|system user)\t(localhost(:\d+)?)?\t(\w+|NULL)\t"
                r"(Sleep|Query|Binlog Dump|Delayed|Slave_(IO|SQL|worker)|Daemon)\t\d+\t")

_MAKING = r"(?i)^\s*(create|alter|drop|rename|truncate|optimize|repair|prepare|execute|import|mysqltest)"

DIFFERENCES = [
    Explained("plan", statement=_PLAN),
    Explained("plan", lines=r"\"(cost|cost_for_plan|rows|filtered|rows_estimation|selectivity_from_index|read_cost)\": "),
    Explained("statistics", statement=_STATISTICS),
    Explained("statistics", lines=_COUNTS),
    Explained("unsteady", statement=r"(?i)show (full )?processlist|connection_id\(\)"),
    # A list of the connections, which the tests print after a wait that was too long.
    Explained("unsteady", lines=_CONNECTIONS),
    Explained("unsteady", test="main/multi_update", lines=r"/var\d/mysqld\."),
    Explained("unsteady", test="suite/binlog/binlog_mysqlbinlog_row", lines=r"^#\d{6} .*\tBinlog checkpoint master-bin\."),
    Explained("unsteady", test="suite/binlog/binlog_row_binlog", lines=r"\tXid\t1\t#\tCOMMIT /\* xid=\d+ \*/$"),
    # Whether a log that has just ended can be purged already: a thread in the background answers.
    Explained("unsteady", test="suite/binlog/binlog_flush_binlogs_delete_domain",
              lines=r"not purged because it may be needed|DELETE_DOMAIN_ID|delete gtid domain|gtid domain being deleted|"
                    r"^Warnings:$|^(PURGE|But the previous|show binlog events|Log_name)|^master-bin\.\d+\t#|"
                    r"gtid binlog state is|^\d+-\d+-\d+,"),
    # A log stays until the engine's checkpoint is written to the next one, which makes that one 40 bytes longer.
    Explained("unsteady", test="suite/binlog/max_binlog_total_size", statement=r"^show binary logs",
              lines=r"^binary\.\d+\t(#|\d+)$"),
    Explained("words", test="suite/binlog/binlog_rotate_perf", lines=r"\bt1_(InnoDB|TidesDB)\b"),
    # The engine's own table of positions is created in the background; the next transaction may come first.
    Explained("unsteady", test="suite/rpl/rpl_mdev12179", statement=r"^SELECT domain_id, max\(seq_no\) FROM",
              lines=r"^0\t1[23]$"),
    # A list that names an engine twice is shortened.
    Explained("words", test="suite/rpl/rpl_mdev12179", lines=r"^(ENGINE,)+MyISAM$"),
    # The engine's name is a letter longer in three events; how often a transaction was done again; the driver's port.
    Explained("unsteady", test="suite/*/rpl_parallel_rollback_assert", statement=r"(?i)^show slave status",
              lines=r"^((Read_Master|Relay|Exec_Master)_Log_Pos|Relay_Log_Space|Slave_Transactional_Groups|"
                    r"Master_Port)\t\d+$"),
    Explained("foreign-key", says=r"FOREIGN KEY|foreign key"),
    Explained("foreign-key", lines=r"foreign key constraint"),
    Explained("foreign-key", statement=r"(?i)^drop table if exists", lines=r"^Warnings:$|\t1051\tUnknown table"),
    Explained("foreign-key", says=r"should have failed with error ER_(DROP_INDEX_FK|FK_|NO_REFERENCED|ROW_IS_REF)"),
    Explained("innodb-names", test="suite/innodb/*", statement=r"(?i)\bdb_(row_id|trx_id|roll_ptr)\b"),
    Explained("fulltext", says=r"FULLTEXT"),
    Explained("spatial", says=r"SPATIAL|spatial"),
    Explained("innodb-views", statement=r"(?i)information_schema\.innodb_|\bsys_(tables|indexes|foreign)\b"),
    Explained("innodb-views", 
              statement=r"(?i)call (check_table|get_(table|index)_id)|select @(tbl|idx|table_id)1(_id)? = "),
    # InnoDB logs the statement that failed, too, before the DROP TABLE that both log.
    Explained("rollback", test="suite/rpl/create_or_replace_statement", less=True,
              lines=r"\tGtid\t#\t#\tGTID |\tuse `test`; create or replace table t1 \(a int primary key\) select a "),
    Explained("binlog-rows", lines=_EVENTS),
    *[Explained("binlog-rows", test=f"suite/{name}", lines=_PRINTED) for name in (
        "rpl/create_or_replace_mix", "rpl/rpl_hrtime", "rpl/rpl_mixed_drop_create_temp_table", "rpl/rpl_sp",
        "rpl/rpl_mixed_mixing_engines", "rpl/rpl_non_direct_mixed_mixing_engines", "binlog/binlog_mysqlbinlog2",
        "binlog/binlog_parallel_replication_marks_stm_mix", "binlog/binlog_stm_binlog", "binlog/binlog_stm_ctype_ucs")],
    # The log is of another size, so it ends elsewhere; the words of an error and of a warning.
    Explained("binlog-rows", test="suite/rpl/rpl_rotate_logs", lines=r"\bmaster-bin\.00000[89]\b"),
    Explained("binlog-rows", test="suite/rpl/rpl_perfschema_applier_status_by_worker",
              lines=r"^Error (executing row event: )?'Table 'test\.t' doesn't exist'"),
    Explained("binlog-rows", test="suite/binlog/innodb_autoinc_lock_mode_binlog",
              lines=r"^Warnings:$|\t1592\tUnsafe statement"),
    Explained("binlog-rows", test="suite/binlog_encryption/encryption_combo",
              lines=r"^FOUND \d+ /table1_no_encryption/ in"),
    # mysqlbinlog --short-form leaves rows out.
    Explained("binlog-rows", test="suite/*/binlog_mysqlbinlog-cp932", statement=r"^select HEX\(f\) from t[34];",
              lines=r"^[0-9A-F]+$"),
    # It waits for the event of a statement.
    Explained("binlog-rows", test="suite/rpl/rpl_temp_table", lines=rf"gtid_binlog_pos != |^Id\tUser|{_CONNECTIONS}"),
    # An event of an old server says nothing about explicit_defaults_for_timestamp; rows do not set it either.
    Explained("binlog-rows", test="suite/rpl/rpl_parallel_29322",
              statement=r"^Table\tCreate Table t1|^set statement time_zone",
              lines=r"^  `f[12]` timestamp |^(2022-07-23|NULL\tNULL$)"),
    Explained("binlog-rows", test="main/ctype_gbk_binlog"),
    Explained("binlog-rows", test="main/xa_binlog",
              lines=r"\t(Query\t1\t#\tuse `test`; INSERT|Annotate_rows|Table_map|Write_rows_v1)"),
    # Output of mysqlbinlog: InnoDB's statements, and comments with these before our rows.
    Explained("binlog-rows", test="suite/engines/funcs/rpl_sp", says=r"^# Annotate_rows:$|^#Q> "),
    Explained("binlog-rows", test="suite/engines/funcs/rpl_sp", less=True,
              lines=r"^/\*!\*/;$|/\*!\*/;$|^(?i:insert into|delete|select `mysqltest\d`|commit$|start transaction$)"),
    # A name that explain() cannot read.
    Explained("foreign-key", test="main/query_cache_innodb", statement=r"#mysql50#t-2",
              says=r"'#mysql50#-\.#mysql50#t-2' doesn't exist|#mysql50#t-2\toptimize\tstatus\tOperation failed"),
    Explained("foreign-key", test="main/query_cache_innodb", statement=r"^Variable_name\t",
              lines=r"^Qcache_queries_in_cache\t[01]$"),
    Explained("foreign-key", test="suite/rpl/rpl_mdev382", statement=r"^(TRUNCATE `t``1`|DROP TABLE `t``2`);$",
              lines=r"ER_TRUNCATE_ILLEGAL_FK|foreign key constraint|Unknown table '.*t`2'"),
    # The refused table's CREATE, and the two parts of an ALTER that then fails for its constraint, are not logged.
    Explained("foreign-key", test="suite/binlog/start_alter_mysqlbinlog_replay",
              statement=r"(?i)^select @@gtid_binlog_state;", lines=r"^0-1-[25]$"),
    # A database that InnoDB keeps for a constraint of another database's table, which we refused.
    Explained("foreign-key", test="suite/binlog/binlog_database", statement=r"^(SHOW TABLES FROM|DROP DATABASE) db1;$",
              lines=r"ER_(BAD_DB_ERROR|DB_DROP_EXISTS) .* database 'db1'|^Tables_in_db1$|^t2$|"
                    r"\tQuery\t#\t#\t(use `db1`; DROP TABLE IF EXISTS `t1`|DROP DATABASE db1)$"),
    # It counts commits, which depends on the log's format.
    Explained("binlog-rows", test="main/commit_1innodb", statement=r"^call p_verify_status_increment",
              lines=r"^(SUCCESS|ERROR|)$|^Expected commit increment: \d actual: \d$"),
    Explained("alter-algorithm", statement=_MAKING, says=r"(ALGORITHM|LOCK)=\w+ is not supported"),
    Explained("alter-algorithm", statement=_MAKING,
              says=r"succeeded - should have failed with error ER_ALTER_OPERATION_NOT_SUPPORTED"),
    Explained("alter-algorithm", statement=_MAKING, lines=r"^(affected rows: |info: Records: )"),
    Explained("alter-algorithm", test="suite/innodb/innodb-alter", statement=r"^ALTER TABLE t1 ADD b (DATE|TIME) ",
              lines=r"^(affected rows: |info: Records: |Note\t1265\tData truncated for column 'b' at row [01]$)"),
    *[Explained("alter-algorithm", test=f"suite/rpl/rpl_alter_{name}", statement=r"^alter table t4 add column c[56] ",
                lines=r"^Note\t1265\tData truncated for column 'c[56]' at row \d+$") for name in ("innodb", "instant")],
    # It waits for the stages of an ALTER that copies during writes, which we refuse.
    Explained("alter-algorithm", test="main/alter_table_online", statement=r"^set @con= \$con;|^select stage, state, info ",
              lines=r"wait_condition|^and state= |information_schema\.processlist where|"
                    r"^Id\tUser|^\d+\troot\t|^stage\t[24]$"),
    Explained("trx-versioning", test="main/alter_table_online", statement=r"^create table t1 \(id int,",
              says=r"ER_VERS_FIELD_WRONG_TYPE"),
    # The DDL log for backups contains an ALTER that copies, which shifts the numbers.
    Explained("alter-algorithm", test="suite/parts/backup_log",
              lines=r"^[A-Za-z_]+,(ENGINE|Aria|partition),[01],test,\S+,id: \d+,|^#( Cleanup)?$"),
    Explained("alter-order", statement=r"(?i)alter table .* add (primary|unique)", lines=r"Duplicate entry"),
    Explained("alter-order", test="main/mrr_icp_extra", statement=r"^show warnings", lines=r"\t1062\tDuplicate entry"),
    # The plan decides which of two comparisons meets the word first and reports it.
    Explained("plan", test="main/join_cache", lines=r"^Warning\t1292\tTruncated incorrect (INTEGER|DECIMAL) value: '\w'$"),
    Explained("optimize-note", statement=r"^Table\tOp|(?i:optimize)",
              lines=r"^\S+\toptimize\tnote\tTable does not support optimize|^affected rows: [12]$|"
                    r"^\S+\toptimize\tNote\tENGINE: rows and indexes are merged:"),
    Explained("optimize-note", test="suite/storage_engine/parts/optimize_table", statement=r"^Table\tOp",
              lines=r"\toptimize\t(note\tTable does not support optimize on|Note\t<STORAGE_ENGINE>: rows and indexes)"),
    Explained("optimize-note", test="main/alter_table_online", statement=r"^Table\tOp",
              lines=r"^test\.t\toptimize\t(note\tTable does|Note\tENGINE: )|^Warnings:$|"
                    r"^Note\t1266\tUsing storage engine Aria"),
    Explained("read-uncommitted", test="suite/storage_engine/trx/level_read_uncommitted"),
    Explained("encryption", test="suite/parts/engine_defined_part_attributes", statement=r"ENCRYPTED=",
              lines=r"errno: 140 \"Wrong create options\"|does not support encryption yet"),
    # The rows of a table that missed the exchange because its DATA DIRECTORY was refused.
    Explained("files", test="suite/parts/partition_basic_symlink_innodb",
              statement=r"^Table\tCreate Table t2|^select \* from t2;",
              lines=r"DATA DIRECTORY|^\) ENGINE=ENGINE DEFAULT CHARSET|^1\tone$|^2\ttwo$|^3\tthreee$|^4\tfour$"),
    Explained("files", says=r"doesn't have this option|does not support DATA DIRECTORY|"
                            r'command "((remove|copy|move)_file|file_exists|perl)" failed'),
    Explained("files", test="suite/innodb/innodb-index", statement=r"^(SHOW CREATE TABLE t;|Table\tCreate Table t\t)",
              lines=r"ER_INDEX_CORRUPT|^Table\tCreate|^t\tCREATE TABLE|^  .*`a`|ENGINE=ENGINE|^Warnings:|contains 0 index"),
    Explained("files", says=r"should have failed with error ER_TABLESPACE_DISCARDED"),
    Explained("files", lines=r"Tablespace has been discarded|^Warnings:$"),
    Explained("files", lines=r"\.(ibd|frm|par)$|FOUND \d+ /.*in mysqld"),
    Explained("auto-increment", test="main/auto_increment", lines=r"^[23]$"),
    Explained("auto-increment", test="suite/innodb/alter_table", says=r"HA_ERR_AUTOINC_ERANGE"),
    Explained("collation", test="main/ctype_*uca*", says=r"ER_DUP_ENTRY"),
    Explained("collation", says=r"does not support an index on"),
    # The same lines in another order, where ORDER BY leaves it open; and the rows that LIMIT takes among equals.
    Explained("order", test="main/join_outer*", statement=r"ORDER BY t1\.b", lines="^$"),
    Explained("order", test="main/select*", statement=r"ORDER  BY `varchar_key` LIMIT", lines="^$"),
    Explained("order", test="main/subselect*", statement=r"BY RAND\(\) LIMIT 1\) AS a .* LIMIT 5", lines=r"^\d+\tNULL$"),
    Explained("row-format", says=r"Unknown option '(?i:page_compressed)'|ER_ILLEGAL_HA_CREATE_OPTION"),
    Explained("row-format", lines=r"ignoring KEY_BLOCK_SIZE|Row size too large|^Warnings:$"),
    Explained("row-format", statement=r"^Table\tCreate", lines=r"ROW_FORMAT="),
    Explained("row-format", lines=r"(?i)ROW_FORMAT"),
    Explained("limits", says=r"key was too long|failed with error ER_(INDEX_COLUMN_TOO_LONG|TOO_LONG_KEY|TOO_BIG_ROWSIZE)"),
    Explained("limits", test="main/order_by", says=r"ER_OUT_OF_SORTMEMORY"),
    Explained("words", lines=r"limited to row-based logging|\.\.\.' at line|already exist"),
    Explained("innodb-views", says=r"(?i)timeout in wait_condition.*innodb_|innodb_trx|innodb_locks"),
    # A database that no constraint protects, since we refused it.
    Explained("foreign-key", test="suite/rpl/rpl_drop_db_fail", statement=r"^DROP DATABASE db1;",
              says=r"ER_DB_DROP_EXISTS"),
    # Follow-ups of a deadlock that the test expects in one connection and gets in the other.
    Explained("victim", test="main/xa", lines=r"(?i)deadlock|ER_XAER_RMFAIL|^ERROR XAE07"),
    Explained("backup-lock", lines=r"^MDL_BACKUP_DML\t"),
    Explained("victim", lines=r"ER_LOCK_DEADLOCK|^ERROR 40001: Deadlock"),
    # One test each.
    # InnoDB names the value of the last row, not the duplicate value.
    Explained("words", test="suite/rpl/rpl_row_create_table", lines=r"^ERROR 23000: Duplicate entry '1?2' for key 'b'"),
    Explained("words", test="main/auto_increment", lines=r"^ERROR 23000: .*[Dd]uplicate entry '1'"),
    Explained("limits", test="main/count_distinct3", lines=r"ER_LOCK_TABLE_FULL|^1000$|^4201000$"),
    Explained("limits", test="main/long_unique_innodb", statement=r"(?i)^(update ignore t1|select \* from t1)",
              lines=r"USING HASH is not currently supported|ER_NOT_SUPPORTED_YET|^1\t(NULL|x)$"),
    Explained("exchange", test="main/partition_exchange", lines=r"^(mysqltest: |ERROR |Error\t)"),
    Explained("optimize-note", test="main/partition_innodb", statement=r"^Table\tOp",
              lines=r"\toptimize\t|^Warnings:$|Data truncated for column 'b'|Invalid default value for 'b'"),
    Explained("foreign-key", test="main/trigger-trans", statement=r"^SELECT @a, @b", lines=r"^[01]\t[01]$"),
    Explained("innodb-views", test="main/auto_increment_ranges_innodb",
              lines=r"wait_condition|^where |^ *and trx_|^Id\tUser|^\d+\troot\t|LOCK_WAIT|Lock wait|^ERROR 23000"),
    # The insert that did not finish used none of our numbers.
    Explained("innodb-views", test="main/auto_increment_ranges_innodb", statement=r"^select \* from t;",
              lines=r"^\d\t\d\t2020-02-29$"),
    Explained("innodb-views", test="main/innodb_mysql_lock",
              lines=r"wait_condition|^WHERE |^trx_|^Id\tUser|^\d+\troot\t|LOCK_WAIT_TIMEOUT|Lock wait|^ERROR 40001"),
    Explained("rollback", test="suite/innodb/alter_copy_bulk",
              statement="(?i)^(select @@in_transaction|rollback to savepoint)", lines=r"^[01]$|SAVEPOINT A"),
    # Rows that a function inserted before the CREATE ... SELECT that calls it failed.
    Explained("rollback", test="main/func_rollback", statement=r"^SELECT \* FROM t1_not_null ORDER BY f1,f2;",
              lines=r"^10\t10$", less=True),
    Explained("files", test="suite/innodb/instant_alter", statement=r"mdev28822_"),  # A table of an old InnoDB.
    *[Explained(group, spoiled=True) for group in sorted(SPOILING)],
]


# Tests that end only with InnoDB, and why; the page says more.
NOT_ENDED = {"innodb.innodb-index": "files",  # Another table's .frm: we refuse it, and say so in the log.
             # They look for statements in the log, but ours are rows.
             **{f"engines/funcs.rpl_{name} 'mix'": "binlog-rows" for name in ("stm_mystery22", "stm_no_op", "trigger")},
             # They change the replica, and expect a statement that tolerates this.
             **{f"rpl.rpl_{name} 'mix'": "binlog-rows" for name in ("stm_conflicts", "stm_no_op", "trigger")},
             # It waits for an error of a constraint on the replica.
             "rpl.rpl_row_idempotency 'row'": "foreign-key",
             "rpl.rpl_row_vcol_crash 'row'": "foreign-key",  # It compares a table that we refused.
             # mysqlbinlog stops at an event with today's time, if the checkpoint in the background has written one yet.
             "binlog.binlog_mysqlbinlog_warn_stop_datetime": "unsteady",
             "parts.backup_log": "files",  # A backup that leaves our tables out: we say so in the log.
             **{f"rpl.{name} 'mix'": "files" for name in (  # Likewise.
                 "parallel_backup", "parallel_backup_lsu_off", "parallel_backup_slave_binlog_off",
                 "rpl_parallel_backup_worker_retry")},
             # Prepared transactions after a restart: we say so in the log.
             **dict.fromkeys(["binlog.binlog_xa_prepared_disconnect", "rpl.rpl_xa_survive_disconnect 'mix'",
                              "rpl.rpl_xa_survive_disconnect_lsu_off 'mix'", "storage_engine/trx.xa_recovery"], "words")}

_MAKES = re.compile(
    r"(?i)\b(?:create|alter|drop|truncate|rename)\b.*?\b(?:table|view|procedure|function|trigger|event|sequence)\b"
    r"(?:\s+if\s+(?:not\s+)?exists)?\s+([\w.`$]+)|"
    r"\b(?:create|drop)\b.*?\bindex\b.*?\bon\s+([\w.`$]+)|"
    r"\b(?:insert|replace)\b.*?\binto\s+([\w.`$]+)|(?<!on )\bupdate\s+([\w.`$]+)|\bdelete\b.*?\bfrom\s+([\w.`$]+)|"
    r"\brename\s+to\s+([\w.`$]+)")


def _name(text):
    return text.replace("`", "").split(".")[-1].lower()


def _touched(difference):
    """The names that a refused statement makes, alters or fills; empty if it was not refused."""
    if not any(re.match(r"mysqltest: |ERROR |Error\t", line) for line in difference.lines):
        return set()
    quoted = [part for line in difference.lines for part in re.findall(r"query '(.*)' (?:failed|succeeded)", line)]
    said = " ; ".join([difference.statement, *quoted])
    found = {_name(name) for names in _MAKES.findall(said) for name in names if name}
    for line in difference.ours:
        found.update(re.findall(r"Table '(?:\w+\.)?(\w+)' doesn't exist", line))
    return found


def explain(test, differences):
    """Pairs: each difference, and its group or None. A change of order alone, without ORDER BY, is "order"."""
    spoiled = {}  # Tables (views ...) that differ between the two: name -> group.
    found = []
    for difference in differences:
        for name in map(_name, difference.anew):
            spoiled.pop(name, None)
        words = set(re.findall(r"\w+", " ".join([difference.statement, *difference.lines]).lower()))
        met = {group for name, group in spoiled.items() if name in words}
        unordered = difference.only_order and not re.search(r"(?i)order\s+by", difference.statement)
        group = "order" if unordered else next(
            (one.group for one in DIFFERENCES if one.covers(test, difference, met)), None)
        if group in SPOILING:
            spoiled.update(dict.fromkeys(_touched(difference), group))
        found.append((difference, group))
    return found
