"""Observation of a server and its machine during a measurement."""
