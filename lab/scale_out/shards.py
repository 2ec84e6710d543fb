"""Statements for a router with Spider and its shards: tables spread by a column, and the branches of a lost shard.

Works on anything with sql(), client(), errors_of(), port and host: lab.tests.lab_server.LabServer with a host. That is of
one shard alone: mysql.spider_xa_member tells the members of a transaction by their hosts, whatever the ports.
"""

import re
import time
from typing import NamedTuple

from installer.shell import Failed, output

SETTLE_S = 60
# For the router. A COMMIT is XA, and each transaction of a connection has its own name: otherwise a connection with a
# COMMIT in doubt gets errors 1440 and 12605 until that is settled.
OPTIONS = ["--plugin-load-add=ha_spider.so", "--spider-internal-xa=ON", "--spider-internal-xa-id-type=1"]
# For a shard. A client's session settings on the router do not reach it.
SHARD_OPTIONS = ["--tidesdb-snapshot-isolation=ON"]
_TABLE = "ENGINE=Spider COMMENT='wrapper \"mysql\", table \"{table}\"'"
# In the form of XA RECOVER FORMAT='SQL', for XA COMMIT and XA ROLLBACK. The router's names are the connection and the
# query, and its server_id, in hex.
_XID = ("CONCAT(\"'\", LEFT(data, gtrid_length), \"','\", SUBSTR(data, gtrid_length + 1, bqual_length), \"'\", "
        "IF(format_id = 1, '', CONCAT(',', format_id)))")
_ROUTERS = re.compile(r"'([0-9a-f]+)[0-9a-f]{16}','([0-9a-f]+)'(,\d+)?")
# States of a statement that reads and writes rows. It may wait for a lock of a branch in doubt.
_AT_ROWS = ("Statistics", "Sending data", "init for update", "Update", "Updating")


class Settled(NamedTuple):
    """A prepared branch that its router did not finish."""
    shard: int   # Its number, from 0.
    xid: str     # In SQL.
    status: str  # Of the router's mysql.spider_xa; "" when it is not there.

    @property
    def end(self):
        return "COMMIT" if self.status == "COMMIT" else "ROLLBACK"


def link(router, shards, database):
    """Makes the database on all shards, and an account for the router on each."""
    for number, shard in enumerate(shards):
        shard.sql(f"CREATE DATABASE {database}; CREATE USER router@'%' IDENTIFIED BY 'router';"
                  f"GRANT ALL ON {database}.* TO router@'%'")
        router.sql(f"CREATE SERVER shard{number} FOREIGN DATA WRAPPER mysql OPTIONS (HOST '{shard.host}', "
                   f"PORT {shard.port}, USER 'router', PASSWORD 'router', DATABASE '{database}')")


def spread(router, shards, database, table, column):
    """Spreads a table of the router over the shards: each gets the rows whose column modulo their count is its number."""
    made = output(router.client("--raw", "-e", f"SHOW CREATE TABLE {database}.{table}")).partition("\t")[2]
    columns, _, options = made.rpartition("\n) ENGINE=")
    engine, _, options = options.strip().partition(" ")
    for shard in shards:
        shard.sql(f"USE {database}; {columns}) ENGINE={engine} {options}")
    parts = ", ".join(f"PARTITION p{number} COMMENT = 'srv \"shard{number}\"'" for number in range(len(shards)))
    router.sql(f"USE {database}; RENAME TABLE {table} TO {table}_here;"
               f"{columns}) {_TABLE.format(table=table)} {options} PARTITION BY HASH ({column}) ({parts});"
               # Into one shard after the other, without XA: if this fails, start over.
               f"SET spider_bulk_size = 1000000, spider_internal_xa = OFF; INSERT INTO {table} SELECT * FROM {table}_here;"
               f"DROP TABLE {table}_here")


def branches(shard):
    """The prepared branches of a shard, as their names in SQL."""
    return [line.split("\t")[3] for line in shard.sql("XA RECOVER FORMAT='SQL'").splitlines()]


def transactions(router):
    """The router's record of unfinished transactions: {name in SQL: status}."""
    return dict(line.split("\t") for line in router.sql(f"SELECT {_XID}, status FROM mysql.spider_xa").splitlines())


def _connection(xid, server_id):
    """Of the router, whose transaction has this name; None when it is of something else, another router say."""
    found = _ROUTERS.fullmatch(xid)
    return int(found[1], 16) if found and int(found[2], 16) == server_id else None


def _may_commit(router, connections):
    """The current statements of these connections, without those that certainly are no commit."""
    wanted = ", ".join(map(str, connections))
    return set(router.sql("SELECT id, query_id FROM information_schema.processlist WHERE command = 'Query' "
                          f"AND id IN ({wanted}) AND state NOT IN {_AT_ROWS}").splitlines())


def settle(router, shards):
    """Ends the branches that a lost shard, now back, has left prepared on any shard. Returns them. Other clients may keep
    working. Branches that the router recorded as COMMIT are committed; no shard has committed any of the rest.
    """
    server_id = int(router.sql("SELECT @@server_id"))
    found = [(number, xid) for number, shard in enumerate(shards) for xid in branches(shard)
             if _connection(xid, server_id) is not None]
    if not found:
        return []
    _wait_for_commits(router, {_connection(xid, server_id) for _, xid in found})
    known, settled = transactions(router), []
    for number, xid in found:
        branch = Settled(number, xid, known.get(xid, ""))
        # Others cannot end a branch that the router's connection still holds: error 1397.
        if shards[number].errors_of(f"XA {branch.end} {xid};") == []:
            settled.append(branch)
    return settled


def _wait_for_commits(router, connections):
    """Waits until all commits under way at the call have finished, so that their outcome is known."""
    begun, deadline = _may_commit(router, connections), time.monotonic() + SETTLE_S
    while begun & _may_commit(router, connections):
        if time.monotonic() > deadline:
            raise Failed(f"connections of the router are still in their statements: {begun}\n"
                         f"{router.sql('SHOW FULL PROCESSLIST')}")
        time.sleep(0.05)


def forget(router, shards):
    """Removes the router's record of transactions without a branch. Call only when nothing is at work."""
    left = [xid for shard in shards for xid in branches(shard)]
    if left:
        raise Failed(f"there are still branches: {left}")
    router.sql("DELETE FROM mysql.spider_xa; DELETE FROM mysql.spider_xa_member")
