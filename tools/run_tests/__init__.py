"""./run-tests: the table of steps, what each does, and the summary."""
