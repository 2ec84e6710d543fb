"""tidesdb-backup in the middle of TPROC-C, again and again; each backup is restored and checked.

The restored server must meet the consistency conditions. Then the primary's binary log, from the backup's position to its
end, is played into it; afterwards all tables must equal the primary's. An extra or missing row stops the playback.
Odd rounds take a backup that links the table files of the one before. At the end it prints the backups' seconds and bytes.
With --engine InnoDB the same program copies InnoDB's tables with mariadb-backup, for comparison.
Environment: see lab/tests/lab_server.py.
"""

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from installer.shell import Failed, output
from lab.tests import lab_server
from test.server.backup_program import BackupProgram

TABLES = ["warehouse", "district", "customer", "history", "new_order", "orders", "order_line", "stock", "item"]
_OPTIONS = ["--log-bin=binlog", "--server-id=1", "--binlog-format=ROW", "--tidesdb-unified-memtable-write-buffer-size=4M"]


def checksums(server):
    return server.sql("CHECKSUM TABLE " + ", ".join(f"tpcc.{table}" for table in TABLES))


def size(directory, since=()):
    """Bytes of a backup, without the files that it shares with another."""
    known = {path.stat().st_ino for path in since}
    return sum(path.stat().st_size for path in directory.rglob("*")
               if path.is_file() and path.stat().st_ino not in known)


class Load:
    """TPROC-C for as long as the context is open."""

    def __init__(self, server, users, seed):
        self.argv = server.tpcc("run", "--vu", str(users), "--rampup", "0", "--duration", "3600", "--seed", str(seed),
                                "--no-check", "-q")
        self.server = server

    def __enter__(self):
        before = self.orders()
        self.process = subprocess.Popen(self.argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while self.orders() == before:
            if self.process.poll() is not None:
                raise Failed(f"the load ended with {self.process.returncode}")
        return self

    def orders(self):
        return int(self.server.value("SELECT SUM(d_next_o_id) FROM tpcc.district"))

    def __exit__(self, *_):
        # It ended too early, so the backup was not under load.
        self.early = self.process.poll() is not None
        self.process.terminate()
        self.process.wait()


class Soak:
    def __init__(self, options, server, directory):
        self.options, self.server, self.directory = options, server, directory
        self.backups = BackupProgram(server, directory)
        self.figures = []

    def round(self, number, base):
        """One backup. Returns its directory, its problems, and a line of figures."""
        target = self.directory / f"b{number}"
        seconds = {}
        begin = time.monotonic()
        with Load(self.server, self.options.users, number + 1) as load:
            before = load.orders()
            self.timed(seconds, "backup", target, *([f"--base-dir={base}"] if base else []))
            meanwhile = load.orders() - before
        problems = "the load ended before the backup\n" if load.early or meanwhile == 0 else ""
        new = size(target, base.rglob("*") if base else ())
        self.timed(seconds, "prepare", target)
        data = self.directory / "restored-data"
        self.timed(seconds, "restore", target, f"--datadir={data}")
        problems += self.check(data, json.loads((target / "tidesdb-backup.json").read_text()))
        self.figures.append({**seconds, "bytes": size(target), "new_bytes": new, "linked": base is not None})
        facts = self.figures[-1]
        print(f"backup {number}: {meanwhile} orders meanwhile; backup {facts['backup']:.2f} s, prepare "
              f"{facts['prepare']:.2f} s, restore {facts['restore']:.2f} s; {facts['bytes'] >> 20} MiB, new "
              f"{new >> 20} MiB; {time.monotonic() - begin:.0f} s in all; {problems or 'equal'}", flush=True)
        return target, problems

    def timed(self, seconds, what, *arguments):
        begin = time.monotonic()
        self.backups.call(what, *arguments)
        seconds[what] = time.monotonic() - begin

    def check(self, data, facts):
        """The problems of a server on a restored datadir; "" if none."""
        restored = lab_server.LabServer(self.server.environment, [*_OPTIONS, "--server-id=2"])
        data.rename(restored.data)
        problems = ""
        with restored:
            done = subprocess.run(restored.tpcc("check"), capture_output=True, text=True, check=False)
            if done.returncode != lab_server.OK:
                problems += f"tpcc check: {done.returncode}\n{done.stdout}{done.stderr}"
            self.play(restored, facts["binary_log"])
            ours, theirs = checksums(restored), checksums(self.server)
            if ours != theirs:
                problems += f"after the binary log: restored\n{ours}\nprimary\n{theirs}\n"
        return problems

    def play(self, restored, position):
        """Applies the primary's changes after the position. Raises Failed if a row differs from the binary log."""
        logs = sorted(path for path in self.server.data.glob("binlog.*") if path.suffix[1:].isdigit())
        logs = [path for path in logs if path.name >= position["file"]]
        program = self.server.inside([self.server.tool("mariadb-binlog"), "--no-defaults",
                                      f"--start-position={position['offset']}", *logs])
        with tempfile.TemporaryFile() as said:
            source = subprocess.Popen(program, stdout=subprocess.PIPE)
            done = subprocess.run(restored.client("--binary-mode"), stdin=source.stdout, stdout=subprocess.DEVNULL,
                                  stderr=said, check=False)
            source.stdout.close()
            if source.wait() != 0 or done.returncode != 0:
                said.seek(0)
                raise Failed(f"playing the binary log from {position}: {said.read().decode(errors='replace')}")

    def summary(self):
        for linked in (False, True):
            found = [figure for figure in self.figures if figure["linked"] == linked]
            if not found:
                continue
            medians = {name: statistics.median(figure[name] for figure in found) for name in found[0]}
            print(f"{len(found)} {'with a base' if linked else 'full'}, medians: backup {medians['backup']:.2f} s, prepare "
                  f"{medians['prepare']:.2f} s, restore {medians['restore']:.2f} s, {medians['bytes'] / (1 << 20):.1f} "
                  f"MiB, new {medians['new_bytes'] / (1 << 20):.1f} MiB")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", default="TidesDB")
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--warehouses", type=int, default=1)
    parser.add_argument("--users", type=int, default=4)
    options = parser.parse_args()
    wrong = ""
    directory = Path(tempfile.mkdtemp(prefix="bk"))
    try:
        with lab_server.LabServer(lab_server.environment(), _OPTIONS) as server:
            output(server.tpcc("build", "--engine", options.engine, "-w", str(options.warehouses), "-q"))
            server.sql("RESET MASTER")
            soak = Soak(options, server, directory)
            base = None
            for number in range(options.rounds):
                target, problems = soak.round(number, base)
                wrong += problems
                if base:
                    shutil.rmtree(base)
                    shutil.rmtree(target)
                    target = None
                base = target
            soak.summary()
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    print(wrong or f"{options.rounds} backups under load: each restored, consistent, equal by the binary log")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
