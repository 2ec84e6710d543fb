"""Side-by-side figures of several engines in one run."""
