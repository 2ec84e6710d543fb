"""What every runner of the lab shares: progress, the journal of a run, where figures come from."""
