"""Servers that work together: a primary with replicas, and shards behind a router."""
