"""What a router with Spider and its shards are told: tables spread by a column, and the end of what a lost shard left.

Works on anything with sql(), client(), errors_of(), port and host: lab.tests.lab_server.LabServer with a host. That is of
one shard alone: mysql.spider_xa_member tells the members of a transaction by their hosts, whatever the ports.
"""

import re
import time
from typing import NamedTuple

from installer.shell import Failed, output

SETTLE_S = 60
# Of the router. A COMMIT is XA, and no two transactions of a connection have one name: else a connection with a COMMIT in
# doubt gets errors 1440 and 12605 until that is settled.
OPTIONS = ["--plugin-load-add=ha_spider.so", "--spider-internal-xa=ON", "--spider-internal-xa-id-type=1"]
# Of a shard. What a client sets for its session on the router does not get there.
SHARD_OPTIONS = ["--tidesdb-snapshot-isolation=ON"]
_TABLE = "ENGINE=Spider COMMENT='wrapper \"mysql\", table \"{table}\"'"
# As XA RECOVER FORMAT='SQL' has it, and XA COMMIT and XA ROLLBACK want it. The router's names are the connection and the
# query, and its server_id, in hex.
_XID = ("CONCAT(\"'\", LEFT(data, gtrid_length), \"','\", SUBSTR(data, gtrid_length + 1, bqual_length), \"'\", "
        "IF(format_id = 1, '', CONCAT(',', format_id)))")
_ROUTERS = re.compile(r"'([0-9a-f]+)[0-9a-f]{16}','([0-9a-f]+)'(,\d+)?")
# States of a statement that reads and writes rows. It may wait for a lock that a branch in doubt has.
_AT_ROWS = ("Statistics", "Sending data", "init for update", "Update", "Updating")


class Settled(NamedTuple):
    """A prepared branch that its router did not end."""
    shard: int   # Its number, from 0.
    xid: str     # In SQL.
    status: str  # Of the router's mysql.spider_xa; "" when it is not there.

    @property
    def end(self):
        return "COMMIT" if self.status == "COMMIT" else "ROLLBACK"


def link(router, shards, database):
    """The database is on all shards, and the router has an account on each."""
    for number, shard in enumerate(shards):
        shard.sql(f"CREATE DATABASE {database}; CREATE USER router@'%' IDENTIFIED BY 'router';"
                  f"GRANT ALL ON {database}.* TO router@'%'")
        router.sql(f"CREATE SERVER shard{number} FOREIGN DATA WRAPPER mysql OPTIONS (HOST '{shard.host}', "
                   f"PORT {shard.port}, USER 'router', PASSWORD 'router', DATABASE '{database}')")


def spread(router, shards, database, table, column):
    """A table of the router's own goes to the shards: each has the rows where the column modulo their number is its own."""
    made = output(router.client("--raw", "-e", f"SHOW CREATE TABLE {database}.{table}")).partition("\t")[2]
    columns, _, options = made.rpartition("\n) ENGINE=")
    engine, _, options = options.strip().partition(" ")
    for shard in shards:
        shard.sql(f"USE {database}; {columns}) ENGINE={engine} {options}")
    parts = ", ".join(f"PARTITION p{number} COMMENT = 'srv \"shard{number}\"'" for number in range(len(shards)))
    router.sql(f"USE {database}; RENAME TABLE {table} TO {table}_here;"
               f"{columns}) {_TABLE.format(table=table)} {options} PARTITION BY HASH ({column}) ({parts});"
               # In one shard after the other, not by XA: when this fails, it is begun anew.
               f"SET spider_bulk_size = 1000000, spider_internal_xa = OFF; INSERT INTO {table} SELECT * FROM {table}_here;"
               f"DROP TABLE {table}_here")


def branches(shard):
    """The prepared branches of a shard, as their names in SQL."""
    return [line.split("\t")[3] for line in shard.sql("XA RECOVER FORMAT='SQL'").splitlines()]


def transactions(router):
    """What the router has written down of transactions that it has not ended: {name in SQL: status}."""
    return dict(line.split("\t") for line in router.sql(f"SELECT {_XID}, status FROM mysql.spider_xa").splitlines())


def _connection(xid, server_id):
    """Of the router, whose transaction has this name; None when it is of something else, another router say."""
    found = _ROUTERS.fullmatch(xid)
    return int(found[1], 16) if found and int(found[2], 16) == server_id else None


def _may_commit(router, connections):
    """What these connections are in the middle of, unless it is certainly no commit."""
    wanted = ", ".join(map(str, connections))
    return set(router.sql("SELECT id, query_id FROM information_schema.processlist WHERE command = 'Query' "
                          f"AND id IN ({wanted}) AND state NOT IN {_AT_ROWS}").splitlines())


def settle(router, shards):
    """Ends the branches that a lost shard, now back, has left prepared on any shard. Returns them. Others may go on
    working. What the router wrote down as COMMIT is committed; of the rest no shard has committed anything.
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
        # One that the router's connection still holds cannot be ended by others: error 1397.
        if shards[number].errors_of(f"XA {branch.end} {xid};") == []:
            settled.append(branch)
    return settled


def _wait_for_commits(router, connections):
    """Until no commit is under way that was so at the call, so that it is known whether it is one."""
    begun, deadline = _may_commit(router, connections), time.monotonic() + SETTLE_S
    while begun & _may_commit(router, connections):
        if time.monotonic() > deadline:
            raise Failed(f"connections of the router are still in their statements: {begun}\n"
                         f"{router.sql('SHOW FULL PROCESSLIST')}")
        time.sleep(0.05)


def forget(router, shards):
    """Removes what the router wrote down of transactions without a branch. Only when nothing is at work."""
    left = [xid for shard in shards for xid in branches(shard)]
    if left:
        raise Failed(f"there are branches still: {left}")
    router.sql("DELETE FROM mysql.spider_xa; DELETE FROM mysql.spider_xa_member")
