"""Dependencies between transactions as a directed graph: strongly connected components, and shortest cycles of a kind."""

from collections import defaultdict, deque
from dataclasses import dataclass

WW, WR, RW, RT = "ww", "wr", "rw", "rt"  # RT: the first was acknowledged before the second began.


@dataclass(frozen=True)
class Edge:
    """op: for wr and rw, the place of the reading statement in its transaction. mode: how it read. predicate: the row was
    not in the answer. unique: found by a check of uniqueness. row: the first token of the row."""
    source: int
    target: int
    kind: str
    row: int = 0
    op: int = -1
    mode: str = ""
    predicate: bool = False
    unique: bool = False
    detail: str = ""


class Graph:
    def __init__(self, edges):
        self.edges = list(edges)
        self.out = defaultdict(list)
        for edge in self.edges:
            self.out[edge.source].append(edge)

    def cyclic(self):
        """The graph of the edges that are in a cycle."""
        part = self._components()
        return Graph(edge for edge in self.edges if part[edge.source] == part[edge.target])

    def _components(self):
        """Tarjan's algorithm without recursion: for each node, a node that stands for its component."""
        order, low, part, stack, on_stack = {}, {}, {}, [], set()
        for root in {node for edge in self.edges for node in (edge.source, edge.target)}:
            if root in order:
                continue
            work = [(root, iter(self.out.get(root, ())))]
            order[root] = low[root] = len(order)
            stack.append(root)
            on_stack.add(root)
            while work:
                node, edges = work[-1]
                for edge in edges:
                    if edge.target not in order:
                        order[edge.target] = low[edge.target] = len(order)
                        stack.append(edge.target)
                        on_stack.add(edge.target)
                        work.append((edge.target, iter(self.out.get(edge.target, ()))))
                        break
                    if edge.target in on_stack:
                        low[node] = min(low[node], order[edge.target])
                else:
                    work.pop()
                    if work:
                        low[work[-1][0]] = min(low[work[-1][0]], low[node])
                    if low[node] == order[node]:
                        while True:
                            member = stack.pop()
                            on_stack.discard(member)
                            part[member] = node
                            if member == node:
                                break
        return part

    def without(self, unwanted):
        return Graph(edge for edge in self.edges if not unwanted(edge))

    def shortest(self, first, step, last=lambda memo, edge, begin: True, memo=None):
        """The shortest cycle that begins with an edge that first() accepts, or None.

        step: takes (memo, edge) and returns the memo after that edge, or None if the cycle may not use it. memo: the one
        at the start. last: takes (memo, last edge, first edge) and returns whether they may close the cycle.
        """
        memo, best = _NOTHING if memo is None else memo, None
        for begin in self.edges:
            if first(begin):
                cycle = self._from(begin, step, last, memo)
                if cycle is not None and (best is None or len(cycle) < len(best)):
                    best = cycle
        return best

    def _from(self, begin, step, last, memo):
        start = (begin.target, memo)
        came, queue = {start: None}, deque([start])
        while queue:
            state = queue.popleft()
            for edge in self.out.get(state[0], ()):
                after = step(state[1], edge)
                if after is None:
                    continue
                if edge.target == begin.source:
                    if last(after, edge, begin):
                        cycle = [edge]
                        while came[state] is not None:
                            state, edge = came[state]
                            cycle.append(edge)
                        return [begin, *cycle[::-1]]
                elif (edge.target, after) not in came:
                    came[edge.target, after] = (state, edge)
                    queue.append((edge.target, after))
        return None


_NOTHING = "nothing"
