"""One module a runner: its files to a report's study."""
