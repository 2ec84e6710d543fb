"""The differences from InnoDB that are meant, each with its reason. Nothing else is passed over in silence."""


# (name, reason, test of statement, text, ours, theirs and what differs)
DIFFERENCES = []


def reason(statement, text, ours, theirs, what):
    """Why this difference is none, or None."""
    for _, why, applies in DIFFERENCES:
        if applies(statement, text, ours, theirs, what):
            return why
    return None
