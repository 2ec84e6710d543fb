"""Who is measured when: each repetition is run in the reverse order of the one before. Pure.

So two runs of a repetition are as far apart in each of them (neighbours in all), who of the two is first changes, and
over an even number of repetitions both are as late on average: what drifts over hours is the same for both. None is
always first. A runner's plan says the order, so that a run which an earlier version began is refused by name.
"""

KEY = "order"  # Of a plan.
ORDER = "each repetition in the reverse order of the one before"


def in_turn(units, repetition):
    """A repetition's units (from 1) in the order in which they are run."""
    return list(units) if repetition % 2 else list(reversed(units))


def said(repetitions):
    """A sentence for the report; "" of one repetition."""
    if repetitions < 2:
        return ""
    odd = (f"; as they are {repetitions}, of two runs that are compared one is first once more than the other"
           if repetitions % 2 else "")
    return f" Each repetition was run in the reverse order of the one before{odd}."
