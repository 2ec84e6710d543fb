"""The order of measurements: each repetition runs in the reverse order of the one before. Pure.

So two runs are equally far apart in every repetition (neighbours stay neighbours), and take turns at being first.
Over an even number of repetitions both are equally late on average, so a drift over hours affects both alike.
A runner's plan contains the order, so that a run begun by an earlier version is refused by name.
"""

KEY = "order"  # Of a plan.
ORDER = "each repetition in the reverse order of the one before"


def in_turn(units, repetition):
    """A repetition's units in running order; repetitions count from 1."""
    return list(units) if repetition % 2 else list(reversed(units))


def said(repetitions):
    """A sentence for the report; "" for one repetition."""
    if repetitions < 2:
        return ""
    odd = (f"; as they are {repetitions}, of two runs that are compared one is first once more than the other"
           if repetitions % 2 else "")
    return f" Each repetition was run in the reverse order of the one before{odd}."
