"""Which results of the server's own suites are compared, and which differences count as explained."""

import unittest
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

from installer import result_diff, server_suites, suite_copy, suite_differences, suite_records
from installer.mtr import Results

ROWS = "CREATE TABLE t1 (a INT) ENGINE={0};\nSELECT a FROM t1;\na\n1\n2\nDROP TABLE t1;\n"


def groups(ours, theirs, test="main/x"):
    return [group for _, group in suite_differences.explain(test, result_diff.differences(ours, theirs))]


class Names(unittest.TestCase):
    def test_engines_are_replaced_where_they_are_named_as_engines(self):
        for text in ["engine={};", "ENGINE = '{}'", "let $engine= '{}';", "ENGINE {}", "--default-storage-engine={}",
                     "mysql.gtid_slave_pos_{}", '--gtid-pos-auto-engines=myisam,{}', 'gtid_pos_auto_engines="{}"',
                     "set default_storage_engine={};"]:
            for name in ("InnoDB",) if "gtid" in text else ("InnoDB", "myisam"):
                self.assertEqual(suite_copy.rename(text.format(name).encode(), "TidesDB"), text.format("TidesDB").encode())

    def test_other_words_are_left_alone(self):
        for text in [b"--source include/have_innodb.inc", b"engine=mrg_myisam", b"set innodb_lock_wait_timeout=1",
                     b"SHOW ENGINE INNODB STATUS",
                     b"\xe4 engine=heap"]:
            self.assertEqual(suite_copy.rename(text, "TidesDB"), text)

    def test_a_promise_with_a_variable_of_each_engine(self):
        for text in ("set innodb_snapshot_isolation=0", "--loose-innodb-snapshot-isolation=0"):
            self.assertEqual(suite_copy.rename(text.encode(), "TidesDB"), text.replace("innodb", "tidesdb").encode())
            self.assertEqual(suite_copy.rename(text.encode(), "InnoDB"), text.encode())

    def test_a_thread_that_waits_for_a_row_says_so_in_each_engine_s_words(self):
        for state in (b"Searching rows for update", b"Updating", b"Sending data", b"update"):
            for engine in ("TidesDB", "InnoDB"):
                self.assertEqual(suite_copy.rename(b"STATE = '%s'" % state, engine),
                                 b"STATE IN ('%s', 'Updating', 'Waiting for row lock')" % state)

    def test_both_engines_take_innodbs_branch_of_a_test(self):
        text = b"if ($engine == \"'%s'\")"
        self.assertEqual(suite_copy.rename(text % b"InnoDB", "TidesDB"), text % b"TidesDB")
        self.assertEqual(suite_copy.rename(text % b"MyISAM", "TidesDB"), text % b"MyISAM")

    def test_how_a_table_is_altered_is_left_open(self):
        for text, left in [("ALTER ONLINE TABLE t ADD b INT, ALGORITHM=INPLACE, LOCK=NONE", "ALTER TABLE t ADD b INT, "
                            "ALGORITHM=DEFAULT, LOCK=DEFAULT"),
                           ("SET alter_algorithm='INSTANT'", "SET alter_algorithm='DEFAULT'"),
                           ("CREATE TABLE t (a INT) ROW_FORMAT=FIXED", "CREATE TABLE t (a INT) ROW_FORMAT=DEFAULT"),
                           ("ALTER TABLE t FORCE, ALGORITHM=COPY", "ALTER TABLE t FORCE, ALGORITHM=COPY"),
                           ("CREATE ALGORITHM=MERGE VIEW v AS SELECT 1", "CREATE ALGORITHM=MERGE VIEW v AS SELECT 1")]:
            self.assertEqual(suite_copy.rename(text.encode(), "TidesDB"), left.encode())

    def test_a_time_out_of_an_option_file_holds_for_both(self):
        with TemporaryDirectory() as name:
            source, work = Path(name, "source"), Path(name, "work")
            (source / "main").mkdir(parents=True)
            work.mkdir()
            (source / "main" / "a.opt").write_text("--innodb-lock-wait-timeout=2\n")
            (source / "main" / "a.result").write_text("old\n")
            (source / "main" / "a.test").write_text("SELECT 1;\n")
            suite_copy.make(source, work, "TidesDB")
            self.assertIn("tidesdb-lock-wait-timeout-ms=2000", (work / "main" / "a.opt").read_text())
            self.assertTrue((work / "main" / "a.test").is_symlink())
            self.assertEqual(suite_copy.recorded(work), {})
            (work / "main" / "a.result").write_text("1\n")
            self.assertEqual(suite_copy.recorded(work), {"main/a": "1\n"})


class Choice(unittest.TestCase):
    def test_of_replication_what_wants_innodb_by_itself(self):
        with TemporaryDirectory() as name:
            place = Path(name, "suite", "rpl", "t")
            place.mkdir(parents=True)
            for test, text in [("rpl_semi_sync_event", ""), ("rpl_semi_sync_myisam", ""), ("rpl_relay_x", "SELECT 1;\n"),
                               ("mdev_1", "--source include/have_innodb.inc\n")]:
                (place / f"{test}.test").write_text(text)
            self.assertEqual(server_suites.chosen(Path(name), ["rpl"]), ["rpl.mdev_1", "rpl.rpl_semi_sync_event"])

    def test_the_suites_about_the_log_run_with_the_format_asked_for(self):
        said = []

        def drive(environment, work, vardir, arguments, log, nobody):
            said.append([one for one in arguments if "binlog-format" in one or one.startswith(("main.", "rpl.", "binlog"))])
            return Results()

        with TemporaryDirectory() as name, mock.patch("installer.mtr.drive", drive):
            place = Path(name)
            server_suites.drive(None, place, place, "InnoDB", ["main.a", "rpl.b", "binlog_encryption.c"], 1, place, "mixed")
        self.assertEqual(said, [["main.a"], ["--mysqld=--binlog-format=mixed", "rpl.b", "binlog_encryption.c"]])


class Records(unittest.TestCase):
    def test_a_rerun_replaces_the_records_of_its_tests_and_no_others(self):
        with TemporaryDirectory() as name:
            path = Path(name, "TidesDB.json")
            suite_records.keep(path, ["main.a", "parts.b"], {"main/a": "1", "suite/parts/b": "2"},
                               Results({"main.a 'x'": "pass", "main.a 'y'": "pass", "parts.b": "skipped"},
                                       {"parts.b": "no"}))
            suite_records.keep(path, ["main.a"], {}, Results({"main.a 'x'": "fail"}))
            texts, results = suite_records.kept(path, ["main.a", "parts.b", "main.never"])
            self.assertEqual(texts, {"suite/parts/b": "2"})
            self.assertEqual(results.tests, {"main.a 'x'": "fail", "parts.b": "skipped"})
            self.assertEqual(results.reasons, {"parts.b": "no"})
            self.assertEqual(suite_records.kept(path, ["main.a"])[0], {})


class Differences(unittest.TestCase):
    def test_the_engine_s_name_is_no_difference(self):
        self.assertEqual(groups(ROWS.format("TidesDB"), ROWS.format("InnoDB")), [])

    def test_a_lost_row_is_not_explained(self):
        self.assertEqual(groups(ROWS.format("TidesDB").replace("2\n", ""), ROWS.format("InnoDB")), [None])

    def test_order(self):
        self.assertEqual(groups(ROWS.format("TidesDB").replace("1\n2\n", "2\n1\n"), ROWS.format("InnoDB")), ["order"])

    def test_a_plan(self):
        self.assertEqual(groups("EXPLAIN SELECT 1;\nid\trows\n1\t7\n", "EXPLAIN SELECT 1;\nid\trows\n1\t8\n"), ["plan"])

    def test_what_follows_a_refusal_is_explained_where_it_names_the_table(self):
        table = "CREATE TABLE t2 (a INT, FOREIGN KEY (a) REFERENCES t1 (a));\n"
        refused = "mysqltest: query '' failed: does not support the create option 'FOREIGN KEY'\n"
        missing = "ERROR 42S02: Table 't2' doesn't exist\n"
        theirs = f"{table}SELECT 1 FROM t2;\nSELECT 1 FROM t1;\n1\n"
        self.assertEqual(groups(f"{table}{refused}SELECT 1 FROM t2;\n{missing}SELECT 1 FROM t1;\n", theirs),
                         ["foreign-key", "foreign-key", None])
        self.assertEqual(groups(f"{table}SELECT 1 FROM t2;\n{missing}SELECT 1 FROM t1;\n1\n", theirs), [None])

    def test_a_table_that_both_make_anew_is_whole_again(self):
        table = "CREATE TABLE t2 (a INT, FULLTEXT KEY (a));\n"
        refused = "mysqltest: query '' failed: ENGINE doesn't support FULLTEXT indexes\n"
        rest = "CREATE TABLE t2 (a INT);\nSELECT 1 FROM t2;\n"
        self.assertEqual(groups(f"{table}{refused}{rest}1\n", f"{table}{rest}"), ["fulltext", None])

    def test_rows_beside_a_refused_algorithm_are_not_explained(self):
        alter = "ALTER TABLE t1 ADD b INT;\n"
        refused = "ERROR 0A000: ALGORITHM=INPLACE is not supported. Reason: x. Try ALGORITHM=COPY\n"
        self.assertEqual(groups(f"{alter}{refused}", f"{alter}affected rows: 0\n"), ["alter-algorithm"])
        self.assertEqual(groups(f"{alter}{refused}SELECT 1;\n1\n", f"{alter}SELECT 1;\n2\n"), ["alter-algorithm", None])
        self.assertEqual(groups("UPDATE t1 SET a=1;\naffected rows: 1\n", "UPDATE t1 SET a=1;\naffected rows: 2\n"), [None])

    def test_what_the_query_cache_holds_is_no_statistics(self):
        for name, group in [("Handler_read_key", "statistics"), ("Qcache_hits", None)]:
            said = f"show status like '{name}';\nVariable_name\tValue\n{name}\t"
            self.assertEqual(groups(f"{said}1\n", f"{said}2\n"), [group])

    def test_a_row_that_only_ours_has_is_not_one_that_only_innodb_has(self):
        read = "SELECT * FROM t1_not_null ORDER BY f1,f2;\n"
        self.assertEqual(groups(read, f"{read}10\t10\n", "main/func_rollback"), ["rollback"])
        self.assertEqual(groups(f"{read}10\t10\n", read, "main/func_rollback"), [None])

    def test_rows_beside_a_missing_file_are_not_explained(self):
        files = "SHOW CREATE TABLE t1;\nt1\n"
        self.assertEqual(groups(f"{files}1\n", f"{files}2\nt1.ibd\n"), [None])

    def test_a_statement_that_only_one_shows_stands_for_itself(self):
        plan = "EXPLAIN SELECT 1;\n1\n"
        self.assertEqual(groups(f"{plan}SELECT 2;\n2\n", "SELECT 3;\n3\n"), ["plan", None, None])

    def test_an_error_in_an_included_file_is_one_answer(self):
        said = ('mysqltest: In included file "./a.inc": \nincluded from {}/a.test at line 2:\n'
                "At line {}: query 'select\n1' failed: {}\n")
        ours = "SELECT 1;\n" + said.format("x", 7, "no")
        self.assertEqual(groups(ours, "SELECT 1;\n" + said.format("y", 8, "no")), [])
        self.assertEqual(groups(ours, "SELECT 1;\n" + said.format("y", 8, "so")), [None])

    def test_the_place_of_the_run_is_no_difference(self):
        said = ('flush tables t1;\nmysqltest: In included file "/dev/shm/tidesdb-suites-{0}/suite/rpl/a.test": \n'
                'included from /dev/shm/tidesdb-suites-{0}/suite/rpl/t/a.test at line 3:\n'
                'At line 20: command "remove_file" failed with error: {1}\n')
        self.assertEqual(groups(said.format("x", 1), said.format("y", 1)), [])
        self.assertEqual(len(groups(said.format("x", 1), said.format("y", 2))), 1)

    def test_a_shorter_log_after_a_refused_constraint_is_explained_in_that_test_alone(self):
        state = "SELECT @@gtid_binlog_state;\n@@gtid_binlog_state\n0-1-{}\n"
        test = "suite/binlog/start_alter_mysqlbinlog_replay"
        self.assertEqual(groups(state.format(2), state.format(5), test), ["foreign-key"])
        self.assertEqual(groups(state.format(3), state.format(5), test), [None])
        self.assertEqual(groups(state.format(2), state.format(5)), [None])

    def test_a_database_without_the_constraint_that_keeps_it_is_explained_in_that_test_alone(self):
        show = "SHOW TABLES FROM db1;\n"
        gone = f"{show}mysqltest: query 'SHOW TABLES FROM db1' failed: ER_BAD_DB_ERROR (1049): Unknown database 'db1'\n"
        test = "suite/binlog/binlog_database"
        self.assertEqual(groups(gone, f"{show}Tables_in_db1\nt2\n", test), ["foreign-key"])
        self.assertEqual(groups(gone, f"{show}Tables_in_db1\nt2\nt1\n", test), [None])
        self.assertEqual(groups(gone, f"{show}Tables_in_db1\nt2\n"), [None])

    def test_the_status_of_a_command_is_a_difference_and_what_the_driver_met_before_is_none(self):
        said = "SELECT 1;\nmysqltest: At line 7: exec of 'a b' failed, error: {0}, status: {1}, errno: {2}\n"
        self.assertEqual(groups(said.format(256, 1, 0), said.format(256, 1, 11)), [])
        self.assertEqual(groups(said.format(256, 1, 0), said.format(512, 2, 0)), [None])

    def test_the_words_of_an_error_spoil_no_table(self):
        table = "CREATE TABLE t2 (a INT, FOREIGN KEY (a) REFERENCES t1 (a) ON UPDATE SET NULL);\n"
        refused = "mysqltest: query 'x' failed: cannot add or update a child row: a foreign key constraint fails\n"
        self.assertEqual(groups(f"{table}{refused}SELECT a FROM t1;\nSET @b = 1;\n",
                                f"{table}SELECT a FROM t1;\n1\nSET @b = 1;\n2\n"), ["foreign-key", None, None])

    def test_an_error_of_many_lines_is_one_answer(self):
        ours = "SELECT 1;\nmysqltest: At line 7: query 'explain\nselect 2\nfrom t1' failed: no table t1\nSELECT 3;\n3\n"
        found = result_diff.differences(ours, "SELECT 1;\n1\nSELECT 3;\n3\n")
        self.assertEqual([(one.statement, one.ours, one.theirs) for one in found],
                         [("SELECT 1;", ("mysqltest: query 'explain select 2 from t1' failed: no table t1",), ("1",))])

    def test_an_error_that_did_not_come_is_one_answer(self):
        ours = "SELECT 1;\nmysqltest: At line 7: query 'SELECT 1' succeeded - should have failed\nSELECT 3;\n' failed: \n"
        found = result_diff.differences(ours, "SELECT 1;\nSELECT 3;\n' failed: \n")
        self.assertEqual([one.ours for one in found], [("mysqltest: query 'SELECT 1' succeeded - should have failed",)])

    def test_every_group_has_a_reason_on_the_page(self):
        page = (Path(__file__).parents[2] / "docs" / "engine-suites.md").read_text()
        for group in sorted({one.group for one in suite_differences.DIFFERENCES} | {"order"}):
            self.assertIn(f"`{group}`", page)


class Comparison(unittest.TestCase):
    def test_a_test_that_only_ours_did_not_end(self):
        theirs = {"main/a": "1\n", "main/b": "1\n"}, Results({"main.a": "pass", "main.b": "pass"})
        found = server_suites.judge("1", ({"main/a": "1\n"}, Results({"main.a": "pass", "main.b": "fail"})), theirs)
        self.assertEqual((found.same, list(found.unexplained)), (["main/a"], ["main.b"]))

    def test_page(self):
        found = server_suites.judge("1", ({"main/a": "select 1;\n1\n"}, Results({"main.a": "pass"})),
                                    ({"main/a": "select 1;\n2\n"}, Results({"main.a": "pass"})))
        with TemporaryDirectory() as name:
            said = server_suites.write(found, Path(name) / "page").read_text()
        self.assertIn("## main/a\n\n```\nselect 1;\n  InnoDB:  2\n  TidesDB: 1\n", said)

    def test_the_score_of_a_suite(self):
        names = ["main.a", "main.b", "innodb.c '4k'", "innodb.c '8k'"]
        results = Results(dict.fromkeys(names, "pass"))
        theirs = {"main/a": "select 1;\n1\n", "main/b": "select 1;\n1\n", "suite/innodb/c": "explain x;\n1\n"}
        ours = {"main/a": "select 1;\n1\n", "main/b": "select 1;\n2\n", "suite/innodb/c": "explain x;\n2\n"}
        found = server_suites.judge("1", (ours, results), (theirs, results))
        self.assertEqual(server_suites.scores(found), [("innodb", 1, 1, 0, 1, 0), ("main", 2, 2, 1, 0, 1)])


if __name__ == "__main__":
    unittest.main()
