"""The measured works: running each generator, reading its output, and turning it into a run of a report."""
