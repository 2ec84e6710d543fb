"""Finds isolation anomalies in histories of concurrent transactions, recorded on a real server. See README.md."""
