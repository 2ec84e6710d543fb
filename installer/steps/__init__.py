"""What an installation does, step by step, whichever server it is for; what was done is recorded and can be undone."""
