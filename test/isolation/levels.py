"""Finds the anomalies that are cycles, and tells which anomalies a level forbids."""

from test.isolation.graph import RT, RW, WR, WW
from test.isolation.history import PLAIN, READ_COMMITTED, REPEATABLE_READ, SERIALIZABLE
from test.isolation.rows import Anomaly

# Wrong at every level.
_ALWAYS = {"G0", "G1a", "G1b", "G1c", "overwritten", "double write", "lost write", "lost row", "garbage", "torn row",
           "wrong row", "own write not seen", "stale read", "half a transaction", "half a transaction seen",
           "locked row changed", "index differs", "counter", "unexpected error", "no answer"}
# At READ COMMITTED, wrong in a plain read, which has one snapshot; a locking scan does not block rows that move behind it.
_OF_A_SNAPSHOT = {"missed row", "row seen twice"}
_REPEATABLE = {"locked range changed", "half a transaction seen by a lock", "read skew of a snapshot", *_OF_A_SNAPSHOT}
_OF_RANGES = {"locked range changed", "half a transaction seen by a lock", *_OF_A_SNAPSHOT}
_SNAPSHOT_ISOLATION = {"lost update", "G-single", "phantom", "G-nonadjacent"}
_SERIALIZABLE = {"row gone since the snapshot", "G2-item", "G2", "not serializable"}
NAMES = sorted(_ALWAYS | _REPEATABLE | _SNAPSHOT_ISOLATION | _SERIALIZABLE)


def locks_ranges(history, level):
    """Whether locking reads lock ranges. Without row locks, TidesDB does so only at SERIALIZABLE."""
    return level == SERIALIZABLE or level == REPEATABLE_READ and history.locks


def forbids(history, anomaly):
    """Whether the level that the history was run at forbids the anomaly."""
    if anomaly.name in _ALWAYS:
        return True
    level = history.level_of(anomaly.transactions[0]) if anomaly.transactions and not anomaly.edges else history.level
    if level == READ_COMMITTED or not locks_ranges(history, level) and anomaly.name in _OF_RANGES:
        return anomaly.name in _OF_A_SNAPSHOT and (anomaly.mode == PLAIN or anomaly.upward)
    if anomaly.name in _REPEATABLE or level == SERIALIZABLE:
        return True
    return anomaly.name in _SNAPSHOT_ISOLATION and history.snapshot_isolation


def _over(*kinds):
    """A step over edges of these kinds only."""
    return lambda memo, edge: memo if edge.kind in kinds else None


def _one_rw(memo, edge):
    """At most one rw edge. memo: whether it was met."""
    return None if edge.kind == RW and memo else memo or edge.kind == RW


def _two_rw(memo, edge):
    """memo: whether an rw edge was met after the first edge."""
    return memo or edge.kind == RW


def _two_rw_of_items(memo, edge):
    return None if edge.predicate else memo or edge.kind == RW


def _apart(memo, edge):
    """Never two rw edges in a row. memo: (whether the last edge was rw, whether an rw edge came after the first one)."""
    after_rw, second = memo
    is_rw = edge.kind == RW
    return None if after_rw and is_rw else (is_rw, second or is_rw)


def _passes_over(edge):
    """A locking read skips a row that was deleted or moved away since the snapshot. InnoDB gives no error either."""
    return edge.kind == WR and edge.predicate and edge.mode != PLAIN


def _is_item(edge):
    return edge.kind == RW and not edge.predicate


def _is_predicate(edge):
    return edge.kind == RW and edge.predicate


def cycles(whole, history):
    """The shortest cycle of each name, as anomalies. whole: a Graph with all edges."""
    found = []

    def add(name, cycle):
        if cycle and not any(cycle == list(anomaly.edges) for anomaly in found):
            numbers = tuple(edge.source for edge in cycle)
            text = f"{name}: " + " -> ".join(f"T{number}" for number in (*numbers, numbers[0]))
            found.append(Anomaly(name, text, numbers, tuple(cycle), cycle[0].mode))

    if not (whole := whole.cyclic()).edges:
        return found
    graph = whole.without(lambda edge: edge.unique or edge.kind == RT).cyclic()
    add("G0", graph.shortest(lambda edge: edge.kind == WW, _over(WW)))
    add("G1c", graph.shortest(lambda edge: edge.kind == WR, _over(WW, WR)))
    _of_a_lock_or_a_statement(graph, add)
    if history.level == REPEATABLE_READ:
        add("row gone since the snapshot", graph.shortest(_passes_over, _one_rw, lambda memo, *_: memo, False))
        graph = graph.without(_passes_over).cyclic()
        if not locks_ranges(history, history.level):
            graph = graph.without(lambda edge: _is_predicate(edge) and edge.mode != PLAIN).cyclic()
    _with_rw(graph, add)
    if history.level == SERIALIZABLE and not found:
        add("not serializable", whole.shortest(lambda edge: edge.kind == RW, lambda memo, edge: memo))
    return found


def _of_a_lock_or_a_statement(graph, add):
    def same_statement(_, edge, begin):
        return edge.kind == WR and edge.op == begin.op

    known = _over(WW, WR)
    add("half a transaction seen", graph.shortest(
        lambda edge: _is_item(edge) or _is_predicate(edge) and edge.mode == PLAIN, known, same_statement))
    add("half a transaction seen by a lock", graph.shortest(_is_predicate, known, same_statement))
    # A row that a transaction has locked changes only after its end, so it cannot see that change or its effects.
    add("locked row changed", graph.shortest(lambda edge: _is_item(edge) and edge.mode != PLAIN, known))
    add("locked range changed", graph.shortest(lambda edge: _is_predicate(edge) and edge.mode != PLAIN, known))


def _with_rw(graph, add):
    def plain_reads(_, edge, begin):
        return edge.kind == WR and edge.mode == begin.mode == PLAIN

    def same_row(_, edge, begin):
        return edge.kind == WW and edge.row == begin.row

    known = _over(WW, WR)
    add("read skew of a snapshot", graph.shortest(lambda edge: edge.kind == RW and edge.mode == PLAIN, known, plain_reads))
    add("lost update", graph.shortest(_is_item, known, same_row))
    add("G-single", graph.shortest(_is_item, known))
    add("phantom", graph.shortest(_is_predicate, known))
    add("G-nonadjacent", graph.shortest(lambda edge: edge.kind == RW, _apart,
                                        lambda memo, edge, begin: memo[1] and edge.kind != RW, (True, False)))
    add("G2-item", graph.shortest(_is_item, _two_rw_of_items, lambda memo, *_: memo, False))
    add("G2", graph.shortest(_is_predicate, _two_rw, lambda memo, *_: memo, False))
