"""Measured servers: the lab's own and the user's, with their settings and limits."""
