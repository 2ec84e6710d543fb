"""Who is measured when: builds take turns, and none of them is always the first. Pure."""


def rotated(labels, by):
    """labels, beginning with number by (from 0, and round)."""
    by %= len(labels)
    return [*labels[by:], *labels[:by]]
