"""The real mix, short: to train an instrumented build, and to compare two builds."""
