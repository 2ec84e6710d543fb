"""What was measured, as data: runs, where they come from, what they are compared by."""
