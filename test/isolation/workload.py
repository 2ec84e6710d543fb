"""Random transactions over a few rows."""

from dataclasses import dataclass, replace

from test.isolation.history import FOR_UPDATE, PLAIN, SHARE, WRITE, Op

IDS, KEYS = 12, 8  # Ids and keys are drawn from 1..this, so that transactions collide.

# kt is an index that covers reads of id, k and the last token. unique: k is unique.
TABLES = ("plain", "plain", "covering", "covering", "covering", "unique", "unique", "partitioned")

# How often each kind of statement is drawn.
_LISTS = {"read": 4, "scan": 1, "append": 4}
_PREDICATES = {"read": 1, "scan": 4, "append": 1, "append range": 2, "insert": 3, "upsert": 1,
               "delete": 2}
_MOVES = {"read": 1, "scan": 4, "append": 1, "append range": 2, "set_k": 3, "add_k": 2, "set_id": 2}
_MIXED = {name: max(of.get(name, 0) for of in (_LISTS, _PREDICATES, _MOVES))
          for name in {**_LISTS, **_PREDICATES, **_MOVES}}
# large: as mixed, with a long value in each written row, so that most transactions spill.
WORKLOADS = {"lists": _LISTS, "predicates": _PREDICATES, "moves": _MOVES, "mixed": _MIXED, "large": _MIXED}
_LONG_BYTES = 700_000
_MODES = {PLAIN: 5, FOR_UPDATE: 3, SHARE: 2}
_LOCKING = {PLAIN: "", FOR_UPDATE: " FOR UPDATE", SHARE: " LOCK IN SHARE MODE"}


@dataclass
class Script:
    """What a session does as one transaction. ends: COMMIT or ROLLBACK."""
    ops: list
    ends: str = "COMMIT"
    autocommit: bool = False


class Workload:
    """Draws scripts. Owns: the tokens, which are unique in a history."""

    def __init__(self, name, random, table, kind):
        """table: its name; kind: one of TABLES."""
        self._weights, self._random, self._table, self._kind = WORKLOADS[name], random, table, kind
        self._keys = IDS if kind == "unique" else KEYS
        self._ids = 5 if name == "lists" else IDS  # Nothing is inserted into lists.
        self._long = f"REPEAT('{random.choice('xyz')}',{_LONG_BYTES})" if name == "large" else ""
        self._token = 0

    def token(self):
        self._token += 1
        return self._token

    def initial(self):
        """[id, k, token] of a history's first rows."""
        ids = self._random.sample(range(1, self._ids + 1), min(self._ids, self._random.randint(3, 6)))
        keys = self._random.sample(range(1, self._keys + 1), len(ids))
        return [[id_, k, self.token()] for id_, k in zip(sorted(ids), keys, strict=True)]

    def script(self):
        if self._random.random() < 0.15:
            op = self._op()
            if op.kind != "upsert":  # Without an answer, nobody knows which of its two writes it did.
                return Script([op], autocommit=True)
        ops = [self._op() for _ in range(self._random.choice((1, 2, 2, 3, 3, 4)))]
        if len(ops) > 1 and self._random.random() < 0.1:
            begin, end = sorted(self._random.sample(range(len(ops) + 1), 2))
            ops.insert(end, Op("rollback to", WRITE, sql="ROLLBACK TO SAVEPOINT s"))
            ops.insert(begin, Op("savepoint", WRITE, sql="SAVEPOINT s"))
        return Script(ops, "ROLLBACK" if self._random.random() < 0.06 else "COMMIT")

    def _draw(self, weights):
        return self._random.choices(list(weights), list(weights.values()))[0]

    def _range(self, op, by):
        most = self._ids if by == "id" else self._keys
        lo, hi = sorted(self._random.randint(0, most + 1) for _ in range(2))
        if self._random.random() < 0.2:
            lo, hi = -1000, 1000  # Keys may have been moved out of 1..KEYS.
        of_k = "kt" if self._kind == "covering" and self._random.random() < 0.5 else "k"
        index = "PRIMARY" if by == "id" else of_k
        return replace(op, by=by, lo=lo, hi=hi, index=index, n_max=self._random.choice((0, 0, 0, 0, 0, 1, 2, 3)))

    def _op(self):
        kind, number = self._draw(self._weights), self._random.randint(1, self._ids)
        by = self._random.choice(("id", "k"))
        if kind == "read":
            op = Op("read", self._draw(_MODES), "id", number, number, "PRIMARY")
        elif kind == "scan":
            op = self._range(Op("read", self._draw(_MODES), descending=self._random.random() < 0.25), by)
            if op.by == "id" and self._random.random() < 0.2:
                op.limit = self._random.randint(1, 3)
            elif op.index == "kt" and self._random.random() < 0.5:
                op.covered, op.n_max = True, 0
        elif kind in ("append range", "add_k"):
            op = self._range(Op(kind.removesuffix(" range"), WRITE, token=self.token()), by)
            op.value = self._random.choice((-2, -1, 1, 2)) if kind == "add_k" else 0
        elif kind == "insert":
            inserted = [[self._random.randint(1, IDS), self._random.randint(1, self._keys), self.token()]
                        for _ in range(self._random.choice((1, 1, 1, 2)))]
            op = Op("insert", WRITE, inserted=inserted)
        elif kind == "upsert":
            k = self._random.randint(1, self._keys)
            op = Op("upsert", WRITE, "id", number, number, token=self.token(), value=k,
                    inserted=[[number, k, self.token()]])
        elif kind == "delete":
            op = Op("delete", WRITE, "id", number, number, "PRIMARY")
            if self._random.random() < 0.3:
                op = self._range(op, by)
        else:
            value = {"set_k": self._random.randint(1, self._keys), "set_id": self._random.randint(1, IDS)}.get(kind, 0)
            op = Op(kind, WRITE, "id", number, number, "PRIMARY", token=self.token(), value=value)
        op.sql = self._sql(op)
        return op

    def _sql(self, op):
        table = self._table
        where = f"WHERE {op.by}={op.lo}" if op.lo == op.hi else f"WHERE {op.by} BETWEEN {op.lo} AND {op.hi}"
        where += f" AND n<={op.n_max}" if op.n_max else ""
        if op.kind == "read":
            order = f" ORDER BY {op.by}{' DESC' if op.descending else ''}" if op.descending or op.limit else ""
            order += f" LIMIT {op.limit}" if op.limit else ""
            no_wait = " NOWAIT" if op.mode != PLAIN and self._random.random() < 0.1 else ""
            columns = "id,k,tag" if op.covered else "id,k,tag,n,list"
            return f"SELECT {columns} FROM {table} FORCE INDEX({op.index}) {where}{order}{_LOCKING[op.mode]}{no_wait}"
        long = f",long_value={self._long}" if self._long else ""
        if op.kind == "insert":
            return insert(table, op.inserted, self._long)
        if op.kind == "upsert":
            return (f"{insert(table, op.inserted, self._long)} ON DUPLICATE KEY UPDATE list=CONCAT(list,'.{op.token}'),"
                    f"n=n+1,tag={op.token}{long}")
        if op.kind == "delete":
            return f"DELETE FROM {table} {where} RETURNING id,k,tag,n,list"
        more = {"set_k": f",k={op.value}", "set_id": f",id={op.value}", "add_k": f",k=k+({op.value})"}.get(op.kind, "")
        return (f"UPDATE {table} FORCE INDEX({op.index}) SET list=CONCAT(list,'.{op.token}'),n=n+1,tag={op.token}{more}"
                f"{long} {where}")


def insert(table, rows, long=""):
    """long: an expression for long_value."""
    listed = ",".join(f"({id_},{k},{token},1,'{token}',{long or 'NULL'})" for id_, k, token in rows)
    return f"INSERT INTO {table} (id,k,tag,n,list,long_value) VALUES {listed}"


def create(table, engine, kind):
    keys = {"covering": "KEY k(k), KEY kt(k,tag)", "unique": "UNIQUE KEY k(k)"}.get(kind, "KEY k(k)")
    parts = " PARTITION BY RANGE (id) (PARTITION a VALUES LESS THAN (4), PARTITION b VALUES LESS THAN (8), " \
            "PARTITION c VALUES LESS THAN MAXVALUE)" if kind == "partitioned" else ""
    return (f"CREATE OR REPLACE TABLE {table} (id INT PRIMARY KEY, k INT NOT NULL, tag INT NOT NULL, n INT NOT NULL, "
            f"list VARCHAR(400) NOT NULL, long_value LONGTEXT, {keys}) ENGINE={engine}{parts}")
