"""The real mix, short: what an instrumented build is trained with, and what two builds are compared by."""
