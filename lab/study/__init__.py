"""What every runner is made of: a journal, progress, steps done once, the end in order."""
