"""Statements for a primary and its replicas: copies by GTID, semi-synchronous, and the choice of a new primary.

Works on anything with sql(), client(), tool(), inside(), port and options: installer.server_run.Server.
"""

import subprocess
import time

from installer.shell import Failed, output

CATCH_UP_S = 180
# For every server, since each may become primary. A commit waits until one replica has it, and is invisible before.
OPTIONS = ["--log-bin=binlog", "--binlog-format=ROW", "--gtid-strict-mode=ON", "--log-slave-updates=ON",
           "--slave-parallel-threads=4", "--slave-parallel-mode=optimistic",
           "--rpl-semi-sync-master-wait-point=AFTER_SYNC", "--rpl-semi-sync-master-timeout=3600000"]
# For a server that may have been primary at its end: undoes what no replica acknowledged, in binary log and engines.
COMES_BACK = ["--rpl-semi-sync-slave-enabled=ON", "--init-rpl-role=SLAVE"]


def admit(server):
    """The account for copying from this server. It is in no binary log, because the log is reset afterwards."""
    server.sql("".join(f"CREATE USER repl@{host} IDENTIFIED BY 'replica'; GRANT REPLICATION SLAVE ON *.* TO repl@{host};"
                       for host in ("localhost", "127.0.0.1")))
    server.sql("ALTER TABLE mysql.gtid_slave_pos ENGINE=TidesDB; RESET MASTER")


def lead(server):
    """Makes it the primary: from now on each write waits for a replica."""
    server.sql("SET GLOBAL rpl_semi_sync_master_enabled = ON; SET GLOBAL read_only = OFF")


def follow(server, primary):
    """Makes it a replica, from its own position on."""
    server.sql("SET GLOBAL read_only = ON; SET GLOBAL rpl_semi_sync_master_enabled = OFF;"
               "SET GLOBAL rpl_semi_sync_slave_enabled = ON;"
               f"CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={primary.port}, MASTER_USER='repl',"
               "MASTER_PASSWORD='replica', MASTER_USE_GTID=slave_pos, MASTER_CONNECT_RETRY=1; START SLAVE")


def clone(source, target, databases):
    """Fills an empty target from a working source; the target then follows from the position of the dump."""
    target.sql("RESET MASTER")
    dump = source.inside([source.tool("mariadb-dump"), "--no-defaults", "-uroot", f"--socket={source.socket}",
                          "--single-transaction", "--master-data=1", "--gtid", "--routines", "--databases", *databases])
    reader = subprocess.Popen(target.client("--init-command=SET sql_log_bin = 0"), stdin=subprocess.PIPE)
    try:
        made = subprocess.run(dump, stdout=reader.stdin, check=False)
    finally:
        reader.stdin.close()
    if reader.wait() != 0 or made.returncode != 0:
        raise Failed(f"the copy of {source.data} failed: mariadb-dump {made.returncode}, mariadb {reader.returncode}")
    follow(target, source)


def status(server):
    """SHOW SLAVE STATUS as {name: value}."""
    rows = output(server.client("--vertical", "--column-names", "-e", "SHOW SLAVE STATUS"))
    return {name.strip(): value for name, _, value in (line.partition(": ") for line in rows.splitlines())}


def catch_up(replica, primary):
    """Waits until the replica is where the primary is now. Raises Failed if it does not get there."""
    position = primary.value("SELECT @@gtid_binlog_pos")
    deadline = time.monotonic() + CATCH_UP_S
    while replica.value("SELECT @@gtid_slave_pos") != position:
        found = status(replica)
        if "No" in (found.get("Slave_SQL_Running"), found.get("Slave_IO_Running")) or time.monotonic() > deadline:
            at = replica.value("SELECT @@gtid_slave_pos")
            raise Failed(f"the replica is at {at}, the primary at {position}: {found.get('Last_SQL_Error')} "
                         f"{found.get('Last_IO_Error')}\n{replica.log_tail()}")
        time.sleep(0.1)


def drain(replica):
    """Applies everything received, after the loss of the primary. Returns the reached number in its GTID."""
    replica.sql("STOP SLAVE IO_THREAD")
    received = status(replica)["Gtid_IO_Pos"].strip()
    if received and replica.value(f"SELECT MASTER_GTID_WAIT('{received}', {CATCH_UP_S})") != "0":
        raise Failed(f"the replica does not get to {received}: {status(replica).get('Last_SQL_Error')}")
    return number(replica.value("SELECT @@gtid_current_pos"))


def number(gtid):
    """The number of a position with one domain."""
    return int(gtid.rpartition("-")[2]) if gtid else 0


def fail_over(replicas):
    """After the loss of the primary: the replica with most transactions leads, the others follow it. Returns it.

    Every acknowledged commit is on at least one replica, and so on this one.
    """
    best = max(replicas, key=drain)
    best.sql("STOP SLAVE; RESET SLAVE ALL")
    lead(best)
    for replica in replicas:
        if replica is not best:
            replica.sql("STOP SLAVE")
            follow(replica, best)
    return best


def come_back(server, primary):
    """A former primary, started again with COMES_BACK, follows. It refuses transactions that the new primary lacks."""
    server.sql("SET GLOBAL gtid_slave_pos = @@gtid_binlog_pos")
    follow(server, primary)
