"""The works that are measured: how each generator is run, what it prints, and what that says as a run of a report."""
