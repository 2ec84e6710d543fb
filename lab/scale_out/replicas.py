"""What a primary and its replicas are told: copies by GTID, semi-synchronous, and who leads when the primary is lost.

Works on anything with sql(), client(), tool(), inside(), port and options: installer.server_run.Server.
"""

import subprocess
import time

from installer.shell import Failed, output

CATCH_UP_S = 180
# Of every server: each may lead one day. A commit waits until one replica has it, and is seen by nobody before.
OPTIONS = ["--log-bin=binlog", "--binlog-format=ROW", "--gtid-strict-mode=ON", "--log-slave-updates=ON",
           "--slave-parallel-threads=4", "--slave-parallel-mode=optimistic",
           "--rpl-semi-sync-master-wait-point=AFTER_SYNC", "--rpl-semi-sync-master-timeout=3600000"]
# Of a server that may have led when it ended: what no replica has acknowledged is taken back, binary log and engines alike.
COMES_BACK = ["--rpl-semi-sync-slave-enabled=ON", "--init-rpl-role=SLAVE"]


def admit(server):
    """The account that others copy from this server with. In the binary log of nobody, as after it the log is empty."""
    server.sql("".join(f"CREATE USER repl@{host} IDENTIFIED BY 'replica'; GRANT REPLICATION SLAVE ON *.* TO repl@{host};"
                       for host in ("localhost", "127.0.0.1")))
    server.sql("ALTER TABLE mysql.gtid_slave_pos ENGINE=TidesDB; RESET MASTER")


def lead(server):
    """Takes writes; each waits for a replica from here on."""
    server.sql("SET GLOBAL rpl_semi_sync_master_enabled = ON; SET GLOBAL read_only = OFF")


def follow(server, primary):
    """Copies from here on, from the server's own position."""
    server.sql("SET GLOBAL read_only = ON; SET GLOBAL rpl_semi_sync_master_enabled = OFF;"
               "SET GLOBAL rpl_semi_sync_slave_enabled = ON;"
               f"CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={primary.port}, MASTER_USER='repl',"
               "MASTER_PASSWORD='replica', MASTER_USE_GTID=slave_pos, MASTER_CONNECT_RETRY=1; START SLAVE")


def clone(source, target, databases):
    """Fills an empty target from a source at work; it follows from the position of the dump."""
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
    """Returns when the replica is where the primary is now. Raises Failed when it does not get there."""
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
    """Applies all that was received, when the primary is lost. Returns how far that is: the number in its GTID."""
    replica.sql("STOP SLAVE IO_THREAD")
    received = status(replica)["Gtid_IO_Pos"].strip()
    if received and replica.value(f"SELECT MASTER_GTID_WAIT('{received}', {CATCH_UP_S})") != "0":
        raise Failed(f"the replica does not get to {received}: {status(replica).get('Last_SQL_Error')}")
    return number(replica.value("SELECT @@gtid_current_pos"))


def number(gtid):
    """Of a position with one domain."""
    return int(gtid.rpartition("-")[2]) if gtid else 0


def fail_over(replicas):
    """After the loss of the primary: the replica that has most leads, the others follow it. Returns it.

    What a client was told of is on one replica at least, so on this one.
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
    """A server that led, started again with COMES_BACK, follows. What the new primary lacks is refused there."""
    server.sql("SET GLOBAL gtid_slave_pos = @@gtid_binlog_pos")
    follow(server, primary)
