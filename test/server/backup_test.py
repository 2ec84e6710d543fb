"""tidesdb-backup on a real server under load: InnoDB and TidesDB are restored at one binary-log position.

Writers count in a table of each engine in one transaction. In each backup both engines must have the same counts, equal
to the number of transactions in the binary log.
Environment: TIDESDB_SERVER, TIDESDB_PLUGIN; TIDESDB_BACKUPS: how many backups, 3.
"""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from installer import servers
from installer.server_run import Server
from installer.shell import TREE
from test.server.backup_program import BackupProgram

WRITERS = 4
TABLES = f"""
CREATE DATABASE work; USE work;
CREATE TABLE i (id INT PRIMARY KEY, n INT NOT NULL) ENGINE=InnoDB;
CREATE TABLE t (id INT PRIMARY KEY, n INT NOT NULL, KEY (n)) ENGINE=TidesDB;
CREATE TABLE filled (id INT PRIMARY KEY AUTO_INCREMENT, writer INT, filler VARCHAR(2000)) ENGINE=TidesDB;
CREATE TABLE still (id INT PRIMARY KEY, filler VARCHAR(500)) ENGINE=TidesDB;
INSERT INTO still SELECT seq, REPEAT(UUID(), 10) FROM seq_1_to_20000;
INSERT INTO i SELECT seq, 0 FROM seq_1_to_{WRITERS};
INSERT INTO t SELECT seq, 0 FROM seq_1_to_{WRITERS};
DELIMITER //
CREATE PROCEDURE count_up(writer INT)
BEGIN
  LOOP
    START TRANSACTION;
    UPDATE i SET n = n + 1 WHERE id = writer;
    UPDATE t SET n = n + 1 WHERE id = writer;
    INSERT INTO filled (writer, filler) VALUES (writer, REPEAT('x', 1000));
    COMMIT;
  END LOOP;
END //
DELIMITER ;
"""
OPTIONS = ["--log-bin=binlog", "--server-id=1", "--binlog-format=ROW", "--innodb-buffer-pool-size=32M",
           "--tidesdb-unified-memtable-write-buffer-size=1M", "--tidesdb-block-cache-size=8M"]


class BackupTest(unittest.TestCase):
    def setUp(self):
        self.environment = servers.prepare(os.environ["TIDESDB_SERVER"], TREE / "var" / "backup-test.log",
                                           more=["mariadb-backup"])
        self.directory = Path(tempfile.mkdtemp(prefix="bk", dir=os.environ.get("TMPDIR", "/tmp")))
        self.addCleanup(subprocess.run, ["rm", "-rf", str(self.directory)])
        self.server = self.started("s")
        self.backups = BackupProgram(self.server, self.directory)
        self.server.sql(TABLES.partition("DELIMITER")[0])
        subprocess.run(self.server.client(), input="USE work;\nDELIMITER" + TABLES.partition("DELIMITER")[2], text=True,
                       check=True)
        self.first = self.sequence(self.server.sql("SELECT @@gtid_binlog_pos").strip())

    def started(self, name, data=None):
        server = Server(self.environment, self.directory / name, os.environ["TIDESDB_PLUGIN"], OPTIONS)
        if data:
            server.directory.mkdir()
            data.rename(server.data)
        else:
            server.initialise()
        server.start()
        self.addCleanup(server.kill)
        return server

    @staticmethod
    def sequence(gtid):
        return int(gtid.split("-")[2])

    def call(self, what, target, *more, fails=None):
        """Runs tidesdb-backup; fails: the message that it must fail with."""
        done = self.backups.run(what, target, *more)
        if fails:
            self.assertEqual(1, done.returncode, done.stdout)
            self.assertRegex(done.stderr, fails)
        else:
            self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        return done.stdout

    def write(self):
        for writer in range(1, WRITERS + 1):
            process = subprocess.Popen(self.server.client_command(f"CALL work.count_up({writer})"),
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)

    def checked(self, target):
        """Restores a backup, starts a server on it, and compares."""
        data = self.directory / "restored"
        self.call("restore", target, f"--datadir={data}")
        restored = self.started(f"r-{target.name}", data)
        counts = restored.sql("SELECT i.n, t.n, (SELECT COUNT(*) FROM work.filled f WHERE f.writer = i.id) "
                              "FROM work.i JOIN work.t USING (id) ORDER BY i.id").split()
        each = [counts[at:at + 3] for at in range(0, len(counts), 3)]
        self.assertEqual(WRITERS, len(each))
        for innodb, tidesdb, rows in each:
            self.assertEqual((innodb, innodb), (tidesdb, rows))
        facts = json.loads((target / "tidesdb-backup.json").read_text())
        total = sum(int(innodb) for innodb, _, _ in each)
        self.assertEqual(self.sequence(facts["binary_log"]["gtid"]) - self.first, total)
        self.assertEqual("20000", restored.sql("SELECT COUNT(*) FROM work.still").strip())
        for table in ["t", "filled", "still"]:
            self.assertIn("OK", restored.sql(f"CHECK TABLE work.{table} EXTENDED"))
        restored.stop()
        return total, facts

    def test_backups_under_load(self):
        self.write()
        base, totals, rounds = None, [], int(os.environ.get("TIDESDB_BACKUPS", "3"))
        for number in range(rounds):
            target = self.directory / f"b{number}"
            self.call("backup", target, *([f"--base-dir={base}"] if base else []))
            self.call("prepare", target)
            if number == rounds - 1:
                self.call("verify", target)
            total, facts = self.checked(target)
            if base:
                self.assertGreater(facts["tidesdb"]["linked_from_base"], 0)
            totals.append(total)
            print(f"backup {number}: {total} transactions, commits blocked for {facts['commits_blocked_s']} s, "
                  f"{facts['tidesdb']}", flush=True)
            base = target
        self.assertEqual(sorted(totals), totals)
        self.assertGreater(totals[0], 0)
        left = [path.name for path in (self.server.data / "#tidesdb").iterdir() if path.is_dir()]
        self.assertEqual([], left)

    def test_what_cannot_be_done_is_refused_by_name(self):
        full = self.directory / "full"
        (full / "something").mkdir(parents=True)
        self.call("backup", full, fails="full is not empty; name")
        self.call("prepare", full, fails="full is not a finished backup")
        self.call("backup", self.directory / "b", f"--base-dir={full}", fails="full is not a finished backup")
        self.call("backup", self.directory / "b")
        self.call("restore", self.directory / "b", f"--datadir={self.directory / 'd'}",
                  fails="not prepared; first: .*--prepare")
        self.call("prepare", self.directory / "b")
        self.call("restore", self.directory / "b", f"--datadir={full}", fails="full is not empty")

    def test_mariadb_backup_alone_is_not_passed_over(self):
        subprocess.run([self.backups.program("mariadb-backup"), "--no-defaults", "--backup", "--user=root",
                        f"--target-dir={self.directory / 'alone'}", f"--datadir={self.server.data}",
                        f"--socket={self.server.socket}"], check=True, capture_output=True)
        self.assertIn("a backup has ended without its 3 TidesDB tables", self.server.error_log.read_text(errors="replace"))


if __name__ == "__main__":
    unittest.main()
