"""Servers that are measured: of the lab's own, of somebody else's, with their settings and limits."""
